// SPDX-License-Identifier: Apache-2.0
#include "testbeds/run/report_outline.hpp"

#include "control/report/sections.hpp"
#include "testbeds/run/lag_copy.hpp"
#include "testbeds/run/node_words.hpp"

namespace softspine::testbeds {

using control::FabricNode;

namespace {

control::HostPauses any_pauses() {
  control::HostPauses out;
  for (control::HostPauseSnapshot& pause : out) pause.rx_frames = 1;
  return out;
}

void add_switch(control::FabricSnapshot& out, const FabricNode& node) {
  control::SwitchSnapshot copy{.name = node.name, .role = control::name_of(node.role), .ports = {}};
  for (const control::FabricPort& port : node.ports) copy.ports.push_back({.name = port.name});
  copy.pools.push_back({.name = "*", .watermark_bytes = 1});  // its profile has their names
  out.switches.push_back(std::move(copy));
}

void add_host(control::FabricSnapshot& out, const FabricNode& node) {
  control::HostSnapshot copy{.name = node.name, .ports = {}};
  for (const control::FabricPort& port : node.ports) copy.ports.push_back({.name = port.name, .pause = any_pauses()});
  out.hosts.push_back(std::move(copy));
}

void add_edges(control::FabricSnapshot& out, const FabricNode& node) {
  for (uint16_t port = 0; port < node.ports.size(); ++port) {
    out.edges.push_back({.name = node.name,
                         .kind = edge_kind(node.attachment, port),
                         .counters = {},
                         .port = node.ports[port].name,
                         .is_only = node.ports.size() == 1,
                         .pause = any_pauses()});
  }
}

}  // namespace

control::FabricSnapshot outline_of(const control::Testbed& testbed) {
  control::FabricSnapshot out;
  out.is_outline = true;
  for (const FabricNode& node : testbed.fabric.nodes) {
    if (node.kind == control::NodeKind::kSwitch) {
      add_switch(out, node);
    } else if (control::is_builtin(node.attachment)) {
      add_host(out, node);
    } else {
      add_edges(out, node);
    }
  }
  for (const control::Section& section : control::sections()) {
    if (section.outline != nullptr) section.outline(testbed, out);
  }
  copy_lags(testbed.fabric, {}, out);
  return out;
}

}  // namespace softspine::testbeds
