// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <tuple>
#include <utility>

#include "control/load/config_db.hpp"
#include "control/load/hash_check.hpp"
#include "control/load/hash_rows.hpp"
#include "control/load/lag_hash.hpp"
#include "control/load/pg_profile_lookup.hpp"
#include "control/load/qos_maps.hpp"
#include "control/load/qos_resolve.hpp"
#include "control/load/resolve.hpp"
#include "control/load/sonic_hash.hpp"
#include "control/load/sonic_port_channels.hpp"
#include "control/rows/built_in_profiles.hpp"
#include "control/rows/tables.hpp"
#include "control/vendors/hash_reading.hpp"

namespace softspine::control {
namespace {

void apply_groups(const EcmpGroupsRow& row, EcmpGroupConfig& groups) {
  set_if(row.mode, groups.mode);
  set_if(row.kind, groups.kind);
  set_if(row.buckets, groups.buckets);
  set_if(row.gap, groups.flowlets.gap);
  set_if(row.flowlets, groups.flowlets.slots);
  if (!row.weights) return;
  groups.weights.clear();
  for (const auto& item : row.weights->items) groups.weights.emplace_back(item.name, item.value);
}

void apply_neighbours(const NeighboursRow& row, dataplane::NeighbourAges& ages) {
  set_if(row.arp_timeout, ages.arp_timeout);
  set_if(row.fdb_aging_time, ages.fdb_aging_time);
  set_if(row.fdb_unicast_miss, ages.fdb_unicast_miss);
}

std::shared_ptr<const QosMapsInForce> no_maps() {
  static const auto maps = std::make_shared<const QosMapsInForce>();
  return maps;
}

// A profile, and what those that change it need to know about how it came to be.
struct Resolved {
  Profile profile;
  std::shared_ptr<const QosMapsInForce> maps = no_maps();  // its base's, if it has none of its own
  QosRows qos;
  uint32_t layers = 0;
  LagHash lags;
  bool whole = true;  // it and its bases
};

size_t cables_of(const QosRows& qos) {
  size_t out = qos.traffic_pattern.items.size();
  for (const auto& map : qos.cable_length.items) out += map.row.items.size();
  return out;
}

size_t rows_of(const QosRows& qos) {
  return qos.buffer_pool.items.size() + qos.buffer_profile.items.size() + qos.buffer_pg.items.size() +
         qos.buffer_queue.items.size() + qos.lossless_parameter.items.size() + qos.wred_profile.items.size() +
         qos.port_slice.items.size() + qos.port.items.size() + cables_of(qos) + qos.port_ingress.items.size() +
         qos.port_egress.items.size() + qos.scheduler.items.size() + qos.queue.items.size() +
         qos.port_qos_map.items.size() + qos.pfc_wd.items.size();
}

bool changes_qos(const ProfileRow& row) {
  return !row.empty() || row.pfc_to_queue_map || row.pfc_to_pg_map || row.pg_profile_lookup;
}

void set_pfc_maps(const PfcMaps& maps, PortQos& port) {
  port.queues_of_priority.fill(0);
  port.priorities_of_pg.fill(0);
  for (unsigned p = 0; p < 8; ++p) {
    const uint8_t queue = maps.queue_of_priority[p];
    const uint8_t group = maps.group_of_priority[p];
    if (queue != kUnmappedPriority) port.queues_of_priority[p] = static_cast<uint8_t>(1U << queue);
    if (group != kUnmappedPriority) port.priorities_of_pg[group] |= static_cast<uint8_t>(1U << p);
  }
}

// After all rows of the profile: a config_db.json need not be complete without what the profile adds.
void resolve_tables(Reader& reader, Value where, Resolved& out) {
  const uint64_t complaints = reader.log().count();
  auto qos = resolve_qos(reader, where, out.qos);
  out.whole = out.whole && reader.log().count() == complaints;
  qos->whole = out.whole;
  const QosMapsInForce& maps = *out.maps;
  set_pfc_maps(maps.pfc, qos->others);
  for (auto& [name, port] : qos->ports) {
    const auto own = maps.pfc_of_ports.find(name);
    set_pfc_maps(own == maps.pfc_of_ports.end() ? maps.pfc : own->second, port);
  }
  out.profile.qos = std::move(qos);
}

void check_limits(Reader& reader, const ProfileRow& row, const Resolved& base) {
  if (!base.qos.has_buffers() || row.has_buffers()) return;
  for (const auto& [key, given] : {std::pair("queue_limit", row.queue_limit.has_value()),
                                   std::pair("queue_limits", row.queue_limits.has_value())}) {
    if (given) {
      reader.fail(row.where.child(key),
                  "does not go with the BUFFER_* tables that the profile is made of: they say what a queue may hold");
    }
  }
}

void apply_own_maps(Reader& reader, const ProfileRow& row, Resolved& out) {
  const bool has_tables = row.dscp_to_tc_map || row.dot1p_to_tc_map || row.tc_to_queue_map || row.tc_to_pg_map ||
                          row.pfc_to_queue_map || row.pfc_to_pg_map;
  if (!has_tables && row.port_qos_map.items.empty()) return;
  auto maps = std::make_shared<QosMapsInForce>(*out.maps);
  apply_maps(reader, row, *maps, out.profile);
  out.maps = std::move(maps);
}

void apply_hash_rows(Reader& reader, const ProfileRow& row, HashConfig& hash, LagHash& lags) {
  if (row.device_metadata && row.device_metadata->localhost) {
    lags.apply(*row.device_metadata->localhost);
    apply_device_metadata(*row.device_metadata->localhost, hash);
  }
  if (row.hash) {
    apply_hash(*row.hash, hash);
    check_hash(reader, row.hash->where, hash);
  }
  if (row.switch_hash) {
    const SwitchHashGlobalRow& global = row.switch_hash->global;
    lags.apply(global, hash);
    apply_hash(global, hash);
    check_hash(reader, global.where, hash);
  }
  if (row.lag_hash) lags.apply(*row.lag_hash);
}

void apply_row(Reader& reader, const ProfileRow& row, Resolved& out) {
  Profile& profile = out.profile;
  if (row.queue_limit) profile.queue_limit_bytes.fill(row.queue_limit->count);
  if (row.queue_limits) {
    for (const auto& [queue, limit] : row.queue_limits->items) profile.queue_limit_bytes[queue] = limit.count;
  }
  set_if(row.mtu, profile.mtu);
  set_if(row.in_band_telemetry, profile.in_band_telemetry);
  apply_hash_rows(reader, row, profile.hash, out.lags);
  if (row.groups) apply_groups(*row.groups, profile.groups);
  if (row.neighbours) apply_neighbours(*row.neighbours, profile.ages ? *profile.ages : profile.ages.emplace());
  out.whole = out.whole && row.read_well;
  apply_own_maps(reader, row, out);
  check_limits(reader, row, out);
  overlay(row, out.qos, ++out.layers);
}

// Built-in ones are read when they are first asked for, once in a process, by whichever thread. Their values' ids lie
// behind those that a reader's documents may have (Reader::open).
const ProfileRow& row_of(const BuiltInProfile& profile) {
  struct Read {
    std::unique_ptr<const Document> document;
    ProfileRow row;
  };
  static std::mutex lock;
  static std::map<std::string_view, Read> known;
  static uint32_t next_id = UINT32_MAX - kMaxValues;
  const std::lock_guard guard{lock};
  const auto [place, is_new] = known.try_emplace(profile.name);
  Read& it = place->second;
  if (!is_new) return it.row;
  Reader reader;
  const std::string file = "(built-in profile " + std::string(profile.name) + ")";
  it.document = Document::parse(profile.text, file, reader.log(), Dialect::kTestbed, next_id);
  next_id += static_cast<uint32_t>(profile.text.size());  // more than it has values
  Format<ProfileRow>::read(reader, it.document->root(), it.row);
  return it.row;
}

class ProfileResolver {
 public:
  ProfileResolver(Reader& reader, const Named<ProfileRow>& rows) : reader_(reader) {
    for (const auto& item : rows.items) add(item.name, item.value);
    for (const BuiltInProfile& built_in : built_in_profiles()) names_.push_back(built_in.name);
  }

  std::vector<Profile> run(const std::vector<std::string_view>& wanted) {
    const size_t of_file = entries_.size();
    for (uint32_t i = 0; i < of_file; ++i) resolve(i);
    for (uint32_t i = 0; i < of_file; ++i) {
      entries_[i].resolved.profile.place = place_of(entries_[i].row->where);
      entries_[i].resolved.profile.groups_place = place_of(entries_[i].row->where.child("groups"));
    }
    for (const std::string_view name : wanted) {
      if (const auto index = find(name)) resolve(*index);
    }
    std::vector<Profile> out;
    for (Entry& entry : entries_) out.push_back(std::move(entry.resolved.profile));
    if (!by_name_.contains("default")) out.insert(out.begin() + static_cast<std::ptrdiff_t>(of_file), Profile{});
    return out;
  }

 private:
  enum class State : uint8_t { kNew, kOnTheWay, kDone };
  struct Entry {
    std::string_view name;
    const ProfileRow* row;
    State state = State::kNew;
    Resolved resolved;
  };

  uint32_t add(std::string_view name, const ProfileRow& row) {
    const auto index = static_cast<uint32_t>(entries_.size());
    by_name_.emplace(name, index);
    names_.push_back(name);
    entries_.push_back({.name = name, .row = &row, .resolved = {}});
    return index;
  }

  std::optional<uint32_t> find(std::string_view name) {
    if (const auto found = by_name_.find(name); found != by_name_.end()) return found->second;
    const BuiltInProfile* built_in = find_built_in_profile(name);
    if (built_in == nullptr) return std::nullopt;
    return add(built_in->name, row_of(*built_in));
  }

  // Along the bases down to one that is done, then back up: no recursion, since a chain may be as long as the file.
  void resolve(uint32_t first) {
    std::vector<uint32_t> chain;
    uint32_t at = first;
    while (at != kNone && entries_[at].state == State::kNew) {
      entries_[at].state = State::kOnTheWay;
      chain.push_back(at);
      at = base_of(at);
    }
    if (at != kNone && entries_[at].state == State::kOnTheWay) {
      const Entry& entry = entries_[chain.back()];
      reader_.fail(entry.row->where.child("base"),
                   "the profile " + std::string(entry.name) + " is, by way of its bases, its own base");
      at = kNone;
    }
    while (!chain.empty()) {
      const uint32_t index = chain.back();
      chain.pop_back();
      Entry& entry = entries_[index];
      if (at != kNone) entry.resolved = entries_[at].resolved;
      entry.resolved.profile.name = entry.name;
      apply(entry);
      entry.state = State::kDone;
      at = index;
    }
  }

  void apply(Entry& entry) {
    const ProfileRow* file = config_db_of(*entry.row);
    if (!fits(entry, file)) return;
    if (file != nullptr) apply_row(reader_, *file, entry.resolved);
    if (file != nullptr && channels_[file] != nullptr) entry.resolved.profile.port_channels = channels_[file];
    apply_switch_json(*entry.row, entry.resolved);
    apply_switch_config(*entry.row, entry.resolved);
    apply_row(reader_, *entry.row, entry.resolved);
    entry.resolved.lags.resolve(reader_, entry.row->where, entry.resolved.profile);
    apply_lookup(*entry.row, entry.resolved);
    if (changes_qos(*entry.row) || (file != nullptr && changes_qos(*file))) {
      resolve_tables(reader_, entry.row->where, entry.resolved);
    }
  }

  // Tables upon tables of bases upon bases could be any number, and each profile has a copy.
  bool fits(Entry& entry, const ProfileRow* file) {
    constexpr size_t kRowLimit = 400'000;
    rows_ += rows_of(*entry.row) + rows_of(entry.resolved.qos) + (file == nullptr ? 0 : rows_of(*file));
    if (rows_ <= kRowLimit) return true;
    entry.resolved.qos = {};
    reader_.fail(entry.row->where, "is too much: profiles may have " + std::to_string(kRowLimit) +
                                       " rows of tables, those of bases counted again");
    return false;
  }

  // Profiles by speed and cable, beside those that the tables have.
  void apply_lookup(const ProfileRow& row, Resolved& out) {
    const Value where = row.where.child("pg_profile_lookup");
    if (!row.pg_profile_lookup || reader_.is_invalid(where)) return;
    const std::string path = path_of(where, *row.pg_profile_lookup);
    const auto text = reader_.text_of(path);
    if (!text) return void(reader_.fail(where, shown(path) + " " + text.error()));
    const auto& pools = out.qos.buffer_pool.items;
    const auto pool = std::ranges::find(pools, kLosslessPool, [](const auto& item) { return item.key.text; });
    if (pool == pools.end())
      return void(reader_.fail(where, "its profiles are of " + std::string(kLosslessPool) + ", which is missing"));
    Errors errors;
    const bool is_static = pool->row.mode == PoolMode::kStatic;
    const std::string tables = pg_profiles_json(*text, is_static ? "static_th" : "dynamic_th", path, errors);
    for (const Error& error : errors) reader_.log().add(error);
    const Value root = reader_.open(tables, path, Dialect::kConfigDb);
    ProfileRow found;
    config_db_table().read(reader_, root, found);
    for (auto& item : found.buffer_profile.items) {
      const auto& known = out.qos.buffer_profile.items;
      const auto same = [&](const auto& other) { return other.key.text == item.key.text; };
      if (std::ranges::none_of(known, same)) out.qos.buffer_profile.items.push_back(std::move(item));
    }
  }

  void apply_switch_json(const ProfileRow& row, Resolved& out) {
    HashConfig& hash = out.profile.hash;
    if (!row.switch_json || reader_.is_invalid(row.where.child("switch_json"))) return;
    const Value root = opened(row.where.child("switch_json"), *row.switch_json);
    if (root.file().empty()) return;
    if (root.kind() != ValueKind::kSequence) {
      reader_.fail(root, "is no switch.json: expected a list of SONiC's tables");
      return;
    }
    for (const Value item : root.items()) {
      SwitchJsonRow found;
      if (!Format<SwitchJsonRow>::read(reader_, item, found) || !found.table) continue;
      out.lags.apply(*found.table, hash);
      set_if(found.table->seed, hash.seed);
      set_if(found.table->offset, hash.offset);
      check_hash(reader_, found.table->where, hash);
    }
  }

  void apply_switch_config(const ProfileRow& row, Resolved& out) {
    HashConfig& hash = out.profile.hash;
    const Value where = row.where.child("switch_config");
    if (!row.switch_config || reader_.is_invalid(where)) return;
    const std::string path = path_of(where, *row.switch_config);
    const auto [place, is_new] = readings_.try_emplace(path);
    if (is_new) {
      const auto text = reader_.text_of(path);
      if (!text) return void(reader_.fail(where, shown(path) + " " + text.error()));
      place->second = read_hash(*text);
      const auto error_of = [&path](const LineNote& note) { return Error{path, "", note.line, 1, note.text}; };
      for (const LineNote& note : place->second.errors) reader_.log().add(error_of(note));
      for (const auto* notes : {&place->second.partly, &place->second.not_taken, &place->second.remarks}) {
        for (const LineNote& note : *notes) reader_.warn(error_of(note));
      }
    }
    if (!place->second.vendor || !place->second.errors.empty()) return;
    const HashReading& reading = place->second;
    if (auto of_lags = lag_row_of(reading)) {
      of_lags->where = where;
      out.lags.apply(*of_lags);
    }
    apply_reading(reading, hash);
    check_hash(reader_, where, hash);
  }

  // A file beside the testbed's. Nothing, if it cannot be read.
  Value opened(Value where, const std::string& name) {
    const std::string path = path_of(where, name);
    const auto text = reader_.text_of(path);
    if (text) return reader_.open(*text, path, Dialect::kConfigDb);
    reader_.fail(where, shown(path) + " " + text.error());
    return {};
  }
  // Beside the file that names it.
  std::string path_of(Value where, const std::string& name) const {
    const std::string_view from = where.file();
    return (std::filesystem::path(from.empty() ? reader_.file() : from).parent_path() / name).string();
  }

  // Each file is read once.
  const ProfileRow* config_db_of(const ProfileRow& row) {
    if (!row.config_db || reader_.is_invalid(row.where.child("config_db"))) return nullptr;
    const auto [place, is_new] = files_.try_emplace(path_of(row.where, *row.config_db));
    if (!is_new) return place->second.get();
    const Value root = opened(row.where.child("config_db"), *row.config_db);
    place->second = std::make_unique<ProfileRow>();
    if (root.file().empty()) return place->second.get();
    config_db_table().read(reader_, root, *place->second);
    finish_config_db(reader_, *place->second);
    channels_[place->second.get()] = port_channels_of(reader_, *place->second);
    return place->second.get();
  }

  // kNone: there is none.
  uint32_t base_of(uint32_t index) {
    const ProfileRow& row = *entries_[index].row;
    if (!row.base || reader_.is_invalid(row.where.child("base"))) return kNone;
    if (const auto found = find(*row.base)) return *found;
    if (*row.base == Profile{}.name) return kNone;  // which switches have without any: as every profile begins
    reader_.fail(row.where.child("base"), "there is no profile " + shown(*row.base) + reader_.guess(*row.base, names_));
    return kNone;
  }

  Reader& reader_;
  std::vector<Entry> entries_;  // the file's, in its order, then built-in ones
  std::map<std::string, std::unique_ptr<ProfileRow>> files_;
  std::map<const ProfileRow*, std::shared_ptr<const std::vector<PortChannel>>> channels_;  // by file
  std::map<std::string, HashReading> readings_;
  std::unordered_map<std::string_view, uint32_t> by_name_;
  std::vector<std::string_view> names_;
  size_t rows_ = 0;
};

}  // namespace

std::vector<Profile> resolve_profiles(Reader& reader, const Named<ProfileRow>& rows,
                                      const std::vector<std::string_view>& wanted) {
  return ProfileResolver(reader, rows).run(wanted);
}

}  // namespace softspine::control
