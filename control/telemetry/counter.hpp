// SPDX-License-Identifier: Apache-2.0
// A counter, declared once: what it means, its unit, its names, and how it is read out of a snapshot.
//
// The names are those of dataplane/units/counter_facts.hpp. The report, SAI's JSON, Prometheus and the reference
// (docs/reference) are made from these tables, so a counter that is in none of them is shown nowhere.
//
// To add one: count it (a member of PortCounters, NicCounters, …: snapshots hold these whole), then its row in
// switch_counters.cpp. Priority groups, NICs, hosts and reliable connections have their rows beside their members
// (PriorityGroupCounters, NicCounters, HostCounts, ReliableCounts).
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <optional>
#include <string_view>
#include <variant>
#include <vector>

#include "control/telemetry/snapshot.hpp"
#include "control/telemetry/totals.hpp"
#include "control/telemetry/workload_totals.hpp"
#include "dataplane/units/counter_facts.hpp"

namespace softspine::control {

using dataplane::CounterFacts;
using dataplane::CounterUnit;
using dataplane::Nature;

// counter, gauge, watermark
std::string_view word_for(Nature nature);

// Parts that have no snapshot of their own.
struct QueueOf {
  const PortSnapshot& port;
  size_t number;
  const dataplane::QueueCounters& counters() const { return port.counters.queues[number]; }
};
struct CreditOf {
  const CreditSnapshot& credit;
  size_t priority;
};

// No value: the part does not have this counter, and does not show it.
template <typename Part>
using Read = std::function<std::optional<uint64_t>(const Part&)>;

// Most counters are a number at a fixed offset in a struct that the part holds. Code that reads many counters, many
// times, takes the Read's target<MemberRead>, and looks that struct up once for all of them.
template <typename Part>
struct MemberRead {
  using Holder = const std::byte* (*)(const Part&);  // null: the part has none
  Holder holder;
  size_t offset;

  static uint64_t at(const std::byte* place) {
    uint64_t value = 0;
    std::memcpy(&value, place, sizeof value);
    return value;
  }
  std::optional<uint64_t> operator()(const Part& part) const {
    const std::byte* const start = holder(part);
    if (start == nullptr) return std::nullopt;
    return at(start + offset);
  }
};

template <typename... Parts>
struct Counter {
  std::variant<Read<Parts>...> read;
  CounterFacts facts;
};

using SwitchCounter = Counter<SwitchSnapshot, PortSnapshot, QueueOf, PauseSnapshot, CreditSnapshot, CreditOf,
                              PriorityGroupSnapshot, PoolSnapshot>;
using HostCounter = Counter<HostSnapshot, HostPortSnapshot, HostPauseSnapshot, CreditOf>;
using EdgeCounter = Counter<EdgeSnapshot, HostPauseSnapshot>;
using LinkCounter = Counter<LinkDirection>;
using WorkloadCounter = Counter<WorkloadTotals>;
using ReliableCounter = Counter<ReliableCounts>;  // of a workload, too

// In the order in which they are shown.
const std::vector<SwitchCounter>& switch_counters();
const std::vector<HostCounter>& host_counters();
const std::vector<EdgeCounter>& edge_counters();
const std::vector<LinkCounter>& link_counters();
const std::vector<WorkloadCounter>& workload_counters();
const std::vector<ReliableCounter>& reliable_counters();

}  // namespace softspine::control
