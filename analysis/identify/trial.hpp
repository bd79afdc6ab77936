// SPDX-License-Identifier: Apache-2.0
// One round of the search (search.hpp) over families: what fits a set of pairs, judged by the whole sample.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <vector>

#include "analysis/identify/constant_search.hpp"
#include "analysis/identify/families.hpp"
#include "analysis/identify/search.hpp"

namespace softspine::analysis {

class Trial {
 public:
  // `pairs` are taken as right. `exact`: so are all other observations.
  Trial(const Sample& sample, std::vector<FlowPair> pairs, bool exact);

  // Adds what fits to `out`; stops at SearchResult::kMax.
  void run(const Family& family, SearchResult& out);
  // Seeds of hashes that are not linear: of a list, or all if it is empty. `goes_on(share)` is asked now and then.
  void run(const Family& family, const std::vector<uint32_t>& seeds, const std::function<bool(double)>& goes_on,
           SearchResult& out);

 private:
  struct Constant {
    uint8_t offset = 0;
    uint32_t value = 0;
  };
  std::vector<FlowPair> pairs_that_tell(const Family& family) const;
  bool may_fit(const Family& family) const;
  bool low_bits_fit(const std::vector<uint32_t>& values) const;
  bool fits(const std::vector<uint32_t>& buckets) const;
  bool are_equal(const std::vector<uint32_t>& values, uint32_t constant) const;
  void judge(const Family& family, const std::vector<uint32_t>& values, Constant constant, SearchResult& out);
  void add_linear(const Family& family, Constant constant, SearchResult& out) const;
  void add(const dataplane::HashConfig& config, SearchResult& out) const;
  ConstantSearch& constants(uint32_t width);

  const Sample& sample_;
  std::vector<FlowPair> pairs_;      // taken as right
  std::vector<FlowPair> all_pairs_;  // to judge by
  bool exact_;
  std::map<uint32_t, ConstantSearch> constants_;  // by width
};

}  // namespace softspine::analysis
