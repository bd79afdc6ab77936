// SPDX-License-Identifier: Apache-2.0
// A fabric on the wall clock that a test drives in slices: run until something has happened, or for so long.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>

#include "dataplane/dpdk/device_edge.hpp"
#include "dataplane/dpdk/eal.hpp"
#include "dataplane/engine/engine.hpp"
#include "dataplane/engine/wall_clock.hpp"

namespace softspine::dataplane {

class WallFabric {
 public:
  explicit WallFabric(const std::string& pool_name)
      : pool(pool_name, 8191, kMaxFrameBytes), engine(clock, Engine::Config{}) {}
  ~WallFabric() { engine.drain(); }

  template <typename N>
  N& add(std::unique_ptr<N> node) {
    N& added = *node;
    engine.add(std::move(node), 0);
    return added;
  }
  void connect(Node& a, Node& b, Rate rate = Rate::gbps(10), Duration delay = Duration::us(1)) {
    engine.connect({a.id(), PortNo{0}}, {b.id(), PortNo{0}}, rate, delay);
  }
  // True as soon as `happened`; false if it has not within `most`.
  bool run_until(const std::function<bool()>& happened, Duration most = Duration::s(20)) {
    const Instant end = engine.now() + most;
    while (!happened()) {
      if (engine.now() >= end) return false;
      engine.run(engine.now() + Duration::ms(1));
    }
    return true;
  }
  void run_for(Duration time) { engine.run(engine.now() + time); }

  PacketPool pool;
  WallClock clock{{}};
  Engine engine;
};

}  // namespace softspine::dataplane
