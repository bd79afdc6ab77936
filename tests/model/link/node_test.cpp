// SPDX-License-Identifier: Apache-2.0
// A node's time: it does not go back, and no frame leaves before it.
#include "dataplane/link/node.hpp"

#include <gtest/gtest.h>

namespace softspine::dataplane {
namespace {

class Still final : public Node {
 public:
  Still() : Node("still", 1) {}
  Instant run(Instant) noexcept override { return Instant::never(); }
};

TEST(NodeDeathTest, NoFrameLeavesBeforeTheInstantAtWhichItsNodeIs) {
  Still node;
  node.reach(Instant::at_ps(100));
  EXPECT_DEATH(static_cast<void>(node.transmitter(PortNo{0}).send(Packet{}, Instant::at_ps(99))), "start >= \\*now_");
}

TEST(NodeDeathTest, TimeDoesNotGoBack) {
  Still node;
  node.reach(Instant::at_ps(100));
  node.reach(Instant::at_ps(100));
  EXPECT_EQ(node.now(), Instant::at_ps(100));
  EXPECT_DEATH(node.reach(Instant::at_ps(99)), "now >= now_");
}

}  // namespace
}  // namespace softspine::dataplane
