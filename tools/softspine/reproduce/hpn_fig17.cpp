// SPDX-License-Identifier: Apache-2.0
// HPN, SIGCOMM 2024, Figure 17: bus bandwidth of an AllReduce by its size, in the fabric before (DCN+) and in HPN.
#include <fmt/format.h>

#include "tools/softspine/reproduce/experiments.hpp"
#include "tools/softspine/reproduce/report_reading.hpp"

namespace softspine::tools {

namespace {

constexpr size_t kDcn = 0;
constexpr size_t kHpn = 1;
constexpr uint32_t kFig17Columns = 6;

std::string fabric_of(size_t row, bool whole) {
  const std::string_view links = "host_link: {rate: 200Gbps, length: 3m}, fabric_link: {rate: 400Gbps, length: 40m}";
  if (row == kHpn) {
    return fmt::format(
        "{{kind: hpn, segments: 1, servers_per_segment: {}, rails: {}, aggregations_per_plane: 4,\n  {}}}",
        whole ? 64 : 8, whole ? 8 : 4, links);
  }
  return fmt::format(
      "{{kind: dcn-plus, segments: 4, servers_per_segment: {}, nics_per_server: {}, aggregations: {},\n  {}}}",
      whole ? 16 : 2, whole ? 8 : 4, whole ? 8 : 4, links);
}

std::vector<Plan> fig17_plans(TrialSize size, uint64_t seed) {
  const bool whole = size == TrialSize::kWhole;
  std::string sizes;
  for (uint32_t i = 0, kib = whole ? 4'096 : 128; i < kFig17Columns; ++i, kib *= 4) {
    sizes += fmt::format("{}{}KiB", i == 0 ? "" : ", ", kib);
  }
  std::vector<Plan> out;
  for (const size_t row : {kDcn, kHpn}) {
    const std::string name = row == kDcn ? "dcn-plus" : "hpn";
    out.push_back(
        {name, fmt::format("name: hpn-fig17-{0}\n"
                           "run: {{clock: virtual, duration: 100s, seed: {1}}}\n"
                           "fabric: {2}\n"
                           "profiles: {{default: {{base: lossless, hash: {{algorithm: XXH3, seed: {1}}}}}}}\n"
                           "collectives:\n"
                           "  - {{name: grads, op: all_reduce, algorithm: ring, protocol: simple, channels: {3},\n"
                           "     qps: 2, post_cost: 1us, size: [{4}]}}\n",
                           name, seed, fabric_of(row, whole), whole ? 8 : 4, sizes)});
  }
  return out;
}

void fig17_read(const control::Json& report, size_t plan, Grid& out) {
  for (size_t column = 0; column < kFig17Columns; ++column)
    out.at(plan, column) = bus_bandwidth_of(report, "grads", column);
}

bool rises_with_size(const Figures& found, const Grid&) {
  for (const size_t row : {kDcn, kHpn}) {
    for (size_t column = 1; column < kFig17Columns; ++column) {
      if (!(found.mean.at(row, column) > found.mean.at(row, column - 1))) return false;
    }
  }
  return true;
}

// Half a percent less is as fast.
bool hpn_is_at_least_as_fast(const Figures& found, const Grid&) {
  for (size_t column = 0; column < kFig17Columns; ++column) {
    if (!(found.mean.at(kHpn, column) >= 0.995 * found.mean.at(kDcn, column))) return false;
  }
  return true;
}

bool gains_much_at_last(const Figures& found, const Grid&) {
  return found.mean.at(kHpn, kFig17Columns - 1) >= 1.5 * found.mean.at(kDcn, kFig17Columns - 1);
}

}  // namespace

Experiment hpn_fig17() {
  return {
      .name = "hpn-fig17",
      .paper = "HPN, SIGCOMM 2024",
      .figure = "Figure 17",
      .shows = "AllReduce by size, in DCN+ and in HPN",
      .unit = "GB/s",
      .how_read = "digitised from the figure",
      .published = {.rows = {"DCN+", "HPN"},
                    .columns = {"4 MB", "16 MB", "64 MB", "256 MB", "1 GB", "4 GB"},
                    .values = {20.2, 48.9, 102.6, 125.2, 126.4, 128.9, 27.5, 54.4, 106.3, 146, 182, 205.8}},
      .seeds = 10,
      .takes = "2 min; whole: days",
      .plans = fig17_plans,
      .read = fig17_read,
      .claims = {{"bus bandwidth rises with the size, in both", rises_with_size,
                  "from 1 GB on ours is as fast as collisions let DCN+ be, and the two sizes differ by a small part of "
                  "their spread"},
                 {"HPN is at least as fast as DCN+, at every size", hpn_is_at_least_as_fast, ""},
                 {"HPN is 1.5 times as fast at 4 GB", gains_much_at_last, ""}},
      .assumed = {"The small one has 8 servers of 4 NICs, a 32nd of the bytes, and 4 aggregation switches; DCN+ has "
                  "them in 4 segments, HPN in one.",
                  "NCCL's ring, protocol Simple, a channel for each NIC, two queue pairs a connection, 1 us a "
                  "posting; NCCL would take trees and LL128 for the lesser sizes, in both fabrics.",
                  "GB/s are of 4 NICs a server: compare ratios.",
                  "The chip's hash is an ideal one (XXH3), seeded by the run's seed."}};
}

}  // namespace softspine::tools
