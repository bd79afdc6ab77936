// SPDX-License-Identifier: Apache-2.0
// Prometheus: pauses, and what priority groups and pools hold.
#include "control/telemetry/exposition.hpp"
#include "control/telemetry/prometheus.hpp"

namespace softspine::control {
namespace {

using Type = Exposition::Type;
constexpr double kSecondsPerPs = 1e-12;

template <typename Value>
void pause_family(Exposition& out, const FabricSnapshot& snapshot, std::string_view name, Type type,
                  std::string_view help, Value&& value) {
  out.family(name, type, help);
  for (const SwitchSnapshot& node : snapshot.switches) {
    for (const PortSnapshot& port : node.ports) {
      for (size_t i = 0; i < port.pauses.size(); ++i) {
        out.sample({{"switch", node.name}, {"port", port.name}, {"priority", std::to_string(i)}},
                   value(port.pauses[i]));
      }
    }
  }
}

void add_credit(Exposition& out, const FabricSnapshot& snapshot) {
  const auto each = [&](auto&& see) {
    for (const SwitchSnapshot& node : snapshot.switches) {
      for (const PortSnapshot& port : node.ports) {
        if (port.credit) see(node, port);
      }
    }
  };
  out.family("softspine_port_credit_frames_total", Type::kCounter, "Credit frames, of links that go by credit.");
  each([&](const SwitchSnapshot& node, const PortSnapshot& port) {
    out.sample({{"switch", node.name}, {"port", port.name}, {"direction", "rx"}}, port.credit->rx_frames);
    out.sample({{"switch", node.name}, {"port", port.name}, {"direction", "tx"}}, port.credit->tx_frames);
  });
  out.family("softspine_port_credit_wait_seconds_total", Type::kCounter, "Time without credit for the largest frame.");
  each([&](const SwitchSnapshot& node, const PortSnapshot& port) {
    for (size_t i = 0; i < port.credit->waited.size(); ++i) {
      out.sample({{"switch", node.name}, {"port", port.name}, {"priority", std::to_string(i)}},
                 static_cast<double>(port.credit->waited[i].count_ps()) * kSecondsPerPs);
    }
  });
}

struct GroupField {
  std::string_view name;
  Type type;
  std::string_view help;
  uint64_t GroupSnapshot::* value;
};
constexpr GroupField kGroupFields[] = {
    {"softspine_priority_group_reserved_bytes", Type::kGauge, "Reserved memory in use.",
     &GroupSnapshot::reserved_bytes},
    {"softspine_priority_group_shared_bytes", Type::kGauge, "Shared memory in use.", &GroupSnapshot::shared_bytes},
    {"softspine_priority_group_headroom_bytes", Type::kGauge, "Headroom in use.", &GroupSnapshot::headroom_bytes},
    {"softspine_priority_group_shared_watermark_bytes", Type::kGauge, "Most shared memory that was ever in use.",
     &GroupSnapshot::shared_watermark_bytes},
    {"softspine_priority_group_headroom_watermark_bytes", Type::kGauge, "Most headroom that was ever in use.",
     &GroupSnapshot::headroom_watermark_bytes},
    {"softspine_priority_group_packets_total", Type::kCounter, "Frames that the priority group took.",
     &GroupSnapshot::packets},
    {"softspine_priority_group_dropped_packets_total", Type::kCounter, "Frames that the priority group refused.",
     &GroupSnapshot::dropped_packets},
};

struct PoolField {
  std::string_view name;
  std::string_view help;
  uint64_t PoolSnapshot::* value;
};
constexpr PoolField kPoolFields[] = {
    {"softspine_buffer_pool_size_bytes", "What is shared of the pool.", &PoolSnapshot::size_bytes},
    {"softspine_buffer_pool_shared_bytes", "Shared memory in use.", &PoolSnapshot::shared_bytes},
    {"softspine_buffer_pool_reserved_bytes", "Reserved memory in use.", &PoolSnapshot::reserved_bytes},
    {"softspine_buffer_pool_watermark_bytes", "Most shared memory that was ever in use.",
     &PoolSnapshot::watermark_bytes},
    {"softspine_buffer_pool_headroom_bytes", "Headroom in use.", &PoolSnapshot::headroom_bytes},
    {"softspine_buffer_pool_headroom_watermark_bytes", "Most headroom that was ever in use.",
     &PoolSnapshot::headroom_watermark_bytes},
};

}  // namespace

void add_pauses_and_buffers(Exposition& out, const FabricSnapshot& snapshot) {
  pause_family(out, snapshot, "softspine_port_pfc_paused", Type::kGauge, "1 if the priority must not be sent now.",
               [](const PauseSnapshot& pause) { return uint64_t{pause.paused}; });
  pause_family(out, snapshot, "softspine_port_pfc_on_to_off_total", Type::kCounter, "Pauses that ended.",
               [](const PauseSnapshot& pause) { return pause.on_to_off; });
  pause_family(out, snapshot, "softspine_port_pfc_paused_seconds_total", Type::kCounter, "Time spent paused.",
               [](const PauseSnapshot& pause) { return static_cast<double>(pause.time.count_ps()) * kSecondsPerPs; });
  pause_family(out, snapshot, "softspine_port_pfc_watchdog_storms_total", Type::kCounter,
               "Storms that the watchdog found.", [](const PauseSnapshot& pause) { return pause.storms; });
  add_credit(out, snapshot);
  for (const GroupField& field : kGroupFields) {
    out.family(field.name, field.type, field.help);
    for (const SwitchSnapshot& node : snapshot.switches) {
      for (const PortSnapshot& port : node.ports) {
        for (size_t i = 0; port.buffers && i < port.buffers->groups.size(); ++i) {
          out.sample({{"switch", node.name}, {"port", port.name}, {"group", std::to_string(i)}},
                     port.buffers->groups[i].*field.value);
        }
      }
    }
  }
  for (const PoolField& field : kPoolFields) {
    out.family(field.name, Type::kGauge, field.help);
    for (const SwitchSnapshot& node : snapshot.switches) {
      for (const PoolSnapshot& pool : node.pools) {
        out.sample({{"switch", node.name}, {"pool", pool.name}, {"direction", pool.ingress ? "ingress" : "egress"}},
                   pool.*field.value);
      }
    }
  }
}

}  // namespace softspine::control
