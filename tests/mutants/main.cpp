// SPDX-License-Identifier: Apache-2.0
// The main of every test program of the mutated copy, in the place of tests/harness/main.cpp: tells which test has
// reached which mutant (mutant.hpp).
#include <gtest/gtest.h>

#include <string>

#include "tests/mutants/mutant.hpp"

namespace {

class ReachWriter : public testing::EmptyTestEventListener {
 public:
  void OnTestEnd(const testing::TestInfo& test) override {
    const std::string name = std::string{test.test_suite_name()} + "." + test.name();
    softspine::mutants::write_reached(name.c_str(), static_cast<double>(test.result()->elapsed_time()) / 1000);
  }
};

}  // namespace

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  testing::UnitTest::GetInstance()->listeners().Append(new ReachWriter);
  return RUN_ALL_TESTS();
}
