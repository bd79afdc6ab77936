// SPDX-License-Identifier: Apache-2.0
#include "testbeds/process/attended_program.hpp"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "testbeds/process/wait_status.hpp"

namespace softspine::testbeds {
namespace {

constexpr int kNotFound = 127;
constexpr int kCannotRun = 126;

}  // namespace

sigset_t signal_set_of(std::initializer_list<int> numbers) {
  sigset_t set;
  sigemptyset(&set);
  for (const int number : numbers) sigaddset(&set, number);
  return set;
}

Foreground::Foreground() : is_ours_(isatty(STDIN_FILENO) != 0 && tcgetpgrp(STDIN_FILENO) == getpgrp()) {}

void Foreground::give_to(pid_t group) const {
  if (is_ours_) tcsetpgrp(STDIN_FILENO, group);
}

Attendant::Attendant() {
  awaited_ = signal_set_of(kPassedOnSignals);
  sigaddset(&awaited_, SIGCHLD);
  sigset_t blocked = awaited_;
  sigaddset(&blocked, SIGTTOU);
  sigprocmask(SIG_BLOCK, &blocked, &before_);
}

void Attendant::become_child() const {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (terminal_.is_ours()) {
    setpgid(0, 0);
    terminal_.give_to(getpgrp());
  }
  sigprocmask(SIG_SETMASK, &before_, nullptr);
}

int Attendant::attend(pid_t child) const {
  if (terminal_.is_ours()) setpgid(child, child);
  terminal_.give_to(child);
  for (;;) {
    siginfo_t info{};
    const int number = sigwaitinfo(&awaited_, &info);
    if (number < 0) continue;
    if (number != SIGCHLD) {
      pass_on(child, number, info.si_code <= 0);
      continue;
    }
    int how = 0;
    if (waitpid(child, &how, WNOHANG | WUNTRACED) != child) continue;
    if (WIFSTOPPED(how)) {
      if (terminal_.is_ours()) stop_with(child);
      continue;
    }
    terminal_.give_to(getpgrp());
    return exit_status_of(how);
  }
}

// The terminal's own come to its foreground: to the child, too, if that is in our group; to us alone if the child has
// not got the terminal yet.
void Attendant::pass_on(pid_t child, int number, bool is_sent) const {
  if (is_sent) {
    kill(child, number);
  } else if (terminal_.is_ours()) {
    kill(-child, number);
  }
}

// With our whole group, as the terminal would have done it, until our own shell lets us go on.
void Attendant::stop_with(pid_t child) const {
  terminal_.give_to(getpgrp());
  kill(0, SIGSTOP);
  terminal_.give_to(child);
  kill(-child, SIGCONT);
}

int become_program(const std::vector<std::string>& command) {
  std::vector<std::string> copies = command;
  std::vector<char*> words;
  for (std::string& word : copies) words.push_back(word.data());
  words.push_back(nullptr);
  execvp(words.front(), words.data());
  const int why = errno;
  std::fprintf(stderr, "softspine: %s: %s\n", command.front().c_str(), std::strerror(why));
  return why == ENOENT ? kNotFound : kCannotRun;
}

}  // namespace softspine::testbeds
