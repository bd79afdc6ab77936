// SPDX-License-Identifier: Apache-2.0
// HPN, SIGCOMM 2024, Figure 19: an AllReduce over two segments, where both ports of each NIC lead into one plane, and
// where each leads into a plane of its own.
#include <fmt/format.h>

#include "tools/softspine/reproduce/experiments.hpp"
#include "tools/softspine/reproduce/report_reading.hpp"

namespace softspine::tools {

namespace {

constexpr size_t kFig19Single = 0;
constexpr size_t kDual = 1;
constexpr uint32_t kFig19Columns = 4;

std::string fig19_text_of(uint32_t planes, uint32_t servers_per_segment, TrialSize size, uint64_t seed) {
  const bool whole = size == TrialSize::kWhole;
  const uint32_t rails = whole ? 8 : 4;
  return fmt::format(
      "name: hpn-fig19-{0}-planes-{1}\n"
      "run: {{clock: virtual, duration: 10s, seed: {2}}}\n"
      "fabric: {{kind: hpn, segments: 2, servers_per_segment: {3}, rails: {4}, planes: {0}, aggregations_per_plane: "
      "{5},\n"
      "  host_link: {{rate: 200Gbps, length: 3m}}, fabric_link: {{rate: 400Gbps, length: 40m}}}}\n"
      "profiles: {{default: {{base: lossless, hash: {{algorithm: XXH3, seed: {2}}}}}}}\n"
      "collectives:\n"
      "  - {{name: grads, op: all_reduce, algorithm: ring, protocol: simple, channels: {4}, qps: 2, post_cost: 1us,\n"
      "     size: {6}MiB}}\n",
      planes, 2 * servers_per_segment, seed, servers_per_segment, rails, (whole ? 60 : 8) * (3 - planes),
      whole ? 4'096 : 128);
}

std::vector<Plan> fig19_plans(TrialSize size, uint64_t seed) {
  std::vector<Plan> out;
  for (const uint32_t planes : {1U, 2U}) {
    for (uint32_t column = 0; column < kFig19Columns; ++column) {
      const uint32_t servers = 2U << column;  // of a segment
      out.push_back(
          {fmt::format("{}-plane-{}-hosts", planes, 2 * servers), fig19_text_of(planes, servers, size, seed)});
    }
  }
  return out;
}

void fig19_read(const control::Json& report, size_t plan, Grid& out) {
  out.values[plan] = bus_bandwidth_of(report, "grads", 0);
}

bool dual_is_faster(const Figures& found, const Grid&) {
  for (uint32_t column = 0; column < kFig19Columns; ++column) {
    if (!(found.mean.at(kDual, column) >= 1.4 * found.mean.at(kFig19Single, column))) return false;
  }
  return true;
}

bool dual_does_not_depend_on_hosts(const Figures& found, const Grid&) {
  for (uint32_t column = 1; column < kFig19Columns; ++column) {
    const double ratio = found.mean.at(kDual, column) / found.mean.at(kDual, 0);
    if (!(ratio >= 0.95 && ratio <= 1.05)) return false;
  }
  return true;
}

}  // namespace

Experiment hpn_fig19() {
  return {
      .name = "hpn-fig19",
      .paper = "HPN, SIGCOMM 2024",
      .figure = "Figure 19",
      .shows = "AllReduce over two segments: one plane, and two",
      .unit = "GB/s",
      .how_read = "digitised from the figure; two planes: \"90 each\"",
      .published = {.rows = {"single plane", "dual plane"},
                    .columns = {"4 hosts", "8 hosts", "16 hosts", "32 hosts"},
                    .values = {59.9, 55.5, 55.7, 54.9, 90, 90, 90, 90}},
      .seeds = 5,
      .takes = "2 min; whole: days",
      .plans = fig19_plans,
      .read = fig19_read,
      .claims = {{"two planes are at least 1.4 times as fast, at every number of hosts", dual_is_faster, ""},
                 {"with two planes the number of hosts does not matter", dual_does_not_depend_on_hosts, ""}},
      .assumed = {"NCCL's ring, protocol Simple, a channel a rail, two queue pairs a connection, one for each port of "
                  "a NIC.",
                  "The small one has 4 of 8 rails and 8 aggregation switches a plane for 60. Its 128 MiB for 4 GB make "
                  "messages of 128 KiB at 32 hosts, 1 MiB in the paper; fewer bytes would be bound by latency. Its "
                  "best is 4 x 48.9 GB/s, that of 8 rails twice as much. The paper does not say what limits its hosts "
                  "to 90 GB/s: compare ratios.",
                  "One plane has as many aggregation switches as two together.",
                  "The chip's hash is an ideal one (XXH3), seeded by the run's seed."}};
}

}  // namespace softspine::tools
