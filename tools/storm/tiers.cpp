// SPDX-License-Identifier: Apache-2.0
#include "tools/storm/tiers.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <deque>
#include <string_view>

namespace softspine::tools::storm {

namespace {

struct Word {
  std::string_view word;
  int tier;
};
constexpr std::array kWords = {Word{"h", 0},           Word{"host", 0},      Word{"nic", 0},  Word{"server", 0},
                               Word{"gpu", 0},         Word{"eth", 0},       Word{"tor", 1},  Word{"leaf", 1},
                               Word{"edge", 1},        Word{"rtsw", 1},      Word{"rack", 1}, Word{"spine", 2},
                               Word{"aggregation", 2}, Word{"agg", 2},       Word{"ctsw", 2}, Word{"core", 3},
                               Word{"atsw", 3},        Word{"superspine", 3}};

// "p1-tor2" has the words p and tor; the last one that is known counts: s1-h2-nic3 is a NIC, p1-tor2 a ToR.
int tier_by_name(const std::string& name) {
  int tier = kNoTier;
  for (size_t at = 0; at < name.size();) {
    size_t end = at;
    while (end < name.size() && std::isalpha(static_cast<unsigned char>(name[end])) != 0) ++end;
    const std::string_view word = std::string_view{name}.substr(at, end - at);
    for (const Word& known : kWords) {
      if (known.word == word) tier = known.tier;
    }
    at = end + 1;
  }
  return tier;
}

bool is_host(const LogNode& node, bool any_larger) {
  return node.tier == 0 || (node.tier == kNoTier && node.ports.size() <= 1 && any_larger);
}

}  // namespace

void guess_tiers(PauseLog& log) {
  for (LogNode& node : log.nodes) {
    if (node.tier == kNoTier) node.tier = tier_by_name(node.name);
  }
  const bool any_larger = std::ranges::any_of(log.nodes, [](const LogNode& n) { return n.ports.size() > 1; });
  std::vector<int> distance(log.nodes.size(), kNoTier);
  std::deque<uint32_t> next;
  for (uint32_t n = 0; n < log.nodes.size(); ++n) {
    if (!is_host(log.nodes[n], any_larger)) continue;
    distance[n] = 0;
    next.push_back(n);
  }
  for (; !next.empty(); next.pop_front()) {
    const uint32_t here = next.front();
    for (const uint32_t port : log.nodes[here].ports) {
      const uint32_t peer = log.ports[port].peer;
      if (peer == kNone || distance[log.node_of(peer)] != kNoTier) continue;
      distance[log.node_of(peer)] = distance[here] + 1;
      next.push_back(log.node_of(peer));
    }
  }
  for (uint32_t n = 0; n < log.nodes.size(); ++n) {
    if (log.nodes[n].tier == kNoTier) log.nodes[n].tier = distance[n];
  }
}

}  // namespace softspine::tools::storm
