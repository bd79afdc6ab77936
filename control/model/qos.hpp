// SPDX-License-Identifier: Apache-2.0
// SONiC's tables of buffers, queues and pauses, resolved: names are indices, references hold, defaults are filled
// in. Sizes are bytes, as configured; control/compile/qos_plan makes cells of them, port by port.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "control/document/error.hpp"
#include "dataplane/egress/qos_plan.hpp"
#include "dataplane/units/rate.hpp"
#include "dataplane/units/time.hpp"

namespace softspine::control {

inline constexpr uint32_t kDefaultCellBytes = 256;
inline constexpr std::string_view kLosslessPool = "ingress_lossless_pool";  // SONiC's name

// computed: the table gives the pool no size. As in SONiC's dynamic buffer model, the pool gets the memory that the
// ports leave over (compile/dynamic_pools.hpp).
struct BufferPoolConfig {
  std::string name;
  bool ingress = true;
  uint64_t size = 0;
  bool computed = false;
  std::optional<uint32_t> percentage;  // computed: of what is left
  uint64_t xoff = 0;                   // shared headroom pool, beside `size`; 0: each group has its own headroom
  Place place;
};

// lossless: with headroom (xoff). Ingress only. Where the headroom lies:
//   the pool has a headroom pool (xoff)     there; reserved = size (Tomahawk)
//   it has none, and size ≥ xoff            inside the size; reserved = size − xoff (Trident 2, Spectrum)
//   else, and where xoff is `auto`          beside the size; reserved = size
struct BufferProfileConfig {
  std::string name;
  uint8_t pool = 0;
  uint64_t size = 0;
  std::optional<int> dynamic_th;  // else static_th holds
  uint64_t static_th = 0;
  bool lossless = false;
  bool automatic = false;   // xoff by the formula
  bool calculated = false;  // size, xon and xoff by SONiC's calculator, for each port (compile/sonic_headroom.hpp)
  uint64_t xoff = 0;
  uint64_t xon = 0;
  uint64_t xon_offset = 0;
  Place place;

  bool holds_headroom = false;  // inside its size

  uint64_t reserved() const { return holds_headroom ? size - xoff : size; }
};

struct SchedulerConfig {
  std::string name;
  bool strict = true;
  uint8_t weight = 1;
  dataplane::ShaperPlan shaper;
};

struct PortQos {
  static constexpr int16_t kNone = -1;
  using Indices = std::array<int16_t, 8>;
  static constexpr Indices nothing() {
    Indices out{};
    out.fill(kNone);
    return out;
  }

  Indices groups = nothing();             // into QosConfig::profiles
  Indices queues = nothing();             // into QosConfig::profiles
  Indices schedulers = nothing();         // of queues, into QosConfig::schedulers
  Indices wreds = nothing();              // of queues, into QosConfig::wreds
  int16_t scheduler = kNone;              // of the port
  std::vector<int16_t> ingress_profiles;  // of the port as a whole, into QosConfig::profiles; one for a pool
  std::vector<int16_t> egress_profiles;
  std::optional<dataplane::Duration> pfc_response;
  std::optional<uint8_t> slice;
  std::optional<dataplane::Rate> speed;       // as PORT has it; the link's may be another
  std::optional<uint64_t> cable_micrometres;  // as CABLE_LENGTH has it
  bool eight_lanes = false;
  bool admin_up = true;
  uint8_t added_groups = 0;  // bit n: priority group n is lossless because buffermgrd would make it so
  uint8_t pfc_enable = 0;
  std::array<uint8_t, 8> queues_of_priority{1, 2, 4, 8, 16, 32, 64, 128};  // masks
  std::array<uint8_t, 8> priorities_of_pg{1, 2, 4, 8, 16, 32, 64, 128};
  std::optional<uint8_t> pfcwd_sw_enable;
  dataplane::WatchdogPlan watchdog;
};

struct QosConfig {
  uint32_t cell_bytes = kDefaultCellBytes;
  uint32_t slices = 1;               // parts that each pool is divided into; a port's buffers are in one
  bool ingress_pools_total = false;  // the size of an ingress pool has in it what its groups reserve
  bool egress_pools_whole = false;   // PlatformRow::pools_whole
  uint32_t queue_extra_cells = 0;    // PlatformRow::queue_extra
  bool from_config_db = false;       // BUFFER_PG or BUFFER_QUEUE comes from a config_db.json
  bool spectrum4 = false;
  // LOSSLESS_TRAFFIC_PATTERN, DEFAULT_LOSSLESS_BUFFER_PARAMETER
  uint32_t lossless_mtu = 1024;
  uint32_t small_packet_percentage = 100;
  uint32_t over_subscribe_ratio = 0;
  uint64_t memory_bytes = 0;  // what computed pools are made of
  std::vector<BufferPoolConfig> pools;
  std::vector<BufferProfileConfig> profiles;
  std::vector<SchedulerConfig> schedulers;
  std::vector<std::pair<std::string, dataplane::WredPlan>> wreds;
  PortQos others;                                      // ports that no row names
  std::vector<std::pair<std::string, PortQos>> ports;  // sorted by name
  dataplane::Duration watchdog_poll = dataplane::Duration::ms(200);
  Place place;
  bool whole = true;  // no error has been found in it so far, so checks of what depends on it make sense

  // Whether lossless groups share a headroom pool, given or to be computed.
  bool shares_headroom() const {
    return over_subscribe_ratio != 0 || std::ranges::any_of(pools, [](const auto& pool) { return pool.xoff > 0; });
  }
  bool has_buffers() const { return !pools.empty(); }
  bool holds_reserved(const BufferPoolConfig& pool) const { return ingress_pools_total && pool.ingress; }
  // The slice of port `number` of a switch with `count` ports.
  uint32_t slice_of(const PortQos& qos, uint32_t number, uint32_t count) const {
    return qos.slice.value_or(static_cast<uint8_t>(uint64_t{number} * slices / count));
  }
  const PortQos& port(std::string_view name) const;
};

// The profile at an index; null for PortQos::kNone.
inline const BufferProfileConfig* profile_at(const QosConfig& config, int16_t index) {
  return index == PortQos::kNone ? nullptr : &config.profiles[static_cast<size_t>(index)];
}

}  // namespace softspine::control
