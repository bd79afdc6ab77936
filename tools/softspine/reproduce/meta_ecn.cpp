// SPDX-License-Identifier: Apache-2.0
// Meta, SIGCOMM 2024, on ECN thresholds with DCQCN: strict ones cost some bandwidth, and win nothing.
#include <fmt/format.h>

#include <array>

#include "control/telemetry/json.hpp"
#include "tools/softspine/reproduce/experiments.hpp"
#include "tools/softspine/reproduce/report_reading.hpp"

namespace softspine::tools {

namespace {

constexpr size_t kStrict = 0;
constexpr size_t kLoose = 1;
constexpr std::array kLeastBytes{300'000, 5'000'000};
constexpr std::array kMostBytes{600'000, 5'000'001};

std::vector<Plan> ecn_plans(TrialSize size, uint64_t seed) {
  const bool whole = size == TrialSize::kWhole;
  std::vector<Plan> out;
  for (size_t i = 0; i < kLeastBytes.size(); ++i) {
    out.push_back(
        {i == kStrict ? "strict" : "loose",
         fmt::format(
             "name: meta-ecn-{5}\n"
             "run: {{clock: virtual, duration: 10s, seed: {0}}}\n"
             "fabric: {{kind: ai-zone, racks: {1}, servers_per_rack: 2, nics_per_server: {2}, uplinks: 1:1,\n"
             "  host_link: {{rate: 200Gbps, length: 3m}}, fabric_link: {{rate: 200Gbps, length: 1089m}}}}\n"
             "profiles:\n"
             "  default:\n"
             "    base: lossless\n"
             "    hash: {{algorithm: XXH3, seed: {0}, udf: [{{base: L4, offset: 13, length: 3, match: {{l4_dst_port: "
             "4791}}}}]}}\n"
             "    WRED_PROFILE:\n"
             "      AZURE_LOSSLESS: {{ecn: ecn_all, wred_green_enable: false, ecn_green_min_threshold: {3}B,\n"
             "        ecn_green_max_threshold: {4}B, ecn_green_mark_probability: 100%}}\n"
             "collectives:\n"
             "  - {{name: grads, op: all_reduce, algorithm: ring, protocol: simple, channels: {2}, qps: 4,\n"
             "     scaling: round_robin, post_cost: 1us, size: {6}MiB, congestion_control: dcqcn_connectx}}\n",
             seed, whole ? 8 : 4, whole ? 8 : 4, kLeastBytes[i], kMostBytes[i], kLeastBytes[i], whole ? 2'048 : 128)});
  }
  return out;
}

void ecn_read(const control::Json& report, size_t plan, Grid& out) {
  const control::Json& sizes = report.at("collectives").at("grads").at("sizes");
  out.at(plan, 0) = number_of(*sizes.begin(), {"time_ps"}) / 1e9;
}

bool strict_wins_nothing(const Figures& found, const Grid&) {
  return found.mean.at(kStrict, 0) >= found.mean.at(kLoose, 0);
}

bool strict_costs_little(const Figures& found, const Grid&) {
  return found.mean.at(kLoose, 0) > 0 && found.mean.at(kStrict, 0) <= 1.1 * found.mean.at(kLoose, 0);
}

}  // namespace

Experiment meta_ecn() {
  return {.name = "meta-ecn",
          .paper = "Meta, SIGCOMM 2024",
          .figure = "ECN thresholds",
          .shows = "AllReduce with DCQCN: marks from 300 KB, and from 5 MB",
          .unit = "ms",
          .how_read = "read in the figure",
          .published = {.rows = {"300/600 KB", "5 MB"}, .columns = {"2 GB"}, .values = {23.8, 23.0}},
          .seeds = 10,
          .takes = "2 min; whole: days",
          .plans = ecn_plans,
          .read = ecn_read,
          .claims = {{"strict thresholds win nothing", strict_wins_nothing, ""},
                     {"they cost at most a tenth", strict_costs_little,
                      "how much DCQCN gives away depends on how flows collide; our racks have few flows, so that marks "
                      "meet the same ones for the whole AllReduce, and its parameters are a ConnectX's defaults, which "
                      "Meta changed"}},
          .assumed = {"200 Gb/s everywhere, a round trip of 22 us, four queue pairs in turns (E-ECMP).",
                      "DCQCN as ConnectX adapters have it by default; Meta's parameters are not published.",
                      "The small one has 32 GPUs and 128 MiB: compare ratios."}};
}

}  // namespace softspine::tools
