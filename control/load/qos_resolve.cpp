// SPDX-License-Identifier: Apache-2.0
#include "control/load/qos_resolve.hpp"

#include <algorithm>
#include <map>
#include <unordered_map>

#include "control/load/fitting_profiles.hpp"
#include "control/load/wred_resolve.hpp"
#include "control/rows/tables.hpp"

namespace softspine::control {
namespace {

namespace dp = dataplane;

using Index = std::unordered_map<std::string_view, size_t>;

template <typename Row>
Index index_of(const Keyed<RowName, Row>& table) {
  Index out;
  for (size_t i = 0; i < table.items.size(); ++i) out.emplace(table.items[i].key.text, i);
  return out;
}

template <typename Row>
void overlay_named(const Keyed<RowName, Row>& from, Keyed<RowName, Row>& into) {
  const Index index = index_of(into);
  std::vector<typename Keyed<RowName, Row>::Item> added;
  for (const auto& item : from.items) {
    const auto found = index.find(item.key.text);
    if (found == index.end()) {
      added.push_back(item);
    } else {
      into.items[found->second].at = item.at;
      Tables<Row>::table().merge(item.row, into.items[found->second].row);
    }
  }
  into.items.insert(into.items.end(), added.begin(), added.end());
}

template <typename Key, typename Row>
void put_behind(const Keyed<Key, Row>& from, Keyed<Key, Row>& into, uint32_t layer) {
  for (const auto& item : from.items) into.items.emplace_back(item).layer = layer;
}

void set_chip(const PlatformRow& chip, QosConfig& out) {
  out.cell_bytes = chip.cell_bytes;
  out.slices = chip.slices;
  out.ingress_pools_total = chip.pools_total;
  out.egress_pools_whole = chip.pools_whole;
  out.queue_extra_cells = chip.queue_extra;
  out.spectrum4 = chip.platform == Platform::kSpectrum4;
}

constexpr size_t kMaxPorts = 2'048;

class QosResolver {
 public:
  QosResolver(Reader& reader, Value where, const QosRows& rows)
      : reader_(reader),
        where_(where),
        rows_(rows),
        pool_index_(index_of(rows.buffer_pool)),
        profile_index_(index_of(rows.buffer_profile)),
        scheduler_index_(index_of(rows.scheduler)),
        wred_index_(index_of(rows.wred_profile)),
        out_(std::make_shared<QosConfig>()),
        fitting_(reader, *out_) {}

  std::shared_ptr<QosConfig> run() {
    out_->place = place_of(where_);
    const auto is_foreign = [](const auto& item) { return item.at.dialect() == Dialect::kConfigDb; };
    out_->from_config_db = std::ranges::any_of(rows_.buffer_pg.items, is_foreign) ||
                           std::ranges::any_of(rows_.buffer_queue.items, is_foreign);
    set_platform();
    add_pools();
    add_profiles();
    add_schedulers();
    add_wreds();
    add_ports();
    if (rows_.has_buffers()) check_shared_headroom();
    return std::move(out_);
  }

 private:
  // The place of a row among those of its table, or a complaint.
  int16_t find(const Index& table, const char* name_of_table, const std::optional<Reference>& reference, Value at) {
    if (!reference || reader_.is_invalid(at)) return PortQos::kNone;
    const auto found = table.find(reference->name);
    if (found != table.end()) return static_cast<int16_t>(std::min<size_t>(found->second, INT16_MAX));
    std::vector<std::string_view> known;
    for (const auto& [name, place] : table) known.push_back(name);
    std::ranges::sort(known);
    reader_.fail(at, std::string(name_of_table) + " has no row " + shown(reference->name) +
                         reader_.guess(reference->name, known));
    return PortQos::kNone;
  }

  // Whether the table is of a size that indices hold.
  template <typename Row>
  bool holds(const Keyed<RowName, Row>& table, const char* name, size_t most) {
    if (table.items.size() <= most) return true;
    reader_.fail(table.items[most].at,
                 "is one too many: " + std::string(name) + " may have " + std::to_string(most) + " rows");
    return false;
  }

  // What the profile says goes before what its platform is like. What was refused has been read as 0.
  void set_platform() {
    if (rows_.platform && has_public_rules(*rows_.platform)) set_chip(row_of(*rows_.platform), *out_);
    if (rows_.cell) out_->cell_bytes = std::max(1U, static_cast<uint32_t>(rows_.cell->count));
    if (rows_.slices) out_->slices = std::max(1U, *rows_.slices);
    if (rows_.ingress_pool_size) out_->ingress_pools_total = *rows_.ingress_pool_size == PoolSize::kTotal;
  }

  void add_pools() {
    if (!holds(rows_.buffer_pool, "BUFFER_POOL", dp::BufferPlan::kMaxPools / out_->slices)) return;
    for (const auto& item : rows_.buffer_pool.items) {
      const BufferPoolRow& row = item.row;
      BufferPoolConfig pool{.name = item.key.text, .place = place_of(row.where)};
      if (!row.type) reader_.fail(row.where, "the key 'type' is missing: ingress or egress");
      pool.computed = !row.size;
      pool.percentage = row.percentage;
      pool.ingress = row.type.value_or(PoolType::kIngress) != PoolType::kEgress;
      pool.size = row.size.value_or(Bytes{}).count;
      pool.xoff = row.xoff.value_or(Bytes{}).count;
      if (pool.xoff > 0 && !pool.ingress) {
        reader_.fail(row.where.child("xoff"), "headroom is for ingress pools: this one is an egress pool");
      }
      out_->pools.push_back(std::move(pool));
    }
    add_egress_twins();
    read_calculator_inputs(reader_, rows_, *out_);
  }

  // A pool of both directions is one of each: what is held is counted at both ends, as everything is.
  void add_egress_twins() {
    const size_t count = out_->pools.size();
    for (size_t i = 0; i < count; ++i) {
      if (rows_.buffer_pool.items[i].row.type != PoolType::kBoth) continue;
      if ((out_->pools.size() + 1) * out_->slices > dp::BufferPlan::kMaxPools) {
        reader_.fail(rows_.buffer_pool.items[i].at, "is one too many: a pool of both directions counts as two");
        return;
      }
      twin_of_[static_cast<uint8_t>(i)] = static_cast<uint8_t>(out_->pools.size());
      BufferPoolConfig twin = out_->pools[i];
      twin.ingress = false;
      twin.xoff = 0;
      out_->pools.push_back(std::move(twin));
    }
  }

  void add_profiles() {
    if (!holds(rows_.buffer_profile, "BUFFER_PROFILE", INT16_MAX - 1)) return;
    for (const auto& item : rows_.buffer_profile.items) out_->profiles.push_back(profile_of(item.key.text, item.row));
  }

  BufferProfileConfig profile_of(const std::string& name, const BufferProfileRow& row) {
    BufferProfileConfig out{.name = name, .place = place_of(row.where)};
    if (!row.pool) reader_.fail(row.where, "the key 'pool' is missing: a row of BUFFER_POOL");
    const int16_t pool = find(pool_index_, "BUFFER_POOL", row.pool, row.where.child("pool"));
    out.size = row.size.value_or(Bytes{}).count;
    if (row.dynamic_th) out.dynamic_th = row.dynamic_th->value;
    out.static_th = row.static_th.value_or(Bytes{}).count;
    out.xon = row.xon.value_or(Bytes{}).count;
    out.xon_offset = row.xon_offset.value_or(Bytes{}).count;
    out.automatic = row.xoff && row.xoff->automatic;
    out.xoff = row.xoff.value_or(Xoff{}).bytes.count;
    out.lossless = out.automatic || out.xoff > 0;
    check_threshold(row);
    check_lossless(row, out);
    if (pool < 0 || static_cast<size_t>(pool) >= out_->pools.size()) return out;
    out.pool = static_cast<uint8_t>(pool);
    const BufferPoolConfig& its = out_->pools[out.pool];
    out.holds_headroom = out.lossless && !out.automatic && its.xoff == 0 && out.size >= out.xoff;
    check_against(row, out, its);
    return out;
  }

  void check_threshold(const BufferProfileRow& row) {
    if (row.dynamic_th && row.static_th) {
      reader_.fail(row.where.child("static_th"), "says again what 'dynamic_th' says");
    } else if (!row.dynamic_th && !row.static_th) {
      reader_.fail(row.where, "needs either 'dynamic_th' or 'static_th': how much shared memory it may use");
    }
  }

  void check_lossless(const BufferProfileRow& row, const BufferProfileConfig& profile) {
    if (profile.lossless || reader_.is_invalid(row.where.child("xoff"))) return;
    for (const auto& [key, given] :
         {std::pair("xon", profile.xon > 0), std::pair("xon_offset", profile.xon_offset > 0)}) {
      if (given) reader_.fail(row.where.child(key), "is for lossless profiles: 'xoff' is missing");
    }
  }

  // A threshold of the other kind than the pool's mode is none: SAI lets the profile decide, and SONiC's files do.
  void check_against(const BufferProfileRow& row, const BufferProfileConfig& profile, const BufferPoolConfig& pool) {
    if (profile.lossless && !pool.ingress) {
      reader_.fail(row.where.child("xoff"), "headroom is for priority groups: " + pool.name + " is an egress pool");
    }
    if (profile.xoff > 0 && pool.xoff > 0 && profile.xoff > pool.xoff) {
      reader_.fail(row.where.child("xoff"), "is more than the whole headroom pool of " + pool.name + " (" +
                                                std::to_string(pool.xoff) + " bytes)");
    }
  }

  void add_schedulers() {
    if (!holds(rows_.scheduler, "SCHEDULER", 255)) return;
    for (const auto& item : rows_.scheduler.items) {
      const SchedulerRow& row = item.row;
      SchedulerConfig out{.name = item.key.text};
      out.strict = row.type.value_or(SchedulerType::kStrict) == SchedulerType::kStrict;
      out.weight = static_cast<uint8_t>(row.weight.value_or(1));
      out.shaper.rate = row.pir.value_or(dp::Rate{});
      out.shaper.burst_bytes = static_cast<uint32_t>(row.pbs.value_or(Bytes{}).count);
      if (!row.type) reader_.fail(row.where, "the key 'type' is missing: STRICT or DWRR");
      out_->schedulers.push_back(std::move(out));
    }
  }

  void add_wreds() {
    if (!holds(rows_.wred_profile, "WRED_PROFILE", 254)) return;
    for (const auto& item : rows_.wred_profile.items)
      out_->wreds.emplace_back(item.key.text, wred_of(reader_, item.row));
  }

  // Rows for all ports first, then those for single ports; within each, bases first.
  void add_ports() {
    std::map<std::string, PortQos, std::less<>> ports;
    add_rows(rows_.port_qos_map, ports, [&](const auto& item, PortQos& port) { set_port(item.row, port); });
    add_rows(rows_.pfc_wd, ports, [&](const auto& item, PortQos& port) { set_watchdog(item, port); });
    add_rows(rows_.buffer_pg, ports,
             [&](const auto& item, PortQos& port) { fill(item, port.groups, use_of(item.row, true)); });
    add_rows(rows_.buffer_queue, ports,
             [&](const auto& item, PortQos& port) { fill(item, port.queues, use_of(item.row, false)); });
    add_rows(rows_.port_ingress, ports,
             [&](const auto& item, PortQos& port) { port.ingress_profiles = profiles_of(item.row, true); });
    add_rows(rows_.port_egress, ports,
             [&](const auto& item, PortQos& port) { port.egress_profiles = profiles_of(item.row, false); });
    add_rows(rows_.port_slice, ports, [&](const auto& item, PortQos& port) { set_slice(item.row, port); });
    add_rows(rows_.queue, ports, [&](const auto& item, PortQos& port) {
      const auto scheduler = find(scheduler_index_, "SCHEDULER", item.row.scheduler, item.row.where.child("scheduler"));
      const auto wred = find(wred_index_, "WRED_PROFILE", item.row.wred_profile, item.row.where.child("wred_profile"));
      if (item.row.scheduler) fill(item, port.schedulers, scheduler);
      if (item.row.wred_profile) fill(item, port.wreds, wred);
    });
    add_rows(rows_.port, ports, [&](const auto& item, PortQos& port) { set_interface(item.row, port); });
    for (const auto& map : rows_.cable_length.items) {
      add_rows(map.row, ports,
               [&](const auto& item, PortQos& port) { port.cable_micrometres = item.row.length.micrometres; });
    }
    fitting_.add_groups(rows_, ports);
    check_overlap(rows_.buffer_pg);
    check_overlap(rows_.buffer_queue);
    check_overlap(rows_.queue);
    out_->ports.assign(ports.begin(), ports.end());
  }

  template <typename Key, typename Row, typename F>
  void add_rows(const Keyed<Key, Row>& table, std::map<std::string, PortQos, std::less<>>& ports, F&& set) {
    for (const auto& item : table.items) {
      if (!ports_of(item.key)->names.empty()) continue;
      set(item, out_->others);
      for (auto& [name, port] : ports) set(item, port);
    }
    for (const auto& item : table.items) {
      for (const std::string& name : ports_of(item.key)->names) {
        if (ports.size() >= kMaxPorts && !ports.contains(name)) {
          reader_.fail(item.at, "names more ports than a switch has: " + std::to_string(kMaxPorts));
          return;
        }
        set(item, ports.try_emplace(name, out_->others).first->second);
      }
    }
  }
  static const PortSet* ports_of(const PortSet& key) { return &key; }
  static const PortSet* ports_of(const PortRange& key) { return &key.ports; }

  template <typename Item>
  static void fill(const Item& item, PortQos::Indices& into, int16_t index) {
    for (unsigned i = item.key.first; i <= item.key.last; ++i) into[i] = index;
  }

  template <typename Row>
  void check_overlap(const Keyed<PortRange, Row>& table) {
    std::map<std::tuple<uint32_t, std::string, unsigned>, bool> seen;
    const auto note = [&](const auto& item, const std::string& port) {
      for (unsigned i = item.key.first; i <= item.key.last; ++i) {
        if (seen.try_emplace({item.layer, port, i}, true).second) continue;
        reader_.fail(item.at, (port.empty() ? "" : port + "|") + std::to_string(i) + " stands in this table already");
      }
    };
    for (const auto& item : table.items) {
      if (item.key.ports.names.empty()) note(item, "");
      for (const std::string& name : item.key.ports.names) note(item, name);
    }
  }

  // Of a port as a whole.
  std::vector<int16_t> profiles_of(const PortProfilesRow& row, bool ingress) {
    const Value at = row.where.child("profile_list");
    std::vector<int16_t> out;
    for (const Reference& name : row.profiles.names) {
      const int16_t index = find(profile_index_, "BUFFER_PROFILE", name, at);
      if (index < 0 || static_cast<size_t>(index) >= out_->profiles.size()) continue;
      const BufferProfileConfig& profile = out_->profiles[static_cast<size_t>(index)];
      if (profile.pool >= out_->pools.size()) continue;
      const BufferPoolConfig& pool = out_->pools[profile.pool];
      if (pool.ingress != ingress) {
        const auto twin = ingress ? PortQos::kNone : egress_twin(index);
        if (twin != PortQos::kNone) {
          out.push_back(twin);
          continue;
        }
        reader_.fail(at, profile.name + " is of " + pool.name + ", an " + (ingress ? "egress" : "ingress") + " pool");
      } else if (std::ranges::any_of(out, [&](int16_t other) {
                   return out_->profiles[static_cast<size_t>(other)].pool == profile.pool;
                 })) {
        reader_.fail(at, "has two profiles of " + pool.name);
      } else {
        out.push_back(index);
      }
    }
    return out;
  }

  static void set_interface(const PortRow& row, PortQos& port) {
    if (row.speed) port.speed = dp::Rate::bps(uint64_t{*row.speed} * 1'000'000);
    if (row.lanes) port.eight_lanes = std::ranges::count(*row.lanes, ',') == 7;
    if (row.admin_status) port.admin_up = *row.admin_status == PortStatus::kUp;
  }

  void set_slice(const PortSliceRow& row, PortQos& port) {
    if (row.slice >= out_->slices) {
      reader_.fail(row.where.child("slice"), "is not one of the " + std::to_string(out_->slices) + " slices");
      return;
    }
    port.slice = static_cast<uint8_t>(row.slice);
  }

  // Into QosConfig::profiles.
  int16_t use_of(const BufferUseRow& row, bool ingress) {
    const Value at = row.where.child("profile");
    if (ingress && row.profile && row.profile->name == "NULL") return fitting_.automatic(rows_, at);
    const int16_t index = find(profile_index_, "BUFFER_PROFILE", row.profile, at);
    if (index < 0 || static_cast<size_t>(index) >= out_->profiles.size()) return PortQos::kNone;
    if (const int16_t twin = ingress ? PortQos::kNone : egress_twin(index); twin != PortQos::kNone) return twin;
    const BufferProfileConfig& profile = out_->profiles[static_cast<size_t>(index)];
    if (profile.pool < out_->pools.size() && out_->pools[profile.pool].ingress != ingress) {
      reader_.fail(at, profile.name + " is of " + out_->pools[profile.pool].name + ", an " +
                           (ingress ? "egress pool: priority groups take one of an ingress pool"
                                    : "ingress pool: queues take one of an egress pool"));
    }
    return index;
  }

  // The profile as queues use it, if its pool is one of both directions.
  int16_t egress_twin(int16_t index) {
    const auto pool = twin_of_.find(out_->profiles[static_cast<size_t>(index)].pool);
    if (pool == twin_of_.end()) return PortQos::kNone;
    const auto [place, is_new] = twin_profiles_.try_emplace(index, static_cast<int16_t>(out_->profiles.size()));
    if (is_new) {
      BufferProfileConfig twin = out_->profiles[static_cast<size_t>(index)];
      twin.pool = pool->second;
      out_->profiles.push_back(std::move(twin));
    }
    return place->second;
  }

  void set_port(const PortQosRow& row, PortQos& port) {
    if (row.pfc_enable) port.pfc_enable = row.pfc_enable->mask;
    if (row.pfcwd_sw_enable) port.pfcwd_sw_enable = row.pfcwd_sw_enable->mask;
    if (row.pfc_response) port.pfc_response = row.pfc_response;
    if (row.scheduler)
      port.scheduler = find(scheduler_index_, "SCHEDULER", row.scheduler, row.where.child("scheduler"));
  }

  template <typename Item>
  void set_watchdog(const Item& item, PortQos& port) {
    const PfcWdRow& row = item.row;
    dp::WatchdogPlan& plan = port.watchdog;
    if (row.poll_interval) {
      if (!item.key.names.empty()) reader_.fail(row.where.child("POLL_INTERVAL"), "is said once, in the row GLOBAL");
      out_->watchdog_poll = *row.poll_interval;
    }
    if (row.action) {
      plan.action = *row.action == PfcWdAction::kDrop      ? dp::WatchdogAction::kDrop
                    : *row.action == PfcWdAction::kForward ? dp::WatchdogAction::kForward
                                                           : dp::WatchdogAction::kAlert;
    }
    if (row.detection_time) plan.detection = *row.detection_time;
    if (row.restoration_time) plan.restoration = *row.restoration_time;
    if (row.waiting) plan.keeps_waiting = *row.waiting == PfcWdWaiting::kKeep;
    if (row.rx_counter) plan.counts_while_enabled = *row.rx_counter == PfcWdCounter::kWhileEnabled;
    const bool says_how = row.detection_time || row.restoration_time || row.waiting || row.rx_counter;
    if (says_how && plan.action == dp::WatchdogAction::kNone) {
      reader_.fail(row.where, "the key 'action' is missing: drop, forward or alert");
    }
  }

  // A row that says which groups or queues use a pool is invalid: its error is reported already, and whether the pool
  // has users is not known.
  bool has_wrong_users() const {
    const auto is_wrong = [this](Value row, const char* key) {
      return reader_.is_invalid(row) || reader_.is_invalid(row.child(key));
    };
    return std::ranges::any_of(rows_.buffer_profile.items,
                               [&](const auto& item) {
                                 return is_wrong(item.row.where, "xoff") || is_wrong(item.row.where, "pool");
                               }) ||
           std::ranges::any_of(rows_.buffer_pg.items,
                               [&](const auto& item) { return is_wrong(item.row.where, "profile"); });
  }

  // A shared headroom pool that nobody can use is a mistake elsewhere.
  void check_shared_headroom() {
    if (has_wrong_users()) return;
    const auto is_used = [&](const PortQos& port, size_t pool) {
      return std::ranges::any_of(port.groups, [&](int16_t group) {
        return group != PortQos::kNone && out_->profiles[static_cast<size_t>(group)].lossless &&
               out_->profiles[static_cast<size_t>(group)].pool == pool;
      });
    };
    for (size_t i = 0; i < out_->pools.size(); ++i) {
      if (out_->pools[i].xoff == 0 || !out_->pools[i].ingress) continue;
      const bool used = is_used(out_->others, i) ||
                        std::ranges::any_of(out_->ports, [&](const auto& port) { return is_used(port.second, i); });
      if (used) continue;
      const Value xoff = rows_.buffer_pool.items[i].row.where.child("xoff");
      if (xoff.dialect() == Dialect::kConfigDb) {  // of a part of a switch's tables
        reader_.warn(xoff, "a headroom pool without use: no row of BUFFER_PG names a lossless profile of " +
                               out_->pools[i].name);
        continue;
      }
      reader_.fail(  // who took the pool from a base and its users away finds the place in his own file
          xoff.file() == where_.file() ? xoff : where_,
          "a headroom pool without use: no row of BUFFER_PG names a lossless profile of " + out_->pools[i].name);
    }
  }

  Reader& reader_;
  Value where_;
  const QosRows& rows_;
  const Index pool_index_;
  const Index profile_index_;
  const Index scheduler_index_;
  const Index wred_index_;
  std::shared_ptr<QosConfig> out_;
  FittingProfiles fitting_;
  std::map<uint8_t, uint8_t> twin_of_;        // of a pool of both directions: its number among egress pools
  std::map<int16_t, int16_t> twin_profiles_;  // by the profile
};

}  // namespace

const PortQos& QosConfig::port(std::string_view name) const {
  const auto found =
      std::ranges::lower_bound(ports, name, {}, [](const auto& port) { return std::string_view(port.first); });
  return found != ports.end() && found->first == name ? found->second : others;
}

void overlay(const QosRows& from, QosRows& into, uint32_t layer) {
  // A platform of a profile goes before what its bases say of the same.
  if (from.platform) {
    into.platform = from.platform;
    into.cell.reset();
    into.slices.reset();
    into.ingress_pool_size.reset();
  }
  if (from.cell) into.cell = from.cell;
  if (from.slices) into.slices = from.slices;
  if (from.ingress_pool_size) into.ingress_pool_size = from.ingress_pool_size;
  put_behind(from.port_slice, into.port_slice, layer);
  put_behind(from.port_ingress, into.port_ingress, layer);
  put_behind(from.port_egress, into.port_egress, layer);
  overlay_named(from.buffer_pool, into.buffer_pool);
  overlay_named(from.buffer_profile, into.buffer_profile);
  overlay_named(from.lossless_parameter, into.lossless_parameter);
  overlay_named(from.traffic_pattern, into.traffic_pattern);
  put_behind(from.port, into.port, layer);
  put_behind(from.cable_length, into.cable_length, layer);
  overlay_named(from.wred_profile, into.wred_profile);
  overlay_named(from.scheduler, into.scheduler);
  put_behind(from.buffer_pg, into.buffer_pg, layer);
  put_behind(from.buffer_queue, into.buffer_queue, layer);
  put_behind(from.queue, into.queue, layer);
  put_behind(from.port_qos_map, into.port_qos_map, layer);
  put_behind(from.pfc_wd, into.pfc_wd, layer);
}

std::shared_ptr<QosConfig> resolve_qos(Reader& reader, Value where, const QosRows& rows) {
  return QosResolver(reader, where, rows).run();
}

}  // namespace softspine::control
