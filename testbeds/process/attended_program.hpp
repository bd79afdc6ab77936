// SPDX-License-Identifier: Apache-2.0
// A program as a child of this process, which attends it as a shell would:
//
//   on a terminal of which we are the foreground: it gets a process group of its own and the terminal, so Ctrl-C,
//     Ctrl-Z and the window's size reach it alone; when it stops, so do we, and it goes on when we do
//   else: it is in our process group, and gets the signals that somebody sends to us
//
// On a namespace host that is a program of `softspine exec`, in a guest one that the guest's agent has begun.
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <initializer_list>
#include <string>
#include <vector>

namespace softspine::testbeds {

// The signals that reach the program by way of whoever attends it.
inline constexpr std::initializer_list<int> kPassedOnSignals{SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2};

sigset_t signal_set_of(std::initializer_list<int> numbers);

// The terminal of stdin, if this process is its foreground.
class Foreground {
 public:
  Foreground();
  bool is_ours() const { return is_ours_; }
  // SIGTTOU must be blocked: whoever gives the terminal may be in its background.
  void give_to(pid_t group) const;

 private:
  bool is_ours_;
};

// The parent's side: from its making on signals wait, and are taken one by one. One thread.
class Attendant {
 public:
  Attendant();
  ~Attendant() { sigprocmask(SIG_SETMASK, &before_, nullptr); }
  Attendant(const Attendant&) = delete;
  Attendant& operator=(const Attendant&) = delete;

  // In the child, which ends with its parent. It may have begun before its parent has given it the terminal.
  void become_child() const;
  // Until the child has ended: its exit status, 128 + signal if one ended it.
  int attend(pid_t child) const;

 private:
  void pass_on(pid_t child, int number, bool is_sent) const;
  void stop_with(pid_t child) const;

  Foreground terminal_;
  sigset_t before_{};
  sigset_t awaited_{};
};

// Becomes the program, which is found by PATH. Says why not and returns 127 if there is none, 126 if it cannot be run.
int become_program(const std::vector<std::string>& command);

}  // namespace softspine::testbeds
