// SPDX-License-Identifier: Apache-2.0
// A text file that grows by lines while a run goes on: what is appended reaches the file in blocks, so memory stays
// bounded however long the run is. After the first error (a full disk, a reader that has gone) nothing more is written,
// and take_error() has the reason. A pipe whose reader takes nothing is waited for (dataplane/edge/patient_write.hpp).
// Used from one thread at a time.
#pragma once

#include <atomic>
#include <expected>
#include <string>
#include <utility>

#include "dataplane/edge/owned_fd.hpp"

namespace softspine::control {

class LineFile {
 public:
  // Empties the file, or creates it; a named pipe waits for its reader. The error is the kernel's message. Once
  // `ending` is true, a reader that takes nothing is given up; the flag must outlive the LineFile.
  static std::expected<LineFile, std::string> open(const std::string& path, const std::atomic<bool>* ending = nullptr);

  // The caller appends lines to this text; put() writes them to the file once they fill a block.
  std::string& text() { return text_; }
  void put() {
    if (text_.size() >= kBlockBytes) write();
  }
  // Everything that was appended is with the kernel afterwards.
  void flush() {
    if (!text_.empty()) write();
  }
  // Why something could not be written; said once, then empty.
  std::string take_error();

 private:
  static constexpr size_t kBlockBytes = size_t{1} << 18;
  LineFile(dataplane::OwnedFd file, const std::atomic<bool>* ending) : file_(std::move(file)), ending_(ending) {}
  void write();

  dataplane::OwnedFd file_;
  const std::atomic<bool>* ending_;
  std::string text_;
  std::string error_;
  bool was_told_ = false;
};

}  // namespace softspine::control
