// SPDX-License-Identifier: Apache-2.0
#include "control/report/port_rows.hpp"

#include <string>
#include <utility>

#include "control/telemetry/counter_parts.hpp"
#include "control/telemetry/json.hpp"

namespace softspine::control {

namespace {

template <typename Part>
void add_row(Json& out, const Part& part) {
  for (const SwitchCounter& counter : switch_counters()) {
    const auto* read = std::get_if<Read<Part>>(&counter.read);
    if (read == nullptr || !is_in_rows(counter.facts)) continue;
    const uint64_t value = (*read)(part).value_or(0);
    if (value != 0) add_key(out, std::string{counter.facts.row_name()}, value);
  }
}

void add_if_any(Json& out, const std::string& key, Json rows) {
  if (!rows.empty()) add_key(out, key, std::move(rows));
}

// The rows of several kinds of parts that have the same numbers.
template <typename... Parts>
Json numbered_rows(const SwitchSnapshot& node, const PortSnapshot& port) {
  Json out = Json::object();
  for (size_t i = 0; i < dataplane::kPriorities; ++i) {
    Json row = Json::object();
    const auto add_this = [&](const auto& part, const PartName& name) {
      if (name.number == i) add_row(row, part);
    };
    (each_part<Parts>(node, port, add_this), ...);
    add_if_any(out, std::to_string(i), std::move(row));
  }
  return out;
}

Json drops_of(const PortSnapshot& port) {
  Json out = Json::object();
  for (size_t i = 0; i < port.counters.drops.size(); ++i) {
    const auto reason = static_cast<dataplane::DropReason>(i);
    if (port.counters.drops[i] != 0) add_key(out, std::string{dataplane::name_of(reason)}, port.counters.drops[i]);
  }
  return out;
}

Json port_rows(const SwitchSnapshot& node, const PortSnapshot& port) {
  Json out = Json::object();
  if (port.credit) add_row(out, *port.credit);
  add_if_any(out, "priorities", numbered_rows<PauseSnapshot, CreditOf>(node, port));
  add_if_any(out, "groups", numbered_rows<PriorityGroupSnapshot>(node, port));
  add_if_any(out, "queues", numbered_rows<QueueOf>(node, port));
  add_if_any(out, "drops", drops_of(port));
  return out;
}

}  // namespace

Json ports_json(const FabricSnapshot& snapshot) {
  if (snapshot.is_outline) return {{"*", nullptr}};
  Json out = Json::object();
  for (const SwitchSnapshot& node : snapshot.switches) {
    for (const PortSnapshot& port : node.ports) {
      add_if_any(out, node.name + ":" + port.name, port_rows(node, port));
    }
  }
  return out;
}

Json pools_json(const SwitchSnapshot& node) {
  Json out = Json::object();
  for (const PoolSnapshot& pool : node.pools) {
    Json row = Json::object();
    add_row(row, pool);
    add_if_any(out, pool.name, std::move(row));
  }
  return out;
}

}  // namespace softspine::control
