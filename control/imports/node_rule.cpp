// SPDX-License-Identifier: Apache-2.0
#include "control/imports/node_rule.hpp"

namespace softspine::control {

std::optional<NodeRule> parse_node_rule(std::string_view text) {
  const size_t equals = text.rfind('=');
  if (equals == 0 || equals == std::string_view::npos) return std::nullopt;
  for (const auto& [word, use] : kNodeUses) {
    if (text.substr(equals + 1) == word) return NodeRule{std::string(text.substr(0, equals)), use};
  }
  return std::nullopt;
}

std::string to_string(const NodeRule& rule) {
  for (const auto& [word, use] : kNodeUses) {
    if (use == rule.use) return rule.pattern + "=" + std::string(word);
  }
  return rule.pattern;
}

bool fits_rule(std::string_view pattern, std::string_view text) {
  size_t p = 0;
  size_t t = 0;
  size_t star = std::string_view::npos;
  size_t retry = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      retry = t;
    } else if (p < pattern.size() && pattern[p] == text[t]) {
      ++p;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++retry;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

}  // namespace softspine::control
