// SPDX-License-Identifier: Apache-2.0
#include "tools/storm/tiers.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <deque>
#include <string_view>

#include "control/model/role.hpp"

namespace softspine::tools::storm {

namespace {

constexpr std::array<std::string_view, 5> kHostWords = {"h", "host", "nic", "server", "gpu"};

int tier_of_word(std::string_view word) {
  if (word.empty()) return kNoTier;
  if (std::ranges::find(kHostWords, word) != kHostWords.end()) return control::kHostTier;
  for (const control::RoleRow& role : control::kSwitchRoles) {
    if (std::ranges::find(role.names, word) != role.names.end()) return role.tier;
  }
  return kNoTier;
}
// "p1-tor2" has the words p and tor; the last one that is known counts: s1-h2-nic3 is a NIC, p1-tor2 a ToR.
int tier_by_name(const std::string& name) {
  int tier = kNoTier;
  for (size_t at = 0; at < name.size();) {
    size_t end = at;
    while (end < name.size() && std::isalpha(static_cast<unsigned char>(name[end])) != 0) ++end;
    const std::string_view word = std::string_view{name}.substr(at, end - at);
    if (const int known = tier_of_word(word); known != kNoTier) tier = known;
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
    if (node.tier != kNoTier || !node.is_named) continue;
    node.tier = tier_by_name(node.name);
    node.is_tier_known = node.tier != kNoTier;
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
