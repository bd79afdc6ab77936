// SPDX-License-Identifier: Apache-2.0
#include "control/report/busbw_picture.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/unit/telemetry/small_fabric.hpp"

namespace softspine::control {
namespace {

using dataplane::Duration;

// AllReduce on two ranks: busbw is algbw. 8 bits a byte and a microsecond are 8 Mb/s.
CollectiveSizeSnapshot done_in(uint64_t bytes, int64_t us) {
  return {.shape = {.collective = Collective::kAllReduce,
                    .algorithm = CollectiveAlgorithm::kRing,
                    .protocol = CollectiveProtocol::kSimple,
                    .ranks = 2,
                    .bytes = bytes},
          .done = 1,
          .mean = Duration::us(us)};
}

FabricSnapshot with_collectives(std::vector<CollectiveSnapshot> collectives) {
  FabricSnapshot fabric = tests::small_fabric();
  fabric.collectives = std::move(collectives);
  return fabric;
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// Sizes from 2^10 to 2^20 on 76 to 876, bandwidths from 0 to 20 Gb/s (steps of 5) on 424 to 64.
TEST(BusbwPicture, PutsEachSizeWhereItsNumbersAre) {
  const std::string svg = busbw_picture(
      with_collectives({{.name = "grads", .sizes = {done_in(1 << 20, 512), done_in(1024, 1), done_in(1 << 15, 16)}}}),
      "small");
  // 1,024 B in 1 us: 8.192 Gb/s; 32,768 B in 16 us and 2^20 in 512 us: 16.384 Gb/s.
  EXPECT_TRUE(has(svg, "1 KiB: 8.192 Gb/s, 1 us, ring, simple")) << svg;
  EXPECT_TRUE(has(svg, "32 KiB: 16.38 Gb/s, 16 us, ring, simple")) << svg;
  const double low = 64 + 360 * (1 - 8.192 / 20);
  const double high = 64 + 360 * (1 - 16.384 / 20);
  const auto mark = [&](double x, double y) {
    return has(svg, fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"7.0\"", x - 3.5, y - 3.5));
  };
  EXPECT_TRUE(mark(76, low)) << svg;
  EXPECT_TRUE(mark(476, high)) << svg;
  EXPECT_TRUE(mark(876, high)) << svg;
  // Joined in their order, not in the testbed's.
  EXPECT_TRUE(has(svg, fmt::format("<line x1=\"76.0\" y1=\"{:.1f}\" x2=\"476.0\" y2=\"{:.1f}\"", low, high))) << svg;
  EXPECT_TRUE(has(svg, fmt::format("<line x1=\"476.0\" y1=\"{0:.1f}\" x2=\"876.0\" y2=\"{0:.1f}\"", high))) << svg;
  EXPECT_TRUE(has(svg, "grads: all_reduce on 2 ranks"));
}

// 2^10 to 2^30 are more powers than there is room for: every second one. 8 us a KiB each: 1.024 Gb/s, scale to 1.5.
TEST(BusbwPicture, MarksAsManySizesAsThereIsRoomFor) {
  const std::string svg =
      busbw_picture(with_collectives({{.name = "a", .sizes = {done_in(1 << 10, 8), done_in(1 << 30, 8 << 20)}},
                                      {.name = "b", .sizes = {done_in(1 << 10, 16)}}}),
                    "small");
  for (const std::string_view marked : {">1 KiB<", ">4 KiB<", ">1 GiB<", ">1.5<", ">0.5<"}) {
    EXPECT_TRUE(has(svg, std::string(marked))) << marked << svg;
  }
  EXPECT_FALSE(has(svg, ">2 KiB<")) << svg;
  EXPECT_FALSE(has(svg, ">2<")) << svg;
  EXPECT_TRUE(has(svg, "fill=\"#1040c0\"") && has(svg, "fill=\"#c82828\"")) << svg;
}

TEST(BusbwPicture, LeavesOutWhatHasNotEnded) {
  CollectiveSizeSnapshot open = done_in(4096, 1);
  open.done = 0;
  const std::string one = busbw_picture(with_collectives({{.name = "c", .sizes = {done_in(1024, 1), open}}}), "small");
  EXPECT_FALSE(has(one, "4 KiB: ")) << one;
  EXPECT_TRUE(has(one, "1 KiB: ")) << one;
  const std::string none = busbw_picture(with_collectives({{.name = "c", .sizes = {open}}}), "small");
  EXPECT_TRUE(has(none, "no collective has ended")) << none;
  EXPECT_TRUE(has(busbw_picture(with_collectives({}), "small"), "no collective has ended"));
}

}  // namespace
}  // namespace softspine::control
