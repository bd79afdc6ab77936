// SPDX-License-Identifier: Apache-2.0
#include "analysis/storm/tiers.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <deque>
#include <span>
#include <string_view>

#include "control/model/role.hpp"

namespace softspine::analysis::storm {

namespace {

constexpr std::array<std::string_view, 5> kHostWords = {"h", "host", "nic", "server", "gpu"};
// A switch, of whatever tier: gpu-sw1 is one for GPUs.
constexpr std::array<std::string_view, 3> kSwitchWords = {"sw", "switch", "access"};
// Where a node is, not what it is.
constexpr std::array<std::string_view, 14> kPlaceWords = {"p",    "pod", "s",  "seg", "segment", "plane", "su",
                                                          "rail", "row", "dc", "r",   "rack",    "z",     "zone"};

struct NamedTier {
  int tier = kNoTier;
  bool is_certain = false;  // no word of the name contradicts it, or is unknown
};

bool is_one_of(std::string_view word, std::span<const std::string_view> words) {
  return std::ranges::find(words, word) != words.end();
}

int tier_of_word(std::string_view word) {
  if (word.empty()) return kNoTier;
  if (is_one_of(word, kHostWords)) return control::kHostTier;
  for (const control::RoleRow& role : control::kSwitchRoles) {
    if (std::ranges::find(role.names, word) != role.names.end()) return role.tier;
  }
  return kNoTier;
}
// "p1-tor2" has the words p and tor; the last one that is known counts: s1-h2-nic3 is a NIC, p1-tor2 a ToR. A name with
// a word that nobody knows is a guess: h3c-6850 is no host, but a vendor's switch.
NamedTier tier_by_name(const std::string& name) {
  NamedTier out{.tier = kNoTier, .is_certain = true};
  bool is_switch = false;
  for (size_t at = 0; at < name.size();) {
    size_t end = at;
    while (end < name.size() && std::isalpha(static_cast<unsigned char>(name[end])) != 0) ++end;
    const std::string_view word = std::string_view{name}.substr(at, end - at);
    const int known = tier_of_word(word);
    if (known != kNoTier) out.tier = known;
    const bool names_a_switch = is_one_of(word, kSwitchWords);
    is_switch = is_switch || names_a_switch;
    if (known == kNoTier && !names_a_switch && !word.empty() && !is_one_of(word, kPlaceWords)) out.is_certain = false;
    at = end + 1;
  }
  if (is_switch && out.tier == control::kHostTier) out.tier = kNoTier;
  out.is_certain = out.is_certain && out.tier != kNoTier;
  return out;
}

bool is_host(const LogNode& node, bool any_larger) {
  return node.tier == 0 || (node.tier == kNoTier && node.ports.size() <= 1 && any_larger);
}

}  // namespace

void guess_tiers(PauseLog& log) {
  for (LogNode& node : log.nodes) {
    if (node.tier != kNoTier || !node.is_named) continue;
    const NamedTier named = tier_by_name(node.name);
    node.tier = named.tier;
    node.is_tier_known = named.is_certain;
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

}  // namespace softspine::analysis::storm
