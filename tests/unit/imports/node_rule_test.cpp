// SPDX-License-Identifier: Apache-2.0
// Which names a rule's pattern fits, against the obvious recursion, for all short patterns and names.
#include "control/imports/node_rule.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace softspine::control {
namespace {

bool fits_by_recursion(std::string_view pattern, std::string_view text) {
  if (pattern.empty()) return text.empty();
  const bool takes_one = !text.empty() && (pattern[0] == '*' || pattern[0] == text[0]);
  if (pattern[0] != '*') return takes_one && fits_by_recursion(pattern.substr(1), text.substr(1));
  return fits_by_recursion(pattern.substr(1), text) || (takes_one && fits_by_recursion(pattern, text.substr(1)));
}

std::vector<std::string> all_of(std::string_view letters, size_t longest) {
  std::vector<std::string> out{""};
  for (size_t i = 0; i < out.size(); ++i) {
    if (out[i].size() == longest) continue;
    for (const char letter : letters) out.push_back(out[i] + letter);
  }
  return out;
}

TEST(NodeRules, FitAsTheirStarsStandForAnything) {
  const std::vector<std::string> names = all_of("ab", 4);
  EXPECT_EQ(names.size(), 31U) << "1 + 2 + 4 + 8 + 16";
  size_t fit = 0;
  for (const std::string& pattern : all_of("ab*", 4)) {
    for (const std::string& name : names) {
      EXPECT_EQ(fits_rule(pattern, name), fits_by_recursion(pattern, name)) << pattern << " " << name;
      fit += fits_rule(pattern, name) ? 1 : 0;
    }
  }
  EXPECT_GT(fit, 500U);
}

// What stands behind them in memory is no part of them: here a star, or the rest of a longer name.
TEST(NodeRules, FitNoFurtherThanTheirTextsGo) {
  for (const std::string& pattern : all_of("ab*", 3)) {
    for (const std::string& name : all_of("ab", 3)) {
      const std::string longer_pattern = pattern + "*";
      const std::string longer_name = name + "ab";
      EXPECT_EQ(fits_rule(std::string_view(longer_pattern).substr(0, pattern.size()),
                          std::string_view(longer_name).substr(0, name.size())),
                fits_by_recursion(pattern, name))
          << pattern << " " << name;
    }
  }
}

// The last '=' parts them: a name may have one.
TEST(NodeRules, AreAPatternAndAUse) {
  const auto rule = parse_node_rule("a=b*=host");
  ASSERT_TRUE(rule);
  EXPECT_EQ(rule->pattern, "a=b*");
  EXPECT_EQ(rule->use, NodeUse::kHost);
  for (const char* wrong : {"", "host", "=host", "a=", "a=router", "a=Host", "a=host "})
    EXPECT_FALSE(parse_node_rule(wrong)) << wrong;
}

}  // namespace
}  // namespace softspine::control
