// SPDX-License-Identifier: Apache-2.0
// How much the random tests draw, by what tools/test and a user set.
#include <gtest/gtest.h>

#include <cstdlib>

#include "tests/harness/seed.hpp"

namespace softspine::tests {
namespace {

class Draws : public testing::Test {
 protected:
  Draws() {
    for (Variable& it : kept_) {
      if (const char* text = std::getenv(it.name)) it.text = text;
      unsetenv(it.name);
    }
  }
  ~Draws() override {
    for (const Variable& it : kept_) {
      it.text.empty() ? unsetenv(it.name) : setenv(it.name, it.text.c_str(), 1);
    }
  }

 private:
  struct Variable {
    const char* name;
    std::string text;
  };
  Variable kept_[2] = {{"SOFTSPINE_TESTBEDS", ""}, {"SOFTSPINE_ONE_IN", ""}};
};

TEST_F(Draws, AreAllUnlessToldOtherwise) {
  EXPECT_EQ(to_draw(2'000), 2'000u);
  EXPECT_EQ(to_repeat(40), 40u);
  EXPECT_EQ(draws_asked_for(), "");
}

TEST_F(Draws, AreOneInSoManyAndAtLeastOne) {
  setenv("SOFTSPINE_ONE_IN", "5", 1);
  EXPECT_EQ(to_draw(2'000), 400u);
  EXPECT_EQ(to_draw(3), 1u);
  EXPECT_EQ(to_repeat(40), 8u);
  EXPECT_EQ(draws_asked_for(), "SOFTSPINE_ONE_IN=5 ");
  setenv("SOFTSPINE_ONE_IN", "0", 1);
  EXPECT_EQ(to_draw(2'000), 2'000u) << "what is no part";
}

TEST_F(Draws, AreAsManyAsAsked) {
  setenv("SOFTSPINE_ONE_IN", "5", 1);
  setenv("SOFTSPINE_TESTBEDS", "24", 1);
  EXPECT_EQ(to_draw(2'000), 24u);
  EXPECT_EQ(to_draw(3), 24u);
  EXPECT_EQ(draws_asked_for(), "SOFTSPINE_TESTBEDS=24 SOFTSPINE_ONE_IN=5 ");
}

}  // namespace
}  // namespace softspine::tests
