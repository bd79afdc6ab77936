// SPDX-License-Identifier: Apache-2.0
// HPN, SIGCOMM 2024, on failures of one NIC's link: what a job loses while the link is down, with one ToR and with two.
#include <fmt/format.h>

#include <array>
#include <cmath>

#include "tools/softspine/reproduce/experiments.hpp"
#include "tools/softspine/reproduce/report_reading.hpp"

namespace softspine::tools {

namespace {

constexpr size_t kPorts = 0;
constexpr size_t kRing = 1;
constexpr size_t kFailureSingle = 2;
constexpr std::string_view kDualTor =
    "{kind: hpn, segments: 1, servers_per_segment: 2, rails: 8, planes: 2, aggregations_per_plane: 4,\n"
    "  host_link: {rate: 200Gbps, length: 3m}, fabric_link: {rate: 400Gbps, length: 40m}, bond: {mode: lacp, miimon: "
    "10us}}";
constexpr std::string_view kSingleTor =
    "{kind: ai-zone, racks: 1, servers_per_rack: 2, nics_per_server: 8, ctsws: 4,\n"
    "  host_link: {rate: 400Gbps, length: 3m}, fabric_link: {rate: 400Gbps, length: 40m}}";
constexpr std::string_view kPairs =
    "workload:\n"
    "  - {name: job, pattern: pairs, from: [s1-h1-nic1..s1-h1-nic8], to: [s1-h2-nic1..s1-h2-nic8],\n"
    "     message: 1MiB, messages: 10000, qps: 2, transport: rc, start: 100us}\n";
constexpr std::string_view kCollective =
    "collectives:\n"
    "  - {name: job, op: all_reduce, algorithm: ring, protocol: simple, size: 64MiB, iterations: 4,\n"
    "     channels: 8, qps: 2, post_cost: 1us, start: 100us, adaptive_retransmission: 2ms}\n";

struct Row {
  std::string_view name;
  std::string_view fabric;
  std::string_view work;
  std::string_view fails;
  std::string_view duration;
};
constexpr std::array kRows{Row{"ports", kDualTor, kPairs, "s1-h1-nic1:eth1", "3ms"},
                           Row{"ring", kDualTor, kCollective, "s1-h1-nic1:eth1", "50ms"},
                           Row{"single-tor", kSingleTor, kCollective, "z1-h1-nic1:eth0", "50ms"}};

// Of each row first the run in which all links are up.
std::vector<Plan> failure_plans(TrialSize, uint64_t seed) {
  std::vector<Plan> out;
  for (const Row& row : kRows) {
    for (const bool fails : {false, true}) {
      std::string text = fmt::format(
          "name: hpn-failure-{0}\n"
          "run: {{clock: virtual, duration: {4}, seed: {1}}}\n"
          "fabric: {2}\n"
          "profiles: {{default: {{base: lossless, hash: {{algorithm: XXH3, seed: {1}}}}}}}\n{3}",
          row.name, seed, row.fabric, row.work, row.duration);
      if (fails) text += fmt::format("faults:\n  - {{at: 0s, link: \"{}\", set: down}}\n", row.fails);
      out.push_back({fmt::format("{}-{}", row.name, fails ? "failed" : "whole"), std::move(text)});
    }
  }
  return out;
}

// Bytes of queue pairs; of AllReduces the rate of the quickest one, which no wait for a timeout is part of.
double failure_rate(const control::Json& report, size_t row) {
  if (row == kPorts) return number_of(report, {"flows", "job", "received_bytes"});
  const double time = number_of(report, {"collectives", "job", "sizes", "67108864", "time_min_ps"});
  return std::isnan(time) ? 0 : 1 / time;
}

void failure_read(const control::Json& report, size_t plan, Grid& out) {
  const size_t row = plan / 2;
  double& cell = out.at(row, 0);
  const double rate = failure_rate(report, row);
  cell = plan % 2 == 0 ? rate : (rate / cell - 1) * 100;
}

bool ports_lose_their_share(const Figures& found, const Grid& published) {
  const double difference = found.mean.at(kPorts, 0) - published.at(kPorts, 0);
  return difference <= 0.5 && -difference <= 0.5;
}

bool ring_loses_a_sixteenth(const Figures& found, const Grid& published) {
  const double difference = found.mean.at(kRing, 0) - published.at(kRing, 0);
  return difference <= 1 && -difference <= 1;
}

bool dual_goes_on(const Figures& found, const Grid&) {
  return found.mean.at(kPorts, 0) > -60 && found.mean.at(kRing, 0) > -60;
}

bool single_halts(const Figures& found, const Grid&) {
  return found.mean.at(kFailureSingle, 0) < -99;
}

}  // namespace

Experiment hpn_failure() {
  return {.name = "hpn-failure",
          .paper = "HPN, SIGCOMM 2024",
          .figure = "Figure 18",
          .shows = "a NIC's link is down: one ToR, and two",
          .unit = "% of throughput lost or won",
          .how_read = "read in the text; a job of 256 GPUs",
          .published = {.rows = {"dual ToR, queue pairs", "dual ToR, AllReduce", "single ToR, AllReduce"},
                        .columns = {"change"},
                        .values = {-6.25, -6.25, -100}},
          .seeds = 3,
          .takes = "1 min",
          .plans = failure_plans,
          .read = failure_read,
          .claims = {{"queue pairs of a server with 16 ports lose a sixteenth with one of these",
                      ports_lose_their_share, ""},
                     {"an AllReduce loses as little", ring_loses_a_sixteenth,
                      "NCCL gives each channel the same bytes, so the channel of the NIC that has half of its rate "
                      "decides, and an AllReduce takes up to twice as long; the paper's number is of training, whose "
                      "share of communication it does not give"},
                     {"with two ToRs the job goes on", dual_goes_on, ""},
                     {"with a single ToR it stands still", single_halts, ""}},
          .assumed = {
              "Two servers of eight NICs; the link is down before the job begins: what its failure costs by itself is "
              "testbeds/dual-tor-failure's.",
              "AllReduces: the quickest of four, since before that connections wait for timeouts (2 ms, as ConnectX "
              "has them) until they take their sender's other port.",
              "What a single ToR's NIC has on one port of 400 Gb/s, a dual ToR's has on two of 200."}};
}

}  // namespace softspine::tools
