// SPDX-License-Identifier: Apache-2.0
#include "analysis/explain/cure_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "control/rows/row_formats.hpp"

namespace softspine::analysis {

namespace {

std::string joined(const std::vector<std::string>& parts, const char* between) {
  std::string out;
  for (const std::string& part : parts) out += (out.empty() ? "" : between) + part;
  return out;
}

// A profile's new settings, as maps of YAML in one line.
std::string maps_of(const control::Profile& profile, const HashChange& change) {
  std::vector<std::string> hash;
  if (change.algorithm) hash.push_back("algorithm: " + std::string(control::word_of(*change.algorithm)));
  if (change.add_qp) {
    std::vector<std::string> fields;
    for (const control::HashField field : (change.of_lags ? profile.hash_of_lags() : profile.hash).fields) {
      if (field != control::HashField::kRdmaBthDestQp) fields.emplace_back(control::word_of(field));
    }
    fields.emplace_back(control::word_of(control::HashField::kRdmaBthDestQp));
    hash.push_back("fields: [" + joined(fields, ", ") + "]");
  }
  if (change.linux_policy) hash.push_back(fmt::format("policy: {}", *change.linux_policy));
  if (change.seed) hash.push_back(fmt::format("seed: {}", *change.seed));
  if (change.offset) hash.push_back(fmt::format("offset: {}", *change.offset));
  std::vector<std::string> maps;
  if (!hash.empty()) maps.push_back((change.of_lags ? "lag_hash: {" : "hash: {") + joined(hash, ", ") + "}");
  if (change.buckets > 0) maps.push_back(fmt::format("groups: {{kind: resilient, buckets: {}}}", change.buckets));
  return joined(maps, ", ");
}

// A role's changes: those of ECMP groups' hash, and those of LAGs'.
using Changes = std::vector<HashChange>;

std::string maps_of(const control::Profile& profile, const Changes& changes) {
  std::vector<std::string> maps;
  for (const HashChange& change : changes) maps.push_back(maps_of(profile, change));
  std::erase(maps, "");
  return joined(maps, ", ");
}

// Settings that a profile leaves out for its LAGs are those of its `hash`, and would change with it. Cures are tried
// with LAGs that stay as they are, or change as the cure has them. (The QP is put into the keys of all.)
Changes with_lags_kept(const control::Profile& profile, const Changes& changes) {
  const auto ecmp = std::ranges::find(changes, false, &HashChange::of_lags);
  if (!profile.lag_hash || ecmp == changes.end()) return changes;
  Changes out = changes;
  auto lags = std::ranges::find(out, true, &HashChange::of_lags);
  if (lags == out.end()) lags = out.insert(lags, HashChange{.of_lags = true});
  const control::HashConfig& now = *profile.lag_hash;
  const bool has_one_algorithm = dataplane::algorithms_in(now.model) == 1;
  if (ecmp->algorithm && !lags->algorithm && !has_one_algorithm) lags->algorithm = now.algorithm;
  if (ecmp->linux_policy && !lags->linux_policy) lags->linux_policy = now.linux_policy;
  if (ecmp->seed && !lags->seed) lags->seed = now.seed;
  if (ecmp->offset && !lags->offset) lags->offset = now.offset;
  return out;
}

// A profile of the file that only one role's switches have is changed where it stands; else there is a profile of the
// cure's own, which the switches are given by role, or by name where some may name theirs.
class Piece {
 public:
  Piece(const control::Testbed& testbed, const RoleChanges& changes) : testbed_(testbed) {
    std::vector<std::pair<control::Role, Changes>> by_role;
    for (const auto& [role, change] : changes) {
      if (by_role.empty() || by_role.back().first != role) by_role.emplace_back(role, Changes{});
      by_role.back().second.push_back(change);
    }
    for (const auto& [role, its] : by_role) add(role, its);
    for (const auto& [role, its] : by_role) keep_heirs(role, its);
  }
  std::string text() const {
    std::string out = "profiles:\n";
    for (const auto& [name, maps] : profiles_) out += fmt::format("  {}: {{{}}}\n", name, maps);
    if (!roles_.empty()) out += "roles:\n" + roles_;
    if (!nodes_.empty()) out += "topology:\n  nodes:\n" + nodes_;
    return out;
  }

 private:
  std::map<uint32_t, std::vector<std::string>> switches_of(control::Role role) const {
    std::map<uint32_t, std::vector<std::string>> out;  // names, by profile
    for (const control::FabricNode& node : testbed_.fabric.nodes) {
      if (node.kind == control::NodeKind::kSwitch && node.role == role) out[node.profile].push_back(node.name);
    }
    return out;
  }

  void add(control::Role role, const Changes& change) {
    const auto by_profile = switches_of(role);
    for (const auto& [index, names] : by_profile) {
      const control::Profile& profile = testbed_.profiles[index];
      const std::string maps = maps_of(profile, with_lags_kept(profile, change));
      if (is_heritable(change) && is_own(role, index)) {
        profiles_[profile.name] = maps;
        continue;
      }
      const bool is_all = by_profile.size() == 1;
      const std::string name = "cure-" + name_of(role) + (is_all ? "" : "-" + profile.name);
      profiles_[name] = fmt::format("base: {}, {}", profile.name, maps);
      // Nobody names "default" at a switch to get what all have.
      if (is_all && profile.name == "default") {
        roles_ += fmt::format("  {}: {}\n", name_of(role), name);
        continue;
      }
      for (const std::string& node : names) nodes_ += fmt::format("    {}: {{profile: {}}}\n", node, name);
    }
  }

  // Settings that an heir's profile can state.
  static bool is_heritable(const Changes& changes) {
    return std::ranges::none_of(changes, [](const HashChange& it) { return it.add_qp || it.buckets > 0; });
  }
  static bool is_in_file(const control::Profile& profile) { return profile.place.line > 0; }
  bool is_own(control::Role role, uint32_t index) const {
    const control::Profile& profile = testbed_.profiles[index];
    if (!is_in_file(profile) || profile.name == "default") return false;
    return std::ranges::none_of(testbed_.fabric.nodes, [role, index](const control::FabricNode& node) {
      return node.kind == control::NodeKind::kSwitch && node.role != role && node.profile == index;
    });
  }

  // Another role's profile may have the changed one as its base: its own settings are written out, so that it stays as
  // it is.
  void keep_heirs(control::Role changed, const Changes& change) {
    if (!is_heritable(change)) return;
    for (const auto& [index, names] : switches_of(changed)) {
      if (!is_own(changed, index)) continue;
      for (const control::FabricNode& node : testbed_.fabric.nodes) {
        if (node.kind != control::NodeKind::kSwitch || node.profile == index) continue;
        const control::Profile& other = testbed_.profiles[node.profile];
        if (!is_in_file(other) || profiles_.contains(other.name)) continue;
        profiles_[other.name] = maps_of(other, as_it_is(other, with_lags_kept(testbed_.profiles[index], change)));
      }
    }
  }
  static Changes as_it_is(const control::Profile& profile, const Changes& changes) {
    Changes out;
    for (const HashChange& change : changes) {
      const control::HashConfig& hash = change.of_lags ? profile.hash_of_lags() : profile.hash;
      HashChange& same = out.emplace_back(HashChange{.of_lags = change.of_lags});
      if (change.algorithm) same.algorithm = hash.algorithm;
      if (change.linux_policy) same.linux_policy = hash.linux_policy;
      if (change.seed) same.seed = hash.seed;
      if (change.offset) same.offset = hash.offset;
    }
    return out;
  }

  const control::Testbed& testbed_;
  std::map<std::string, std::string> profiles_;  // by name
  std::string roles_;
  std::string nodes_;
};

std::string change_words(const HashChange& change) {
  std::vector<std::string> out;
  if (change.algorithm) out.push_back("algorithm " + std::string(control::word_of(*change.algorithm)));
  if (change.linux_policy) out.push_back(fmt::format("policy {}", *change.linux_policy));
  if (change.seed) out.push_back(fmt::format("seed {}", *change.seed));
  if (change.offset) out.push_back(fmt::format("offset {}", *change.offset));
  if (change.add_qp) out.emplace_back("the destination QP in the key");
  if (change.buckets > 0) out.push_back(fmt::format("resilient groups of {} buckets", change.buckets));
  return joined(out, ", ");
}

}  // namespace

std::string words_of(const RoleChanges& changes) {
  std::vector<std::string> out;
  for (const auto& [role, change] : changes)
    out.push_back(name_of(role) + (change.of_lags ? " lags: " : ": ") + change_words(change));
  return joined(out, "; ");
}

std::string yaml_of(const control::Testbed& testbed, const RoleChanges& changes) {
  return Piece{testbed, changes}.text();
}

}  // namespace softspine::analysis
