// SPDX-License-Identifier: Apache-2.0
// The rest of SAI's hash objects against packets that are built by hand, so that each field is known before anything
// parses it (hand_built.hpp): tunnels, fine-grained fields, objects for some packets only, symmetric hashes.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "dataplane/hashing/ecmp_hash.hpp"
#include "dataplane/units/rng.hpp"
#include "tests/harness/seed.hpp"
#include "tests/model/hashing/hand_built.hpp"
#include "tests/model/hashing/slow_hash.hpp"

namespace softspine::dataplane {
namespace {

using namespace tests::by_hand;
using enum HashField;

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

HashConfig random_tunnel_config(Rng& rng) {
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
  for (uint32_t c = 0; c < tests::to_repeat(10'000); ++c) {
    const HashConfig config = random_tunnel_config(rng);
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
  EXPECT_GT(with_inner, tests::to_repeat(50'000));
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

// An inner frame of another type is not taken for IPv6 because of its first four bits, nor for IPv4.
TEST(SaiHash, BelievesAnInnerFramesType) {
  Rng rng{tests::seed(), 73};
  const EcmpHash hash{{.fields = {kInnerSrcMac, kInnerSrcIp}}};
  for (const bool is_ipv6 : {false, true}) {
    Flow flow = random_flow(rng, false);
    flow.is_ipv6 = is_ipv6;
    flow.is_tagged = false;
    for (Bytes& ip : flow.ips) ip.resize(is_ipv6 ? 16 : 4);
    Built built = build(rng, flow, flow, Tunnel::kVxlan, false);
    ASSERT_FALSE(built.inner.empty()) << "the draw of a VXLAN header without the flag I: another seed";
    check(hash.config(), hash, built);
    const size_t inner = built.view.l4_offset + size_t{8 + 8};
    store16(built.frame.data() + inner + 12, 0x88b5);
    built.inner.erase(kInnerSrcIp);
    check(hash.config(), hash, built);
  }
}

}  // namespace
}  // namespace softspine::dataplane
