// SPDX-License-Identifier: Apache-2.0
// A process of the test: started, read from, killed. Gone when its owner is, or when the test itself is killed.
#pragma once

#include <fcntl.h>
#include <linux/close_range.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>
#include <vector>

namespace softspine::dataplane {

class Child {
 public:
  explicit Child(std::vector<std::string> command) {
    int pipe_ends[2];
    if (pipe2(pipe_ends, O_CLOEXEC) != 0) return;
    std::vector<char*> argv;
    for (std::string& word : command) argv.push_back(word.data());
    argv.push_back(nullptr);
    pid_ = fork();
    if (pid_ == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      dup2(pipe_ends[1], STDOUT_FILENO);
      close_range(STDERR_FILENO + 1, ~0U, CLOSE_RANGE_CLOEXEC);  // DPDK's own are not all close-on-exec
      execvp(argv[0], argv.data());
      _exit(127);
    }
    close(pipe_ends[1]);
    output_ = pipe_ends[0];
  }
  ~Child() {
    kill();
    close(output_);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  // What it has written so far; waits up to `ms` for more, and less if it ends.
  const std::string& output(int ms = 0) {
    pollfd ready{output_, POLLIN, 0};
    char buffer[4096];
    while (poll(&ready, 1, ms) == 1) {
      const ssize_t got = read(output_, buffer, sizeof buffer);
      if (got <= 0) break;
      text_.append(buffer, static_cast<size_t>(got));
      ms = 0;
    }
    return text_;
  }
  void signal(int number) const { ::kill(pid_, number); }
  // Ends it at once (SIGKILL) and waits for its end.
  void kill() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
    pid_ = -1;
  }
  // Its exit status once it has ended; -1 while it runs.
  int ended() {
    int status = 0;
    if (pid_ > 0 && waitpid(pid_, &status, WNOHANG) == pid_) {
      pid_ = -1;
      status_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    }
    return pid_ > 0 ? -1 : status_;
  }

 private:
  pid_t pid_ = -1;
  int output_ = -1;
  int status_ = -1;
  std::string text_;
};

}  // namespace softspine::dataplane
