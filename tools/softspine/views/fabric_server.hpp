// SPDX-License-Identifier: Apache-2.0
// The control server of one running fabric: `softspine show`, `link` and `inject` speak to it.
//
// Over ranks each has one, and rank 0's listens. What it is asked goes to all of them (testbeds/run/rank_requests.hpp),
// whose handlers run alike, on workers' threads; rank 0's reply is the answer.
#pragma once

#include <cstdint>
#include <expected>
#include <map>
#include <mutex>
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
  // As those of Server, over ranks too.
  void handle(control::CommandFacts facts, control::Server::Handler handler);
  void handle_later(control::CommandFacts facts, control::Server::LateHandler handler);
  void handle_paged(control::CommandFacts facts, control::Server::LateHandler handler);
  control::Server::LateHandler over_ranks(const std::string& command, control::Server::LateHandler handler);
  void carry_out(const std::string& request);
  control::Reply take_reply(uint64_t number);
  void add_views();
  void add_view(const control::CommandFacts& facts, const FabricView& view);
  void add_view(const control::CommandFacts& facts, const SwitchView& view);
  void add_view(const control::CommandFacts& facts, const PathView& view);
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
  std::map<std::string, control::Server::LateHandler> shared_;  // by command; over ranks
  std::mutex lock_;
  std::map<uint64_t, control::Reply> replies_;  // of rank 0's requests that are under way
  uint64_t requests_ = 0;
  std::mutex paths_lock_;  // a handler may be called without the server's thread
  testbeds::FlowPaths paths_;
  control::Server server_;
};

}  // namespace softspine::tools
