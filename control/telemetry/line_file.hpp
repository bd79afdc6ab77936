// SPDX-License-Identifier: Apache-2.0
// A text file that grows by lines while a run goes on: what is appended reaches the file in blocks, so memory stays
// bounded however long the run is. After the first error (a full disk) nothing more is written, and flush() says why.
// Used from one thread at a time.
#pragma once

#include <cstdio>
#include <expected>
#include <memory>
#include <string>

namespace softspine::control {

class LineFile {
 public:
  // Empties the file, or creates it. The error is what the kernel says.
  static std::expected<LineFile, std::string> open(const std::string& path);

  // Lines are appended to this; put() passes what has gathered on when it is a block.
  std::string& text() { return text_; }
  void put() {
    if (text_.size() >= kBlockBytes) write();
  }
  // Everything that was appended is with the kernel afterwards. The error: why something could not be written.
  std::expected<void, std::string> flush();

 private:
  static constexpr size_t kBlockBytes = size_t{1} << 18;
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  explicit LineFile(std::FILE* file) : file_(file) {}
  void write();

  std::unique_ptr<std::FILE, Close> file_;
  std::string text_;
  std::string error_;
};

}  // namespace softspine::control
