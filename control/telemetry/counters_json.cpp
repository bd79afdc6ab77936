// SPDX-License-Identifier: Apache-2.0
#include "control/telemetry/counters_json.hpp"

#include "control/telemetry/counter.hpp"
#include "control/telemetry/json.hpp"
#include "control/telemetry/totals.hpp"

namespace softspine::control {

namespace {

using dataplane::DropReason;
using dataplane::PortCounters;

bool is_error(DropReason reason) {
  switch (reason) {
    case DropReason::kTruncated:
    case DropReason::kBadVersion:
    case DropReason::kBadChecksum:
    case DropReason::kBadLength:
    case DropReason::kOversize: return true;
    default: return false;
  }
}

uint64_t in_units_of_sai(uint64_t value, CounterUnit unit) {
  return unit == CounterUnit::kPicoseconds ? value / 1'000'000 : value;
}

// What the tables have under SAI's names for this kind of part. Links by credit are none of SAI's; they have
// InfiniBand's PortXmitWait, by priority and in time.
template <typename Part>
void add_counters(Json& out, const Part& part, size_t number = 0) {
  for (const SwitchCounter& counter : switch_counters()) {
    const auto* read = std::get_if<Read<Part>>(&counter.read);
    if (read == nullptr || counter.facts.sai.empty()) continue;
    const std::optional<uint64_t> value = (*read)(part);
    if (!value) continue;
    std::string name{counter.facts.sai};
    if (const size_t mark = name.find('#'); mark != std::string::npos) name.replace(mark, 1, std::to_string(number));
    add_key(out, std::move(name), in_units_of_sai(*value, counter.facts.unit));
  }
}

template <typename Part>
Json counters_of(const Part& part) {
  Json out = Json::object();
  add_counters(out, part);
  return out;
}

Json port_json(const PortSnapshot& port) {
  Json out = counters_of(port);
  for (size_t i = 0; i < port.pauses.size(); ++i) add_counters(out, port.pauses[i], i);
  if (!port.credit) return out;
  add_counters(out, *port.credit);
  for (size_t i = 0; i < port.credit->waited.size(); ++i) add_counters(out, CreditOf{*port.credit, i}, i);
  return out;
}

}  // namespace

PortDiscards discards_of(const PortCounters& port) {
  PortDiscards out{.out_discards = port.queue_dropped_packets()};
  for (size_t i = 0; i < port.drops.size(); ++i) {
    const auto reason = static_cast<DropReason>(i);
    if (is_error(reason)) {
      out.in_errors += port.drops[i];
    } else if (is_loss(reason) && !is_of_queue(reason)) {
      out.in_discards += port.drops[i];
    }
  }
  return out;
}

Json counters_json(const FabricSnapshot& snapshot) {
  Json out = Json::object();
  for (const SwitchSnapshot& node : snapshot.switches) {
    Json ports = Json::object();
    for (const PortSnapshot& port : node.ports) {
      add_key(ports, port.name, port_json(port));
      for (size_t i = 0; i < port.counters.queues.size(); ++i) {
        add_key(ports, port.name + ":" + std::to_string(i), counters_of(QueueOf{port, i}));
      }
      for (size_t i = 0; port.buffers && i < port.buffers->groups.size(); ++i) {
        add_key(ports, port.name + "|PG" + std::to_string(i), counters_of(port.buffers->groups[i]));
      }
    }
    for (const PoolSnapshot& pool : node.pools) add_key(ports, pool.name, counters_of(pool));
    add_key(out, node.name, std::move(ports));
  }
  return out;
}

Json counters_with(const Json& counters, std::string_view prefix) {
  Json out = Json::object();
  for (const auto& [node, things] : counters.items()) {
    Json kept = Json::object();
    for (const auto& [thing, values] : things.items()) {
      for (const auto& [name, value] : values.items()) {
        if (name.starts_with(prefix)) kept[thing][name] = value;
      }
    }
    add_key(out, node, std::move(kept));
  }
  return out;
}

}  // namespace softspine::control
