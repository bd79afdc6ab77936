// SPDX-License-Identifier: Apache-2.0
// Packets written by hand, with or without a tunnel, so that their fields are known before anything parses them.
#pragma once

#include <map>

#include "dataplane/hashing/key_part.hpp"
#include "dataplane/packet/packet_flag.hpp"
#include "dataplane/units/rng.hpp"
#include "tests/model/hashing/slow_hash.hpp"

namespace softspine::tests::by_hand {

using namespace dataplane;
using Bytes = SlowBytes;
using enum HashField;

inline void append(Bytes& to, const Bytes& bytes) {
  to.insert(to.end(), bytes.begin(), bytes.end());
}
inline Bytes be(uint64_t value, int bytes) {
  Bytes out;
  for (int i = bytes - 1; i >= 0; --i) out.push_back(static_cast<uint8_t>(value >> (8 * i)));
  return out;
}

// Who talks to whom, by what: enough to write a packet and to know its fields.
struct Flow {
  bool is_ipv6 = false;
  bool is_tagged = false;
  bool is_fragment = false;
  uint8_t protocol = 17;
  uint8_t options = 0;  // of IPv4, words
  Bytes macs[2];        // source, destination
  Bytes ips[2];
  uint16_t ports[2]{};

  Flow turned() const {
    Flow out = *this;
    std::swap(out.macs[0], out.macs[1]);
    std::swap(out.ips[0], out.ips[1]);
    std::swap(out.ports[0], out.ports[1]);
    return out;
  }
  bool has_ports() const { return !is_fragment && (protocol == 17 || protocol == 6); }
};

inline Flow random_flow(Rng& rng, bool may_equal) {
  Flow flow{.is_ipv6 = rng.below(2) == 0, .is_tagged = rng.below(4) == 0};
  constexpr uint8_t kProtocols[] = {17, 17, 6, 132};
  flow.protocol = kProtocols[rng.below(4)];
  flow.is_fragment = !flow.is_ipv6 && rng.below(8) == 0;
  flow.options = static_cast<uint8_t>(flow.is_ipv6 || rng.below(4) != 0 ? 0 : rng.below(11));
  for (int i = 0; i < 2; ++i) {
    for (int k = 0; k < 6; ++k) flow.macs[i].push_back(static_cast<uint8_t>(rng.next()));
    for (int k = 0; k < (flow.is_ipv6 ? 16 : 4); ++k) flow.ips[i].push_back(static_cast<uint8_t>(rng.next()));
    flow.ports[i] = static_cast<uint16_t>(rng.next());
    if (flow.ports[i] == 4789 || flow.ports[i] == 4791) ++flow.ports[i];
  }
  if (may_equal && rng.below(3) == 0) flow.ips[1] = flow.ips[0];
  if (may_equal && rng.below(3) == 0) flow.ports[1] = flow.ports[0];
  return flow;
}

inline Bytes ethernet_of(const Flow& flow) {
  Bytes out = flow.macs[1];
  append(out, flow.macs[0]);
  if (flow.is_tagged) append(out, {0x81, 0x00, 0x30, 0x07});
  append(out, flow.is_ipv6 ? Bytes{0x86, 0xdd} : Bytes{0x08, 0x00});
  return out;
}
inline Bytes ip_of(const Flow& flow, uint8_t protocol) {
  Bytes out;
  if (flow.is_ipv6) {
    out = {0x6a, 0xb1, 0x23, 0x45, 0, 0, protocol, 64};
  } else {
    out = {static_cast<uint8_t>(0x45 + flow.options),        0, 0,  0,        0, 0,
           flow.is_fragment ? uint8_t{0x20} : uint8_t{0x40}, 0, 64, protocol, 0, 0};
  }
  append(out, flow.ips[0]);
  append(out, flow.ips[1]);
  out.resize(out.size() + size_t{4} * flow.options, 0x01);
  return out;
}
// Ports, and enough bytes behind them for either protocol's header.
inline Bytes layer4_of(const Flow& flow) {
  Bytes out = be(flow.ports[0], 2);
  append(out, be(flow.ports[1], 2));
  out.resize(8, 0x77);
  return out;
}

enum class Tunnel : uint8_t { kNone, kVxlan, kGreEthernet, kGreIp, kIpInIp };

// A frame, what a parser would say of it, and the fields of what is inside.
struct Built {
  Bytes frame;
  HeaderView view{};
  std::map<HashField, Bytes> inner;
  bool is_rdma = false;
  bool is_ipv4_in_ipv4 = false;
  Flow out;  // as it was written
  Flow in;
};

inline void know_inner(const Flow& in, bool has_ethernet, std::map<HashField, Bytes>& fields) {
  if (has_ethernet) {
    fields[kInnerSrcMac] = in.macs[0];
    fields[kInnerDstMac] = in.macs[1];
    fields[kInnerEthertype] = be(in.is_ipv6 ? 0x86dd : 0x0800, 2);
  }
  Bytes ips[2] = {in.ips[0], in.ips[1]};
  for (Bytes& ip : ips) ip.resize(16);
  fields[kInnerSrcIp] = ips[0];
  fields[kInnerDstIp] = ips[1];
  fields[in.is_ipv6 ? kInnerSrcIpv6 : kInnerSrcIpv4] = in.ips[0];
  fields[in.is_ipv6 ? kInnerDstIpv6 : kInnerDstIpv4] = in.ips[1];
  fields[kInnerIpProtocol] = {in.protocol};
  if (!in.has_ports()) return;
  fields[kInnerL4SrcPort] = be(in.ports[0], 2);
  fields[kInnerL4DstPort] = be(in.ports[1], 2);
}

inline Bytes gre_of(Rng& rng, uint16_t type) {
  const auto flags = static_cast<uint16_t>((rng.next() & 0xb000) | (rng.below(8) == 0 ? 0x4000 : 0));
  Bytes out = be(flags, 2);
  append(out, be(type, 2));
  for (const int option : {0x8000, 0x2000, 0x1000}) {
    if ((flags & option) != 0) append(out, {1, 2, 3, 4});
  }
  return out;
}

inline Built build(Rng& rng, Flow out, const Flow& in, Tunnel tunnel, bool is_rdma) {
  out.is_fragment = false;
  uint8_t protocol = out.protocol;
  bool is_whole = true;
  Bytes inside;
  switch (tunnel) {
    case Tunnel::kNone: inside = layer4_of(out); break;
    case Tunnel::kVxlan:
      protocol = 17;
      out.ports[1] = 4789;
      is_whole = rng.below(8) != 0;
      inside = layer4_of(out);
      append(inside, {is_whole ? uint8_t{0x08} : uint8_t{0x00}, 0, 0, 0, 1, 2, 3, 0});
      break;
    case Tunnel::kGreEthernet:
    case Tunnel::kGreIp:
      protocol = 47;
      inside = gre_of(rng, tunnel == Tunnel::kGreEthernet ? 0x6558 : in.is_ipv6 ? 0x86dd : 0x0800);
      is_whole = (inside[0] & 0x40) == 0;
      break;
    case Tunnel::kIpInIp: protocol = in.is_ipv6 ? 41 : 4; break;
  }
  const bool has_ethernet = tunnel == Tunnel::kVxlan || tunnel == Tunnel::kGreEthernet;
  Built built;
  if (tunnel != Tunnel::kNone) {
    if (has_ethernet) append(inside, ethernet_of(in));
    append(inside, ip_of(in, in.protocol));
    append(inside, layer4_of(in));
    if (is_whole) know_inner(in, has_ethernet, built.inner);
  } else if (is_rdma) {
    protocol = 17;
    out.ports[1] = 4791;
    inside = layer4_of(out);
    inside.resize(inside.size() + 16, 0x3c);
  }
  built.frame = ethernet_of(out);
  const size_t l3 = built.frame.size();
  append(built.frame, ip_of(out, protocol));
  const size_t l4 = built.frame.size();
  append(built.frame, inside);
  append(built.frame, be(rng.next(), 4));
  built.is_rdma = is_rdma && tunnel == Tunnel::kNone;
  built.out = out;
  built.out.protocol = protocol;
  built.in = in;
  built.is_ipv4_in_ipv4 = protocol == 4 && !out.is_ipv6;
  uint8_t flags = out.is_ipv6 ? kIsIpv6 : kIsIpv4;
  if (protocol == 17) flags |= kIsUdp;
  if (protocol == 6) flags |= kIsTcp;
  if (built.is_rdma) flags |= kIsRoce;
  built.view = {.frame = nullptr,
                .stored_bytes = static_cast<uint32_t>(built.frame.size()),
                .frame_bytes = static_cast<uint32_t>(built.frame.size()),
                .l3_offset = static_cast<uint16_t>(l3),
                .l4_offset = static_cast<uint16_t>(l4),
                .in_port = 5,
                .vlan = 9,
                .ether_type = static_cast<uint16_t>(out.is_ipv6 ? 0x86dd : 0x0800),
                .flags = flags,
                .ip_protocol = protocol};
  return built;
}

}  // namespace softspine::tests::by_hand
