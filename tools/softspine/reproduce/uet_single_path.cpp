// SPDX-License-Identifier: Apache-2.0
// uet-htsim's validation runs whose flows keep to one path: a flow alone, a permutation of 16, one of 1,024.
#include <fmt/format.h>

#include "tools/softspine/reproduce/experiments.hpp"
#include "tools/softspine/reproduce/report_reading.hpp"

namespace softspine::tools {

namespace {

constexpr size_t kAlone = 0;
constexpr size_t kPermutation = 1;

constexpr size_t kQuickest = 0;
constexpr size_t kSlowest = 1;

constexpr std::string_view kOurWay =
    "Ours is RoCE with go-back-N, PFC and ECMP; theirs sender-based congestion control with one entropy value, which "
    "sends as fast on a path of its own, and trims and sends again 4 to 5 % of a permutation's packets.";

// Switches of two tiers hash alike in nothing: theirs have a random salt each.
Plan uet_plan(const std::string& name, int ports, std::string_view pattern, uint64_t seed) {
  return {name, fmt::format("name: uet-{0}\n"
                            "run: {{clock: virtual, duration: 10ms, seed: {3}}}\n"
                            "fabric: {{kind: fat-tree, k: {1}, host_link: {{rate: 100Gbps, length: 198m}},\n"
                            "  fabric_link: {{rate: 100Gbps, length: 198m}}}}\n"
                            "profiles:\n"
                            "  lower: {{base: lossless, hash: {{algorithm: XXH3, seed: {3}}}}}\n"
                            "  upper: {{base: lossless, hash: {{algorithm: XXH3, seed: {4}}}}}\n"
                            "roles: {{tor: lower, aggregation: upper, core: upper}}\n"
                            "workload:\n"
                            "  - {{name: it, pattern: {2}, message: 2000000B, mtu: 4096, transport: rc}}\n",
                            name, ports, pattern, seed, seed + 1000)};
}

std::vector<Plan> uet_plans(TrialSize, uint64_t seed) {
  return {uet_plan("one-flow", 4, "pairs, from: [h1], to: [h16]", seed),
          uet_plan("permutation", 4, "permutation", seed)};
}

std::vector<Plan> uet_permutation_plans(TrialSize, uint64_t seed) {
  return {uet_plan("large-permutation", 16, "permutation", seed)};
}

void uet_read(const control::Json& report, size_t plan, Grid& out) {
  out.at(plan, 0) = number_of(report, {"flows", "it", "fct_acked_max_ps"}) / 1e6;
}

void uet_permutation_read(const control::Json& report, size_t, Grid& out) {
  out.at(kQuickest, 0) = number_of(report, {"flows", "it", "fct_acked_min_ps"}) / 1e6;
  out.at(kSlowest, 0) = number_of(report, {"flows", "it", "fct_acked_max_ps"}) / 1e6;
}

bool is_theirs(const Figures& found, const Grid& published, size_t row) {
  const double ratio = found.mean.at(row, 0) / published.at(row, 0);
  return ratio >= 0.95 && ratio <= 1.05;
}

bool is_a_draw_of_ours(const Figures& found, const Grid& published, size_t row) {
  const double theirs = published.at(row, 0);
  return found.least.at(row, 0) <= theirs && theirs <= 1.05 * found.most.at(row, 0);
}

bool alone_is_theirs(const Figures& found, const Grid& published) {
  return is_theirs(found, published, kAlone);
}

bool theirs_is_a_draw_of_ours(const Figures& found, const Grid& published) {
  return is_a_draw_of_ours(found, published, kPermutation);
}

bool permutation_collides(const Figures& found, const Grid&) {
  return found.mean.at(kPermutation, 0) >= 1.9 * found.mean.at(kAlone, 0);
}

bool quickest_is_theirs(const Figures& found, const Grid& published) {
  return is_theirs(found, published, kQuickest);
}

bool slowest_is_a_draw_of_ours(const Figures& found, const Grid& published) {
  return is_a_draw_of_ours(found, published, kSlowest);
}

bool slowest_shares_with_four(const Figures& found, const Grid&) {
  return found.mean.at(kSlowest, 0) >= 4.5 * found.mean.at(kQuickest, 0);
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
                      kOurWay}};
}

Experiment uet_permutation() {
  return {
      .name = "uet-permutation",
      .paper = "uet-htsim 40ccb052",
      .figure = "validation",
      .shows = "completion over single paths: a permutation of 1,024",
      .unit = "us",
      .how_read = "read in validate/*.out",
      .published = {.rows = {"quickest flow", "slowest flow"}, .columns = {"2 MB"}, .values = {168.0, 889.9}},
      .seeds = 20,
      .takes = "2 min",
      .plans = uet_permutation_plans,
      .read = uet_permutation_read,
      .claims = {{"the quickest flow takes what it takes there, within 5 %", quickest_is_theirs, ""},
                 {"their slowest flow lies among ours, or within 5 % of the slowest", slowest_is_a_draw_of_ours, ""},
                 {"the slowest flow shares a link with four others, or more", slowest_shares_with_four, ""}},
      .assumed = {"A fat tree of 16-port switches, 1,024 hosts, 100 Gb/s, 1 us a cable: a round trip of 12 us.",
                  "The slowest takes 163 us for each flow on its busiest link: 830 us with five, 993 us with six.",
                  kOurWay}};
}

}  // namespace softspine::tools
