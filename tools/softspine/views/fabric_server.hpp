// SPDX-License-Identifier: Apache-2.0
// The control server of one running fabric: `softspine show`, `link` and `inject` speak to it.
#pragma once

#include <expected>
#include <string>
#include <vector>

#include "control/server/server.hpp"
#include "testbeds/run/running_fabric.hpp"
#include "tools/softspine/views/file_clashes.hpp"
#include "tools/softspine/views/show_views.hpp"

namespace softspine::tools {

class FabricServer {
 public:
  // The fabric must outlive the FabricServer. `uses`: the run's files, which no capture may write over.
  explicit FabricServer(testbeds::RunningFabric& fabric, std::vector<FileUse> uses = {});
  // Listens at the socket that has the testbed's name.
  std::expected<void, std::string> listen();
  // The same over HTTP, and events. Returns where.
  std::expected<control::WebAddress, std::string> listen_web(control::WebOptions options);
  void stop() { server_.stop(); }
  // Calls a handler without the socket (Server::call).
  bool call(const control::Request& request, const control::Reply& reply) const { return server_.call(request, reply); }

 private:
  void add_views();
  void add_view(const control::CommandFacts& facts, const FabricView& view);
  void add_view(const control::CommandFacts& facts, const SwitchView& view);
  void add_view(const control::CommandFacts& facts, const PagedView& view);
  std::expected<std::string, std::string> wanted_node(const control::Json& arguments) const;
  void add_link();
  void add_inject();
  void add_injected();
  void add_fault();
  void add_captures();
  void add_clear();
  void add_entrance();
  void add_profile();

  testbeds::RunningFabric& fabric_;
  std::vector<FileUse> uses_;
  control::Server server_;
};

}  // namespace softspine::tools
