// SPDX-License-Identifier: Apache-2.0
// The search for hashes that explain a sample: of the families, which with which seed and offset?
//
// First every observation is taken as right. If nothing explains them all, up to 15 % may be wrong: the search then
// goes by a few pairs of flows at a time, drawn at random, and judges by all the flows what fits these pairs. As soon
// as a hash explains more than chance could, what it does not explain is set aside, and the rest is searched exactly.
//
//   linear, 2^k members     offsets only: a seed renames the members
//   linear, other groups    constant_search.hpp
//   others                  mixing_search.hpp: likely seeds; all of them on demand
//
// The usual fields are tried first, others only if nothing fits.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "analysis/identify/families.hpp"
#include "analysis/identify/fit.hpp"
#include "analysis/identify/sample.hpp"

namespace softspine::analysis {

struct SearchOptions {
  bool all_seeds = false;  // of hashes that are not linear: 2^32 instead of the likely ones
  // Called now and then with what is done; false ends the search.
  std::function<bool(const char* what, double share)> goes_on;
  bool is_linear_for_sure = false;  // by a hash that has no model, which explains every flow
};

struct Hypothesis {
  dataplane::HashConfig config;
  Fit fit;  // of the sample
};

struct SearchResult {
  std::vector<Hypothesis> found;  // the most usual first; of one family, all configurations
  double tried = 0;               // log2 of how many hashes were tried
  bool is_cut = false;            // there are more than kMax
  bool is_ended = false;          // by goes_on()
  bool tolerates_wrong = false;   // some observations are not explained

  static constexpr size_t kMax = 512;

  void count_tried(double log2_of_more);
  void add(const SearchResult& more);
};

SearchResult search(const Sample& sample, const SearchOptions& options);

// The member for each flow of a sample, by the hash itself.
std::vector<uint32_t> buckets_of(const dataplane::HashConfig& config, const std::vector<FlowFrame>& frames,
                                 uint32_t members);

}  // namespace softspine::analysis
