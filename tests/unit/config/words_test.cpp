// SPDX-License-Identifier: Apache-2.0
#include "control/document/words.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "tests/harness/seed.hpp"

namespace softspine::control {
namespace {

TEST(Shown, QuotesAndCutsBetweenCharacters) {
  EXPECT_EQ(shown("tor1"), "'tor1'");
  EXPECT_EQ(shown(std::string(60, 'a')), "'" + std::string(60, 'a') + "'");
  EXPECT_EQ(shown(std::string(61, 'a')), "'" + std::string(60, 'a') + "…'");
  EXPECT_EQ(shown(std::string(59, 'a') + "éé"), "'" + std::string(59, 'a') + "…'");
}

TEST(Shown, DisarmsWhatATerminalWouldObey) {
  EXPECT_EQ(shown("a\x1b[31m"), "'a\\x1b[31m'");
  EXPECT_EQ(shown("a\nb\x7f"), "'a\\x0ab\\x7f'");
  EXPECT_EQ(shown("\xc2\x9b"
                  "31m"),
            "'\\xc2\\x9b31m'");                // CSI in one character
  EXPECT_EQ(shown("\xc2\xa9"), "'\xc2\xa9'");  // ©
}

// The textbook's recursion: optimal string alignment.
size_t slow_distance(std::string_view a, std::string_view b) {
  if (a.empty() || b.empty()) return a.size() + b.size();
  const auto cut = [](std::string_view s, size_t n) { return s.substr(0, s.size() - n); };
  size_t best = std::min({slow_distance(cut(a, 1), cut(b, 1)) + (a.back() == b.back() ? 0 : 1),
                          slow_distance(cut(a, 1), b) + 1, slow_distance(a, cut(b, 1)) + 1});
  if (a.size() > 1 && b.size() > 1 && a.back() == b[b.size() - 2] && a[a.size() - 2] == b.back()) {
    best = std::min(best, slow_distance(cut(a, 2), cut(b, 2)) + 1);
  }
  return best;
}

TEST(EditDistance, AgreesWithTheTextbook) {
  std::mt19937_64 random(tests::seed());
  const auto word = [&] {
    std::string out(random() % 7, 'a');
    for (char& c : out) c = static_cast<char>('a' + random() % 3);
    return out;
  };
  for (int i = 0; i < 2'000; ++i) {
    const std::string a = word();
    const std::string b = word();
    const size_t expected = slow_distance(a, b);
    for (const size_t limit : {size_t{0}, size_t{2}, size_t{10}}) {
      ASSERT_EQ(edit_distance(a, b, limit), std::min(expected, limit + 1)) << a << " " << b << " " << limit;
    }
  }
}

TEST(Guesser, FindsTheNearestWordIgnoringCase) {
  Guesser guesser;
  const std::vector<std::string_view> known{"tors", "spines", "hosts_per_tor", "length"};
  EXPECT_EQ(guesser.guess("tor", known), ": did you mean 'tors'?");
  EXPECT_EQ(guesser.guess("sipnes", known), ": did you mean 'spines'?");
  EXPECT_EQ(guesser.guess("LENGTH", known), ": did you mean 'length'?");
  EXPECT_EQ(guesser.guess("bandwidth", known), "");
  EXPECT_EQ(guesser.guess("", known), "");
}

TEST(Guesser, StopsGuessingWhenItsBudgetIsSpent) {
  Guesser guesser;
  const std::string name(60, 'x');
  const std::vector<std::string_view> known(10'000, name);
  const std::string near = std::string(59, 'x') + "y";
  EXPECT_NE(guesser.guess(near, known), "");
  for (int i = 0; i < 10'000; ++i) guesser.guess(near, known);  // at full price: 3.6e11 steps
  EXPECT_EQ(guesser.guess(near, known), "");
}

}  // namespace
}  // namespace softspine::control
