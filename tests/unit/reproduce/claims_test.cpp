// SPDX-License-Identifier: Apache-2.0
// The claims of all experiments: the paper's own numbers fulfil them; with one number wrong they do not.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "tools/softspine/reproduce/experiments.hpp"

namespace softspine::tools {
namespace {

// The value that makes one of the paper's numbers break one claim.
struct Fault {
  std::string_view experiment;
  size_t claim;
  size_t row;
  size_t column;
  double value;
};
constexpr std::array kFaults{
    Fault{"meta-fig7", 0, 3, 2, 20},          // four in turns below four split
    Fault{"meta-fig7", 0, 4, 0, 0.5},         // sixteen in turns below sixteen split
    Fault{"meta-fig7", 1, 1, 5, 50},          // four split below one
    Fault{"meta-fig7", 1, 3, 3, 30},          // four in turns below one
    Fault{"meta-fig7", 2, 2, 0, 4},           // sixteen split above one
    Fault{"meta-fig7", 2, 2, 3, 34},          // likewise at 128 MB
    Fault{"meta-fig7", 3, 4, 3, 70},          // sixteen in turns unlike four
    Fault{"meta-fig7", 3, 4, 5, 95},          // likewise the other way
    Fault{"meta-fig7", 4, 0, 5, 70},          // one queue pair too fast
    Fault{"meta-table3", 0, 1, 0, 0},         // no pause from CTSWs
    Fault{"meta-table3", 0, 0, 0, 0},         // none from the RTSW
    Fault{"meta-table3", 0, 2, 0, 0},         // none at NICs
    Fault{"meta-table3", 1, 2, 1, 1},         // a NIC paused despite admission
    Fault{"meta-table3", 1, 0, 1, 1},         // an RTSW pauses despite it
    Fault{"meta-table3", 1, 1, 1, 1},         // a CTSW does
    Fault{"meta-table3", 2, 0, 0, 100},       // the RTSW pauses less
    Fault{"meta-flowlets", 0, 0, 1, 700},     // more with a longer interval
    Fault{"meta-flowlets", 0, 0, 4, 5},       // likewise at the longest
    Fault{"meta-flowlets", 1, 0, 3, 40},      // 6 % left at half an RTT
    Fault{"meta-flowlets", 2, 0, 4, 1},       // one at a whole
    Fault{"meta-ecn", 0, 0, 0, 22},           // strict ones win
    Fault{"meta-ecn", 1, 0, 0, 26},           // or cost 13 %
    Fault{"hpn-fig17", 0, 1, 3, 100},         // HPN falls from 64 to 256 MB
    Fault{"hpn-fig17", 0, 0, 5, 126},         // DCN+ falls from 1 to 4 GB
    Fault{"hpn-fig17", 1, 1, 0, 20},          // and is slower than DCN+ at 4 MB
    Fault{"hpn-fig17", 2, 1, 5, 190},         // 1.47 times
    Fault{"hpn-fig19", 0, 0, 0, 66},          // 1.36 times
    Fault{"hpn-fig19", 0, 0, 3, 66},          // likewise at 32 hosts
    Fault{"hpn-fig19", 1, 1, 2, 80},          // two planes depend on the hosts
    Fault{"hpn-fig19", 1, 1, 3, 96},          // likewise the other way
    Fault{"hpn-disjoint", 0, 2, 0, 19},       // less than a fifth
    Fault{"hpn-disjoint", 1, 1, 0, 40},       // disjoint ports alone win more
    Fault{"hpn-disjoint", 1, 0, 0, 40},       // as do bytes outstanding alone
    Fault{"hpn-failure", 0, 0, 0, -7},        // more than a port's share
    Fault{"hpn-failure", 0, 0, 0, -5},        // less than that
    Fault{"hpn-failure", 1, 1, 0, -8},        // more than a sixteenth
    Fault{"hpn-failure", 1, 1, 0, -4},        // less than that
    Fault{"hpn-failure", 2, 1, 0, -70},       // hardly goes on
    Fault{"hpn-failure", 2, 0, 0, -70},       // likewise queue pairs
    Fault{"hpn-failure", 3, 2, 0, -50},       // goes on behind a single ToR
    Fault{"dcqcn-convergence", 0, 0, 0, 17},  // unfair
    Fault{"dcqcn-convergence", 1, 1, 0, 17},  // 37 of 40 Gb/s
    Fault{"uet-single-path", 0, 0, 0, 190},   // 8 % longer
    Fault{"uet-single-path", 0, 0, 0, 160},   // 9 % shorter
    Fault{"uet-single-path", 1, 1, 0, 400},   // none of ours takes as long
    Fault{"uet-single-path", 1, 1, 0, 600},   // all of ours take longer
    Fault{"uet-single-path", 2, 1, 0, 300},   // hardly any collision
    Fault{"uet-permutation", 0, 0, 0, 180},   // 7 % longer
    Fault{"uet-permutation", 0, 0, 0, 155},   // 8 % shorter
    Fault{"uet-permutation", 1, 1, 0, 820},   // none of ours takes as long
    Fault{"uet-permutation", 1, 1, 0, 990},   // all of ours take longer
    Fault{"uet-permutation", 2, 1, 0, 700},   // four on a link
};

TEST(PapersClaims, HoldForThePapersOwnNumbers) {
  for (const Experiment& it : experiments()) {
    EXPECT_FALSE(it.claims.empty()) << it.name;
    ASSERT_EQ(it.published.values.size(), it.published.rows.size() * it.published.columns.size()) << it.name;
    for (const Claim& claim : it.claims) {
      EXPECT_TRUE(claim.holds(exactly(it.published), it.published)) << it.name << ": " << claim.text;
    }
  }
}

TEST(PapersClaims, DoNotHoldWithOneNumberWrong) {
  for (const Fault& fault : kFaults) {
    const Experiment* const it = find_experiment(fault.experiment);
    ASSERT_NE(it, nullptr) << fault.experiment;
    ASSERT_LT(fault.claim, it->claims.size()) << fault.experiment;
    Grid wrong = it->published;
    wrong.at(fault.row, fault.column) = fault.value;
    EXPECT_FALSE(it->claims[fault.claim].holds(exactly(wrong), it->published))
        << it->name << ": " << it->claims[fault.claim].text;
  }
}

TEST(PapersClaims, HaveAFaultEach) {
  for (const Experiment& it : experiments()) {
    for (size_t claim = 0; claim < it.claims.size(); ++claim) {
      EXPECT_TRUE(std::ranges::any_of(
          kFaults, [&](const Fault& fault) { return fault.experiment == it.name && fault.claim == claim; }))
          << it.name << ": " << it.claims[claim].text;
    }
  }
}

TEST(PapersClaims, DoNotHoldWhereNothingWasFound) {
  for (const Experiment& it : experiments()) {
    for (const Claim& claim : it.claims) {
      EXPECT_FALSE(claim.holds(exactly(it.published.emptied()), it.published)) << it.name << ": " << claim.text;
    }
  }
}

TEST(PapersClaims, DoNotAllHoldWhereEverythingIsZero) {
  for (const Experiment& it : experiments()) {
    Grid zeros = it.published;
    zeros.scale(0);
    EXPECT_FALSE(std::ranges::all_of(it.claims, [&](const Claim& claim) {
      return claim.holds(exactly(zeros), it.published);
    })) << it.name;
  }
}

TEST(PapersExperiments, HaveNamesOfTheirOwnAndAreFoundByThem) {
  for (const Experiment& it : experiments()) EXPECT_EQ(find_experiment(it.name), &it);
  EXPECT_EQ(find_experiment("meta"), nullptr);
}

}  // namespace
}  // namespace softspine::tools
