// SPDX-License-Identifier: Apache-2.0
// DCQCN, SIGCOMM 2015: two flows that share a link of 40 Gb/s come to the same rate, and fill it.
#include <fmt/format.h>

#include "tools/softspine/reproduce/experiments.hpp"
#include "tools/softspine/reproduce/report_reading.hpp"

namespace softspine::tools {

namespace {

constexpr double kPayload = 4'096.0 / 4'178;

std::vector<Plan> dcqcn_plans(TrialSize size, uint64_t seed) {
  return {
      {"two-flows",
       fmt::format(
           "name: dcqcn-convergence-{1}\n"
           "run: {{clock: virtual, duration: {0}, seed: {1}}}\n"
           "fabric: {{kind: star, hosts: 3, host_link: {{rate: 40Gbps, length: 40m}}}}\n"
           "profiles:\n"
           "  default:\n"
           "    base: lossless\n"
           "    WRED_PROFILE:\n"
           "      AZURE_LOSSLESS: {{ecn: ecn_all, wred_green_enable: false, ecn_green_min_threshold: 5000B,\n"
           "        ecn_green_max_threshold: 200000B, ecn_green_mark_probability: 1%}}\n"
           "workload:\n"
           "  - {{name: pair, pattern: incast, from: [h2, h3], to: h1, message: 4MiB, messages: 100000, mtu: 4096,\n"
           "     transport: rc, congestion_control: dcqcn_paper, window: 4096}}\n",
           size == TrialSize::kWhole ? "2s" : "400ms", seed)}};
}

// On the wire, as the paper's rates are.
void dcqcn_read(const control::Json& report, size_t, Grid& out) {
  out.at(0, 0) = number_of(report, {"flows", "pair", "flow_rate_min_bps"}) / 1e9 / kPayload;
  out.at(1, 0) = number_of(report, {"flows", "pair", "flow_rate_max_bps"}) / 1e9 / kPayload;
}

bool rates_are_alike(const Figures& found, const Grid&) {
  return found.mean.at(0, 0) >= 0.9 * found.mean.at(1, 0);
}

bool link_is_full(const Figures& found, const Grid&) {
  return found.mean.at(0, 0) + found.mean.at(1, 0) >= 0.95 * 40;
}

}  // namespace

Experiment dcqcn_convergence() {
  return {.name = "dcqcn-convergence",
          .paper = "DCQCN, SIGCOMM 2015",
          .figure = "fairness",
          .shows = "two flows on a link of 40 Gb/s: their rates",
          .unit = "Gb/s",
          .how_read = "the fair share, to which the paper's flows converge",
          .published = {.rows = {"slower flow", "faster flow"}, .columns = {"mean"}, .values = {20, 20}},
          .seeds = 5,
          .takes = "10 s",
          .plans = dcqcn_plans,
          .read = dcqcn_read,
          .claims = {{"the slower flow has at least nine tenths of the other's rate", rates_are_alike, ""},
                     {"both fill the link, to 5 %", link_is_full, ""}},
          .assumed = {"The paper's parameters and marks (Kmin 5 KB, Kmax 200 KB, Pmax 1 %).",
                      "Means over 400 ms; the whole one lasts 2 s (testbeds/dcqcn-convergence says why)."}};
}

}  // namespace softspine::tools
