// SPDX-License-Identifier: Apache-2.0
// The control server of one running fabric: `softspine show`, `link` and `inject` speak to it.
#pragma once

#include <expected>
#include <functional>
#include <string>

#include "control/server/server.hpp"
#include "control/telemetry/report.hpp"
#include "control/telemetry/snapshot.hpp"
#include "testbeds/run/running_fabric.hpp"

namespace softspine::tools {

class FabricServer {
 public:
  // The fabric outlives it.
  explicit FabricServer(testbeds::RunningFabric& fabric);
  // At the socket of the testbed's name.
  std::expected<void, std::string> listen();
  void stop() { server_.stop(); }
  // Without the socket (Server::call).
  bool call(const control::Request& request, const control::Reply& reply) const { return server_.call(request, reply); }

 private:
  using AsJson = std::function<control::Json(const control::FabricSnapshot&)>;
  using AsText = std::function<std::string(const control::FabricSnapshot&)>;
  // Without `as_text`, JSON is all there is.
  void show(const std::string& what, const AsJson& as_json, const AsText& as_text);
  void add_counters();
  void add_prometheus();
  void add_switch_views();
  void add_link();
  void add_inject();
  void add_fault();
  void add_captures();
  void add_buffers();
  void add_clear();
  void add_profile();
  control::Json fabric_json(const control::FabricSnapshot& snapshot) const;
  control::Json socket_json() const;
  std::string fabric_text(const control::FabricSnapshot& snapshot) const;

  testbeds::RunningFabric& fabric_;
  control::Server server_;
};

control::RunFacts run_facts(const control::Testbed& testbed);

}  // namespace softspine::tools
