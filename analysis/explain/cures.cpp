// SPDX-License-Identifier: Apache-2.0
#include "analysis/explain/cures.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <set>

#include "control/vendors/vendor_words.hpp"
#include "dataplane/hashing/ovs_key.hpp"

namespace softspine::analysis {

namespace dp = dataplane;

namespace {

constexpr uint32_t kPrimeBuckets = 509;
constexpr std::array<uint32_t, 3> kSeeds{10, 25, 42};  // SONiC's first two

bool hashes_qp(const control::HashConfig& hash) {
  return std::ranges::find(hash.fields, control::HashField::kRdmaBthDestQp) != hash.fields.end() ||
         std::ranges::find(hash.udfs, dp::destination_qp_udf()) != hash.udfs.end();
}

// Linux's policy of five fields.
constexpr uint8_t kPolicyOfPorts = 1;

bool leaves_out_ports(const control::HashConfig& hash) {
  if (hash.model == control::HashModel::kOvs) return dp::is_symmetric_ovs(hash.algorithm);
  if (hash.model != control::HashModel::kLinux || hash.linux_policy == kPolicyOfPorts) return false;
  const auto takes = [&](control::HashField field) {
    return std::ranges::find(hash.fields, field) != hash.fields.end();
  };
  return hash.linux_policy != 3 || !takes(control::HashField::kL4SrcPort) || !takes(control::HashField::kL4DstPort);
}

bool adds_ports(const HashChange& change) {
  return change.linux_policy == kPolicyOfPorts || change.algorithm == control::HashAlgorithm::kOvsL4 ||
         change.algorithm == control::HashAlgorithm::kOvsL4Crc32c;
}

void change_hash(control::HashConfig& hash, const HashChange& change) {
  if (change.algorithm) hash.algorithm = *change.algorithm;
  if (change.seed) hash.seed = *change.seed;
  if (change.offset) hash.offset = *change.offset;
  if (change.linux_policy) hash.linux_policy = *change.linux_policy;
  if (change.add_qp && !hashes_qp(hash)) hash.fields.push_back(control::HashField::kRdmaBthDestQp);
}

// Appends the members of a group, dealt out over so many buckets; returns how many.
uint32_t deal_one(const dp::ForwardingState& state, const dp::EcmpGroup& group, uint32_t buckets,
                  std::vector<uint32_t>& out) {
  std::vector<uint32_t> own;
  for (uint32_t b = 0; b < group.count; ++b) {
    const uint32_t member = state.members[group.first + b];
    if (std::ranges::find(own, member) == own.end()) own.push_back(member);
  }
  if (own.empty()) return 0;
  for (uint32_t b = 0; b < buckets; ++b) out.push_back(own[b % own.size()]);
  return buckets;
}

// The members of every group dealt out again over so many buckets, as a resilient group does it; of those that go by
// the port only the buckets that are hashed.
void deal(dp::ForwardingState& state, uint32_t buckets) {
  std::vector<uint32_t> members;
  for (dp::EcmpGroup& group : state.groups) {
    const dp::EcmpGroup before = group;
    group.first = static_cast<uint32_t>(members.size());
    if (before.mode == dp::EcmpGroupMode::kInPort) {
      const auto own = state.members.begin() + before.first;
      members.insert(members.end(), own, own + before.count);
      group.live = deal_one(state, before.of_live(), buckets, members);
    } else {
      group.count = deal_one(state, before, buckets, members);
    }
  }
  state.members = std::move(members);
}

// Candidates in the order of how much they change.
class Candidates {
 public:
  Candidates(Walker& walker, const Polarization& found) : testbed_(walker.testbed()) {
    std::set<Hashes> later;
    std::set<Hashes> unbalanced;
    std::set<Hashes> hashed;
    for (const TierShare& tier : found.tiers) {
      if (tier.verdict == TierVerdict::kNotHashed) continue;
      const Hashes its{tier.tier.role, tier.tier.is_of_lags};
      hashed.insert(its);
      if (tier.is_unbalanced()) unbalanced.insert(its);
      if (tier.verdict == TierVerdict::kPolarized) later.insert(its);
    }
    const LinkGroup* first = first_hashed(found);
    if (first == nullptr) return;
    hash_ = &hash_of(walker, *first);
    later_.assign(later.begin(), later.end());
    unbalanced_.assign(unbalanced.begin(), unbalanced.end());
    hashed_.assign(hashed.begin(), hashed.end());
    keeps_weights_ = std::ranges::none_of(
        walker.testbed().profiles, [](const control::Profile& profile) { return !profile.groups.weights.empty(); });
    add_all();
  }
  std::vector<std::pair<std::string, RoleChanges>> take() && { return std::move(out_); }

 private:
  // The hash of ECMP groups, or of LAGs, at a role's switches.
  struct Hashes {
    control::Role role;
    bool of_lags;
    friend auto operator<=>(const Hashes&, const Hashes&) = default;
  };
  static const LinkGroup* first_hashed(const Polarization& found) {
    for (const TierShare& tier : found.tiers) {
      for (const EcmpGroupLoad& load : tier.groups) {
        const LinkGroup& group = found.choices.groups[load.group];
        if (group.is_hashed) return &group;
      }
    }
    return nullptr;
  }
  // Every model has a seed. All else is tried where all of a role's switches have the model that it was made for, and
  // a hash that is wide enough to be rotated so far.
  bool suits(control::Role role, const HashChange& change) const {
    const bool is_seed_only =
        !change.algorithm && !change.offset && !change.linux_policy && !change.add_qp && change.buckets == 0;
    return is_seed_only || std::ranges::none_of(testbed_.fabric.nodes, [&](const control::FabricNode& node) {
             if (node.kind != control::NodeKind::kSwitch || node.role != role) return false;
             const control::Profile& profile = testbed_.profiles[node.profile];
             control::HashConfig hash = change.of_lags ? profile.hash_of_lags() : profile.hash;
             change_hash(hash, change);
             return hash.model != hash_->model() || hash.offset >= dp::row_of(hash.algorithm).bits_in(hash.model);
           });
  }
  // `change(i)`: of the i-th role, from 1.
  template <typename Change>
  void add(const char* name, const std::vector<Hashes>& hashes, Change&& change) {
    RoleChanges changes;
    for (uint32_t i = 0; i < hashes.size(); ++i) {
      changes.emplace_back(hashes[i].role, change(i + 1));
      changes.back().second.of_lags = hashes[i].of_lags;
    }
    if (!changes.empty() &&
        std::ranges::all_of(changes, [this](const auto& entry) { return suits(entry.first, entry.second); }))
      out_.emplace_back(name, std::move(changes));
  }
  static uint32_t seed_of(uint32_t i) { return kSeeds[(i - 1) % kSeeds.size()]; }
  uint8_t turned(uint32_t i, uint32_t step) const {
    return static_cast<uint8_t>((hash_->config().offset + i * step) % hash_->width_bits());
  }
  // Those first by which no role's offset leaves the range that SONiC documents.
  std::vector<uint32_t> steps() const {
    const uint32_t width = hash_->width_bits();
    std::vector<uint32_t> out{width / 3, width / 2, width / 4, width * 2 / 5, 5, width - 5};
    std::ranges::stable_partition(out, [this](uint32_t step) {
      for (uint32_t i = 1; i <= later_.size(); ++i) {
        if (turned(i, step) > control::kSonicMostOffset) return false;
      }
      return true;
    });
    return out;
  }

  void add_all() {
    add("seed", later_, [](uint32_t i) { return HashChange{.seed = seed_of(i)}; });
    if (leaves_out_ports(hash_->config())) add_ports();
    // These have no other knob that keeps the flows.
    if (dp::row_of(hash_->model()).is_of_hosts) return;
    for (const uint32_t step : steps())
      add("offset", later_, [&](uint32_t i) { return HashChange{.offset = turned(i, step)}; });
    for (const uint32_t step : steps())
      add("seed_offset", later_, [&](uint32_t i) { return HashChange{.seed = seed_of(i), .offset = turned(i, step)}; });
    add_algorithms();
    const bool has_lags = std::ranges::any_of(later_, &Hashes::of_lags);  // which have no buckets
    if (keeps_weights_ && !has_lags)
      add("buckets", later_, [](uint32_t) { return HashChange{.buckets = kPrimeBuckets}; });
    if (!hashes_qp(hash_->config())) add_qp();
    if (hash_->model() != control::HashModel::kSai) return;  // RTAG7 has no XXH3
    const auto mixing = [](uint32_t i, bool qp) {
      return HashChange{.algorithm = control::HashAlgorithm::kXxh3, .seed = seed_of(i), .offset = 0, .add_qp = qp};
    };
    add("mixing", hashed_, [&](uint32_t i) { return mixing(i, false); });
    if (!hashes_qp(hash_->config())) add("mixing_qp", hashed_, [&](uint32_t i) { return mixing(i, true); });
  }
  void add_algorithms() {
    using enum control::HashAlgorithm;
    const control::HashAlgorithm now = hash_->algorithm();
    for (const control::HashAlgorithm other : {kCrcCcitt, kCrc, kCrc32Hi}) {
      if (other == now) continue;
      // A narrower hash cannot be rotated as far.
      const auto offset = hash_->config().offset == 0 ? std::nullopt : std::optional<uint8_t>{0};
      add("algorithm", unbalanced_, [&](uint32_t i) {
        return HashChange{.algorithm = other, .offset = i == 1 ? offset : static_cast<uint8_t>((i - 1) * 5)};
      });
    }
  }
  void add_ports() {
    using enum control::HashAlgorithm;
    if (hash_->model() == control::HashModel::kLinux) {
      add("ports", hashed_, [](uint32_t i) { return HashChange{.seed = seed_of(i), .linux_policy = kPolicyOfPorts}; });
      return;
    }
    // Open vSwitch's other algorithm, of the same build.
    const control::HashAlgorithm other = hash_->algorithm() == kOvsSymL4 ? kOvsL4 : kOvsL4Crc32c;
    add("ports", hashed_, [other](uint32_t i) { return HashChange{.algorithm = other, .seed = seed_of(i)}; });
  }
  void add_qp() {
    add("qp", hashed_, [](uint32_t) { return HashChange{.add_qp = true}; });
    if (hashed_.size() < 2) return;
    const uint32_t step = steps().front();
    add("qp_offset", hashed_, [&](uint32_t i) { return HashChange{.offset = turned(i - 1, step), .add_qp = true}; });
  }

  const control::Testbed& testbed_;
  const dp::EcmpHash* hash_ = nullptr;
  std::vector<Hashes> later_;
  std::vector<Hashes> unbalanced_;
  std::vector<Hashes> hashed_;
  bool keeps_weights_ = true;
  std::vector<std::pair<std::string, RoleChanges>> out_;
};

class Trial {
 public:
  Trial(Walker& walker, const std::vector<FlowProbe>& flows, const Polarization& before)
      : walker_(walker), flows_(flows), before_(before) {}

  std::optional<Cure> of(const std::string& name, const RoleChanges& changes) {
    Walker changed = changed_by(walker_, changes);
    if (needs_keys() && !adds_keys(changes)) return std::nullopt;
    if (keeps_keys(changes) && has_pairs_together(changed, before_.choices)) return std::nullopt;
    const Polarization after = polarization_of(changed, flows_);
    if (after.is_unbalanced() || has_pairs_together(changed, after.choices)) return std::nullopt;
    Cure cure{.name = name, .changes = changes, .worst = after.worst()};
    for (const TierShare& tier : after.tiers) {
      if (tier.by_flows.max_over_mean == cure.worst) cure.by_chance = tier.by_flows.by_chance;
    }
    return cure;
  }

 private:
  // No function parts flows that have the same key: it would only throw the few keys anew.
  bool needs_keys() const {
    return std::ranges::any_of(before_.tiers, [](const TierShare& tier) {
      return tier.verdict == TierVerdict::kUneven && tier.cause && tier.cause->kind == CauseKind::kFewKeys;
    });
  }
  static bool adds_keys(const RoleChanges& changes) {
    return std::ranges::any_of(changes,
                               [](const auto& entry) { return entry.second.add_qp || adds_ports(entry.second); });
  }
  // The samples of the fabric as it is hold for the changed one, too. (Some algorithms have a layout of their own.)
  static bool keeps_keys(const RoleChanges& changes) {
    return std::ranges::none_of(changes, [](const auto& entry) {
      return entry.second.add_qp || entry.second.buckets > 0 || entry.second.algorithm || entry.second.linux_policy;
    });
  }
  // Pairs that too few flows show count, too.
  static bool has_pairs_together(Walker& walker, const FlowChoices& choices) {
    for (uint32_t later = 0; later < choices.tiers.size(); ++later) {
      for (uint32_t earlier = 0; earlier < later; ++earlier) {
        if (may_go_together(walker, choices, earlier, later)) return true;
      }
    }
    return false;
  }

  Walker& walker_;
  const std::vector<FlowProbe>& flows_;
  const Polarization& before_;
};

}  // namespace

namespace {

// The hash of a profile's switches of one role, with the changes.
struct ChangedHashes {
  dp::EcmpHash ecmp;
  dp::EcmpHash lags;
};
ChangedHashes changed_hashes(const control::Profile& profile, const RoleChanges& changes, control::Role role) {
  control::HashConfig ecmp = profile.hash;
  control::HashConfig lags = profile.hash_of_lags();
  for (const auto& [its, change] : changes) {
    if (its != role) continue;
    if (!change.of_lags) change_hash(ecmp, change);
    if (change.of_lags || !profile.lag_hash) change_hash(lags, change);
  }
  return {dp::EcmpHash{ecmp}, dp::EcmpHash{lags}};
}

}  // namespace

Walker changed_by(Walker& walker, const RoleChanges& changes) {
  // One hash a profile and role, not one a switch.
  auto made = std::make_shared<std::map<std::pair<uint32_t, control::Role>, ChangedHashes>>();
  return {walker, [&walker, changes, made](uint32_t node, dp::ForwardingState& state) {
            const control::FabricNode& at = walker.testbed().fabric.nodes[node];
            if (std::ranges::find(changes, at.role, &std::pair<control::Role, HashChange>::first) == changes.end())
              return;
            auto found = made->find({at.profile, at.role});
            if (found == made->end()) {
              const control::Profile& profile = walker.testbed().profiles[at.profile];
              found = made->emplace(std::pair{at.profile, at.role}, changed_hashes(profile, changes, at.role)).first;
            }
            state.hash = found->second.ecmp;
            if (state.lags != nullptr) {
              auto lags = std::make_shared<dp::LagTable>(*state.lags);
              lags->hash = found->second.lags;
              state.lags = std::move(lags);
            }
            for (const auto& [role, change] : changes) {
              if (role == at.role && change.buckets > 0) deal(state, change.buckets);
            }
          }};
}

std::vector<Cure> find_cures(Walker& walker, const std::vector<FlowProbe>& flows, const Polarization& found) {
  std::vector<Cure> out;
  if (!found.is_unbalanced()) return out;
  Trial trial{walker, flows, found};
  for (const auto& [name, changes] : Candidates(walker, found).take()) {
    if (out.size() == kMaxCures) break;
    if (!out.empty() && out.back().name == name) continue;  // one of each is enough
    if (auto cure = trial.of(name, changes)) out.push_back(std::move(*cure));
  }
  return out;
}

}  // namespace softspine::analysis
