// SPDX-License-Identifier: Apache-2.0
// A folder for sockets, gone with the test. Its path is short: a socket's may have 107 bytes.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

namespace softspine::tests {

class SocketScratch {
 public:
  SocketScratch() {
    std::string name = "/tmp/softspine-test.XXXXXX";
    folder_ = mkdtemp(name.data());
  }
  SocketScratch(const SocketScratch&) = delete;
  SocketScratch& operator=(const SocketScratch&) = delete;
  ~SocketScratch() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  const std::filesystem::path& folder() const { return folder_; }
  std::filesystem::path socket() const { return folder_ / "fabric.sock"; }

 private:
  std::filesystem::path folder_;
};

}  // namespace softspine::tests
