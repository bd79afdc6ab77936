// SPDX-License-Identifier: Apache-2.0
#include "analysis/identify/observations.hpp"

#include <algorithm>
#include <cctype>
#include <string_view>

#include "control/document/words.hpp"

namespace softspine::analysis {

namespace {

// The digits at the front, without leading zeros.
std::string_view take_number(std::string_view& text) {
  size_t end = 0;
  while (end < text.size() && control::is_digit(text[end])) ++end;
  std::string_view digits = text.substr(0, end);
  text.remove_prefix(end);
  while (digits.size() > 1 && digits[0] == '0') digits.remove_prefix(1);
  return digits;
}

}  // namespace

bool precedes_naturally(const std::string& first, const std::string& second) {
  std::string_view a = first;
  std::string_view b = second;
  while (!a.empty() && !b.empty()) {
    if (control::is_digit(a[0]) && control::is_digit(b[0])) {
      const std::string_view x = take_number(a);
      const std::string_view y = take_number(b);
      if (x.size() != y.size()) return x.size() < y.size();
      if (x != y) return x < y;
      continue;
    }
    if (a[0] != b[0]) return a[0] < b[0];
    a.remove_prefix(1);
    b.remove_prefix(1);
  }
  return a.empty() && b.empty() ? first < second : a.empty();
}

void ObservationCollector::add(const Flow& flow, const std::string& link) {
  add_link(link);
  ++flows_[flow][link];
}

Observations ObservationCollector::take() && {
  Observations out;
  for (const auto& [link, number] : links_) out.links.push_back(link);
  std::ranges::sort(out.links, precedes_naturally);
  for (uint32_t i = 0; i < out.links.size(); ++i) links_[out.links[i]] = i;
  for (const auto& [flow, seen] : flows_) {
    const auto most = std::ranges::max_element(seen, {}, [](const auto& entry) { return entry.second; });
    out.flows.push_back({flow, links_[most->first]});
    out.on_several_links += seen.size() > 1 ? 1 : 0;
  }
  return out;
}

}  // namespace softspine::analysis
