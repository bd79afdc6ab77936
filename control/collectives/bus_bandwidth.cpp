// SPDX-License-Identifier: Apache-2.0
#include "control/collectives/bus_bandwidth.hpp"

#include <array>
#include <cinttypes>
#include <cstdio>
#include <string_view>

namespace softspine::control {
namespace {

constexpr uint64_t kElementBytes = 4;

constexpr std::string_view kTableHead =
    "#\n"
    "#                                                              out-of-place                       in"
    "-place          \n"
    "#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algb"
    "w   busbw #wrong\n"
    "#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s"
    ")  (GB/s)       \n";

bool is_cut_into_blocks(Collective collective) {
  return collective == Collective::kAllGather || collective == Collective::kReduceScatter ||
         collective == Collective::kAllToAll;
}

uint64_t moved_bytes(const CollectiveShape& shape) {
  return is_cut_into_blocks(shape.collective) ? shape.bytes / shape.ranks * shape.ranks : shape.bytes;
}

bool has_root(Collective collective) {
  return collective == Collective::kBroadcast || collective == Collective::kReduce;
}

bool is_reduced(Collective collective) {
  return collective == Collective::kAllReduce || collective == Collective::kReduceScatter ||
         collective == Collective::kReduce;
}

// Two digits after the point, and fewer where the number is long.
std::string number(double value, int width) {
  int digits = 0;
  for (double power = 1; value >= power; power *= 10) ++digits;
  const int decimals = digits < width - 2 ? 2 : digits < width - 1 ? 1 : 0;
  std::array<char, 40> text;
  std::snprintf(text.data(), text.size(), "%*.*f", width, decimals, value);
  return text.data();
}

std::string row_of(const CollectiveShape& shape, dataplane::Duration time) {
  const uint64_t moved = moved_bytes(shape);
  const uint64_t count = (is_cut_into_blocks(shape.collective) ? moved / shape.ranks : moved) / kElementBytes;
  const int root = has_root(shape.collective) ? static_cast<int>(shape.root) : -1;
  std::array<char, 80> what;
  std::snprintf(what.data(), what.size(), "%12" PRIu64 "  %12" PRIu64 "  %8s  %6s  %6i", moved, count, "float",
                is_reduced(shape.collective) ? "sum" : "none", root);
  const std::string group = "  " + number(time.seconds() * 1e6, 7) + "  " +
                            number(algorithm_bandwidth(shape, time) * 1e-9, 6) + "  " +
                            number(bus_bandwidth(shape, time) * 1e-9, 6) + "     N/A";
  return what.data() + group + group + "\n";
}

}  // namespace

double algorithm_bandwidth(const CollectiveShape& shape, dataplane::Duration time) {
  return time.count_ps() == 0 ? 0 : static_cast<double>(moved_bytes(shape)) / time.seconds();
}

double bus_bandwidth(const CollectiveShape& shape, dataplane::Duration time) {
  double factor = 1;
  if (is_cut_into_blocks(shape.collective) || shape.collective == Collective::kAllReduce) {
    factor = (shape.ranks - 1.0) / shape.ranks;
  }
  if (shape.collective == Collective::kAllReduce) factor *= 2;
  return algorithm_bandwidth(shape, time) * factor;
}

std::string nccl_table(const CollectiveShape& shape, std::span<const CollectiveTime> times) {
  std::string table(kTableHead);
  double sum = 0;
  for (const auto& [bytes, time] : times) {
    CollectiveShape sized = shape;
    sized.bytes = bytes;
    table += row_of(sized, time);
    sum += bus_bandwidth(sized, time) * 1e-9;
  }
  std::array<char, 80> average;
  std::snprintf(average.data(), average.size(), "# Avg bus bandwidth    : %g \n#\n",
                times.empty() ? 0 : sum / static_cast<double>(times.size()));
  return table + "# Out of bounds values : 0 OK\n" + average.data();
}

}  // namespace softspine::control
