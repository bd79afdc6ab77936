// SPDX-License-Identifier: Apache-2.0
// A line without a guest: softspine-agent is a process of this machine, and runs programs here, in a folder that is the
// guest's. Between it and `softspine exec` is everything that there is with a guest, but the guest's kernel.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "dataplane/edge/owned_fd.hpp"
#include "dataplane/units/rng.hpp"
#include "testbeds/guest_line/guest_line.hpp"
#include "testbeds/guests/installation.hpp"
#include "testbeds/process/wait_status.hpp"
#include "tests/harness/frame_talk.hpp"
#include "tests/harness/seed.hpp"
#include "tests/wire/process/scratch_folder.hpp"
#include "tools/softspine/labs/guest_program.hpp"

// glibc 2.36's header does not declare its functions as C.
extern "C" {
#include <sys/pidfd.h>
}

namespace softspine::testbeds {

inline std::string random_bytes(size_t size, uint64_t stream) {
  dataplane::Rng rng{tests::seed(), stream};
  std::string out(size, '\0');
  for (char& byte : out) byte = static_cast<char>(rng.below(256));
  return out;
}

// Within ten seconds; one that is no more has ended.
inline bool ends_soon(pid_t process, int within_ms = 10'000) {
  const dataplane::OwnedFd ended{pidfd_open(process, 0)};
  if (!ended) return errno == ESRCH;
  pollfd polled{ended.get(), POLLIN, 0};
  return poll(&polled, 1, within_ms) == 1;
}

// A process of ours that runs `work`, such as the user of a program.
class Beside {
 public:
  explicit Beside(const std::function<int()>& work) : process_(fork()) {
    if (process_ == 0) _exit(work());
  }
  ~Beside() {
    if (process_ <= 0) return;
    kill(process_, SIGKILL);
    waitpid(process_, nullptr, 0);
  }
  Beside(const Beside&) = delete;
  Beside& operator=(const Beside&) = delete;

  pid_t process() const { return process_; }
  void send(int number) const { EXPECT_EQ(kill(process_, number), 0); }
  // Its exit status, 128 + signal if one ended it; -1 if it does not end.
  int status() {
    if (!ends_soon(process_)) return -1;
    int how = 0;
    waitpid(std::exchange(process_, -1), &how, 0);
    return exit_status_of(how);
  }

 private:
  pid_t process_;
};

struct Outcome {
  int status = -1;
  std::string output;
  std::string errors;
};

class AgentTest : public testing::Test {
 protected:
  AgentTest() {
    std::filesystem::create_directory(guests_folder());
    auto line = GuestLine::open("h1", folder_.path() / "line");
    if (!line) throw std::runtime_error(line.error().message);
    line_ = std::move(*line);
    guest_end_ = dataplane::OwnedFd{fcntl(line_->guest_end(), F_DUPFD_CLOEXEC, 3)};
    line_->close_guest_end();
    start_agent();
  }
  ~AgentTest() override {
    line_.reset();
    guest_end_ = {};
    int how = 0;
    if (agent_ > 0) waitpid(agent_, &how, 0);
    EXPECT_EQ(exit_status_of(how), 0);
  }

  // The guest's machine has the end of the line, so that the agent may end and begin again.
  void start_agent() {
    agent_ = fork();
    if (agent_ != 0) return;
    const int end = dup(guest_end_.get());
    if (chdir(guests_folder().c_str()) != 0) _exit(127);
    execl(agent_program().c_str(), "softspine-agent", std::to_string(end).c_str(), nullptr);
    _exit(127);
  }
  void kill_agent() {
    kill(agent_, SIGKILL);
    waitpid(std::exchange(agent_, -1), nullptr, 0);
  }
  void end_guest() {
    kill_agent();
    guest_end_ = {};
  }

  std::filesystem::path guests_folder() const { return folder_.path() / "guest"; }
  tools::HostEntrance entrance(std::map<std::string, std::string> environment = {{"OF_HOST", "yes"}}) const {
    return {.host = "h1", .environment = std::move(environment), .folder = {}, .process = {}, .line = line_->socket()};
  }

  Outcome run(const std::vector<std::string>& command, const std::string& given = "") {
    const std::string name = folder_.path() / std::to_string(++runs_);
    std::ofstream(name + ".in") << given;
    const dataplane::OwnedFd input{open((name + ".in").c_str(), O_RDONLY | O_CLOEXEC)};
    const dataplane::OwnedFd output{open((name + ".out").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600)};
    const dataplane::OwnedFd errors{open((name + ".err").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600)};
    const auto status = tools::run_in_guest(entrance(), command, {input.get(), output.get(), errors.get(), false});
    EXPECT_TRUE(status) << status.error();
    return {status.value_or(-1), text_of(name + ".out"), text_of(name + ".err")};
  }

  ScratchFolder folder_;
  std::unique_ptr<GuestLine> line_;
  dataplane::OwnedFd guest_end_;
  pid_t agent_ = -1;
  std::atomic<int> runs_ = 0;
};

}  // namespace softspine::testbeds
