// SPDX-License-Identifier: Apache-2.0
#include "tools/verbs/source_port.hpp"

#include <gtest/gtest.h>

namespace softspine::tools {
namespace {

TEST(SourcePort, IsTheKernelsForTwoQueuePairs) {
  EXPECT_EQ(source_port_of(0, 329, 328), 58'766);  // a capture's
  EXPECT_EQ(source_port_of(0, 328, 329), 58'766) << "the same both ways";
}

TEST(SourcePort, IsPinnedByALabelWhateverTheQueuePairs) {
  for (uint32_t port = kLeastSourcePort; port <= 65'535; ++port) {
    const uint32_t label = flow_label_for(static_cast<uint16_t>(port));
    ASSERT_NE(label, 0u) << "0 would mean: of the queue pairs";
    ASSERT_LE(label, 0xFFFFFu);
    ASSERT_EQ(source_port_of(label, 17, 4711), port);
    ASSERT_EQ(source_port_of(label, 18, 99), port);
  }
}

}  // namespace
}  // namespace softspine::tools
