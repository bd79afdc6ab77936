// SPDX-License-Identifier: Apache-2.0
// The folder of a lab, a run in the background (`softspine up`), beside its control socket:
//
//   socket_folder()/NAME/  pid      of the lab's process, which holds it locked as long as it lives
//                          log      what the run prints
//                          status   the run's exit status, once it has ended
//                          files/   of outside hosts, unless --folder names another place
//
// The lock tells a lab from the leftovers of one that was killed: the kernel lifts it, however the process ends.
#pragma once

#include <chrono>
#include <expected>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "dataplane/edge/owned_fd.hpp"

namespace softspine::tools {

// As others see it.
struct Lab {
  std::string name;
  std::filesystem::path folder;
  bool is_up = false;          // its process lives
  std::optional<int> process;  // nothing before it has begun
  std::optional<int> status;   // of a lab that has ended by itself
  std::filesystem::path log() const { return folder / "log"; }
};

// Sorted by name.
std::vector<Lab> labs();
std::optional<Lab> lab_named(const std::string& name);
// Removes all of it, and a socket on which nobody listens.
void forget_lab(const std::string& name);

// As its own process sees it. The lock goes to a child of fork(), and is lifted when the last holder has ended.
class LabFolder {
 public:
  // Makes it, without leftovers. The error is a sentence for a person: a lab of that name is up.
  static std::expected<LabFolder, std::string> take(const std::string& name);

  void write_process(int process);
  void write_status(int status) const;
  std::filesystem::path log() const { return folder_ / "log"; }
  std::filesystem::path files() const { return folder_ / "files"; }

 private:
  LabFolder(std::filesystem::path folder, dataplane::OwnedFd held)
      : folder_(std::move(folder)), held_(std::move(held)) {}
  std::filesystem::path folder_;
  dataplane::OwnedFd held_;
};

}  // namespace softspine::tools
