// SPDX-License-Identifier: Apache-2.0
#include "analysis/storm/text_lines.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "analysis/storm/event_story.hpp"
#include "analysis/storm/pause_counts.hpp"
#include "analysis/storm/port_list.hpp"
#include "tests/unit/storm/scratch_text.hpp"

namespace softspine::analysis::storm {
namespace {

using tests::TextFile;

struct Lines {
  std::vector<std::string> all;
  std::string error;
  bool is_cut = false;
};

Lines lines_of(const std::string& text, uint64_t most_bytes = TextLines::kMaxBytes) {
  const TextFile file(text);
  auto lines = TextLines::open(file.path, "a list", most_bytes);
  Lines out;
  std::string line;
  while (lines->next(line)) {
    out.all.push_back(line);
    EXPECT_EQ(lines->number(), static_cast<int>(out.all.size()));
  }
  out.error = lines->error().empty() ? "" : lines->error().substr(file.path.size());
  out.is_cut = lines->is_cut();
  return out;
}

TEST(TextLines, AreThoseOfTheText) {
  EXPECT_EQ(lines_of("").all.size(), 0u);
  EXPECT_EQ(lines_of("a\n\nb").all, (std::vector<std::string>{"a", "", "b"}));
  EXPECT_EQ(lines_of("a\n\nb\n").all, (std::vector<std::string>{"a", "", "b"}));
  const std::string longest(TextLines::kMaxLine, 'x');
  EXPECT_EQ(lines_of(longest + "\ny").all, (std::vector<std::string>{longest, "y"}));
}

TEST(TextLines, EndWhereALineOrTheTextIsTooLong) {
  const Lines line = lines_of("a\n" + std::string(TextLines::kMaxLine + 1, 'x'));
  EXPECT_EQ(line.all.size(), 1u);
  EXPECT_EQ(line.error, ":2: is too long: at most 65536 bytes");
  const Lines text = lines_of("abc\ndef\n", 5);
  EXPECT_EQ(text.all, std::vector<std::string>{"abc"});
  EXPECT_EQ(text.error, ":2: the text is too long, or has no end");
  EXPECT_EQ(lines_of("abc\nde\n", 7).error, "");
  EXPECT_EQ(lines_of("\n\n\n", 2).error, ":3: the text is too long, or has no end") << "ends of lines count";
}

TEST(TextLines, OfWhatHasNoEndAreReadToTheirBound) {
  KnownFabric known;
  EXPECT_EQ(read_port_list("/dev/zero", known).error(), "/dev/zero:1: is too long: at most 65536 bytes");
  EXPECT_EQ(read_event_log("/dev/zero").error(), "/dev/zero:1: is too long: at most 65536 bytes");
  EXPECT_EQ(read_counts("/dev/zero", "eth0").error(), "/dev/zero:1: is too long: at most 65536 bytes");
}

TEST(TextLines, OfWhatCannotBeReadSayWhy) {
  EXPECT_EQ(TextLines::open("/proc/no such file", "a list").error(), "/proc/no such file: No such file or directory");
  EXPECT_EQ(TextLines::open("/proc", "a list").error(), "/proc: is a directory, not a list");
  auto memory = TextLines::open("/proc/self/mem", "a list");
  std::string line;
  EXPECT_FALSE(memory->next(line));
  EXPECT_EQ(memory->error(), "/proc/self/mem: Input/output error");
}

}  // namespace
}  // namespace softspine::analysis::storm
