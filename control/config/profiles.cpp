// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <tuple>

#include "control/config/hash_check.hpp"
#include "control/config/resolve.hpp"

namespace softspine::control {
namespace {

template <typename T>
void set_if(const std::optional<T>& given, T& into) {
  if (given) into = *given;
}

dataplane::Udf udf_of(const UdfRow& row) {
  dataplane::Udf udf{.base = row.base, .offset = row.offset, .length = row.length, .mask = {}};
  if (row.mask) udf.mask = row.mask->bytes;
  if (!row.match) return udf;
  if (row.match->l2_type) udf.l2_type = row.match->l2_type->value;
  udf.l3_protocol = row.match->l3_protocol;
  udf.l4_dst_port = row.match->l4_dst_port;
  return udf;
}

template <typename HashLike>
void apply_hash(Reader& reader, Value where, const HashLike& row, HashConfig& hash) {
  set_if(row.algorithm, hash.algorithm);
  set_if(row.fields, hash.fields);
  set_if(row.seed, hash.seed);
  set_if(row.offset, hash.offset);
  if constexpr (requires { row.udf; }) {
    set_if(row.model, hash.model);
    if (row.key) hash.toeplitz_key = row.key->bytes;
    if (row.udf) hash.udfs.clear();
    for (const UdfRow& udf : row.udf.value_or(std::vector<UdfRow>{})) hash.udfs.push_back(udf_of(udf));
  }
  check_hash(reader, where, hash);
}

void apply_groups(const GroupsRow& row, GroupConfig& groups) {
  set_if(row.mode, groups.mode);
  set_if(row.kind, groups.kind);
  set_if(row.buckets, groups.buckets);
  set_if(row.gap, groups.flowlets.gap);
  set_if(row.flowlets, groups.flowlets.slots);
  if (!row.weights) return;
  groups.weights.clear();
  for (const auto& item : row.weights->items) groups.weights.emplace_back(item.name, item.value);
}

// The map in force is the one that PORT_QOS_MAP names, else the only one. Both the table and the choice come from the
// base if a profile has none. A map replaces the base's as a whole; what it does not list is 0, as SAI has it.
template <typename T, size_t Keys>
struct Maps {
  const Named<NumberMap<T, Keys>>* table = nullptr;
  Value table_where;
  std::optional<std::string> chosen;
};

template <typename T, size_t Keys>
void apply_map(Reader& reader, const std::optional<Named<NumberMap<T, Keys>>>& table, Value table_where,
               const std::optional<std::string>& chosen, Value chosen_where, Maps<T, Keys>& maps,
               std::array<T, Keys>& into) {
  if (!table && !chosen) return;
  if (table) std::tie(maps.table, maps.table_where) = std::tuple(&*table, table_where);
  if (chosen) maps.chosen = chosen;
  if (maps.table == nullptr) {
    reader.wrong(chosen_where, "there is no map " + shown(*chosen) + ": its table is missing");
    return;
  }
  std::vector<std::string_view> names;
  for (const auto& item : maps.table->items) names.push_back(item.name);
  const bool is_only = !chosen && names.size() == 1;
  const auto found = is_only ? names.begin() : std::ranges::find(names, std::string_view(maps.chosen.value_or("")));
  if (found != names.end()) {
    into.fill(0);
    const auto place = static_cast<size_t>(found - names.begin());
    for (const auto& [key, value] : maps.table->items[place].value.items) into[key] = value;
  } else if (chosen) {
    reader.wrong(chosen_where, "there is no map " + shown(*chosen) + reader.guess(*chosen, names));
  } else if (!reader.is_wrong(maps.table_where)) {
    reader.wrong(maps.table_where,
                 "holds " + std::to_string(names.size()) + " maps: PORT_QOS_MAP must say which is in force");
  }
}

// A profile, and what those that change it need to know about how it came to be.
struct Resolved {
  Profile profile;
  Maps<uint8_t, 64> dscp_to_tc;
  Maps<uint8_t, 8> tc_to_queue;
};

void apply_row(Reader& reader, const ProfileRow& row, Resolved& out) {
  Profile& profile = out.profile;
  if (row.queue_limit) profile.queue_limit_bytes.fill(row.queue_limit->count);
  if (row.queue_limits) {
    for (const auto& [queue, limit] : row.queue_limits->items) profile.queue_limit_bytes[queue] = limit.count;
  }
  set_if(row.mtu, profile.mtu);
  if (row.hash) apply_hash(reader, row.hash->where, *row.hash, profile.hash);
  if (row.switch_hash) apply_hash(reader, row.switch_hash->global.where, row.switch_hash->global, profile.hash);
  if (row.groups) apply_groups(*row.groups, profile.groups);
  const PortQosGlobalRow qos = row.port_qos_map ? row.port_qos_map->global : PortQosGlobalRow{};
  apply_map(reader, row.dscp_to_tc_map, row.where.child("DSCP_TO_TC_MAP"), qos.dscp_to_tc_map,
            qos.where.child("dscp_to_tc_map"), out.dscp_to_tc, profile.dscp_to_tc);
  apply_map(reader, row.tc_to_queue_map, row.where.child("TC_TO_QUEUE_MAP"), qos.tc_to_queue_map,
            qos.where.child("tc_to_queue_map"), out.tc_to_queue, profile.tc_to_queue);
}

// What SONiC ships for Broadcom's switches, by role: RTAG7 with these seeds.
struct BuiltIn {
  std::string_view name;
  uint32_t seed;
  uint8_t offset;
};
constexpr BuiltIn kBuiltIn[] = {{"sonic-tor", 0, 0},
                                {"sonic-leaf", 10, 10},
                                {"sonic-spine", 25, 0},
                                {"sonic-fabric-spine", 40, 0},
                                {"sonic-upper-spine", 50, 0}};

class ProfileResolver {
 public:
  ProfileResolver(Reader& reader, const Named<ProfileRow>& rows)
      : reader_(reader), rows_(rows), state_(rows.items.size()) {
    for (uint32_t i = 0; i < rows.items.size(); ++i) {
      by_name_.emplace(rows.items[i].name, i);
      names_.push_back(rows.items[i].name);
    }
    resolved_.resize(rows.items.size());
    for (const BuiltIn& built_in : kBuiltIn) add(built_in);
  }

  std::vector<Profile> run() {
    for (uint32_t i = 0; i < rows_.items.size(); ++i) resolve(i);
    std::vector<Profile> out;
    for (size_t i = 0; i < resolved_.size(); ++i) {
      if (i == rows_.items.size() && !by_name_.contains("default")) out.push_back(Profile{});
      out.push_back(std::move(resolved_[i].profile));
    }
    return out;
  }

 private:
  enum class State : uint8_t { kNew, kOnTheWay, kDone };

  // Unless the file has one of that name.
  void add(const BuiltIn& built_in) {
    if (!by_name_.emplace(built_in.name, static_cast<uint32_t>(resolved_.size())).second) return;
    names_.push_back(built_in.name);
    state_.push_back(State::kDone);
    Profile& profile = resolved_.emplace_back().profile;
    profile.name = built_in.name;
    profile.hash.model = HashModel::kRtag7;
    profile.hash.seed = built_in.seed;
    profile.hash.offset = built_in.offset;
  }

  // Along the bases down to one that is done, then back up: no recursion, since a chain may be as long as the file.
  void resolve(uint32_t first) {
    std::vector<uint32_t> chain;
    std::optional<uint32_t> at = first;
    while (at && state_[*at] == State::kNew) {
      state_[*at] = State::kOnTheWay;
      chain.push_back(*at);
      at = base_of(*at);
    }
    if (at && state_[*at] == State::kOnTheWay) {
      const auto& item = rows_.items[chain.back()];
      reader_.wrong(item.value.where.child("base"),
                    "the profile " + item.name + " is, by way of its bases, its own base");
      at.reset();
    }
    while (!chain.empty()) {
      const uint32_t index = chain.back();
      chain.pop_back();
      if (at) resolved_[index] = resolved_[*at];
      resolved_[index].profile.name = rows_.items[index].name;
      apply_row(reader_, rows_.items[index].value, resolved_[index]);
      state_[index] = State::kDone;
      at = index;
    }
  }

  std::optional<uint32_t> base_of(uint32_t index) {
    const ProfileRow& row = rows_.items[index].value;
    if (!row.base || reader_.is_wrong(row.where.child("base"))) return std::nullopt;
    const auto found = by_name_.find(*row.base);
    if (found != by_name_.end()) return found->second;
    reader_.wrong(row.where.child("base"),
                  "there is no profile " + shown(*row.base) + reader_.guess(*row.base, names_));
    return std::nullopt;
  }

  Reader& reader_;
  const Named<ProfileRow>& rows_;
  std::vector<State> state_;
  std::unordered_map<std::string_view, uint32_t> by_name_;
  std::vector<std::string_view> names_;
  std::vector<Resolved> resolved_;
};

}  // namespace

std::vector<Profile> resolve_profiles(Reader& reader, const Named<ProfileRow>& rows) {
  return ProfileResolver(reader, rows).run();
}

}  // namespace softspine::control
