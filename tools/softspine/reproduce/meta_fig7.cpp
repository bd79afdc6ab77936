// SPDX-License-Identifier: Apache-2.0
// Meta, SIGCOMM 2024, Figure 7: an AllReduce over one queue pair a connection and ECMP, and over four and sixteen with
// E-ECMP (the hash has the destination queue pair), each message split or messages in turns.
#include <fmt/format.h>

#include <array>

#include "tools/softspine/reproduce/experiments.hpp"
#include "tools/softspine/reproduce/report_reading.hpp"

namespace softspine::tools {

namespace {

constexpr size_t kOneQp = 0;
constexpr size_t kSplit4 = 1;
constexpr size_t kSplit16 = 2;
constexpr size_t kTurns4 = 3;
constexpr size_t kTurns16 = 4;
constexpr size_t k128Mb = 3;
constexpr size_t k2Gb = 5;
constexpr double kReadingError = 2;  // of the largest: what was read off the figure is right to that
constexpr double kAlike = 3;         // likewise, of two such numbers

struct Scaling {
  std::string_view name;
  uint32_t qps;
  std::string_view scaling;
};
constexpr std::array kScalings{Scaling{"1-qp", 1, "round_robin"}, Scaling{"4-qp-split", 4, "split"},
                               Scaling{"16-qp-split", 16, "split"}, Scaling{"4-qp-round-robin", 4, "round_robin"},
                               Scaling{"16-qp-round-robin", 16, "round_robin"}};

struct Dimensions {
  uint32_t racks;
  uint32_t nics;  // of a server; there are two servers a rack
  uint32_t least_kib;
};

// The size that a message has follows from bytes over ranks times channels: the small one keeps these.
Dimensions dimensions(TrialSize size) {
  return size == TrialSize::kWhole ? Dimensions{8, 8, 2'048} : Dimensions{4, 4, 256};
}

std::string fig7_text_of(const Scaling& scaling, TrialSize size, uint64_t seed) {
  const Dimensions it = dimensions(size);
  std::string sizes;
  for (uint32_t i = 0, kib = it.least_kib; i < 6; ++i, kib *= 4) sizes += fmt::format("{}{}KiB", i ? ", " : "", kib);
  const std::string_view udf =
      scaling.qps == 1 ? "" : ", udf: [{base: L4, offset: 13, length: 3, match: {l4_dst_port: 4791}}]";
  return fmt::format(
      "name: meta-fig7-{0}\n"
      "run: {{clock: virtual, duration: 10s, seed: {1}}}\n"
      "fabric: {{kind: ai-zone, racks: {2}, servers_per_rack: 2, nics_per_server: {3}, uplinks: 1:1,\n"
      "  host_link: {{rate: 400Gbps, length: 3m}}, fabric_link: {{rate: 400Gbps, length: 1089m}}}}\n"
      "profiles: {{default: {{base: lossless, hash: {{algorithm: XXH3, seed: {1}{4}}}}}}}\n"
      "collectives:\n"
      "  - {{name: grads, op: all_reduce, algorithm: ring, protocol: simple, channels: {3}, post_cost: 1us,\n"
      "     qps: {5}, scaling: {6}, size: [{7}]}}\n",
      scaling.name, seed, it.racks, it.nics, udf, scaling.qps, scaling.scaling, sizes);
}

std::vector<Plan> fig7_plans(TrialSize size, uint64_t seed) {
  std::vector<Plan> out;
  for (const Scaling& each : kScalings) out.push_back({std::string(each.name), fig7_text_of(each, size, seed)});
  return out;
}

void fig7_read(const control::Json& report, size_t plan, Grid& out) {
  for (size_t column = 0; column < out.columns.size(); ++column) {
    out.at(plan, column) = bus_bandwidth_of(report, "grads", column);
  }
}

// In every column from 0 to `last`.
bool is_at_least(const Grid& it, size_t row, size_t other, size_t last = k2Gb) {
  for (size_t column = 0; column <= last; ++column) {
    if (!(it.at(row, column) + kReadingError >= it.at(other, column))) return false;
  }
  return true;
}

bool turns_beat_splitting(const Figures& found, const Grid&) {
  return is_at_least(found.mean, kTurns4, kSplit4) && is_at_least(found.mean, kTurns16, kSplit16);
}

bool four_beat_one(const Figures& found, const Grid&) {
  return is_at_least(found.mean, kSplit4, kOneQp) && is_at_least(found.mean, kTurns4, kOneQp);
}

bool splitting_into_sixteen_costs(const Figures& found, const Grid&) {
  for (size_t column = 0; column <= k128Mb; ++column) {
    if (!(found.mean.at(kSplit16, column) < found.mean.at(kOneQp, column))) return false;
  }
  return true;
}

bool turns_are_alike(const Figures& found, const Grid&) {
  for (size_t column = 0; column <= k2Gb; ++column) {
    const double difference = found.mean.at(kTurns4, column) - found.mean.at(kTurns16, column);
    if (!(difference <= kAlike && -difference <= kAlike)) return false;
  }
  return true;
}

bool gain_is_half(const Figures& found, const Grid&) {
  return found.mean.at(kTurns16, k2Gb) >= 1.5 * found.mean.at(kOneQp, k2Gb);
}

}  // namespace

Experiment meta_fig7() {
  return {
      .name = "meta-fig7",
      .paper = "Meta, SIGCOMM 2024",
      .figure = "Figure 7",
      .shows = "AllReduce by queue-pair scaling: ECMP, split, round-robin",
      .unit = "% of the best",
      .how_read = "digitised from the figure, right to 1 or 2 units",
      .published = {.rows = {"1 QP, ECMP", "4 QPs, split", "16 QPs, split", "4 QPs, turns", "16 QPs, turns"},
                    .columns = {"2 MB", "8 MB", "32 MB", "128 MB", "512 MB", "2 GB"},
                    .values = {3.5,  7.0,  24.9, 33.9, 35.6, 58.5, 3.5,  7.0,  24.5, 34.8,
                               45.0, 69.9, 2.9,  5.3,  19.6, 21.7, 42.1, 69.5, 4.1,  13.5,
                               40.1, 64.4, 91.4, 99.4, 4.1,  13.1, 39.3, 66.0, 90.2, 100}},
      .is_of_best = true,
      .seeds = 20,
      .takes = "6 min; whole: days",
      .plans = fig7_plans,
      .read = fig7_read,
      .claims = {{"round-robin is at least as fast as splitting, at every size", turns_beat_splitting,
                  "in our model a message that is split loads all its paths alike, and splitting costs nothing but the "
                  "posting of its parts; that the paper's split gains so little must have a cause that it does not "
                  "name, and that we do not model"},
                 {"four queue pairs are at least as fast as one, at every size", four_beat_one,
                  "a part costs 1 us to post, and a message of 64 KiB (128 MB in the paper) takes its NIC 1.3 us: four "
                  "parts a message "
                  "are more than the proxy keeps up with"},
                 {"splitting into sixteen is slower than one queue pair, up to 128 MB", splitting_into_sixteen_costs,
                  ""},
                 {"four and sixteen queue pairs in turns are alike", turns_are_alike,
                  "four paths at a time collide more often than sixteen: with turns over four, the fullest uplink of a "
                  "rack has more than its share for longer"},
                 {"sixteen in turns are 1.5 times as fast as one queue pair, at 2 GB", gain_is_half, ""}},
      .assumed = {
          "The number of GPUs is not published: 128 (8 racks of 16). The small one has 32, half as many NICs a server, "
          "and an eighth of the bytes, so that messages are as long as they would be.",
          "NCCL's ring, protocol Simple, a channel for each NIC; NCCL_IB_QPS_PER_CONNECTION and "
          "NCCL_IB_SPLIT_DATA_ON_QPS are the cases.",
          "Each posting costs a rank's proxy 1 us, the overhead that NCCL's own choice of algorithms reckons with.",
          "Cables are so long that the unloaded round trip is 22 us, as the paper has it; switches add nothing.",
          "The chip's hash is not published: an ideal one (XXH3), seeded by the run's seed.",
          "PFC, no congestion control, as the paper's 400G fabric."}};
}

}  // namespace softspine::tools
