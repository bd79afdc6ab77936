// SPDX-License-Identifier: Apache-2.0
// The main of every test program.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "tests/harness/seed.hpp"

namespace {

class SeedPrinter : public testing::EmptyTestEventListener {
 public:
  explicit SeedPrinter(std::string program) : program_(std::move(program)) {}

  void OnTestEnd(const testing::TestInfo& test) override {
    if (!test.result()->Failed()) return;
    std::printf("again: SOFTSPINE_SEED=%" PRIu64 " %s%s --gtest_filter='%s.%s'\n", softspine::tests::seed(),
                softspine::tests::draws_asked_for().c_str(), program_.c_str(), test.test_suite_name(), test.name());
  }

 private:
  std::string program_;
};

// testing::TempDir() of this process: a program that runs twice at once meets no file of the other run.
class OwnFolder {
 public:
  OwnFolder() : path_(std::filesystem::path(testing::TempDir()) / ("softspine-tests-" + std::to_string(getpid()))) {
    std::filesystem::create_directories(path_);
    setenv("TEST_TMPDIR", (path_.string() + "/").c_str(), 1);
  }
  ~OwnFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  OwnFolder(const OwnFolder&) = delete;
  OwnFolder& operator=(const OwnFolder&) = delete;

 private:
  std::filesystem::path path_;
};

}  // namespace

int main(int argc, char** argv) {
  setenv("SOFTSPINE_POISON", "1", 0);  // packets come with other bytes each time
  const OwnFolder folder;
  testing::InitGoogleTest(&argc, argv);
  testing::UnitTest::GetInstance()->listeners().Append(new SeedPrinter{argv[0]});
  return RUN_ALL_TESTS();
}
