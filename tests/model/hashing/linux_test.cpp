// SPDX-License-Identifier: Apache-2.0
// Linux's multipath hash: its key against the kernel's struct flow_keys written by hand, its choice against the
// kernel's upper bounds. tests/wire/command/linux_multipath.py compares with the kernel itself.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "dataplane/hashing/ecmp_hash.hpp"
#include "tests/harness/seed.hpp"
#include "tests/model/hashing/hand_built.hpp"

namespace softspine::dataplane {
namespace {

using namespace tests::by_hand;
using enum HashField;

constexpr uint32_t kLabel = 0x12345;  // ip_of() writes it

// struct flow_keys from `basic` on, member by member.
struct FlowKeys {
  uint8_t protocol = 0;
  Bytes label = Bytes(4);
  uint16_t ports[2]{};
  Bytes ips[2];

  Bytes bytes() const {
    Bytes out{0, 0, protocol, 0};
    append(out, label);
    out.resize(28);  // two VLAN tags and a key's number
    append(out, be(ports[0], 2));
    append(out, be(ports[1], 2));
    out.resize(36);  // ICMP's
    append(out, ips[0]);
    append(out, ips[1]);
    out.resize(out.size() + 4);  // to whole words
    return out;
  }
};

bool has_linux_ports(const Flow& flow, bool has_layer4) {
  return has_layer4 && !flow.is_fragment && (flow.protocol == 17 || flow.protocol == 6 || flow.protocol == 132);
}

// As little-endian numbers, which is how the kernel compares them.
Bytes reversed(Bytes bytes) {
  std::ranges::reverse(bytes);
  return bytes;
}

Bytes slow_key(const HashConfig& config, const Built& built, Tunnel tunnel) {
  const bool inside = config.linux_policy == 2 && !built.inner.empty() && tunnel != Tunnel::kVxlan;
  const Flow& flow = inside ? built.in : built.out;
  const bool has_layer4 = tunnel == Tunnel::kNone || tunnel == Tunnel::kVxlan;
  const auto hashes = [&](HashField field) {
    if (config.linux_policy == 3) return std::ranges::find(config.fields, field) != config.fields.end();
    if (field == kSrcIp || field == kDstIp) return true;
    if (config.linux_policy == 1) return field != kIpv6FlowLabel;
    return flow.is_ipv6 && (field == kIpProtocol || field == kIpv6FlowLabel);
  };
  FlowKeys keys;
  if (hashes(kIpProtocol)) keys.protocol = flow.protocol;
  if (hashes(kIpv6FlowLabel) && flow.is_ipv6)
    keys.label = config.linux_policy == 0 ? be(kLabel, 4) : reversed(be(kLabel, 4));
  const Bytes nothing(flow.ips[0].size());
  keys.ips[0] = hashes(kSrcIp) ? flow.ips[0] : nothing;
  keys.ips[1] = hashes(kDstIp) ? flow.ips[1] : nothing;
  if (flow.is_ipv6 ? keys.ips[1] < keys.ips[0] : reversed(keys.ips[1]) < reversed(keys.ips[0]))
    std::swap(keys.ips[0], keys.ips[1]);
  if (has_linux_ports(flow, has_layer4)) {
    if (hashes(kL4SrcPort)) keys.ports[0] = flow.ports[0];
    if (hashes(kL4DstPort)) keys.ports[1] = flow.ports[1];
    if (reversed(be(keys.ports[1], 2)) < reversed(be(keys.ports[0], 2))) std::swap(keys.ports[0], keys.ports[1]);
  }
  return keys.bytes();
}

TEST(LinuxHash, OfTenThousandConfigurationsIsThatOfPacketsBuiltByHand) {
  Rng rng{tests::seed(), 81};
  for (int c = 0; c < 10'000; ++c) {
    HashConfig config{.model = HashModel::kLinux, .algorithm = HashAlgorithm::kSiphash};
    config.linux_policy = static_cast<uint8_t>(rng.below(4));
    config.seed = static_cast<uint32_t>(rng.next() | 1);
    std::erase_if(config.fields, [&](HashField) { return config.linux_policy == 3 && rng.below(3) == 0; });
    if (rng.below(2) == 0) config.fields.push_back(kIpv6FlowLabel);
    const EcmpHash hash{config};
    for (int p = 0; p < 10; ++p) {
      const auto tunnel = static_cast<Tunnel>(rng.below(5));
      Built built = build(rng, random_flow(rng, true), random_flow(rng, true), tunnel, rng.below(4) == 0);
      built.view.frame = built.frame.data();
      HashKey key;
      hash.build(built.view, key);
      const Bytes expected = slow_key(config, built, tunnel);
      ASSERT_EQ(Bytes(key.bytes(), key.bytes() + 8 * key.count), expected)
          << "policy " << int{config.linux_policy} << ", packet " << p << " of " << c;
      ASSERT_EQ(hash.of(key), tests::slow_hash(config, expected));
    }
  }
}

// fib_rebalance() and fib_select_multipath(): the upper bound of a next hop is round(2^31 w / W) - 1, w the weights up
// to it, W all of them; the first whose bound is not below the hash's upper 31 bits is taken.
TEST(LinuxHash, ChoosesByTheKernelsUpperBounds) {
  Rng rng{tests::seed(), 82};
  for (int i = 0; i < 2'000; ++i) {
    std::vector<uint32_t> weights(1 + rng.below(20));
    for (uint32_t& weight : weights) weight = static_cast<uint32_t>(1 + rng.below(i % 2 == 0 ? 1 : 64));
    const uint64_t all = std::accumulate(weights.begin(), weights.end(), uint64_t{0});
    std::vector<uint64_t> bounds;
    uint64_t up_to = 0;
    for (const uint32_t weight : weights) bounds.push_back((((up_to += weight) << 31) + all / 2) / all - 1);
    std::vector<uint32_t> hashes;
    for (const uint64_t bound : bounds) {  // both sides of every bound
      for (const uint64_t at : {bound, bound + 1}) {
        if (at < uint64_t{1} << 31) hashes.push_back(static_cast<uint32_t>(at << 1 | (rng.next() & 1)));
      }
    }
    for (int n = 0; n < 20; ++n) hashes.push_back(static_cast<uint32_t>(rng.next()));
    for (const uint32_t hash : hashes) {
      const auto expected = std::ranges::lower_bound(bounds, hash >> 1) - bounds.begin();
      const uint32_t bucket = threshold_bucket(hash, static_cast<uint32_t>(all));
      uint64_t end = 0;
      size_t member = 0;
      while ((end += weights[member]) <= bucket) ++member;
      ASSERT_EQ(member, static_cast<size_t>(expected)) << hash << " of " << all;
    }
  }
}

}  // namespace
}  // namespace softspine::dataplane
