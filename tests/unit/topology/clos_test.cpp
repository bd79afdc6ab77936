// SPDX-License-Identifier: Apache-2.0
// Three-stage Clos networks: which calls they carry, found by trying all of them.
#include "control/model/clos.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "tests/unit/topology/fabric_checks.hpp"
#include "tests/unit/topology/graph_oracle.hpp"

namespace softspine::control {
namespace {

// The state of a network by the calls between each ingress, middle and egress switch. Inputs of a switch are alike,
// and so are outputs: how many of them are busy is the sum over the middle switches.
class Calls {
 public:
  Calls(uint32_t m, uint32_t n, uint32_t r, uint32_t channels) : m_(m), n_(n), r_(r), channels_(channels) {
    state_.assign(size_t{m} * 2 * r, 0);
  }

  // Whether some order of calls and hang-ups leads to a free input that cannot reach a free output. Every state that
  // can be reached by calls alone is looked at: hang-ups only lead to states that fewer calls reach as well.
  bool can_block() {
    if (!seen_.insert(state_).second) return false;
    for (uint32_t in = 0; in < r_; ++in) {
      for (uint32_t out = 0; out < r_; ++out) {
        if (busy(0, in) == n_ || busy(r_, out) == n_) continue;
        bool placed = false;
        for (uint32_t middle = 0; middle < m_; ++middle) {
          if (at(middle, in) == channels_ || at(middle, r_ + out) == channels_) continue;
          placed = true;
          ++at(middle, in);
          ++at(middle, r_ + out);
          const bool blocks = can_block();
          --at(middle, in);
          --at(middle, r_ + out);
          if (blocks) return true;
        }
        if (!placed) return true;
      }
    }
    return false;
  }

 private:
  uint8_t& at(uint32_t middle, uint32_t side) { return state_[size_t{middle} * 2 * r_ + side]; }
  uint32_t busy(uint32_t side, uint32_t number) {
    uint32_t sum = 0;
    for (uint32_t middle = 0; middle < m_; ++middle) sum += at(middle, side + number);
    return sum;
  }

  uint32_t m_, n_, r_, channels_;
  std::vector<uint8_t> state_;
  std::set<std::vector<uint8_t>> seen_;
};

// Whether every assignment of all inputs to all outputs can be carried at a time, each middle switch taking at most
// `channels` calls of an outer switch: by trying all.
class Permutations {
 public:
  Permutations(uint32_t m, uint32_t n, uint32_t r, uint32_t channels) : m_(m), n_(n), r_(r), channels_(channels) {}

  bool all_fit() {
    to_.resize(size_t{n_} * r_);
    for (uint32_t i = 0; i < to_.size(); ++i) to_[i] = i / n_;
    do {
      used_.assign(size_t{m_} * 2 * r_, 0);
      if (!fits(0)) return false;
    } while (std::ranges::next_permutation(to_).found);
    return true;
  }

 private:
  bool fits(size_t call) {
    if (call == to_.size()) return true;
    for (uint32_t middle = 0; middle < m_; ++middle) {
      uint8_t& in = used_[size_t{middle} * 2 * r_ + call / n_];
      uint8_t& out = used_[size_t{middle} * 2 * r_ + r_ + to_[call]];
      if (in == channels_ || out == channels_) continue;
      ++in;
      ++out;
      const bool rest = fits(call + 1);
      --in;
      --out;
      if (rest) return true;
    }
    return false;
  }

  uint32_t m_, n_, r_, channels_;
  std::vector<uint32_t> to_;  // the egress switch of each input
  std::vector<uint8_t> used_;
};

TEST(ThreeStages, BlockExactlyWhenTryingAllCallsFindsABlockedOne) {
  for (uint32_t channels = 1; channels <= 2; ++channels) {
    for (uint32_t n = 1; n <= 3; ++n) {
      for (uint32_t m = 1; m <= 5; ++m) {
        constexpr uint32_t r =
            2;  // enough: what fills an ingress switch goes elsewhere than what fills an egress switch
        const StagedFabric stages{.name = {}, .m = m, .n = n, .r = r, .channels = channels};
        const bool strict = !Calls(m, n, r, channels).can_block();
        const bool rearrangeable = Permutations(m, n, r, channels).all_fit();
        const Blocking found = strict          ? Blocking::kStrict
                               : rearrangeable ? Blocking::kRearrangeable
                                               : Blocking::kBlocking;
        EXPECT_EQ(stages.blocking(), found) << "m " << m << " n " << n << " r " << r << " channels " << channels;
      }
    }
  }
}

TEST(ThreeStages, HaveTheCountsOfTheirParameters) {
  const Fabric fabric = tests::testbed_of(
                            "fabric: {kind: clos, m: 5, n: 3, r: 4, nonblocking: strict, host_link: {rate: 1Gbps}, "
                            "fabric_link: {rate: 1Gbps}}")
                            .fabric;
  EXPECT_EQ(tests::degrees(fabric, Role::kTor), (std::map<size_t, size_t>{{3 + 5, 8}}));
  EXPECT_EQ(tests::degrees(fabric, Role::kAggregation), (std::map<size_t, size_t>{{8, 5}}));
  tests::check_wiring(fabric);
  const tests::GraphOracle oracle(fabric);
  EXPECT_EQ(oracle.shortest_ways(tests::node_at(fabric, "in1"), tests::node_at(fabric, "out12")), 5u);
  EXPECT_EQ(tests::GraphOracle(fabric).flow(tests::hosts_of(fabric, "in"), tests::hosts_of(fabric, "out")), 12'000);
}

TEST(ThreeStages, OfTheLeastStrictSizeNeedFewerCrosspointsThanACrossbarFrom36Inputs) {
  // Of the squares N = n^2, 36 is the first where 6 N^1.5 - 3 N is below N^2 (Clos, 1953).
  for (uint32_t n = 2; n <= 10; ++n) {
    const StagedFabric clos{.name = {}, .inputs = n * n, .outputs = n * n, .m = 2 * n - 1, .n = n, .r = n};
    const StagedFabric crossbar{.name = {}, .inputs = n * n, .outputs = n * n};
    EXPECT_EQ(clos.crosspoints(), uint64_t{6} * n * n * n - 3 * n * n) << "6 N^1.5 - 3 N";
    EXPECT_EQ(clos.crosspoints() < crossbar.crosspoints(), n >= 6);
  }
}

std::string why_no_clos(const std::string& parameters) {
  const auto testbed =
      parse_testbed("name: t\nfabric: {kind: clos, host_link: {rate: 2Gbps}, " + parameters + "}\n", "t.yaml");
  return testbed ? "" : to_string(testbed.error().at(0));
}

TEST(ThreeStages, ThatShallNotBlockAreRefusedIfTheyCan) {
  EXPECT_NE(why_no_clos("m: 4, n: 3, r: 2, nonblocking: strict, fabric_link: {rate: 2Gbps}")
                .find("must be at least 5 to be nonblocking in the strict sense, not 4"),
            std::string::npos);
  EXPECT_NE(why_no_clos("m: 2, n: 3, r: 2, nonblocking: rearrangeable, fabric_link: {rate: 2Gbps}")
                .find("must be at least 3 to be rearrangeable, not 2"),
            std::string::npos);
  EXPECT_NE(
      why_no_clos("m: 9, n: 3, r: 2, nonblocking: strict, fabric_link: {rate: 1Gbps}").find("slower than an input"),
      std::string::npos);
  EXPECT_EQ(why_no_clos("m: 3, n: 3, r: 2, nonblocking: rearrangeable, fabric_link: {rate: 2Gbps}"), "");
  EXPECT_EQ(why_no_clos("m: 1, n: 3, r: 2, nonblocking: strict, fabric_link: {rate: 6Gbps}"), "");
}

}  // namespace
}  // namespace softspine::control
