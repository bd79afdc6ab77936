// SPDX-License-Identifier: Apache-2.0
// Which hash does this switch use? From observations to an answer:
//
//   observations → sample → families → search → hypotheses → classes → verdict
//                          → ordinary CRCs, any linear hash (where no family has it)
//
// Two hypotheses are of one class if they send random flows by the same links, as far as links are known, and share
// links alike where they are not. The random flows differ in their addresses and source ports, and in whatever else
// the observations differ in; they go one way if the observations do. One class left, and too much explained for
// chance: that is the hash, for such flows.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/identify/crc_search.hpp"
#include "analysis/identify/linear_solution.hpp"
#include "analysis/identify/observations.hpp"
#include "analysis/identify/search.hpp"

namespace softspine::analysis {

// kNoModel: what it is is known, and no profile can have it.
enum class IdentifyVerdict : uint8_t { kIdentified, kNoModel, kIndistinguishable, kNothingFits };

struct HashClass {
  std::vector<Hypothesis> hypotheses;  // the most usual first
};

struct Identification {
  IdentifyVerdict verdict = IdentifyVerdict::kNothingFits;
  std::vector<std::string> links;
  uint32_t members = 0;
  uint32_t flows = 0;             // that were used
  uint32_t of_other_version = 0;  // that were not: their IP version is the rarer one
  uint64_t on_several_links = 0;
  std::vector<HashClass> classes;  // the most usual first
  // Where no model here fits: an ordinary CRC, or any linear hash.
  std::optional<FoundCrc> crc;
  std::optional<LinearSolution> linear;
  std::vector<FlowPart> constant;  // parts of which the observations have one value
  bool is_ipv6 = false;
  bool one_way = false;   // all flows go from the smaller address to the larger, or all the other way
  double chance = 0;      // log2 of the probability that chance explains as much
  bool is_cut = false;    // more hypotheses fit than were kept
  bool is_ended = false;  // the search was interrupted
  bool all_seeds = false;
};

// `members`: of the group; at least the links that have names.
Identification identify(const Observations& observations, uint32_t members, const SearchOptions& options);

// Flows like those of a sample, but for their values: addresses and source port are random, and each other part of
// which the sample has several values. If all flows of the sample go one way, these go the same way.
std::vector<Flow> flows_like(const Sample& sample, size_t count, uint64_t seed);

}  // namespace softspine::analysis
