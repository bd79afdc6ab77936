// SPDX-License-Identifier: Apache-2.0
// A file in memory that can be opened by its path, the same one for every input.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <string>
#include <vector>

#include "dataplane/units/check.hpp"

namespace softspine::tests {

class BytesAsFile {
 public:
  BytesAsFile() : file_(memfd_create("input", MFD_CLOEXEC)), path_("/proc/self/fd/" + std::to_string(file_)) {}
  const std::string& hold(const uint8_t* data, size_t size) {
    SOFTSPINE_CHECK(ftruncate(file_, 0) == 0, file_, size);
    SOFTSPINE_CHECK(pwrite(file_, data, size, 0) == static_cast<ssize_t>(size), file_, size);
    return path_;
  }
  std::vector<uint8_t> content() const {
    std::vector<uint8_t> out(static_cast<size_t>(lseek(file_, 0, SEEK_END)));
    SOFTSPINE_CHECK(pread(file_, out.data(), out.size(), 0) == static_cast<ssize_t>(out.size()), file_, out.size());
    return out;
  }
  const std::string& path() const { return path_; }

 private:
  int file_;
  std::string path_;
};

}  // namespace softspine::tests
