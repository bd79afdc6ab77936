// SPDX-License-Identifier: Apache-2.0
#include "control/record/line_file.hpp"

#include <gtest/gtest.h>

namespace softspine::control {
namespace {

TEST(LineFile, SaysOnceWhatTheKernelRefused) {
  auto file = LineFile::open("/dev/full");
  ASSERT_TRUE(file);
  file->text() += "a line\n";
  file->put();
  EXPECT_EQ(file->take_error(), "") << "less than a block has not been written yet";
  file->flush();
  file->text() += "another\n";
  file->flush();
  EXPECT_EQ(file->take_error(), "No space left on device");
  EXPECT_EQ(file->take_error(), "");
}

TEST(LineFile, DoesNotOpenWhereThereIsNoFolder) {
  const auto file = LineFile::open("/nowhere/at/all");
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error(), "No such file or directory");
}

}  // namespace
}  // namespace softspine::control
