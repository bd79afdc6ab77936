// SPDX-License-Identifier: Apache-2.0
// What groups and queues hold of limits that move (port_fills.hpp), against the counters of the same instant and
// SONiC's formula: alpha · (the pool's size − what is in use of it).
#include "testbeds/run/port_fills.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "testbeds/run/running_fabric.hpp"
#include "tests/scenario/run/running_testbed.hpp"

namespace softspine::testbeds {
namespace {

// h1 stands still for ever soon after the begin; the run ends while its ToR fills up.
constexpr const char* kStoodStill = R"(
name: storm
run: {{duration: 18us}}
fabric: {{kind: leaf-spine, tors: 2, spines: 2, hosts_per_tor: 3, host_link: {{rate: 100Gbps, length: 3m}}, fabric_link: {{rate: 100Gbps, length: 40m}}}}
profiles: {{default: {{base: lossless, BUFFER_PROFILE: {{pg_lossless_auto_profile: {{dynamic_th: {}}}}}}}}}
workload:
  - {{name: in, pattern: incast, from: [h4, h5, h2], to: h1, message: 256KiB, messages: 1000, dscp: 3}}
  - {{name: lossy, pattern: incast, from: [h4, h5], to: h3, message: 256KiB, messages: 1000, dscp: 8}}
faults: [{{at: 1us, node: h1, set: storm, priorities: [3]}}]
)";

class PortFillsOf : public testing::TestWithParam<int> {
 protected:
  PortFillsOf() {
    const control::Testbed testbed = testbed_of(fmt::format(kStoodStill, GetParam()));
    auto fabric = RunningFabric::make(testbed, {});
    EXPECT_TRUE(fabric);
    EXPECT_TRUE((*fabric)->run());
    const control::PortFills by_node = fills_of(*(*fabric)->assembly().nodes);
    for (uint32_t n = 0; n < testbed.fabric.nodes.size(); ++n) {
      if (n < by_node.size() && !by_node[n].empty()) fills_[testbed.fabric.nodes[n].name] = by_node[n];
    }
    snapshot_ = (*fabric)->snapshot();
    (*fabric)->drain();
  }
  // Calls see(fill, its group, its pool) with each lossless group that holds something.
  template <typename See>
  size_t each_held_group(See&& see) const {
    size_t count = 0;
    for (const control::SwitchSnapshot& node : snapshot_.switches) {
      const auto pool = std::ranges::find(node.pools, "ingress_lossless_pool", &control::PoolSnapshot::name);
      for (size_t p = 0; p < node.ports.size(); ++p) {
        for (size_t g = 0; g < dataplane::kPriorities; ++g) {
          const control::PriorityGroupSnapshot& group = node.ports[p].buffers->groups[g];
          if (!group.lossless || group.shared_bytes + group.headroom_bytes == 0) continue;
          see(fills_.at(node.name)[p].groups[g], group, *pool);
          ++count;
        }
      }
    }
    return count;
  }

  std::map<std::string, std::vector<control::PortFill>> fills_;  // by switch
  control::FabricSnapshot snapshot_;
};

TEST_P(PortFillsOf, LosslessGroupsHoldThemToWhatTheirPoolHasLeft) {
  const size_t groups = each_held_group([](const control::Fill& fill, const auto& group, const auto& pool) {
    EXPECT_EQ(fill.bytes, group.shared_bytes + group.headroom_bytes);
    const double limit = std::ldexp(static_cast<double>(pool.size_bytes - pool.shared_bytes), GetParam());
    EXPECT_NEAR(static_cast<double>(fill.limit_bytes), limit, 256) << "a cell of Tomahawk's has 208 bytes";
    EXPECT_EQ(fill.bytes > fill.limit_bytes, group.headroom_bytes > 0);
  });
  EXPECT_GE(groups, 2U);
}

TEST_P(PortFillsOf, ThatHoldNothingAreEmpty) {
  for (const control::SwitchSnapshot& node : snapshot_.switches) {
    for (size_t p = 0; p < node.ports.size(); ++p) {
      const control::PortFill& fill = fills_.at(node.name)[p];
      for (size_t i = 0; i < dataplane::kPriorities; ++i) {
        const control::PriorityGroupSnapshot& group = node.ports[p].buffers->groups[i];
        EXPECT_EQ(fill.groups[i] == control::Fill{}, group.shared_bytes + group.headroom_bytes == 0);
        EXPECT_EQ(fill.queues[i].bytes, node.ports[p].buffers->queues[i].shared_bytes) << node.name << ' ' << p;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Alphas, PortFillsOf, testing::Values(-2, -7));

}  // namespace
}  // namespace softspine::testbeds
