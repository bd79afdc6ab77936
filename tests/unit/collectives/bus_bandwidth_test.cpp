// SPDX-License-Identifier: Apache-2.0
#include "control/collectives/bus_bandwidth.hpp"

#include <gtest/gtest.h>

#include <sstream>
#include <vector>

namespace softspine::control {
namespace {

using dataplane::Duration;

TEST(BusBandwidth, FollowsNcclsDefinitions) {
  struct Case {
    Collective collective;
    double bus;
  };
  // 8 ranks move 8 GB in a second.
  for (const auto& [collective, bus] : std::vector<Case>{{Collective::kAllReduce, 14e9},
                                                         {Collective::kAllGather, 7e9},
                                                         {Collective::kReduceScatter, 7e9},
                                                         {Collective::kAllToAll, 7e9},
                                                         {Collective::kBroadcast, 8e9},
                                                         {Collective::kReduce, 8e9},
                                                         {Collective::kSendRecv, 8e9}}) {
    const CollectiveShape shape{.collective = collective, .ranks = 8, .bytes = 8'000'000'000};
    EXPECT_DOUBLE_EQ(algorithm_bandwidth(shape, Duration::s(1)), 8e9);
    EXPECT_DOUBLE_EQ(bus_bandwidth(shape, Duration::s(1)), bus);
  }
}

// 32 H100: 1 GiB in 5,398 µs is 385 GB/s, as a user reported of real servers.
TEST(BusBandwidth, GivesTheNumberThatNcclTestsGave) {
  const CollectiveShape shape{.ranks = 32, .bytes = uint64_t{1} << 30U};
  EXPECT_NEAR(bus_bandwidth(shape, Duration::us(5398)) * 1e-9, 385, 0.5);
}

TEST(BusBandwidth, CountsWholeBlocks) {
  const CollectiveShape shape{.collective = Collective::kAllGather, .ranks = 3, .bytes = 3'000'002};
  EXPECT_DOUBLE_EQ(algorithm_bandwidth(shape, Duration::s(1)), 3e6);
  EXPECT_EQ(bus_bandwidth(shape, Duration{}), 0);
}

TEST(NcclTable, HasTheLinesOfNcclTests) {
  const CollectiveShape shape{.ranks = 4};
  const std::vector<CollectiveTime> times{{1U << 20U, Duration::ns(38'340)}, {1U << 30U, Duration::us(40'270)}};
  EXPECT_EQ(
      nccl_table(shape, times),
      "#\n"
      "#                                                              out-of-place                       in-place      "
      "    \n"
      "#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw "
      "#wrong\n"
      "#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)"
      "       \n"
      "     1048576        262144     float     sum      -1    38.34   27.35   41.02     N/A    38.34   27.35   41.02"
      "     N/A\n"
      "  1073741824     268435456     float     sum      -1  40270.0   26.66   40.00     N/A  40270.0   26.66   40.00"
      "     N/A\n"
      "# Out of bounds values : 0 OK\n"
      "# Avg bus bandwidth    : 40.5097 \n"
      "#\n");
}

TEST(NcclTable, NamesRootsAndElementsOfARank) {
  const auto line = [](const CollectiveShape& shape) {
    const CollectiveTime time{4096, Duration::us(10)};
    std::istringstream table(nccl_table(shape, {&time, 1}));
    std::string text;
    for (int i = 0; i < 5; ++i) std::getline(table, text);
    return text.substr(0, 52);
  };
  EXPECT_EQ(line({.collective = Collective::kBroadcast, .ranks = 4, .root = 3}),
            "        4096          1024     float    none       3");
  EXPECT_EQ(line({.collective = Collective::kReduce, .ranks = 4, .root = 0}),
            "        4096          1024     float     sum       0");
  EXPECT_EQ(line({.collective = Collective::kAllToAll, .ranks = 4}),
            "        4096           256     float    none      -1");
}

// Columns by blanks, as scripts read them: 13, with time and bandwidths at 6, 7 and 8 (the first is 1).
TEST(NcclTable, IsReadByColumns) {
  const CollectiveTime time{8, Duration::us(1'234'567)};
  std::istringstream table(nccl_table({.ranks = 2}, {&time, 1}));
  std::string line;
  for (int i = 0; i < 5; ++i) std::getline(table, line);
  std::istringstream row(line);
  std::vector<std::string> columns;
  for (std::string column; row >> column;) columns.push_back(column);
  ASSERT_EQ(columns.size(), 13U);
  EXPECT_EQ(columns[5], "1234567");
  EXPECT_EQ(columns[8], "N/A");
}

}  // namespace
}  // namespace softspine::control
