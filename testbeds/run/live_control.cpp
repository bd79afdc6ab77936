// SPDX-License-Identifier: Apache-2.0
#include "testbeds/run/live_control.hpp"

#include <utility>

#include "testbeds/run/port_fills.hpp"

namespace softspine::testbeds {

using dataplane::Instant;

void LiveControl::ask(std::function<void(control::FabricSnapshot)> see) {
  nodes_.engine().post([this, see = std::move(see)](Instant now) { see(snapshot_at_(now)); });
}

void LiveControl::ask_with_fills(std::function<void(control::FabricSnapshot, control::PortFills)> see) {
  nodes_.engine().post([this, see = std::move(see)](Instant now) { see(snapshot_at_(now), fills_of(nodes_)); });
}

void LiveControl::ask_switch(uint32_t node, SeeSwitch see) {
  nodes_.engine().post(
      [this, node, see = std::move(see)](Instant now) { see(*nodes_.switch_at(node), links_.routes(node), now); });
}

void LiveControl::set_links(std::vector<uint32_t> links, bool up) {
  nodes_.engine().post([this, links = std::move(links), up](Instant now) { links_.set(links, up, now); });
}

void LiveControl::use_profile(uint32_t node, uint32_t profile) {
  nodes_.engine().post([this, node, profile](Instant now) { links_.use_profile(node, profile, now); });
}

void LiveControl::inject_fault(control::LiveFault fault) {
  nodes_.engine().post([this, fault = std::move(fault)](Instant now) {
    for (const control::Fault& each : fault.links) {
      nodes_.engine().at(now + (each.at - Instant{}), [this, each](Instant then) { links_.strike(each, then); });
    }
    for (const control::HostFault& each : fault.hosts) faults_.inject(each, now);
    for (const control::PortFault& each : fault.ports) faults_.inject(each, now);
  });
}

void LiveControl::clear_watermarks(std::optional<uint32_t> node) {
  nodes_.engine().post([this, node](Instant) {
    nodes_.for_each_switch([&](uint32_t n, pipelines::Switch& each) {
      if (node && *node != n) return;
      each.egress().mmu().clear_watermarks();
      for (dataplane::PortCounters& port : each.counters()) {
        for (dataplane::QueueCounters& queue : port.queues) queue.watermark_bytes = queue.current_bytes;
      }
    });
  });
}

}  // namespace softspine::testbeds
