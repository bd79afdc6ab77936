// SPDX-License-Identifier: Apache-2.0
// Runs a reaction point by lines of text and prints its rates, so that a reference in another language can be
// compared with it.
//
//   new paper|connectx LINE_BPS     cnp PS     sent PS BYTES     ask PS      → RC RT, after each line but `new`
//   new own LINE_BPS KEYS           every parameter in the order of ReactionPoint::kKeys: a fraction as two numbers,
//                                   a duration in ps, a rate in bit/s, true as 1
#include <iostream>
#include <optional>
#include <string>
#include <tuple>

#include "dataplane/congestion/reaction_point.hpp"

using namespace softspine::dataplane;

namespace {

void read(Fraction& out) {
  std::cin >> out.part >> out.whole;
}
void read(Duration& out) {
  int64_t ps = 0;
  std::cin >> ps;
  out = Duration::ps(ps);
}
void read(Rate& out) {
  uint64_t bps = 0;
  std::cin >> bps;
  out = Rate::bps(bps);
}
void read(ByteCount& out) {
  std::cin >> out.count;
}
void read(uint32_t& out) {
  std::cin >> out;
}
void read(bool& out) {
  std::cin >> out;
}

ReactionParameters parameters_of(const std::string& set) {
  if (set == "paper") return ReactionParameters::paper();
  if (set == "connectx") return ReactionParameters::connectx();
  ReactionParameters own;
  std::apply([&](const auto&... keys) { (read(own.*keys.member), ...); }, ReactionPoint::kKeys);
  return own;
}

}  // namespace

int main() {
  std::optional<ReactionPoint> point;
  std::string word;
  while (std::cin >> word) {
    if (word == "new") {
      std::string set;
      uint64_t line = 0;
      std::cin >> set >> line;
      point.emplace(parameters_of(set), Rate::bps(line));
      continue;
    }
    int64_t at = 0;
    uint32_t bytes = 0;
    std::cin >> at;
    if (word == "sent") std::cin >> bytes;
    if (!std::cin || !point) return 1;
    const Instant now = Instant::at_ps(at);
    point->advance(now);
    if (word == "cnp") point->on_cnp(now);
    if (word == "sent") point->on_sent(now, bytes);
    std::cout << point->current_bps() << ' ' << point->target_bps() << '\n';
  }
  return 0;
}
