// SPDX-License-Identifier: Apache-2.0
// A testbed's nodes and links, put together and handed to an engine; nothing runs yet.
//
//   Testbed → pools, clock, engine → a node for each of the fabric's, on its worker → links → traffic
//
// A node's NodeId is its index in the fabric. A host that is outside and has further ports has an edge node
// for each of them, after all others.
#pragma once

#include <expected>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "control/compile/compile.hpp"
#include "control/model/testbed.hpp"
#include "control/traffic/plan.hpp"
#include "dataplane/engine/clock.hpp"
#include "dataplane/engine/engine.hpp"
#include "dataplane/packet/pool.hpp"
#include "testbeds/outside/outside_hosts.hpp"
#include "testbeds/run/local_nodes.hpp"
#include "testbeds/run/run_flows.hpp"

namespace softspine::testbeds {

struct Assembly {
  // The pools come before all that holds packets, so that they are destroyed after it.
  std::unique_ptr<dataplane::PacketBudget> budget;       // of both pools; when it is spent, the engine stops
  std::unique_ptr<dataplane::PacketPool> injected_pool;  // whole frames; made when the first one is injected
  std::unique_ptr<dataplane::PacketPool> frame_pool;     // whole frames: from outside, and copies of those
  std::unique_ptr<dataplane::PacketPool> xdp_pool;       // frames of AF_XDP edges, if there are any
  std::unique_ptr<dataplane::PacketPool> header_pool;    // the rest
  std::unique_ptr<dataplane::Clock> own_clock;           // over ranks, on the wall clock: what `clock` is made of
  std::unique_ptr<dataplane::Clock> clock;
  dataplane::FollowingClock* following_clock = nullptr;  // `clock`, if it follows rank 0's
  std::unique_ptr<dataplane::Engine> engine;
  std::unique_ptr<LocalNodes> nodes;
  std::vector<dataplane::PcapEdge*> recordings;  // that are here, of those that begin together (first_recorded_ns)
  RunFlows flows;

  // Exact only while no worker runs. But for AF_XDP's: its driver leaves those that the kernel has with the kernel.
  uint64_t packets_in_use() const;
  uint64_t packets_made() const;
};

// The testbed and the compiler must outlive the Assembly. `outside`: the testbed's outside hosts that are here, in the
// fabric's order; may be null if there are none. `flat`: one window for all nodes (dataplane/engine/window_nest.hpp),
// to the same result. `ranks`: none, or this process is alone, and has all nodes. The error is a sentence for a person.
std::expected<std::unique_ptr<Assembly>, std::string> assemble(const control::Testbed& testbed,
                                                               const control::Compiler& compiler, OutsideHosts* outside,
                                                               bool flat = false,
                                                               std::optional<Ranks> ranks = std::nullopt);

// The worker of each node of the fabric; ranks are cut alike, each its own share of workers. What has windows of its
// own (dataplane/engine/window_nest.hpp: a rack, or racks that hosts join) is one worker's; so are a ToR and its hosts.
// These are dealt out in equal parts, and so are the tiers above.
std::vector<uint32_t> spread_over_workers(const control::Fabric& fabric, uint32_t workers);

}  // namespace softspine::testbeds
