// SPDX-License-Identifier: Apache-2.0
// The rest of SAI's hash objects against packets that are built by hand, so that each field is known before anything
// parses it: tunnels, fine-grained fields, objects for some packets only, symmetric hashes.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "dataplane/hashing/ecmp_hash.hpp"
#include "dataplane/units/rng.hpp"
#include "tests/harness/seed.hpp"
#include "tests/model/hashing/slow_hash.hpp"

namespace softspine::dataplane {
namespace {

using Bytes = tests::SlowBytes;
using enum HashField;

void append(Bytes& to, const Bytes& bytes) {
  to.insert(to.end(), bytes.begin(), bytes.end());
}
Bytes be(uint64_t value, int bytes) {
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

Flow random_flow(Rng& rng, bool may_equal) {
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

Bytes ethernet_of(const Flow& flow) {
  Bytes out = flow.macs[1];
  append(out, flow.macs[0]);
  if (flow.is_tagged) append(out, {0x81, 0x00, 0x30, 0x07});
  append(out, flow.is_ipv6 ? Bytes{0x86, 0xdd} : Bytes{0x08, 0x00});
  return out;
}
Bytes ip_of(const Flow& flow, uint8_t protocol) {
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
Bytes layer4_of(const Flow& flow) {
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
};

void know_inner(const Flow& in, bool has_ethernet, std::map<HashField, Bytes>& fields) {
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

Bytes gre_of(Rng& rng, uint16_t type) {
  const auto flags = static_cast<uint16_t>((rng.next() & 0xb000) | (rng.below(8) == 0 ? 0x4000 : 0));
  Bytes out = be(flags, 2);
  append(out, be(type, 2));
  for (const int option : {0x8000, 0x2000, 0x1000}) {
    if ((flags & option) != 0) append(out, {1, 2, 3, 4});
  }
  return out;
}

Built build(Rng& rng, Flow out, const Flow& in, Tunnel tunnel, bool is_rdma) {
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

// The outer fields that these tests use, by hand.
std::map<HashField, Bytes> outer_of(const Built& built) {
  const Bytes& f = built.frame;
  const bool v6 = (built.view.flags & kIsIpv6) != 0;
  const auto cut = [&f](size_t at, size_t count) {
    return Bytes(f.begin() + static_cast<long>(at), f.begin() + static_cast<long>(at + count));
  };
  const size_t address = built.view.l3_offset + (v6 ? 8 : 12);
  const size_t size = v6 ? 16 : 4;
  const bool ports = (built.view.flags & (kIsUdp | kIsTcp)) != 0;
  std::map<HashField, Bytes> out{{kSrcMac, cut(6, 6)},
                                 {kDstMac, cut(0, 6)},
                                 {kSrcIp, cut(address, size)},
                                 {kDstIp, cut(address + size, size)},
                                 {kIpProtocol, {built.view.ip_protocol}},
                                 {kL4SrcPort, ports ? cut(built.view.l4_offset, 2) : Bytes(2)},
                                 {kL4DstPort, ports ? cut(built.view.l4_offset + size_t{2}, 2) : Bytes(2)}};
  out[v6 ? kSrcIpv6 : kSrcIpv4] = out[kSrcIp];
  out[v6 ? kDstIpv6 : kDstIpv4] = out[kDstIp];
  return out;
}

// As SAI says of a symmetric hash: whichever of the two directions it is, the same one is hashed.
void into_one_direction(std::map<HashField, Bytes>& fields,
                        std::initializer_list<std::pair<HashField, HashField>> both) {
  for (const auto& [source, destination] : both) {
    const Bytes a = fields[source];
    const Bytes b = fields[destination];
    if (a == b) continue;
    if (a > b) return;
    for (const auto& [s, d] : both) std::swap(fields[s], fields[d]);
    return;
  }
}

size_t inner_length(HashField field) {
  switch (field) {
    case kInnerSrcMac:
    case kInnerDstMac: return 6;
    case kInnerIpProtocol: return 1;
    case kInnerSrcIp:
    case kInnerDstIp:
    case kInnerSrcIpv6:
    case kInnerDstIpv6: return 16;
    case kInnerSrcIpv4:
    case kInnerDstIpv4: return 4;
    default: return 2;
  }
}

Bytes in_shape(Bytes bytes, bool in_words) {
  if (in_words && bytes.size() % 2 != 0) bytes.insert(bytes.begin(), 0);
  return bytes;
}

// The key of a configuration without objects.
Bytes slow_key(const HashConfig& config, const Built& built) {
  std::map<HashField, Bytes> fields = outer_of(built);
  std::map<HashField, Bytes> inner = built.inner;
  if (config.symmetric) {
    into_one_direction(
        fields,
        {{kSrcIp, kDstIp}, {kL4SrcPort, kL4DstPort}, {kSrcMac, kDstMac}, {kSrcIpv4, kDstIpv4}, {kSrcIpv6, kDstIpv6}});
    if (!inner.empty()) {
      into_one_direction(inner, {{kInnerSrcIp, kInnerDstIp},
                                 {kInnerL4SrcPort, kInnerL4DstPort},
                                 {kInnerSrcMac, kInnerDstMac},
                                 {kInnerSrcIpv4, kInnerDstIpv4},
                                 {kInnerSrcIpv6, kInnerDstIpv6}});
    }
  }
  const bool in_words = config.algorithm == HashAlgorithm::kXor;
  const bool v6 = (built.view.flags & kIsIpv6) != 0;
  const auto bytes_of = [&](HashField field) {
    if (field >= kInnerSrcMac) {
      Bytes bytes = inner[field];
      bytes.resize(inner_length(field));
      return in_shape(bytes, in_words);
    }
    return in_shape(fields[field], in_words);
  };
  Bytes key;
  std::vector<HashField> sorted = config.fields;
  std::ranges::sort(sorted);
  for (const HashField field : sorted) append(key, bytes_of(field));
  std::map<uint32_t, std::vector<FineGrainedField>> by_sequence;
  for (const FineGrainedField& fine : config.fine_grained) by_sequence[fine.sequence].push_back(fine);
  for (const auto& [sequence, of_one] : by_sequence) {
    Bytes sum;
    for (FineGrainedField fine : of_one) {
      if ((v6 && (fine.field == kSrcIpv4 || fine.field == kDstIpv4)) ||
          (!v6 && (fine.field == kSrcIpv6 || fine.field == kDstIpv6))) {
        continue;
      }
      Bytes bytes = bytes_of(fine.field);
      for (size_t i = 0; i < fine.mask.size(); ++i) bytes[i] &= fine.mask[i];
      if (sequence == 0) {
        append(sum, bytes);
        continue;
      }
      sum.resize(std::max(sum.size(), bytes.size()));
      for (size_t i = 0; i < bytes.size(); ++i) sum[i] ^= bytes[i];
    }
    append(key, sum);
  }
  key.resize(std::max<size_t>(8, (key.size() + 7) / 8 * 8));
  return key;
}

HashObject random_object(Rng& rng) {
  HashObject out;
  constexpr HashField kFields[] = {kSrcMac,     kDstMac,     kSrcIp,           kDstIp,          kL4SrcPort,
                                   kL4DstPort,  kIpProtocol, kInnerSrcMac,     kInnerDstMac,    kInnerEthertype,
                                   kInnerSrcIp, kInnerDstIp, kInnerIpProtocol, kInnerL4SrcPort, kInnerL4DstPort};
  for (const HashField field : kFields) {
    if (rng.below(3) == 0) out.fields.push_back(field);
  }
  constexpr HashField kFine[] = {kSrcIpv4,      kDstIpv4,      kSrcIpv6,        kDstIpv6,         kInnerSrcIpv4,
                                 kInnerDstIpv4, kInnerSrcIpv6, kInnerDstIpv6,   kInnerIpProtocol, kIpProtocol,
                                 kL4SrcPort,    kL4DstPort,    kInnerL4SrcPort, kInnerL4DstPort};
  for (uint64_t n = rng.below(3) == 0 ? rng.below(5) : 0; n > 0; --n) {
    FineGrainedField fine{
        .field = kFine[rng.below(std::size(kFine))], .mask = {}, .sequence = static_cast<uint32_t>(rng.below(3))};
    const size_t bytes = fine.field >= kInnerSrcMac                         ? inner_length(fine.field)
                         : fine.field == kSrcIpv6 || fine.field == kDstIpv6 ? 16
                         : fine.field == kSrcIpv4 || fine.field == kDstIpv4 ? 4
                                                                            : 0;
    if (bytes >= 4 && rng.below(2) == 0) {
      for (size_t i = 0; i < bytes; ++i) fine.mask.push_back(static_cast<uint8_t>(rng.next()));
    }
    out.fine_grained.push_back(fine);
  }
  if (out.fields.empty()) out.fields.push_back(kIpProtocol);
  return out;
}

bool fits(const HashConfig& config) {
  const uint32_t most = max_key_bytes(shape_of(config));
  return KeyLayout{config, false}.used_bytes() <= most && KeyLayout{config, true}.used_bytes() <= most;
}

HashConfig random_config(Rng& rng) {
  for (;;) {
    constexpr HashAlgorithm kAlgorithms[] = {HashAlgorithm::kCrc, HashAlgorithm::kXor, HashAlgorithm::kXxh3,
                                             HashAlgorithm::kJenkinsLo, HashAlgorithm::kToeplitz};
    HashConfig config = with_object({.algorithm = kAlgorithms[rng.below(5)]}, random_object(rng));
    config.seed = static_cast<uint32_t>(rng.next());
    config.symmetric = rng.below(3) == 0;
    config.key.assign(40, 0x5b);
    bool good = fits(config);
    for (auto& object : config.objects) {
      if (rng.below(3) != 0) continue;
      object = random_object(rng);
      good = good && fits(with_object(config, *object));
    }
    if (good) return config;
  }
}

// The object that the packet's key comes from, by how the packet was built.
HashConfig config_for(const HashConfig& config, const Built& built) {
  using enum HashObjectOf;
  const bool v6 = (built.view.flags & kIsIpv6) != 0;
  std::vector<HashObjectOf> narrowest_first;
  if (built.is_rdma) narrowest_first.push_back(v6 ? kIpv6Rdma : kIpv4Rdma);
  if (built.is_ipv4_in_ipv4) narrowest_first.push_back(kIpv4InIpv4);
  narrowest_first.push_back(v6 ? kIpv6 : kIpv4);
  for (const HashObjectOf packets : narrowest_first) {
    const auto& object = config.objects[static_cast<size_t>(packets)];
    if (object) return with_object(config, *object);
  }
  return config;
}

uint32_t check(const HashConfig& config, const EcmpHash& hash, Built& built) {
  built.view.frame = built.frame.data();
  HashKey key;
  hash.build(built.view, key);
  const HashConfig of_packet = config_for(config, built);
  const Bytes expected = slow_key(of_packet, built);
  EXPECT_EQ(Bytes(key.bytes(), key.bytes() + 8 * key.count), expected);
  EXPECT_EQ(hash.of(key), tests::slow_hash(of_packet, expected));
  return hash.of(key);
}

TEST(SaiHash, OfTenThousandConfigurationsIsThatOfPacketsBuiltByHand) {
  Rng rng{tests::seed(), 71};
  uint32_t with_inner = 0;
  for (int c = 0; c < 10'000; ++c) {
    const HashConfig config = random_config(rng);
    const EcmpHash hash{config};
    for (int p = 0; p < 10; ++p) {
      const Flow out = random_flow(rng, true);
      const Flow in = random_flow(rng, true);
      const auto tunnel = static_cast<Tunnel>(rng.below(5));
      const bool is_rdma = rng.below(2) == 0;
      Rng again = rng;
      Built built = build(rng, out, in, tunnel, is_rdma);
      with_inner += !built.inner.empty();
      const uint32_t hashed = check(config, hash, built);
      if (config.symmetric && !is_rdma && tunnel != Tunnel::kVxlan) {
        Built back = build(again, out.turned(), in.turned(), tunnel, is_rdma);
        EXPECT_EQ(check(config, hash, back), hashed) << "the way back";
      }
      if (testing::Test::HasFailure()) FAIL() << "configuration " << c << ", packet " << p;
    }
  }
  EXPECT_GT(with_inner, 50'000u);
}

// Whatever is cut off, nothing behind the bytes that are there is read, and what is whole still counts.
TEST(SaiHash, TakesOfAnInnerPacketWhatIsInMemory) {
  Rng rng{tests::seed(), 72};
  const EcmpHash hash{{.fields = {kInnerSrcMac, kInnerSrcIp, kInnerL4SrcPort}}};
  Flow out = random_flow(rng, false);
  out.is_ipv6 = false;
  out.is_tagged = false;
  out.options = 0;
  for (Bytes& ip : out.ips) ip.resize(4);
  Flow in = out;
  in.protocol = 17;
  in.is_fragment = false;
  const Built whole = build(rng, out, in, Tunnel::kVxlan, false);
  ASSERT_FALSE(whole.inner.empty()) << "the draw of a VXLAN header without the flag I: another seed";
  constexpr size_t kInner = 14 + 20 + 8 + 8;
  for (size_t size = 42; size < whole.frame.size(); ++size) {
    Built cut = whole;
    cut.frame.resize(size);
    cut.frame.shrink_to_fit();
    cut.view.stored_bytes = cut.view.frame_bytes = static_cast<uint32_t>(size);
    if (size < kInner + 14) cut.inner.clear();
    if (size < kInner + 14 + 20) cut.inner.erase(kInnerSrcIp);
    if (size < kInner + 14 + 20 + 8) cut.inner.erase(kInnerL4SrcPort);
    check(hash.config(), hash, cut);
  }
}

}  // namespace
}  // namespace softspine::dataplane
