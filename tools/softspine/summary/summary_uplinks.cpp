// SPDX-License-Identifier: Apache-2.0
#include "tools/softspine/summary/summary_uplinks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <ranges>
#include <span>
#include <utility>
#include <vector>

#include "control/telemetry/json.hpp"
#include "tools/softspine/summary/summary_words.hpp"

namespace softspine::tools {

using control::Json;

namespace {

constexpr size_t kSwitchesShown = 8;
constexpr size_t kUplinksShown = 8;

using Uplinks = std::vector<std::pair<std::string, double>>;  // to whom, and the share of the switch's bytes

// The uplinks that are not shown one by one.
std::string other_uplinks(const Uplinks& uplinks) {
  const auto others = std::span{uplinks}.subspan(kUplinksShown);
  const auto [least, most] = std::ranges::minmax(others | std::views::transform(&Uplinks::value_type::second));
  const auto idle = std::ranges::count(others, 0.0, &Uplinks::value_type::second);
  return fmt::format("  and {} more: {:.1f}% to {:.1f}%, {} without a byte\n", others.size(), least * 100, most * 100,
                     idle);
}

}  // namespace

std::string uplinks_text(const Json& links) {
  std::map<std::string, Uplinks> of_switch;
  std::vector<std::string> order;
  for (const auto& [from, link] : links.items()) {
    if (!link.contains("share")) continue;
    const std::string name = from.substr(0, from.find(':'));
    const std::string to = link["to"].get<std::string>();
    if (!of_switch.contains(name)) order.push_back(name);
    of_switch[name].emplace_back(to.substr(0, to.find(':')), number(link["share"]));
  }
  std::erase_if(order, [&](const std::string& name) {
    return std::ranges::all_of(of_switch[name], [](const auto& link) { return link.second == 0; });
  });
  if (order.empty()) return "";
  std::string out = "\nHow ECMP spread the bytes of each switch over its uplinks (even would be the same in each)\n";
  for (size_t i = 0; i < std::min(order.size(), kSwitchesShown); ++i) {
    out += fmt::format("  {:<10}", order[i]);
    const auto& uplinks = of_switch[order[i]];
    for (size_t u = 0; u < std::min(uplinks.size(), kUplinksShown); ++u) {
      out += fmt::format("  {} {:.1f}%", uplinks[u].first, uplinks[u].second * 100);
    }
    out += uplinks.size() > kUplinksShown ? other_uplinks(uplinks) : "\n";
  }
  if (order.size() > kSwitchesShown) out += fmt::format("  and {} more switches\n", order.size() - kSwitchesShown);
  return out;
}

}  // namespace softspine::tools
