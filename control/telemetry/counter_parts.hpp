// SPDX-License-Identifier: Apache-2.0
// The parts of a switch, a host or an edge that have counters of their own, each with what it is called.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

#include "control/telemetry/counter.hpp"
#include "control/telemetry/exposition.hpp"

namespace softspine::control {

struct PartName {
  std::string_view node;
  std::string_view port;         // or pool
  std::string_view port_label;   // port, pool; empty: the part is the node itself
  std::string_view last_label;   // queue, priority, group; direction of a pool
  std::optional<size_t> number;  // of the queue, …
  std::string_view direction;    // of a pool
};

// Calls see(part, name) for each part of this kind.
template <typename Part, typename See>
void each_part(const SwitchSnapshot& node, See&& see) {
  if constexpr (std::is_same_v<Part, SwitchSnapshot>) {
    see(node, PartName{.node = node.name});
  } else if constexpr (std::is_same_v<Part, PoolSnapshot>) {
    for (const PoolSnapshot& pool : node.pools) {
      see(pool, PartName{.node = node.name,
                         .port = pool.name,
                         .port_label = "pool",
                         .last_label = "direction",
                         .direction = pool.ingress ? "ingress" : "egress"});
    }
  } else {
    for (const PortSnapshot& port : node.ports) each_part<Part>(node, port, see);
  }
}

template <typename Part, typename See>
void each_part(const SwitchSnapshot& node, const PortSnapshot& port, See&& see) {
  PartName name{.node = node.name, .port = port.name, .port_label = "port"};
  const auto each_of = [&](size_t count, std::string_view label, auto&& at) {
    name.last_label = label;
    for (size_t i = 0; i < count; ++i) {
      name.number = i;
      see(at(i), name);
    }
  };
  if constexpr (std::is_same_v<Part, PortSnapshot>) {
    see(port, name);
  } else if constexpr (std::is_same_v<Part, QueueOf>) {
    each_of(port.counters.queues.size(), "queue", [&](size_t i) { return QueueOf{port, i}; });
  } else if constexpr (std::is_same_v<Part, PauseSnapshot>) {
    each_of(port.pauses.size(), "priority", [&](size_t i) -> const PauseSnapshot& { return port.pauses[i]; });
  } else if constexpr (std::is_same_v<Part, PriorityGroupSnapshot>) {
    if (!port.buffers) return;
    each_of(port.buffers->groups.size(), "group",
            [&](size_t i) -> const PriorityGroupSnapshot& { return port.buffers->groups[i]; });
  } else if constexpr (std::is_same_v<Part, CreditSnapshot>) {
    if (port.credit) see(*port.credit, name);
  } else if constexpr (std::is_same_v<Part, CreditOf>) {
    if (!port.credit) return;
    each_of(port.credit->waited.size(), "priority", [&](size_t i) { return CreditOf{*port.credit, i}; });
  }
}

template <typename See>
void each_pause(const HostPauses& pauses, PartName name, See&& see) {
  name.last_label = "priority";
  for (size_t i = 0; i < pauses.size(); ++i) {
    name.number = i;
    see(pauses[i], name);
  }
}

template <typename Part, typename See>
void each_part(const HostSnapshot& host, See&& see) {
  if constexpr (std::is_same_v<Part, HostSnapshot>) {
    see(host, PartName{.node = host.name});
  } else {
    for (const HostPortSnapshot& port : host.ports) {
      const PartName name{.node = host.name, .port = port.name, .port_label = "port"};
      if constexpr (std::is_same_v<Part, HostPortSnapshot>) {
        see(port, name);
      } else if constexpr (std::is_same_v<Part, HostPauseSnapshot>) {
        each_pause(port.pause, name, see);
      } else if (port.credit) {
        for (size_t i = 0; i < port.credit->waited.size(); ++i) see(CreditOf{*port.credit, i}, name);
      }
    }
  }
}

template <typename Part, typename See>
void each_part(const EdgeSnapshot& edge, See&& see) {
  const std::string key = edge.key();
  const PartName name{.node = key, .port = edge.kind, .port_label = "kind"};
  if constexpr (std::is_same_v<Part, EdgeSnapshot>) {
    see(edge, name);
  } else {
    each_pause(edge.pause, name, see);
  }
}

template <typename Part, typename See>
void each_part(const WorkloadTotals& workload, See&& see) {
  see(workload, PartName{.node = workload.name});
}
template <typename Part, typename See>
void each_part(const ReliableCounts& counts, See&& see) {
  see(counts, PartName{});
}
template <typename Part, typename See>
void each_part(const LinkDirection& link, See&& see) {
  see(link, PartName{.node = link.from, .port = link.to, .port_label = "to"});
}

// The sum over all parts of the owner.
template <typename Owner, typename... Parts>
uint64_t total_of(const Owner& owner, const Counter<Parts...>& counter) {
  uint64_t total = 0;
  std::visit(
      [&]<typename Part>(const Read<Part>& read) {
        each_part<Part>(owner, [&](const Part& part, const PartName&) {
          const std::optional<uint64_t> value = read(part);
          if (!value) return;
          total = counter.facts.nature == Nature::kHighest ? std::max(total, *value) : total + *value;
        });
      },
      counter.read);
  return total;
}

}  // namespace softspine::control
