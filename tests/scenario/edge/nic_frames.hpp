// SPDX-License-Identifier: Apache-2.0
// What the tests of the NIC send, built byte by byte, and what a pause means, worked out slowly from the standard.
#pragma once

#include <algorithm>
#include <array>
#include <vector>

#include "dataplane/units/time.hpp"
#include "tests/scenario/switch/frames.hpp"

namespace softspine::dataplane {

using tests::Bytes;

// An IPv4 frame of `bytes` bytes that tells its number.
inline Bytes numbered_ip_frame(uint8_t dscp, uint16_t number, uint32_t bytes = 1500) {
  const tests::Ipv4 ip{.from = tests::ip4("10.0.1.2"),
                       .to = tests::ip4("10.0.1.3"),
                       .tos = static_cast<uint8_t>(dscp << 2),
                       .id = number};
  return tests::ethernet_frame(tests::station(9), tests::station(1), 0x0800,
                               tests::ipv4_packet(ip, tests::counting(bytes - 34)));
}
inline uint16_t number_in(const Bytes& frame) {
  return static_cast<uint16_t>(frame[18] << 8 | frame[19]);
}
inline bool is_pause(const Bytes& frame) {
  return frame[12] == 0x88 && frame[13] == 0x08;
}

// 802.1Qbb.
inline Bytes pfc_frame(const tests::Mac& from, uint8_t enable, const std::array<uint16_t, 8>& times) {
  Bytes fields = tests::join({tests::be16(0x0101), tests::be16(enable)});
  for (const uint16_t time : times) fields = tests::join({fields, tests::be16(time)});
  return tests::padded(tests::ethernet_frame({0x01, 0x80, 0xc2, 0, 0, 1}, from, 0x8808, fields));
}
inline Bytes pfc_frame(const tests::Mac& from, uint8_t enable, uint16_t time) {
  std::array<uint16_t, 8> times{};
  for (uint32_t i = 0; i < 8; ++i) times[i] = (enable >> i & 1) != 0 ? time : uint16_t{0};
  return pfc_frame(from, enable, times);
}

// RoCEv2 of a reliable connection, from 10.0.1.2 to 10.0.1.3 unless turned round.
struct Rc {
  uint8_t opcode = 0x0a;  // RDMA WRITE ONLY
  uint32_t qp = 0x200;
  uint32_t psn = 0;
  uint8_t tos = 3 << 2 | 2;
  uint16_t source_port = 50'000;
  bool from_peer = false;
  uint32_t payload = 1000;
  uint32_t congestion = 0;  // BECN: 0x40000000
};

// CRC-32 bit by bit over what the annex says, masked as it says; low byte first.
inline Bytes slow_icrc(Bytes ip_packet) {
  for (const size_t at : {1, 8, 10, 11, 26, 27, 32}) ip_packet[at] = 0xff;  // IPv4 without options
  ip_packet.insert(ip_packet.begin(), 8, 0xff);
  uint32_t crc = 0xffffffff;
  for (const uint8_t byte : ip_packet) {
    crc ^= byte;
    for (int i = 0; i < 8; ++i) crc = crc & 1 ? crc >> 1 ^ 0xedb88320 : crc >> 1;
  }
  crc = ~crc;
  return {static_cast<uint8_t>(crc), static_cast<uint8_t>(crc >> 8), static_cast<uint8_t>(crc >> 16),
          static_cast<uint8_t>(crc >> 24)};
}
// The same of a whole frame: what its last four bytes should be.
inline Bytes icrc_due(const Bytes& frame) {
  return slow_icrc({frame.begin() + 14, frame.end() - 4});
}

inline Bytes rc_frame(const Rc& rc) {
  const Bytes payload = tests::counting(rc.payload);
  const Bytes bth =
      tests::join({{rc.opcode, 0}, tests::be16(0xffff), tests::be32(rc.congestion | rc.qp), tests::be32(rc.psn)});
  const Bytes datagram = tests::udp_datagram(rc.source_port, 4791, tests::join({bth, payload, Bytes(4, 0)}));
  const tests::Ipv4 ip{.from = tests::ip4(rc.from_peer ? "10.0.1.3" : "10.0.1.2"),
                       .to = tests::ip4(rc.from_peer ? "10.0.1.2" : "10.0.1.3"),
                       .tos = rc.tos};
  Bytes frame = tests::ethernet_frame(tests::station(rc.from_peer ? 1 : 9), tests::station(rc.from_peer ? 9 : 1),
                                      0x0800, tests::ipv4_packet(ip, datagram));
  const Bytes icrc = icrc_due(frame);
  std::copy(icrc.begin(), icrc.end(), frame.end() - 4);
  return frame;
}
inline Bytes ack_frame(uint32_t qp, uint32_t psn, bool from_peer) {
  return rc_frame({.opcode = 0x11, .qp = qp, .psn = psn, .from_peer = from_peer, .payload = 4});
}
inline Bytes cnp_frame(uint32_t qp, bool from_peer, uint16_t source_port = 50'000) {
  Bytes frame = rc_frame({.opcode = 0x81,
                          .qp = qp,
                          .tos = 48 << 2 | 2,
                          .source_port = source_port,
                          .from_peer = from_peer,
                          .payload = 16,
                          .congestion = 0x40000000});
  std::fill(frame.end() - 20, frame.end() - 4, uint8_t{0});
  // A NIC's: id 0, not to be fragmented.
  Bytes head(frame.begin() + 14, frame.begin() + 34);
  head[4] = head[5] = head[7] = head[10] = head[11] = 0;
  head[6] = 0x40;
  head = tests::with_word(head, 10, tests::internet_checksum(head));
  std::copy(head.begin(), head.end(), frame.begin() + 14);
  const Bytes icrc = icrc_due(frame);
  std::copy(icrc.begin(), icrc.end(), frame.end() - 4);
  return frame;
}
inline uint8_t opcode_in(const Bytes& frame) {
  return frame[42];
}
inline uint32_t qp_in(const Bytes& frame) {
  return uint32_t{frame[47]} << 16 | uint32_t{frame[48]} << 8 | frame[49];
}

// The pauses of one priority: frames by the arrival of their last bits, in order.
class SlowPause {
 public:
  SlowPause(Duration quantum, Duration response) : quantum_(quantum), response_(response) {}
  void hear(Instant at, uint16_t quanta) { heard_.push_back({at, quanta}); }

  // Whether no frame may begin at `x`. What arrives at `x` itself comes too late.
  bool holds(Instant x) const {
    Instant stop = Instant::never();  // never(): nothing pending or in effect
    Instant until;
    for (const Heard& frame : heard_) {
      if (frame.at >= x) break;
      if (until <= frame.at) stop = Instant::never();
      if (frame.quanta == 0) {
        stop = Instant::never();
        continue;
      }
      if (stop.is_never()) stop = frame.at + response_;
      until = frame.at + quantum_ * frame.quanta;
    }
    return stop <= x && x < until;
  }
  // The first instant from `x` on at which a frame may begin.
  Instant first_free(Instant x) const {
    if (!holds(x)) return x;
    std::vector<Instant> changes;
    for (const Heard& frame : heard_) {
      changes.push_back(frame.at);
      changes.push_back(frame.at + quantum_ * frame.quanta);
    }
    std::sort(changes.begin(), changes.end());
    for (const Instant change : changes) {
      // An XON lets go at its own instant, in which holds() does not know of it yet.
      if (change >= x && !holds(change + Duration::ps(1))) return change;
    }
    return Instant::never();
  }

 private:
  struct Heard {
    Instant at;
    uint16_t quanta;
  };
  std::vector<Heard> heard_;
  Duration quantum_;
  Duration response_;
};

}  // namespace softspine::dataplane
