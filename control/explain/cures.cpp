// SPDX-License-Identifier: Apache-2.0
#include "control/explain/cures.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <optional>

#include "dataplane/packet/wire.hpp"

namespace softspine::control {

namespace dp = dataplane;

namespace {

constexpr uint32_t kPrimeBuckets = 509;
constexpr uint32_t kQpsEach = 4;
constexpr std::array<uint32_t, 3> kSeeds{0, 10, 25};  // SONiC's, for lack of better ones

bool hashes_qp(const HashConfig& hash) {
  return std::ranges::find(hash.fields, HashField::kRdmaBthDestQp) != hash.fields.end() ||
         std::ranges::find(hash.udfs, dp::destination_qp_udf()) != hash.udfs.end();
}

void turn(HashConfig& hash, uint32_t tier) {
  const uint32_t width = dp::EcmpHash{hash}.width_bits();
  hash.offset = static_cast<uint8_t>((hash.offset + tier * (width / 3)) % width);
}

void take_other_polynomial(HashConfig& hash, uint32_t tier) {
  using enum HashAlgorithm;
  static constexpr std::array kOthers{kCrc, kCrcCcitt, kCrc32Hi};
  if (tier == 0) return;
  HashAlgorithm other = kOthers[tier % kOthers.size()];
  if (other == hash.algorithm) other = kCrc;
  if (hash.algorithm == kCrc && hash.model == HashModel::kSai && other == kCrc32Hi) other = kXor;  // not its own half
  hash.algorithm = other;
  hash.offset = 0;
}

void add_qp(HashConfig& hash) {
  if (!hashes_qp(hash)) hash.fields.push_back(HashField::kRdmaBthDestQp);
}

// The buckets of every group dealt out again over a prime number of them.
void deal_over_a_prime(dp::ForwardingState& state) {
  std::vector<uint32_t> members;
  for (dp::EcmpGroup& group : state.groups) {
    const auto first = static_cast<uint32_t>(members.size());
    for (uint32_t b = 0; b < kPrimeBuckets && group.count > 0; ++b) {
      members.push_back(state.members[group.first + b % group.count]);
    }
    group.first = first;
    group.count = static_cast<uint32_t>(members.size()) - first;
  }
  state.members = std::move(members);
}

std::vector<FlowProbe> with_more_qps(const std::vector<FlowProbe>& flows) {
  std::vector<FlowProbe> out;
  for (const FlowProbe& flow : flows) {
    for (uint32_t qp = 0; qp < kQpsEach; ++qp) {
      out.push_back(flow);
      std::vector<uint8_t>& frame = out.back().frame;
      const bool is_ipv6 = dp::load16(frame.data() + dp::ethernet::kType) == dp::ethernet::kTypeIpv6;
      uint8_t* l4 = frame.data() + dp::ethernet::kBytes + (is_ipv6 ? dp::ipv6::kBytes : dp::ipv4::kMinBytes);
      const uint16_t port = dp::load16(l4);
      dp::store16(l4, static_cast<uint16_t>(0xc000 | ((port + qp * 4099U) & 0x3fff)));
      uint8_t* field = l4 + dp::udp::kBytes + dp::bth::kDestinationQp;
      dp::store24(field, (dp::load24(field) + qp * 257) & dp::bth::kMask24);
    }
  }
  return out;
}

class Trial {
 public:
  Trial(Walker& walker, const std::vector<FlowProbe>& flows) : walker_(walker), flows_(flows) {}

  using ChangeHash = std::function<void(HashConfig&, uint32_t tier)>;
  void by_hash(const char* name, const char* what, const ChangeHash& change) {
    // One hash a profile and tier, not one a switch.
    std::vector<std::optional<dp::EcmpHash>> made(walker_.testbed().profiles.size() * kTopTier);
    Walker changed{walker_, [&](uint32_t node, dp::ForwardingState& state) {
                     const FabricNode& at = walker_.testbed().fabric.nodes[node];
                     const auto tier = static_cast<uint32_t>(tier_of(at.role) - 1);  // from the ToRs on
                     auto& hash = made[at.profile * kTopTier + tier];
                     if (!hash) {
                       HashConfig config = state.hash.config();
                       change(config, tier);
                       hash.emplace(config);
                     }
                     state.hash = *hash;
                   }};
    note(name, what, polarization_of(changed, flows_));
  }
  void by_state(const char* name, const char* what, const Walker::Change& change) {
    Walker changed{walker_, change};
    note(name, what, polarization_of(changed, flows_));
  }
  void by_flows(const char* name, const char* what, const std::vector<FlowProbe>& flows) {
    note(name, what, polarization_of(walker_, flows));
  }
  std::vector<Cure> ranked() && {
    std::ranges::stable_sort(cures_, {}, &Cure::worst);
    return std::move(cures_);
  }

 private:
  void note(const char* name, const char* what, const Polarization& found) {
    Cure cure{.name = name, .what = what, .worst = found.worst(), .is_cured = true};
    for (const TierShare& tier : found.tiers) {
      if (tier.spread.max_over_mean == cure.worst) cure.ideal = tier.ideal.max_over_mean;
      cure.is_cured = cure.is_cured && !tier.is_uneven();
    }
    cures_.push_back(std::move(cure));
  }

  Walker& walker_;
  const std::vector<FlowProbe>& flows_;
  std::vector<Cure> cures_;
};

}  // namespace

std::vector<Cure> try_cures(Walker& walker, const std::vector<FlowProbe>& flows) {
  Trial trial{walker, flows};
  trial.by_hash("offset", "hash: {offset: …} by tier, a third of the hash's bits apart", turn);
  trial.by_hash("algorithm", "hash: {algorithm: …}: another polynomial by tier", take_other_polynomial);
  trial.by_hash("mixing", "hash: {algorithm: XXH3, seed: …}, another seed by tier",
                [](HashConfig& hash, uint32_t tier) {
                  hash = {.algorithm = HashAlgorithm::kXxh3,
                          .fields = hash.fields,
                          .udfs = hash.udfs,
                          .seed = kSeeds[tier % kSeeds.size()]};
                });
  trial.by_hash("seed", "hash: {seed: …}, another by tier, and nothing else",
                [](HashConfig& hash, uint32_t tier) { hash.seed = kSeeds[tier % kSeeds.size()]; });
  trial.by_hash("qp", "hash: RDMA_BTH_DEST_QP among the fields (E-ECMP)",
                [](HashConfig& hash, uint32_t) { add_qp(hash); });
  trial.by_hash("offset_qp", "an offset by tier, and the destination QP", [](HashConfig& hash, uint32_t tier) {
    add_qp(hash);
    turn(hash, tier);
  });
  const auto is_tor = [&walker](uint32_t node) { return walker.testbed().fabric.nodes[node].role == Role::kTor; };
  trial.by_state("coprime", "groups: {kind: resilient, buckets: 509} above the ToRs",
                 [&is_tor](uint32_t node, dp::ForwardingState& state) {
                   if (!is_tor(node)) deal_over_a_prime(state);
                 });
  trial.by_flows("more_qps", "four QPs for each flow, with source ports of their own", with_more_qps(flows));
  return std::move(trial).ranked();
}

}  // namespace softspine::control
