// SPDX-License-Identifier: Apache-2.0
// A file that is there while it is in scope.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace softspine::tests {

struct TextFile {
  explicit TextFile(const std::string& text)
      : path((std::filesystem::path(testing::TempDir()) / ("softspine-text-" + std::to_string(getpid()))).string()) {
    std::ofstream(path) << text;
  }
  TextFile(const TextFile&) = delete;
  TextFile& operator=(const TextFile&) = delete;
  ~TextFile() { std::filesystem::remove(path); }

  const std::string path;
};

}  // namespace softspine::tests
