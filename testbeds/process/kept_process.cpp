// SPDX-License-Identifier: Apache-2.0
#include "testbeds/process/kept_process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "testbeds/process/wait_status.hpp"

// glibc 2.36's header does not declare its functions as C.
extern "C" {
#include <sys/pidfd.h>
}

namespace softspine::testbeds {

using dataplane::OwnedFd;

namespace {

// How long a keeper may take to kill a guest before it is killed itself.
constexpr std::chrono::milliseconds kKeeperPatience{10000};

std::vector<char*> pointers(const std::vector<std::string>& words) {
  std::vector<char*> out;
  for (const auto& word : words) out.push_back(const_cast<char*>(word.c_str()));
  out.push_back(nullptr);
  return out;
}

// posix_spawn's file actions and attributes, freed together.
class SpawnPlan {
 public:
  SpawnPlan(int lifeline, std::optional<int> kept, const std::filesystem::path& output) {
    posix_spawn_file_actions_init(&actions_);
    posix_spawnattr_init(&attributes_);
    posix_spawn_file_actions_addopen(&actions_, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions_, 1, output.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0644);
    posix_spawn_file_actions_adddup2(&actions_, 1, 2);
    // Same number on both sides: dup2 onto itself clears close-on-exec in the child only.
    posix_spawn_file_actions_adddup2(&actions_, lifeline, lifeline);
    if (kept) posix_spawn_file_actions_adddup2(&actions_, *kept, *kept);
    sigset_t none;
    sigemptyset(&none);
    sigset_t defaults;
    sigfillset(&defaults);
    posix_spawnattr_setsigmask(&attributes_, &none);
    posix_spawnattr_setsigdefault(&attributes_, &defaults);
    posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  }
  SpawnPlan(const SpawnPlan&) = delete;
  SpawnPlan& operator=(const SpawnPlan&) = delete;
  ~SpawnPlan() {
    posix_spawn_file_actions_destroy(&actions_);
    posix_spawnattr_destroy(&attributes_);
  }
  int spawn(pid_t& pid, const std::vector<std::string>& command, const std::vector<std::string>& environment) {
    return posix_spawn(&pid, command[0].c_str(), &actions_, &attributes_, pointers(command).data(),
                       pointers(environment).data());
  }

 private:
  posix_spawn_file_actions_t actions_;
  posix_spawnattr_t attributes_;
};

Error system_error(const std::string& path, const char* what, int number) {
  return {path, std::string(what) + ": " + std::strerror(number)};
}

}  // namespace

std::expected<KeptProcess, Error> KeptProcess::start(const std::filesystem::path& keeper,
                                                     const std::vector<std::string>& command,
                                                     const std::vector<std::string>& environment,
                                                     const std::filesystem::path& output, const Sight& sight,
                                                     std::optional<int> kept) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return std::unexpected(system_error(keeper, "pipe", errno));
  OwnedFd read_end(ends[0]);
  OwnedFd lifeline(ends[1]);
  std::vector<std::string> words{keeper.string(), std::to_string(read_end.get())};
  if (kept) words.insert(words.end(), {"--keep", std::to_string(*kept)});
  for (const std::string& path : sight.read) words.insert(words.end(), {"--read", path});
  for (const std::string& path : sight.write) words.insert(words.end(), {"--write", path});
  words.insert(words.end(), command.begin(), command.end());
  pid_t pid = -1;
  const int failed = SpawnPlan(read_end.get(), kept, output).spawn(pid, words, environment);
  if (failed != 0) return std::unexpected(system_error(keeper, "cannot start", failed));
  OwnedFd pidfd(pidfd_open(pid, 0));
  if (pidfd.get() < 0) {
    const int number = errno;
    lifeline = OwnedFd{};
    waitpid(pid, nullptr, 0);
    return std::unexpected(system_error(keeper, "pidfd_open", number));
  }
  return KeptProcess(pid, std::move(pidfd), std::move(lifeline));
}

KeptProcess::KeptProcess(int pid, OwnedFd pidfd, OwnedFd lifeline)
    : pid_(pid), pidfd_(std::move(pidfd)), lifeline_(std::move(lifeline)) {}

KeptProcess& KeptProcess::operator=(KeptProcess&& other) noexcept {
  if (this != &other) {
    kill();
    pid_ = other.pid_;
    pidfd_ = std::move(other.pidfd_);
    lifeline_ = std::move(other.lifeline_);
    exit_status_ = other.exit_status_;
  }
  return *this;
}

bool KeptProcess::await_end(std::chrono::milliseconds timeout) {
  if (pidfd_.get() < 0 || exit_status_) return true;
  pollfd polled{pidfd_.get(), POLLIN, 0};
  int ready = 0;
  do {
    ready = poll(&polled, 1, static_cast<int>(timeout.count()));
  } while (ready < 0 && errno == EINTR);
  if (ready <= 0) return false;
  reap();
  return true;
}

void KeptProcess::reap() {
  siginfo_t info{};
  int done = 0;
  do {
    done = waitid(P_PIDFD, static_cast<id_t>(pidfd_.get()), &info, WEXITED);
  } while (done < 0 && errno == EINTR);
  exit_status_ = info.si_code == CLD_EXITED ? info.si_status : kSignalStatus + info.si_status;
}

void KeptProcess::kill() {
  lifeline_ = OwnedFd{};
  if (await_end(kKeeperPatience)) return;
  pidfd_send_signal(pidfd_.get(), SIGKILL, nullptr, 0);
  reap();
}

}  // namespace softspine::testbeds
