// SPDX-License-Identifier: Apache-2.0
// The views of `softspine show`. A view is a row of a table: its words, its help, and what it is made of. Views of the
// fabric have their rows in show_views.cpp, but for sections of the report (control/report/sections.hpp); those of one
// switch in switch_views.cpp. The server takes its requests from
// views(). One request is `views`, by which a client learns what the fabric that it asks can show; the client's own
// list is for its help and for when no fabric runs.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "control/model/testbed.hpp"
#include "control/routing/routes.hpp"
#include "control/server/server.hpp"
#include "control/telemetry/port_fill.hpp"
#include "control/telemetry/snapshot.hpp"
#include "pipelines/switch.hpp"
#include "testbeds/run/flow_paths.hpp"
#include "testbeds/run/running_fabric.hpp"

namespace softspine::tools {

// The material of a view of the whole fabric.
struct Shown {
  const control::FabricSnapshot& snapshot;
  const control::Testbed& testbed;
  const control::ServerCounters& socket;
  const testbeds::RunningFabric& fabric;  // for what may be asked from any thread
  const control::PortFills& fills;        // if the view needs them
};
// The material of a view of one switch; --node names it.
struct ShownSwitch {
  const control::Fabric& fabric;
  uint32_t node;
  const pipelines::Switch& from;
  const control::RouteTable& routes;
  const std::vector<control::Override>& overrides;
  dataplane::Instant now;
};

// The material of a view of flows and their paths. The paths are those of the tables of the snapshot's instant.
struct ShownPaths {
  const control::FabricSnapshot& snapshot;
  const control::Fabric& fabric;
  testbeds::FlowPaths& paths;
  testbeds::PathTables tables;
  std::optional<control::LinkEnd> port;  // only flows that leave by it; none: all
  std::string node;                      // only flows from or to this host; empty: of all
  size_t most;                           // rows
};

// Removes from a snapshot whatever is not of one node.
using KeepNode = void (*)(control::FabricSnapshot& snapshot, const std::string& node);
void keep_only(control::FabricSnapshot& snapshot, const std::string& node);
void keep_hosts_at(control::FabricSnapshot& snapshot, const std::string& node);

// A view without `text` has JSON only.
struct FabricView {
  std::function<control::Json(const Shown& shown)> json;
  std::function<std::string(const Shown& shown)> text = nullptr;
  KeepNode keep = keep_only;
  bool needs_fills = false;
};
// Rows, each an object; as text they become a table (switch_views.hpp).
struct SwitchView {
  control::Json (*rows)(const ShownSwitch& shown);
};
// As FabricView; with arguments of its own.
struct PathView {
  control::Json (*json)(ShownPaths shown);
  std::string (*text)(const control::Json& shown);
};
// A text that may be hundreds of megabytes.
struct PagedView {
  void (*put)(const control::FabricSnapshot& snapshot, const control::Reply::PutPage& put);
};

struct View {
  std::string_view words;
  std::string_view help;
  std::variant<FabricView, SwitchView, PathView, PagedView> made;
};

// The views, in the order of the help.
std::span<const View> views();

// [{"view": "links", "help": …}]: the answer to `views`.
control::Json views_json();

}  // namespace softspine::tools
