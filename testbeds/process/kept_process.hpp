// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <expected>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "dataplane/edge/owned_fd.hpp"
#include "testbeds/process/confinement.hpp"
#include "testbeds/process/outside_error.hpp"

namespace softspine::testbeds {

// A command under softspine-keeper: it ends, with all that it has started, when this object ends or this process
// does, however that happens. Must not be used in a process that ignores SIGCHLD.
class KeptProcess {
 public:
  // Standard input is /dev/null; output and errors go to the end of `output`. The command reaches what `sight` has, and
  // no other file, as far as this machine permits such a thing (confinement.hpp); without one, all. `kept`: a
  // descriptor that it inherits, under its number.
  static std::expected<KeptProcess, Error> start(const std::filesystem::path& keeper,
                                                 const std::vector<std::string>& command,
                                                 const std::vector<std::string>& environment,
                                                 const std::filesystem::path& output, const Sight& sight = {},
                                                 std::optional<int> kept = std::nullopt);
  KeptProcess(KeptProcess&&) noexcept = default;
  KeptProcess& operator=(KeptProcess&& other) noexcept;
  ~KeptProcess() { kill(); }

  // Waits at most `timeout` (a signal to this thread restarts the wait); true if the command has ended.
  bool await_end(std::chrono::milliseconds timeout);
  bool running() { return !await_end(std::chrono::milliseconds{0}); }
  // The command's exit status, 128 + signal if it was killed; nothing while it runs.
  std::optional<int> exit_status() const { return exit_status_; }
  // Ends the command and all that it has started, and returns when they are gone.
  void kill();

 private:
  KeptProcess(int pid, dataplane::OwnedFd pidfd, dataplane::OwnedFd lifeline);
  void reap();

  int pid_ = -1;
  dataplane::OwnedFd pidfd_;
  dataplane::OwnedFd lifeline_;
  std::optional<int> exit_status_;
};

}  // namespace softspine::testbeds
