// SPDX-License-Identifier: Apache-2.0
#include "control/telemetry/buffer_tables.hpp"

#include <fmt/format.h>

#include "control/telemetry/json.hpp"
#include "control/telemetry/text_table.hpp"

namespace softspine::control {
namespace {

// A title, then a row per port with eight numbers: `prefix`0 to 7.
template <typename Number>
std::string eight_columns(const FabricSnapshot& snapshot, const std::string& title, const std::string& port_column,
                          const std::string& prefix, Number&& number) {
  std::vector<std::string> head{"<Switch", "<" + port_column};
  for (int i = 0; i < 8; ++i) head.push_back(prefix + std::to_string(i));
  TextTable table{head};
  for (const SwitchSnapshot& node : snapshot.switches) {
    for (const PortSnapshot& port : node.ports) {
      std::vector<std::string> row{node.name, port.name};
      for (size_t i = 0; i < 8; ++i) {
        const std::optional<uint64_t> value = number(port, i);
        row.push_back(value ? grouped(*value) : "N/A");
      }
      table.add(std::move(row));
    }
  }
  return (title.empty() ? "" : title + "\n") + table.text();
}

auto of_group(uint64_t PriorityGroupSnapshot::* field) {
  return [field](const PortSnapshot& port, size_t i) -> std::optional<uint64_t> {
    return port.buffers ? std::optional(port.buffers->groups[i].*field) : std::nullopt;
  };
}

template <typename Choose>
std::string pools_table(const FabricSnapshot& snapshot, const std::string& title, Choose&& choose) {
  TextTable table{{"<Switch", "<Pool", "Bytes"}};
  for (const SwitchSnapshot& node : snapshot.switches) {
    for (const PoolSnapshot& pool : node.pools) {
      if (const std::optional<uint64_t> bytes = choose(pool)) table.add({node.name, pool.name, grouped(*bytes)});
    }
  }
  return title + "\n" + table.text();
}

std::string of_two(uint64_t first, uint64_t second) {
  return fmt::format("{}/{}", first, second);
}
Json traffic_json(const dataplane::WatchdogTraffic& traffic) {
  return {{"tx_ok", traffic.tx_packets},
          {"tx_drop", traffic.tx_drops},
          {"rx_ok", traffic.rx_packets},
          {"rx_drop", traffic.rx_drops}};
}
const char* status_of(const PauseSnapshot& pause) {
  return pause.storms > pause.restored ? "stormed" : "operational";
}

}  // namespace

std::string pfc_counters_table(const FabricSnapshot& snapshot) {
  const auto received = [](const PortSnapshot& port, size_t i) { return std::optional(port.pauses[i].rx_frames); };
  const auto sent = [](const PortSnapshot& port, size_t i) { return std::optional(port.pauses[i].tx_frames); };
  const auto ended = [](const PortSnapshot& port, size_t i) { return std::optional(port.pauses[i].on_to_off); };
  const auto time = [](const PortSnapshot& port, size_t i) {
    return std::optional(static_cast<uint64_t>(port.pauses[i].time.count_ps()) / 1'000'000);
  };
  return eight_columns(snapshot, "", "Port Rx", "PFC", received) + "\n" +
         eight_columns(snapshot, "", "Port Tx", "PFC", sent) + "\n" +
         eight_columns(snapshot, "Pauses that ended (on to off):", "Port", "PFC", ended) + "\n" +
         eight_columns(snapshot, "Time paused (us):", "Port", "PFC", time);
}

std::string priority_group_watermark_table(const FabricSnapshot& snapshot) {
  return eight_columns(snapshot, "Ingress shared pool occupancy per PG:", "Port", "PG",
                       of_group(&PriorityGroupSnapshot::shared_watermark_bytes));
}
std::string group_headroom_table(const FabricSnapshot& snapshot) {
  return eight_columns(snapshot, "Ingress headroom per PG:", "Port", "PG",
                       of_group(&PriorityGroupSnapshot::headroom_watermark_bytes));
}
std::string group_drops_table(const FabricSnapshot& snapshot) {
  return eight_columns(snapshot, "Ingress PG dropped packets:", "Port", "PG",
                       [](const PortSnapshot& port, size_t i) -> std::optional<uint64_t> {
                         return port.buffers ? std::optional(port.buffers->groups[i].counters.dropped_packets)
                                             : std::nullopt;
                       });
}

std::string queue_watermark_table(const FabricSnapshot& snapshot) {
  return eight_columns(snapshot, "Egress shared pool occupancy per unicast queue:", "Port", "UC",
                       [](const PortSnapshot& port, size_t i) -> std::optional<uint64_t> {
                         return port.buffers ? port.buffers->queues[i].shared_watermark_bytes
                                             : port.counters.queues[i].watermark_bytes;
                       });
}

std::string pool_watermark_table(const FabricSnapshot& snapshot) {
  return pools_table(snapshot, "Shared pool maximum occupancy:", [](const PoolSnapshot& pool) {
    return std::optional(pool.watermark_bytes);
  });
}
std::string headroom_pool_watermark_table(const FabricSnapshot& snapshot) {
  return pools_table(
      snapshot, "Headroom pool maximum occupancy:", [](const PoolSnapshot& pool) -> std::optional<uint64_t> {
        return pool.headroom_size_bytes > 0 ? std::optional(pool.headroom_watermark_bytes) : std::nullopt;
      });
}

std::string watchdog_table(const FabricSnapshot& snapshot) {
  TextTable table{{"<SWITCH", "<QUEUE", "<STATUS", "STORM DETECTED/RESTORED", "TX OK/DROP", "RX OK/DROP",
                   "TX LAST OK/DROP", "RX LAST OK/DROP"}};
  for (const SwitchSnapshot& node : snapshot.switches) {
    for (const PortSnapshot& port : node.ports) {
      for (size_t i = 0; i < port.pauses.size(); ++i) {
        const PauseSnapshot& pause = port.pauses[i];
        if (pause.storms == 0) continue;
        const dataplane::WatchdogTraffic& all = pause.in_storms;
        const dataplane::WatchdogTraffic& last = pause.in_last_storm;
        table.add({node.name, port.name + ":" + std::to_string(i), status_of(pause),
                   of_two(pause.storms, pause.restored), of_two(all.tx_packets, all.tx_drops),
                   of_two(all.rx_packets, all.rx_drops), of_two(last.tx_packets, last.tx_drops),
                   of_two(last.rx_packets, last.rx_drops)});
      }
    }
  }
  return table.text();
}

Json watchdog_json(const FabricSnapshot& snapshot) {
  Json out = Json::object();
  for (const SwitchSnapshot& node : snapshot.switches) {
    Json storms = Json::object();
    for (const PortSnapshot& port : node.ports) {
      for (size_t i = 0; i < port.pauses.size(); ++i) {
        const PauseSnapshot& pause = port.pauses[i];
        if (pause.storms == 0) continue;
        storms[port.name + ":" + std::to_string(i)] = {{"status", status_of(pause)},
                                                       {"storm_detected", pause.storms},
                                                       {"storm_restored", pause.restored},
                                                       {"in_storms", traffic_json(pause.in_storms)},
                                                       {"in_last_storm", traffic_json(pause.in_last_storm)}};
      }
    }
    out[node.name] = std::move(storms);
  }
  return out;
}

}  // namespace softspine::control
