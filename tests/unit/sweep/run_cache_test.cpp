// SPDX-License-Identifier: Apache-2.0
#include "tools/softspine/sweep/run_cache.hpp"

#include <gtest/gtest.h>

#include <fstream>

namespace softspine::tools {
namespace {

using control::Json;
using control::Setting;

class RunCacheTest : public testing::Test {
 protected:
  RunCacheTest()
      : folder_(std::filesystem::path(testing::TempDir()) /
                testing::UnitTest::GetInstance()->current_test_info()->name()) {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
    write("program", "one");
    write("t.yaml", "name: t");
    write("input", "flows");
    made_ = std::filesystem::last_write_time(folder_ / "program");
  }
  ~RunCacheTest() override { std::filesystem::remove_all(folder_); }

  void write(const std::string& name, std::string_view text) const { std::ofstream(folder_ / name) << text; }
  RunCache open() const { return RunCache::open(folder_ / "cache", folder_ / "program", folder_ / "t.yaml").value(); }
  void put(const std::vector<Setting>& settings) const {
    ASSERT_TRUE(open().put(settings, {(folder_ / "input").string()},
                           {.exit_status = 1, .report = {{"x", 3}}, .complaint = "why"}));
  }

  std::filesystem::path folder_;
  std::filesystem::file_time_type made_;
};

const std::vector<Setting> kSettings{{"run.seed", "3"}, {"a", "b"}};

TEST_F(RunCacheTest, FindsWhatWasPutThere) {
  EXPECT_FALSE(open().find(kSettings));
  put(kSettings);
  const auto found = open().find(kSettings);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->exit_status, 1);
  EXPECT_EQ(found->report, (Json{{"x", 3}}));
  EXPECT_EQ(found->complaint, "why");
}

// Whatever a run depends on.
TEST_F(RunCacheTest, FindsNothingOfAnotherRun) {
  put(kSettings);
  EXPECT_FALSE(open().find(std::vector<Setting>{{"run.seed", "4"}, {"a", "b"}}));
  EXPECT_FALSE(open().find(std::vector<Setting>{{"run.seed", "3"}}));
  write("t.yaml", "name: u");
  EXPECT_FALSE(open().find(kSettings)) << "another testbed";
  write("t.yaml", "name: t");
  write("program", "another");
  EXPECT_FALSE(open().find(kSettings)) << "another program";
  write("program", "two");
  std::filesystem::last_write_time(folder_ / "program", made_ + std::chrono::seconds(1));
  EXPECT_FALSE(open().find(kSettings)) << "the same size, made later";
  write("program", "one");
  std::filesystem::last_write_time(folder_ / "program", made_);
  write("input", "other flows");
  EXPECT_FALSE(open().find(kSettings)) << "another file beside it";
  std::filesystem::remove(folder_ / "input");
  EXPECT_FALSE(open().find(kSettings));
  write("input", "flows");
  EXPECT_TRUE(open().find(kSettings));
}

TEST_F(RunCacheTest, AnEntryThatCannotBeReadIsNone) {
  put(kSettings);
  for (const auto& entry : std::filesystem::directory_iterator(folder_ / "cache")) {
    for (const std::string_view text : {"", "{", "[]", R"({"inputs": {}})", R"({"inputs": {}, "exit_status": "0"})"}) {
      std::ofstream(entry.path()) << text;
      EXPECT_FALSE(open().find(kSettings)) << text;
    }
  }
}

TEST_F(RunCacheTest, AFolderThatCannotBeMadeIsAnError) {
  EXPECT_FALSE(RunCache::open(folder_ / "input" / "x", folder_ / "program", folder_ / "t.yaml"));
}

}  // namespace
}  // namespace softspine::tools
