// SPDX-License-Identifier: Apache-2.0
// A flow's frames, built once: a packet is its template with a PSN, an IP id, a checksum and an ICRC.
//
//   | Ethernet 14 | IPv4 20, IPv6 40 | UDP 8 | BTH 12 | RETH 16 or ImmDt 4 | payload | ICRC 4 |
//
// The host's tag comes on when a packet is sent (host_tag.hpp): only frame_bytes(), the length on the wire, counts it.
// Only a WRITE FIRST or ONLY has a RETH, only the last packet of a SEND with immediate data an ImmDt. The payload is
// zeros, and is left out of memory. A flow whose congestion control uses in-band telemetry has its field, zeros too,
// before the payload: who sends the packet puts it in (put_telemetry), lengths and ICRC count it.
// A message of n bytes makes ⌈n / path MTU⌉ packets, at least one: ONLY, or FIRST MIDDLE … LAST. The
// last one's payload is padded to 4 bytes (BTH's pad count) and asks for an acknowledgement.
// The headers: roce_headers.hpp.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <vector>

#include "dataplane/packet/icrc.hpp"
#include "dataplane/packet/packet.hpp"
#include "dataplane/packet/parse.hpp"
#include "dataplane/packet/telemetry_field.hpp"
#include "dataplane/units/prefetch.hpp"
#include "testbeds/hosts/host_config.hpp"
#include "testbeds/hosts/work_queue.hpp"

namespace softspine::testbeds {

// Ethernet, IPv6, UDP, BTH, RETH, ICRC: 94, rounded up to three vector moves.
inline constexpr uint32_t kTemplateBytes = 96;

// At least `bytes` ≤ kTemplateBytes of them: a frame of at most 64, which IPv4's mostly are, leaves the packet's second
// cache line alone.
inline void copy_template(uint8_t* frame, const uint8_t* bytes_of, uint32_t bytes) {
  std::memcpy(frame, bytes_of, dataplane::kCacheLine);
  if (bytes > dataplane::kCacheLine)
    std::memcpy(frame + dataplane::kCacheLine, bytes_of + dataplane::kCacheLine,
                kTemplateBytes - dataplane::kCacheLine);
}

// Two cache lines: what a packet is made from.
class alignas(64) FrameTemplate {
 public:
  FrameTemplate() = default;
  FrameTemplate(const HostConfig& host, const FlowConfig& flow, uint8_t opcode, uint32_t payload_bytes);

  // Writes up to kTemplateBytes at `frame`, of which stored_bytes() count. `asks`: for an acknowledgement, also if the
  // template does not.
  void write(uint8_t* frame, uint32_t psn, uint16_t ip_id, bool asks = false) const {
    copy_template(frame, bytes_.data(), stored_bytes_);
    uint32_t id_bits = 0;
    if (version_ == dataplane::IpVersion::k4) {
      uint8_t* l3 = frame + dataplane::ethernet::kBytes;
      const uint32_t sum = uint32_t{ip_sum_} + ip_id;
      dataplane::store16(l3 + dataplane::ipv4::kId, ip_id);
      dataplane::store16(l3 + dataplane::ipv4::kChecksum, static_cast<uint16_t>(~((sum >> 16) + sum)));
      id_bits = __builtin_bswap16(ip_id);
    }
    const uint32_t changed = asks && ack_request_ == 0 ? uint32_t{dataplane::bth::kAckRequestBit} << 24 | psn : psn;
    dataplane::store32(frame + psn_offset_, uint32_t{ack_request_} << 24 | changed);
    dataplane::store_icrc(frame + stored_bytes_ - dataplane::kIcrcBytes,
                          icrc_.with(id_bits, __builtin_bswap32(changed)));
  }

  // Writes into the meta of such a frame, without a tag, what the first switch's parse would find, if it is IPv4.
  void describe(dataplane::PacketMeta& meta) const {
    if (!is_sound_) [[unlikely]]
      return;
    meta.ether_type = dataplane::ethernet::kTypeIpv4;
    meta.l3_offset = dataplane::ethernet::kBytes;
    meta.l4_offset = dataplane::ethernet::kBytes + dataplane::ipv4::kMinBytes;
    meta.reason = dataplane::DropReason::kCount;
    meta.flags = dataplane::kIsIpv4 | dataplane::kIsUdp | dataplane::kIsRoce;
    meta.ip_protocol = dataplane::ip::kUdp;
    meta.dscp_ecn = bytes_[dataplane::ethernet::kBytes + dataplane::ipv4::kTos];
    meta.is_sound = true;
  }

  uint32_t stored_bytes() const { return stored_bytes_; }
  uint32_t frame_bytes() const { return frame_bytes_; }
  uint32_t payload_bytes() const { return payload_bytes_; }
  // From one packet's start to the next's, at the flow's rate; zero at the port's.
  dataplane::Duration interval() const { return interval_; }

 private:
  std::array<uint8_t, kTemplateBytes> bytes_{};
  dataplane::Duration interval_;
  dataplane::PatchedIcrc icrc_;
  uint16_t ip_sum_ = 0;  // one's complement sum of the IPv4 header with id and checksum 0
  uint16_t frame_bytes_ = 0;
  uint16_t payload_bytes_ = 0;
  uint8_t stored_bytes_ = 0;
  uint8_t psn_offset_ = 0;   // of the word that begins with the acknowledge request bit
  uint8_t ack_request_ = 0;  // that bit
  dataplane::IpVersion version_ = dataplane::IpVersion::k4;
  bool is_sound_ = false;  // IPv4 without a fault (parse.hpp)
};

static_assert(sizeof(FrameTemplate) == 128);

// Into a packet that was written from a template with telemetry.
inline void put_telemetry(dataplane::Packet& packet) {
  using namespace dataplane;
  uint8_t* field = packet.insert_bytes(packet.stored_bytes() - kIcrcBytes, telemetry::kBytes);
  std::memset(field, 0, telemetry::kBytes);
}

// Which templates a message uses, in the order of its packets.
enum class Part : uint8_t { kFirstOrOnly, kMiddle, kLast };
inline constexpr uint32_t kPartsOfMessage = 3;

// One template for messages of one packet; FIRST, MIDDLE and LAST for longer ones.
std::vector<FrameTemplate> templates_of(const HostConfig& host, const FlowConfig& flow);
// The same, into the first of three places.
void write_templates(const HostConfig& host, const FlowConfig& flow, FrameTemplate* out);

// The messages that it has from the start.
WorkQueue queue_of(const FlowConfig& flow);
inline Part part_of_next(const WorkQueue& queue) {
  if (queue.position() == 0) return Part::kFirstOrOnly;
  return queue.is_last() ? Part::kLast : Part::kMiddle;
}

uint32_t packets_per_message(const FlowConfig& flow);
// The IP packet of a flow that is the longest, in bytes.
uint32_t largest_packet_bytes(const FlowConfig& flow);

}  // namespace softspine::testbeds
