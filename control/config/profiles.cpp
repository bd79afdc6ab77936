// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "control/config/resolve.hpp"

namespace softspine::control {
namespace {

template <typename T>
void set_if(const std::optional<T>& given, T& into) {
  if (given) into = *given;
}

template <typename HashLike>
void apply_hash(const HashLike& row, HashConfig& hash) {
  set_if(row.algorithm, hash.algorithm);
  set_if(row.fields, hash.fields);
  set_if(row.seed, hash.seed);
  set_if(row.offset, hash.offset);
}

// The map in force: the one that PORT_QOS_MAP names, else the only one. A map replaces the base's as a whole;
// what it does not list is 0, as SAI has it.
template <typename T, size_t Keys>
void apply_map(Reader& reader, const std::optional<Named<NumberMap<T, Keys>>>& maps,
               const std::optional<std::string>& chosen, Value chosen_where, Value maps_where,
               std::array<T, Keys>& into) {
  if (!maps) {
    if (chosen) reader.wrong(chosen_where, "there is no map " + shown(*chosen) + ": its table is missing");
    return;
  }
  if (!chosen && maps->items.size() != 1) {
    reader.wrong(maps_where,
                 "holds " + std::to_string(maps->items.size()) + " maps: PORT_QOS_MAP must say which is in force");
    return;
  }
  std::vector<std::string_view> names;
  for (const auto& item : maps->items) names.push_back(item.name);
  const auto found = chosen ? std::ranges::find(names, std::string_view(*chosen)) : names.begin();
  if (found == names.end()) {
    reader.wrong(chosen_where, "there is no map " + shown(*chosen) + reader.guess(*chosen, names));
    return;
  }
  into.fill(0);
  for (const auto& [key, value] : maps->items[static_cast<size_t>(found - names.begin())].value.items)
    into[key] = value;
}

void apply_row(Reader& reader, const ProfileRow& row, Profile& profile) {
  if (row.queue_limit) profile.queue_limit_bytes.fill(row.queue_limit->count);
  if (row.queue_limits) {
    for (const auto& [queue, limit] : row.queue_limits->items) profile.queue_limit_bytes[queue] = limit.count;
  }
  set_if(row.mtu, profile.mtu);
  if (row.hash) apply_hash(*row.hash, profile.hash);
  if (row.switch_hash) apply_hash(row.switch_hash->global, profile.hash);
  const PortQosGlobalRow qos = row.port_qos_map ? row.port_qos_map->global : PortQosGlobalRow{};
  apply_map(reader, row.dscp_to_tc_map, qos.dscp_to_tc_map, qos.where.child("dscp_to_tc_map"),
            row.where.child("DSCP_TO_TC_MAP"), profile.dscp_to_tc);
  apply_map(reader, row.tc_to_queue_map, qos.tc_to_queue_map, qos.where.child("tc_to_queue_map"),
            row.where.child("TC_TO_QUEUE_MAP"), profile.tc_to_queue);
}

class ProfileResolver {
 public:
  ProfileResolver(Reader& reader, const Named<ProfileRow>& rows)
      : reader_(reader), rows_(rows), state_(rows.items.size()) {
    for (uint32_t i = 0; i < rows.items.size(); ++i) {
      by_name_.emplace(rows.items[i].name, i);
      names_.push_back(rows.items[i].name);
    }
    profiles_.resize(rows.items.size());
  }

  std::vector<Profile> run() {
    for (uint32_t i = 0; i < profiles_.size(); ++i) resolve(i);
    if (!by_name_.contains("default")) profiles_.push_back(Profile{});
    return std::move(profiles_);
  }

 private:
  enum class State : uint8_t { kNew, kOnTheWay, kDone };

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
      Profile profile = at ? profiles_[*at] : Profile{};
      profile.name = rows_.items[index].name;
      apply_row(reader_, rows_.items[index].value, profile);
      profiles_[index] = std::move(profile);
      state_[index] = State::kDone;
      at = index;
    }
  }

  std::optional<uint32_t> base_of(uint32_t index) {
    const ProfileRow& row = rows_.items[index].value;
    if (!row.base || row.base->empty()) return std::nullopt;
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
  std::vector<Profile> profiles_;
};

}  // namespace

std::vector<Profile> resolve_profiles(Reader& reader, const Named<ProfileRow>& rows) {
  return ProfileResolver(reader, rows).run();
}

}  // namespace softspine::control
