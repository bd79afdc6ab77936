// SPDX-License-Identifier: Apache-2.0
// Frames built byte by byte from the RFCs, with a checksum of their own: what the switch sends is
// compared with these, so nothing here uses dataplane/packet.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace softspine::tests {

using Bytes = std::vector<uint8_t>;
using Mac = std::array<uint8_t, 6>;

inline Bytes join(const std::vector<Bytes>& parts) {
  Bytes all;
  for (const Bytes& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}
inline Bytes be16(uint32_t v) {
  return {static_cast<uint8_t>(v >> 8), static_cast<uint8_t>(v)};
}
inline Bytes be32(uint32_t v) {
  return join({be16(v >> 16), be16(v & 0xffff)});
}
inline Bytes mac_bytes(const Mac& mac) {
  return {mac.begin(), mac.end()};
}
// A station's address: locally administered, and told apart by its last byte.
inline Mac station(uint8_t n) {
  return {0x02, 0x11, 0x22, 0x33, 0x44, n};
}
inline constexpr Mac kAll{0xff, 0xff, 0xff, 0xff, 0xff, 0xff};

// "10.0.10.2"
inline Bytes ip4(const std::string& text) {
  Bytes bytes;
  for (size_t at = 0; at <= text.size();
       at = text.find('.', at) == std::string::npos ? text.size() + 1 : text.find('.', at) + 1) {
    bytes.push_back(static_cast<uint8_t>(std::stoi(text.substr(at))));
  }
  return bytes;
}
// fd00:`net`::`host`
inline Bytes ip6(uint16_t net, uint16_t host) {
  return join({be16(0xfd00), be16(net), Bytes(10, 0), be16(host)});
}

// RFC 1071, word by word; the missing last byte counts as zero.
inline uint16_t internet_checksum(const Bytes& bytes) {
  uint32_t sum = 0;
  for (size_t i = 0; i < bytes.size(); i += 2) {
    sum += uint32_t{bytes[i]} * 256 + (i + 1 < bytes.size() ? bytes[i + 1] : 0u);
  }
  while (sum > 0xffff) sum = sum % 65536 + sum / 65536;
  return static_cast<uint16_t>(0xffff - sum);
}
inline Bytes with_word(Bytes bytes, size_t at, uint16_t word) {
  bytes[at] = static_cast<uint8_t>(word >> 8);
  bytes[at + 1] = static_cast<uint8_t>(word);
  return bytes;
}

inline Bytes ethernet_frame(const Mac& to, const Mac& from, uint16_t type, const Bytes& payload) {
  return join({mac_bytes(to), mac_bytes(from), be16(type), payload});
}
inline Bytes tagged_frame(const Mac& to, const Mac& from, uint16_t tci, uint16_t type, const Bytes& payload) {
  return join({mac_bytes(to), mac_bytes(from), be16(0x8100), be16(tci), be16(type), payload});
}

struct Ipv4 {
  Bytes from;
  Bytes to;
  uint8_t protocol = 17;
  uint8_t ttl = 64;
  uint8_t tos = 0;
  uint16_t id = 0x1234;
  uint16_t fragment = 0;  // flags and offset
  Bytes options;          // a multiple of four
};
inline Bytes ipv4_packet(const Ipv4& ip, const Bytes& payload) {
  const size_t header = 20 + ip.options.size();
  const auto total = static_cast<uint32_t>(header + payload.size());
  const Bytes head = join({{static_cast<uint8_t>(0x40 | header / 4), ip.tos},
                           be16(total),
                           be16(ip.id),
                           be16(ip.fragment),
                           {ip.ttl, ip.protocol},
                           be16(0),
                           ip.from,
                           ip.to,
                           ip.options});
  return join({with_word(head, 10, internet_checksum(head)), payload});
}

struct Ipv6 {
  Bytes from;
  Bytes to;
  uint8_t next_header = 17;
  uint8_t hop_limit = 64;
  uint8_t traffic_class = 0;
  uint32_t flow_label = 0x12345;
};
inline Bytes ipv6_packet(const Ipv6& ip, const Bytes& payload) {
  return join({be32(6u << 28 | uint32_t{ip.traffic_class} << 20 | ip.flow_label),
               be16(static_cast<uint32_t>(payload.size())),
               {ip.next_header, ip.hop_limit},
               ip.from,
               ip.to,
               payload});
}

inline Bytes udp_datagram(uint16_t from, uint16_t to, const Bytes& payload) {
  return join({be16(from), be16(to), be16(static_cast<uint32_t>(8 + payload.size())), be16(0), payload});
}
// RoCEv2: BTH of a SEND ONLY, payload, and an ICRC that no switch looks at.
inline Bytes roce_datagram(uint16_t from, uint32_t destination_qp, const Bytes& payload) {
  return udp_datagram(from, 4791, join({be32(0x0400ffff), be32(destination_qp), be32(7), payload, be32(0xdeadbeef)}));
}

// Type, code, the word behind the checksum, and what follows.
inline Bytes icmp4(uint8_t type, uint8_t code, uint32_t word, const Bytes& body) {
  const Bytes message = join({{type, code}, be16(0), be32(word), body});
  return with_word(message, 2, internet_checksum(message));
}
inline Bytes icmp6(const Bytes& from, const Bytes& to, uint8_t type, uint8_t code, uint32_t word, const Bytes& body) {
  const Bytes message = join({{type, code}, be16(0), be32(word), body});
  const Bytes pseudo = join({from, to, be32(static_cast<uint32_t>(message.size())), be32(58), message});
  return with_word(message, 2, internet_checksum(pseudo));
}

inline Bytes arp_packet(uint16_t operation, const Mac& sender, const Bytes& sender_ip, const Mac& target,
                        const Bytes& target_ip) {
  return join(
      {be16(1), be16(0x0800), {6, 4}, be16(operation), mac_bytes(sender), sender_ip, mac_bytes(target), target_ip});
}
inline Bytes solicitation(const Bytes& from, const Bytes& to, const Bytes& target, const Mac& mac) {
  const Bytes body = join({target, {1, 1}, mac_bytes(mac)});
  return ipv6_packet({.from = from, .to = to, .next_header = 58, .hop_limit = 255, .flow_label = 0},
                     icmp6(from, to, 135, 0, 0, body));
}
inline Bytes advertisement(const Bytes& from, const Bytes& to, const Bytes& target, const Mac& mac, uint8_t flags) {
  const Bytes body = join({target, {2, 1}, mac_bytes(mac)});
  return ipv6_packet({.from = from, .to = to, .next_header = 58, .hop_limit = 255, .flow_label = 0},
                     icmp6(from, to, 136, 0, uint32_t{flags} << 24, body));
}
// ff02::1:ffXX:XXXX of an address, and its MAC.
inline Bytes solicited_group(const Bytes& target) {
  return join({be32(0xff020000), be32(0), be32(1), {0xff, target[13], target[14], target[15]}});
}
inline Mac solicited_mac(const Bytes& target) {
  return {0x33, 0x33, 0xff, target[13], target[14], target[15]};
}

inline Bytes counting(size_t count) {
  Bytes bytes(count);
  for (size_t i = 0; i < count; ++i) bytes[i] = static_cast<uint8_t>(i);
  return bytes;
}
// What the MAC of a short frame adds.
inline Bytes padded(Bytes frame) {
  if (frame.size() < 60) frame.resize(60);
  return frame;
}

}  // namespace softspine::tests
