// SPDX-License-Identifier: Apache-2.0
// A testbed of switches and outside hosts on the wall clock, one worker, this thread: no more than these tests need.
#pragma once

#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "control/compile/compile.hpp"
#include "control/load/load.hpp"
#include "control/routing/routes.hpp"
#include "dataplane/dpdk/eal.hpp"
#include "dataplane/engine/engine.hpp"
#include "dataplane/engine/wall_clock.hpp"
#include "pipelines/aggregation.hpp"
#include "pipelines/tor.hpp"
#include "testbeds/outside/outside_hosts.hpp"

namespace softspine::testbeds {

template <typename Problems>
[[noreturn]] inline void give_up(const Problems& problems) {
  std::string text;
  for (const auto& problem : problems) text += problem.path + ": " + problem.message + "\n";
  throw std::runtime_error(text);
}

class WallTestbed {
 public:
  // Throws std::runtime_error with all that is wrong.
  WallTestbed(const std::string& yaml, const std::filesystem::path& run_folder) {
    dataplane::start_eal({.memory_mib = 512});
    auto parsed = control::parse_testbed(yaml, "testbed");
    if (!parsed) give_up(parsed.error());
    testbed_ = std::move(*parsed);
    static int serial = 0;
    pool_ =
        std::make_unique<dataplane::PacketPool>("testbed" + std::to_string(serial++), 8191, dataplane::kMaxFrameBytes);
    add_switches();
    add_hosts(run_folder);
    join();
  }
  ~WallTestbed() {
    hosts_.reset();
    engine_.drain();
  }
  WallTestbed(const WallTestbed&) = delete;
  WallTestbed& operator=(const WallTestbed&) = delete;

  void start() {
    if (auto started = hosts_->start(); !started) give_up(started.error());
  }
  // Until every command has ended; false if that takes longer than `seconds`.
  bool run(int seconds) {
    return run_until([this] { return hosts_->poll(); }, seconds);
  }
  bool run_until(const std::function<bool()>& happened, int seconds) {
    const dataplane::Instant end = engine_.now() + dataplane::Duration::s(seconds);
    while (!happened()) {
      if (engine_.now() >= end) return false;
      engine_.run(engine_.now() + dataplane::Duration::ms(5));
    }
    return true;
  }

  OutsideHosts& hosts() { return *hosts_; }
  dataplane::Engine& engine() { return engine_; }
  dataplane::PacketPool& pool() { return *pool_; }
  const std::vector<pipelines::Switch*>& switches() const { return switches_; }
  const dataplane::EdgeCounters& edge_counters(size_t host) const { return *edges_[host]; }

 private:
  void add_switches() {
    const auto& fabric = testbed_.fabric;
    const control::Compiler compiler(testbed_);
    const auto routes = control::compute_routes(fabric, std::vector<bool>(fabric.links.size(), true));
    ids_.resize(fabric.nodes.size());
    for (uint32_t n = 0; n < fabric.nodes.size(); ++n) {
      const auto& node = fabric.nodes[n];
      if (node.kind != control::NodeKind::kSwitch) continue;
      const auto ports = static_cast<uint32_t>(node.ports.size());
      std::unique_ptr<pipelines::Switch> made;
      if (node.role == control::Role::kTor) {
        made = std::make_unique<pipelines::Tor>(node.name, ports, *pool_);
      } else {
        made = std::make_unique<pipelines::Aggregation>(node.name, ports, *pool_);
      }
      made->publish(compiler.compile(n, routes[n]));
      switches_.push_back(made.get());
      ids_[n] = {engine_.add(std::move(made), 0)};
    }
  }
  void add_hosts(const std::filesystem::path& run_folder) {
    const auto& fabric = testbed_.fabric;
    std::vector<OutsideSpec> specs;
    std::vector<uint32_t> nodes;
    for (uint32_t n = 0; n < fabric.nodes.size(); ++n) {
      if (fabric.nodes[n].kind != control::NodeKind::kHost) continue;
      specs.push_back(outside_spec(fabric, n));
      nodes.push_back(n);
    }
    auto hosts = OutsideHosts::make(specs, {run_folder, run_folder});
    if (!hosts) give_up(hosts.error());
    hosts_ = std::move(*hosts);
    for (size_t h = 0; h < nodes.size(); ++h) {
      for (uint32_t port = 0; port < specs[h].ports; ++port) {
        auto edge = hosts_->open_edge(h, port, *pool_);
        if (!edge) give_up(std::vector{edge.error()});
        edges_.push_back(&edge->node->counters());
        ids_[nodes[h]].push_back(engine_.add(std::move(edge->node), 0));
      }
    }
  }
  dataplane::PortRef end_of(control::LinkEnd end) const {
    const auto& ids = ids_[end.node];
    if (ids.size() == 1 && testbed_.fabric.nodes[end.node].kind == control::NodeKind::kSwitch) {
      return {ids.front(), dataplane::PortNo{end.port}};
    }
    return {ids[end.port], dataplane::PortNo{0}};
  }
  void join() {
    for (const auto& link : testbed_.fabric.links) {
      engine_.connect(end_of(link.a), end_of(link.b), link.rate, link.propagation);
    }
  }

  control::Testbed testbed_;
  std::unique_ptr<dataplane::PacketPool> pool_;
  dataplane::WallClock clock_{{}};
  dataplane::Engine engine_{clock_, {}};
  std::vector<std::vector<dataplane::NodeId>> ids_;  // by the fabric's node: a switch, or an edge for each port
  std::vector<pipelines::Switch*> switches_;
  std::vector<const dataplane::EdgeCounters*> edges_;
  std::unique_ptr<OutsideHosts> hosts_;
};

}  // namespace softspine::testbeds
