// SPDX-License-Identifier: Apache-2.0
// uet-htsim's validation runs whose flows keep to one path: a flow alone, and a permutation of 16.
#include <fmt/format.h>

#include "tools/softspine/reproduce/experiments.hpp"
#include "tools/softspine/reproduce/report_reading.hpp"

namespace softspine::tools {

namespace {

constexpr size_t kAlone = 0;
constexpr size_t kPermutation = 1;

std::vector<Plan> uet_plans(TrialSize, uint64_t seed) {
  std::vector<Plan> out;
  for (const std::string_view pattern : {"pairs, from: [h1], to: [h16]", "permutation"}) {
    const std::string name = out.empty() ? "one-flow" : "permutation";
    out.push_back({name, fmt::format("name: uet-{0}\n"
                                     "run: {{clock: virtual, duration: 10ms, seed: {1}}}\n"
                                     "fabric: {{kind: fat-tree, k: 4, host_link: {{rate: 100Gbps, length: 198m}},\n"
                                     "  fabric_link: {{rate: 100Gbps, length: 198m}}}}\n"
                                     "profiles: {{default: {{base: lossless, hash: {{algorithm: XXH3, seed: {1}}}}}}}\n"
                                     "workload:\n"
                                     "  - {{name: it, pattern: {2}, message: 2000000B, mtu: 4096, transport: rc}}\n",
                                     name, seed, pattern)});
  }
  return out;
}

void uet_read(const control::Json& report, size_t plan, Grid& out) {
  out.at(plan, 0) = number_of(report, {"flows", "it", "fct_acked_max_ps"}) / 1e6;
}

bool alone_is_theirs(const Figures& found, const Grid& published) {
  const double ratio = found.mean.at(kAlone, 0) / published.at(kAlone, 0);
  return ratio >= 0.95 && ratio <= 1.05;
}

bool theirs_is_a_draw_of_ours(const Figures& found, const Grid& published) {
  const double theirs = published.at(kPermutation, 0);
  return found.least.at(kPermutation, 0) <= theirs && theirs <= 1.05 * found.most.at(kPermutation, 0);
}

bool permutation_collides(const Figures& found, const Grid&) {
  return found.mean.at(kPermutation, 0) >= 1.9 * found.mean.at(kAlone, 0);
}

}  // namespace

Experiment uet_single_path() {
  return {.name = "uet-single-path",
          .paper = "uet-htsim 40ccb052",
          .figure = "validation",
          .shows = "completion over single paths: one flow, a permutation",
          .unit = "us, the slowest flow",
          .how_read = "read in validate/*.out",
          .published = {.rows = {"one flow", "permutation of 16"}, .columns = {"2 MB"}, .values = {176.2, 527.8}},
          .seeds = 20,
          .takes = "10 s",
          .plans = uet_plans,
          .read = uet_read,
          .claims = {{"one flow takes what it takes there, within 5 %", alone_is_theirs, ""},
                     {"their permutation lies among ours, or within 5 % of the slowest", theirs_is_a_draw_of_ours,
                      "theirs is one draw, in which three flows share a link all the way"},
                     {"a permutation over single paths takes about twice as long as a flow alone, or more",
                      permutation_collides, ""}},
          .assumed = {"A fat tree of 4-port switches, 16 hosts, 100 Gb/s, 1 us a cable: a round trip of 12 us.",
                      "Ours puts 2,040,098 bytes on the wire, theirs 2,002,140: 3 us of a flow's time; to the last "
                      "acknowledgement.",
                      "Ours is RoCE with go-back-N, PFC and ECMP; theirs sender-based congestion control with one "
                      "entropy value, which sends as fast on a path of its own."}};
}

}  // namespace softspine::tools
