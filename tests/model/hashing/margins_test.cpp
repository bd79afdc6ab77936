// SPDX-License-Identifier: Apache-2.0
// The margins by which others judge a switch's hash, for every algorithm and field here, with packets drawn as theirs:
//
//   SONiC's generic_hash_test   one field varies, 625 packets for each link: every link within 25 % of its share
//   mlxsw's router_multipath    one port runs through 0 … 32768: two next hops' packets within 15 % of their weights
//
// unless the hash is linear and cannot. Then its values, while one field varies, are those that it has for one packet,
// XORed with any sum of the effects that the field's bits have alone: too few of them, or too many for some links,
// whatever is drawn. So the shares of all these values, counted, say of a linear hash whether a margin holds.
//
// The hosts that forward, Linux and Open vSwitch, mix: theirs hold wherever the field is in the key.
//
// Left out are fields of a few hundred values (IN_PORT, ETHERTYPE, VLAN_ID, IP_PROTOCOL): over some links an ideal hash
// leaves the margin, too. 250 values over 8 links differ from their share by 18 % in one standard deviation.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <span>

#include "dataplane/hashing/ecmp_hash.hpp"
#include "tests/harness/seed.hpp"
#include "tests/model/hashing/hand_built.hpp"

namespace softspine::dataplane {
namespace {

using namespace tests::by_hand;

// Open vSwitch hashes the ports of TCP.
Flow usual_flow(bool is_ipv6, bool is_tcp) {
  Flow flow{.is_ipv6 = is_ipv6, .protocol = static_cast<uint8_t>(is_tcp ? 6 : 17)};
  flow.macs[0] = {2, 0, 0, 1, 0, 0};
  flow.macs[1] = {2, 0, 0, 0, 0, 1};
  flow.ips[0] = is_ipv6 ? Bytes{0x20, 0xd0, 0xa8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1} : Bytes{8, 0, 0, 1};
  flow.ips[1] = is_ipv6 ? Bytes{0x20, 0xd0, 0xa9, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1} : Bytes{9, 0, 0, 1};
  flow.ports[0] = 1234;
  flow.ports[1] = 80;
  return flow;
}

// A packet, and the bits of its frame in which a field varies.
struct Varied {
  Built packet;
  std::vector<std::pair<size_t, uint8_t>> bits;  // a byte, a mask

  void draw(Rng& rng) {
    for (const auto& [at, mask] : bits)
      packet.frame[at] = static_cast<uint8_t>((packet.frame[at] & ~mask) | (rng.next() & mask));
  }
  // Each of these bits flipped alone.
  std::vector<Varied> flips() const {
    std::vector<Varied> out;
    for (const auto& [at, mask] : bits) {
      for (uint32_t bit = 0; bit < 8; ++bit) {
        if ((mask >> bit & 1) != 0) out.emplace_back(*this).packet.frame[at] ^= static_cast<uint8_t>(1U << bit);
      }
    }
    return out;
  }
};

struct VariedField {
  HashField field;
  std::string_view word;
};
constexpr VariedField kOfPackets[] = {{kSrcMac, "SRC_MAC"},
                                      {kDstMac, "DST_MAC"},
                                      {kSrcIp, "SRC_IP"},
                                      {kDstIp, "DST_IP"},
                                      {kSrcIpv4, "SRC_IPV4"},
                                      {kDstIpv4, "DST_IPV4"},
                                      {kSrcIpv6, "SRC_IPV6"},
                                      {kDstIpv6, "DST_IPV6"},
                                      {kL4SrcPort, "L4_SRC_PORT"},
                                      {kL4DstPort, "L4_DST_PORT"},
                                      {kRdmaBthDestQp, "RDMA_BTH_DEST_QP"},
                                      {kIpv6FlowLabel, "IPV6_FLOW_LABEL"}};
constexpr VariedField kOfTunnels[] = {{kInnerSrcMac, "INNER_SRC_MAC"},        {kInnerDstMac, "INNER_DST_MAC"},
                                      {kInnerSrcIp, "INNER_SRC_IP"},          {kInnerDstIp, "INNER_DST_IP"},
                                      {kInnerSrcIpv4, "INNER_SRC_IPV4"},      {kInnerDstIpv4, "INNER_DST_IPV4"},
                                      {kInnerSrcIpv6, "INNER_SRC_IPV6"},      {kInnerDstIpv6, "INNER_DST_IPV6"},
                                      {kInnerL4SrcPort, "INNER_L4_SRC_PORT"}, {kInnerL4DstPort, "INNER_L4_DST_PORT"}};

bool is_of_version(HashField field, bool is_ipv6) {
  constexpr HashField kOf4[] = {kSrcIpv4, kDstIpv4, kInnerSrcIpv4, kInnerDstIpv4};
  constexpr HashField kOf6[] = {kSrcIpv6, kDstIpv6, kInnerSrcIpv6, kInnerDstIpv6, kIpv6FlowLabel};
  return is_ipv6 ? std::ranges::find(kOf4, field) == std::end(kOf4) : std::ranges::find(kOf6, field) == std::end(kOf6);
}

// As generic_hash_test draws it: a MAC by its last two bytes, an address within a /8 or by the end of an IPv6 one, the
// destination port below tunnels' and RoCE's, QPs and flow labels whole. `l2`: where the frame, or the one inside of
// VXLAN, begins.
std::vector<std::pair<size_t, uint8_t>> bits_of(HashField field, size_t l2, bool is_ipv6) {
  const size_t l3 = l2 + 14;
  const size_t l4 = l3 + (is_ipv6 ? 40 : 20);
  const auto address = [&](size_t number) {
    std::vector<std::pair<size_t, uint8_t>> out;
    const size_t begin = is_ipv6 ? l3 + 8 + 16 * number : l3 + 12 + 4 * number;
    for (size_t i = is_ipv6 ? 14 : 1; i < (is_ipv6 ? 16 : 4); ++i) out.emplace_back(begin + i, 0xff);
    return out;
  };
  switch (field) {
    case kSrcMac:
    case kInnerSrcMac: return {{l2 + 10, 0xff}, {l2 + 11, 0xff}};
    case kDstMac:
    case kInnerDstMac: return {{l2 + 4, 0xff}, {l2 + 5, 0xff}};
    case kL4SrcPort:
    case kInnerL4SrcPort: return {{l4, 0xff}, {l4 + 1, 0xff}};
    case kL4DstPort:
    case kInnerL4DstPort: return {{l4 + 2, 0x0f}, {l4 + 3, 0xff}};
    case kRdmaBthDestQp: return {{l4 + 13, 0xff}, {l4 + 14, 0xff}, {l4 + 15, 0xff}};
    case kIpv6FlowLabel: return {{l3 + 1, 0x0f}, {l3 + 2, 0xff}, {l3 + 3, 0xff}};
    case kSrcIp:
    case kSrcIpv4:
    case kSrcIpv6:
    case kInnerSrcIp:
    case kInnerSrcIpv4:
    case kInnerSrcIpv6: return address(0);
    default: return address(1);
  }
}

// With all of a TCP header, and the length that IP says.
Built whole(Built packet) {
  packet.frame.resize(packet.frame.size() + 16);
  const size_t l3 = packet.view.l3_offset;
  const auto bytes = static_cast<uint16_t>(packet.frame.size() - l3);
  if (packet.out.is_ipv6) {
    store16(packet.frame.data() + l3 + ipv6::kPayloadLength, static_cast<uint16_t>(bytes - 40));
  } else {
    store16(packet.frame.data() + l3 + ipv4::kTotalLength, bytes);
  }
  packet.view.stored_bytes = packet.view.frame_bytes = static_cast<uint32_t>(packet.frame.size());
  return packet;
}

Varied varied(Rng& rng, HashField field, bool is_ipv6, bool is_tcp) {
  const bool is_inside = is_inner(field);
  const Flow outer = usual_flow(!is_inside && is_ipv6, is_tcp);
  const Flow flow = usual_flow(is_ipv6, is_tcp);
  Built packet = build(rng, outer, flow, is_inside ? Tunnel::kVxlan : Tunnel::kNone, field == kRdmaBthDestQp);
  while (is_inside && packet.inner.empty()) packet = build(rng, outer, flow, Tunnel::kVxlan, false);
  return {whole(packet), bits_of(field, is_inside ? 14 + 20 + 8 + 8 : 0, is_ipv6)};
}

uint32_t hash_of(const EcmpHash& hash, const Built& packet) {
  HeaderView view = packet.view;
  view.frame = packet.frame.data();
  HashKey key{};
  hash.build(view, key);
  return hash.of(key);
}
bool is_linear(const EcmpHash& hash) {
  return row_of(hash.algorithm()).seed == SeedEffect::kLinear;
}

// Of all that a linear hash can be while the field varies, how many values each of the links gets: at most 2^16 sums of
// effects, by the number whose bits say which; of more, that many drawn.
std::vector<double> shares_by_algebra(Rng& rng, const EcmpHash& hash, uint32_t origin,
                                      const std::vector<uint32_t>& flipped, uint32_t links) {
  constexpr size_t kMaxBits = 16;
  std::vector<uint32_t> effects;
  for (const uint32_t there : flipped) effects.push_back(origin ^ there);
  const bool are_drawn = effects.size() > kMaxBits;
  const size_t sums = size_t{1} << std::min(effects.size(), kMaxBits);
  std::vector<double> shares(links);
  uint32_t value = origin;
  for (size_t i = 0; i < sums; ++i) {
    shares[hash.bucket_of(value, links)] += static_cast<double>(links) / static_cast<double>(sums);
    if (!are_drawn) {  // Gray's code: each sum once
      value ^= i + 1 < sums ? effects[static_cast<size_t>(std::countr_zero(i + 1))] : 0;
      continue;
    }
    value = origin;
    const uint64_t chosen = rng.next();
    for (size_t bit = 0; bit < effects.size(); ++bit) value ^= (chosen >> bit & 1) != 0 ? effects[bit] : 0;
  }
  return shares;
}

// How far a link's share is from what it should be, at most. Of an ideal hash, 0.
double worst_of(const std::vector<double>& shares) {
  double worst = 0;
  for (const double share : shares) worst = std::max(worst, std::abs(share - 1));
  return worst;
}

// Of two next hops' packets, by how much their ratio is off that of their weights: multipath_eval() of the kernel.
double discrepancy(double weight, double other, double packets, double others) {
  const double wanted = std::max(weight, other) / std::min(weight, other);
  const double found = weight > other ? packets / others : others / packets;
  return std::abs(wanted - found) / wanted;
}

// A packet, and its destination port.
struct ByPort {
  Built packet;

  ByPort(Rng& rng, bool is_ipv6, bool is_tcp) {
    Flow flow = usual_flow(is_ipv6, is_tcp);
    flow.ports[0] = 1024;
    packet = whole(build(rng, flow, flow, Tunnel::kNone, false));
  }
  uint32_t hash(const EcmpHash& hash, uint16_t port) {
    store16(packet.frame.data() + packet.view.l4_offset + 2, port);
    return hash_of(hash, packet);
  }
};

// Of the ports that are 15 bits long: what router_multipath counts but for the last, and for tunnels'.
bool holds_by_algebra(Rng& rng, const EcmpHash& hash, ByPort& packet, uint32_t weight, uint32_t other) {
  std::vector<uint32_t> flipped;
  for (uint32_t bit = 0; bit < 15; ++bit) flipped.push_back(packet.hash(hash, static_cast<uint16_t>(1U << bit)));
  const std::vector<double> shares = shares_by_algebra(rng, hash, packet.hash(hash, 0), flipped, weight + other);
  double packets = 0;
  for (uint32_t i = 0; i < weight; ++i) packets += shares[i];
  return discrepancy(weight, other, packets, static_cast<double>(weight + other) - packets) <= 0.15;
}

struct MarginCase {
  HashModel model;
  HashAlgorithm algorithm;
  uint8_t policy = 0;  // of Linux

  HashConfig config() const {
    return {
        .model = model, .algorithm = algorithm, .seed = model == HashModel::kLinux ? 7U : 0U, .linux_policy = policy};
  }
  // Whether the field is of its key: of chips the one that is configured, alone; of hosts some, together.
  bool takes(HashField field, bool is_ipv6) const {
    const bool is_address = field == kSrcIp || field == kDstIp;
    const bool is_port = field == kL4SrcPort || field == kL4DstPort;
    switch (model) {
      case HashModel::kSai: return true;
      // None of layer 2 from IP packets, none from inside of tunnels.
      case HashModel::kRtag7: return field != kSrcMac && field != kDstMac && !is_inner(field);
      case HashModel::kLinux:
        if (policy == 0) return is_address || (field == kIpv6FlowLabel && is_ipv6);
        return is_address || (is_port && policy == 1);
      case HashModel::kOvs: return is_address || is_port;
    }
    return false;
  }
  bool has_fields() const { return model == HashModel::kSai || model == HashModel::kRtag7; }
};
std::vector<MarginCase> cases() {
  std::vector<MarginCase> out;
  for (const HashAlgorithmRow& row : kHashAlgorithms) {
    for (const HashModel model : {HashModel::kSai, HashModel::kRtag7, HashModel::kLinux, HashModel::kOvs}) {
      if (!row.is_drawn && row.is_in(model)) out.push_back({model, row.algorithm});
    }
  }
  out.push_back({HashModel::kLinux, HashAlgorithm::kSiphash, 1});
  return out;
}

class Margins : public testing::TestWithParam<MarginCase> {
 protected:
  void expect_field_spreads(Rng& rng, const VariedField& it, bool is_ipv6) {
    HashConfig config = GetParam().config();
    if (GetParam().has_fields()) config.fields = {it.field};
    const EcmpHash hash{config};
    Varied packet = varied(rng, it.field, is_ipv6, GetParam().model == HashModel::kOvs);
    const uint32_t origin = hash_of(hash, packet.packet);
    std::vector<uint32_t> flipped;
    for (const Varied& flip : packet.flips()) flipped.push_back(hash_of(hash, flip.packet));
    for (const uint32_t links : {2U, 3U, 4U, 8U, 12U}) {
      std::vector<uint32_t> counts(links);
      for (uint32_t i = 0; i < 625 * links; ++i) {
        packet.draw(rng);
        ++counts[hash.bucket_of(hash_of(hash, packet.packet), links)];
      }
      const auto [least, most] = std::ranges::minmax(counts);
      const bool holds = least >= 625 * 0.75 && most <= 625 * 1.25;
      const double worst = is_linear(hash) ? worst_of(shares_by_algebra(rng, hash, origin, flipped, links)) : 0;
      // 625 packets are off by 4 % in one standard deviation.
      if (std::abs(worst - 0.25) < 0.12) continue;
      EXPECT_EQ(holds, worst < 0.25) << it.word << " over " << links << (is_ipv6 ? ", IPv6: " : ": ") << least << " to "
                                     << most << ", off by algebra: " << worst;
    }
  }
};

TEST_P(Margins, OfSonicsGenericHashTestHoldForEveryFieldAlone) {
  Rng rng{tests::seed(), 71};
  for (const auto& fields : {std::span<const VariedField>{kOfPackets}, std::span<const VariedField>{kOfTunnels}}) {
    for (const VariedField& it : fields) {
      for (const bool is_ipv6 : {false, true}) {
        if (is_of_version(it.field, is_ipv6) && GetParam().takes(it.field, is_ipv6))
          expect_field_spreads(rng, it, is_ipv6);
      }
    }
  }
}

TEST_P(Margins, OfMlxswsRouterMultipathHoldForItsWeights) {
  Rng rng{tests::seed(), 72};
  if (GetParam().model == HashModel::kLinux && GetParam().policy == 0) return;  // which takes no ports
  const EcmpHash hash{GetParam().config()};
  for (const auto& [weight, other] : {std::pair{1U, 1U}, {4U, 5U}, {11U, 45U}}) {
    for (const bool is_ipv6 : {false, true}) {
      ByPort packet{rng, is_ipv6, GetParam().model == HashModel::kOvs};
      double packets = 0;
      double others = 0;
      for (uint32_t port = 0; port <= 32'768; ++port) {
        if (port == 4789 || port == 4791) continue;
        const uint32_t value = packet.hash(hash, static_cast<uint16_t>(port));
        ++(hash.bucket_of(value, weight + other) < weight ? packets : others);
      }
      const bool holds = discrepancy(weight, other, packets, others) <= 0.15;
      EXPECT_EQ(holds, !is_linear(hash) || holds_by_algebra(rng, hash, packet, weight, other))
          << weight << ":" << other << " is " << packets << ":" << others << (is_ipv6 ? ", IPv6" : "");
    }
  }
}

std::string name_of_case(const testing::TestParamInfo<MarginCase>& it) {
  constexpr const char* kWords[] = {"SAI", "RTAG7", "LINUX", "OVS"};
  const std::string policy = it.param.policy == 0 ? "" : std::to_string(it.param.policy);
  return std::string(row_of(it.param.algorithm).word) + "_" + kWords[static_cast<size_t>(it.param.model)] + policy;
}
INSTANTIATE_TEST_SUITE_P(All, Margins, testing::ValuesIn(cases()), name_of_case);

}  // namespace
}  // namespace softspine::dataplane
