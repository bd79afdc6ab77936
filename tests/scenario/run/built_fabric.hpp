// SPDX-License-Identifier: Apache-2.0
// A fabric that is built and does not run: for what looks at its parts, or is asked of them by hand.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>

#include "testbeds/run/running_fabric.hpp"
#include "tests/scenario/run/running_testbed.hpp"

namespace softspine::testbeds {

class BuiltFabric : public testing::Test {
 protected:
  void build(const std::string& text, const control::Overrides& overrides = {}) {
    fabric_.reset();
    testbed_ = testbed_of(text, overrides);
    auto fabric = RunningFabric::make(testbed_, {});
    ASSERT_TRUE(fabric) << fabric.error();
    fabric_ = std::move(*fabric);
  }

  uint32_t node(std::string_view name) const {
    const auto found = std::ranges::find(testbed_.fabric.nodes, name, &control::FabricNode::name);
    return static_cast<uint32_t>(found - testbed_.fabric.nodes.begin());
  }
  control::LinkEnd port(std::string_view of, std::string_view name) const {
    const auto& ports = testbed_.fabric.nodes[node(of)].ports;
    return {node(of),
            static_cast<uint16_t>(std::ranges::find(ports, name, &control::FabricPort::name) - ports.begin())};
  }
  uint32_t link(std::string_view of, std::string_view name) const { return testbed_.fabric.port(port(of, name)).link; }

  control::Testbed testbed_;
  std::unique_ptr<RunningFabric> fabric_;
};

}  // namespace softspine::testbeds
