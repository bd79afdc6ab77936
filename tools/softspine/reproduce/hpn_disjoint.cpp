// SPDX-License-Identifier: Apache-2.0
// HPN, SIGCOMM 2024, section 6.1: concurrent AllReduces over two segments, whose messages take their queue pairs in
// turns over whatever paths the kernel's source ports have, and the queue pair with the fewest bytes outstanding over
// disjoint ones.
#include <fmt/format.h>

#include <array>

#include "tools/softspine/reproduce/experiments.hpp"
#include "tools/softspine/reproduce/report_reading.hpp"

namespace softspine::tools {

namespace {

constexpr uint32_t kJobs = 4;
struct DisjointCase {
  std::string_view name;
  std::string_view scaling;
  std::string_view ports;
};
constexpr std::array kDisjointCases{DisjointCase{"turns-kernel", "round_robin", "per_qp"},
                                    DisjointCase{"least-kernel", "least_outstanding", "per_qp"},
                                    DisjointCase{"turns-disjoint", "round_robin", "disjoint"},
                                    DisjointCase{"least-disjoint", "least_outstanding", "disjoint"}};

// A job's servers come from both segments in turns: each hop of its rings crosses the aggregation layer.
std::string servers_of(uint32_t job, uint32_t servers_per_segment) {
  std::string out;
  const uint32_t each = servers_per_segment / kJobs;
  for (uint32_t i = 1; i <= each; ++i) {
    for (const uint32_t segment : {1U, 2U})
      out += fmt::format("{}server s{}-h{}", out.empty() ? "" : ", ", segment, job * each + i);
  }
  return out;
}

std::vector<Plan> disjoint_plans(TrialSize size, uint64_t seed) {
  const bool whole = size == TrialSize::kWhole;
  const uint32_t rails = whole ? 8 : 2;
  const uint32_t servers = whole ? 32 : 8;
  std::vector<Plan> out;
  for (const DisjointCase& it : kDisjointCases) {
    std::string text = fmt::format(
        "name: hpn-disjoint-{0}\n"
        "run: {{clock: virtual, duration: 100s, seed: {1}}}\n"
        "fabric: {{kind: hpn, segments: 2, servers_per_segment: {2}, rails: {3}, aggregations_per_plane: {4},\n"
        "  host_link: {{rate: 200Gbps, length: 3m}}, fabric_link: {{rate: 400Gbps, length: 40m}}}}\n"
        "profiles: {{default: {{base: lossless, hash: {{algorithm: XXH3, seed: {1}}}}}}}\n"
        "collectives:\n",
        it.name, seed, servers, rails, servers / 2);
    for (uint32_t job = 0; job < kJobs; ++job) {
      text += fmt::format(
          "  - {{name: job{0}, op: all_reduce, algorithm: ring, protocol: simple, channels: {1}, size: {2}MiB,\n"
          "     qps: 4, scaling: {3}, ports: {4}, post_cost: 1us, ranks: [{5}]}}\n",
          job + 1, rails, whole ? 1'024 : 64, it.scaling, it.ports, servers_of(job, servers));
    }
    out.push_back({std::string(it.name), std::move(text)});
  }
  return out;
}

// What all jobs have together, over what they have in turns by the kernel's ports.
void disjoint_read(const control::Json& report, size_t plan, Grid& out) {
  double sum = 0;
  for (uint32_t job = 1; job <= kJobs; ++job) sum += bus_bandwidth_of(report, fmt::format("job{}", job), 0);
  if (plan == 0) {
    for (double& each : out.values) each = sum;
    return;
  }
  double& cell = out.values[plan - 1];
  cell = (sum / cell - 1) * 100;
}

bool both_win_a_fifth(const Figures& found, const Grid&) {
  return found.mean.at(2, 0) >= 20;
}

// The paper has no number of either alone.
bool either_wins_less(const Figures& found, const Grid&) {
  const double both = found.mean.at(2, 0);
  return both > 0 && !(found.mean.at(0, 0) >= both) && !(found.mean.at(1, 0) >= both);
}

}  // namespace

Experiment hpn_disjoint() {
  return {
      .name = "hpn-disjoint",
      .paper = "HPN, SIGCOMM 2024",
      .figure = "section 6.1",
      .shows = "four concurrent AllReduces: queue pairs by bytes outstanding, over disjoint paths",
      .unit = "% of bus bandwidth won over queue pairs in turns with the kernel's source ports",
      .how_read = "read in the text: up to 34.7 % at four AllReduces on 512 GPUs",
      .published = {.rows = {"least outstanding, kernel's ports", "turns, disjoint", "least outstanding, disjoint"},
                    .columns = {"4 AllReduces"},
                    .values = {kNoNumber, kNoNumber, 34.7}},
      .seeds = 10,
      .takes = "2 min; whole: hours",
      .plans = disjoint_plans,
      .read = disjoint_read,
      .claims = {{"both together win a fifth", both_win_a_fifth, ""}, {"either alone wins less", either_wins_less, ""}},
      .assumed = {"Four jobs of an equal number of servers, of both segments in turns, so that every hop of a ring "
                  "crosses the aggregation layer; four queue pairs a connection, two for each port of a NIC.",
                  "The small one has 2 of 8 rails, 16 of 64 servers, 4 aggregation switches a plane, which carry "
                  "what the ToRs' hosts send, and 64 MiB.",
                  "The chip's hash is an ideal one (XXH3), seeded by the run's seed."}};
}

}  // namespace softspine::tools
