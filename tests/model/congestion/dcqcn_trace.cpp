// SPDX-License-Identifier: Apache-2.0
// Runs a reaction point by lines of text and prints its rates, so that a reference in another language can be
// compared with it.
//
//   new paper|connectx LINE_BPS     cnp PS     sent PS BYTES     ask PS      → RC RT, after each line but `new`
#include <iostream>
#include <optional>
#include <string>

#include "dataplane/congestion/reaction_point.hpp"

using namespace softspine::dataplane;

int main() {
  std::optional<ReactionPoint> point;
  std::string word;
  while (std::cin >> word) {
    if (word == "new") {
      std::string set;
      uint64_t line = 0;
      std::cin >> set >> line;
      point.emplace(set == "paper" ? ReactionParameters::paper() : ReactionParameters::connectx(), Rate::bps(line));
      continue;
    }
    int64_t at = 0;
    uint32_t bytes = 0;
    std::cin >> at;
    if (word == "sent") std::cin >> bytes;
    if (!std::cin || !point) return 1;
    point->advance(Instant::at_ps(at));
    if (word == "cnp") point->receive_cnp(Instant::at_ps(at));
    if (word == "sent") point->sent(bytes);
    std::cout << point->rate_bps() << ' ' << point->target_bps() << '\n';
  }
  return 0;
}
