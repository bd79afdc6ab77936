// SPDX-License-Identifier: Apache-2.0
// softspine-keeper LIFELINE_FD [--no-namespace] [--keep FD] [--read PATH]... [--write PATH]... COMMAND...: runs a guest
// so that nothing of it outlives its owner, and, if paths are named, that it sees no others (confinement.hpp). Of our
// descriptors it inherits FD alone.
//
// A user-mode Linux guest is a handful of host processes that ignore or survive each other's deaths, so:
// - the owner holds the other end of the pipe LIFELINE_FD; when it closes it, or dies in whatever way, the guest is
// killed;
// - where namespaces are permitted (root, or user namespaces) the guest lives in a PID namespace whose first process is
//   ours, and the kernel itself kills the whole namespace with that process, also when the keeper is what gets killed;
// - where not, the keeper is the subreaper of all that the guest leaves behind, and kills and reaps until nothing is
// left. A guest is never asked with SIGTERM: user-mode Linux deadlocks in virtio_uml then, and spins. Being polite is
// the business of the guest's folder (see guest_folder.hpp).
//
// Exit status: the command's, 128 + signal when it was killed, 126 when it could not be started.
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <initializer_list>
#include <string>
#include <vector>

#include "testbeds/process/confinement.hpp"
#include "testbeds/process/wait_status.hpp"

// glibc 2.36's header does not declare its functions as C.
extern "C" {
#include <sys/pidfd.h>
}

using softspine::testbeds::confine;
using softspine::testbeds::exit_status_of;
using softspine::testbeds::Sight;

namespace {

constexpr int kCannotStart = 126;

[[noreturn]] void give_up(const char* what) {
  std::fprintf(stderr, "softspine-keeper: %s: %s\n", what, std::strerror(errno));
  std::exit(kCannotStart);
}

void write_map(const char* file, const std::string& text) {
  std::ofstream out(file);
  out << text;
}

// After this, the next child is the first process of a PID namespace. As nobody in particular, a user namespace in
// which we stay who we are gives the right to one.
bool enter_pid_namespace() {
  if (unshare(CLONE_NEWPID) == 0) return true;
  const auto uid = std::to_string(getuid());
  const auto gid = std::to_string(getgid());
  if (unshare(CLONE_NEWUSER | CLONE_NEWPID) != 0) return false;
  write_map("/proc/self/setgroups", "deny");
  write_map("/proc/self/uid_map", uid + " " + uid + " 1");
  write_map("/proc/self/gid_map", gid + " " + gid + " 1");
  return true;
}

void kill_children() {
  std::ifstream children("/proc/thread-self/children");
  for (pid_t child = 0; children >> child;) kill(child, SIGKILL);
}

// Kills and reaps until there is no descendant: what a killed process leaves behind becomes our child in turn.
void kill_the_rest(pid_t group) {
  const bool first_of_a_namespace = getpid() == 1;
  do {
    kill(first_of_a_namespace ? -1 : -group, SIGKILL);
    if (!first_of_a_namespace) kill_children();
  } while (waitpid(-1, nullptr, 0) > 0 || errno == EINTR);
}

[[noreturn]] void become(char** command) {
  // Our own death, of whatever kind, takes at least the guest's main process along.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  setpgid(0, 0);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  execvp(command[0], command);
  give_up(command[0]);
}

// What processes of the guest have left to us, all but `child`: a lab that is up for days would run out of numbers.
void reap_orphans(int signals, pid_t child) {
  signalfd_siginfo come{};
  static_cast<void>(read(signals, &come, sizeof come));
  for (siginfo_t info{}; waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0; info = {}) {
    if (info.si_pid == 0 || info.si_pid == child) return;
    waitpid(info.si_pid, nullptr, 0);
  }
}

// Returns when the lifeline is gone, a signal asks us to end, or `child` has ended.
void wait_for_an_end(const int (&descriptors)[4], int orphans, pid_t child) {
  pollfd polled[5];
  for (int i = 0; i < 4; ++i) polled[i] = {descriptors[i], POLLIN, 0};
  polled[4] = {orphans, POLLIN, 0};
  for (;;) {
    while (poll(polled, 5, -1) < 0 && errno == EINTR) {
    }
    for (int i = 0; i < 4; ++i) {
      if (polled[i].revents != 0) return;
    }
    reap_orphans(orphans, child);
  }
}

int descriptor_of(std::initializer_list<int> numbers) {
  sigset_t set;
  sigemptyset(&set);
  for (const int number : numbers) sigaddset(&set, number);
  sigprocmask(SIG_BLOCK, &set, nullptr);
  return signalfd(-1, &set, SFD_CLOEXEC);
}

// Runs the command until it or one of its reasons to live ends; afterwards none of its processes exists.
int supervise(int lifeline, int second_lifeline, char** command) {
  const int signals = descriptor_of({SIGTERM, SIGINT, SIGHUP});
  const int orphans = descriptor_of({SIGCHLD});
  const pid_t child = fork();
  if (child < 0) give_up("fork");
  if (child == 0) become(command);
  setpgid(child, child);
  const int ended = pidfd_open(child, 0);
  if (ended < 0) {
    kill_the_rest(child);
    give_up("pidfd_open");
  }
  wait_for_an_end({lifeline, second_lifeline, signals, ended}, orphans, child);
  kill(-child, SIGKILL);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  kill_the_rest(child);
  return exit_status_of(status);
}

void say_unconfined(const char* why) {
  std::fprintf(stderr, "softspine-keeper: this guest is kept from no file of this machine: %s\n", why);
}

// The first process of the namespace supervises; we only wait for it. Our end of `ours` closes with us.
int supervise_in_namespace(int lifeline, const Sight& sight, char** command) {
  int ours[2];
  if (pipe2(ours, O_CLOEXEC) != 0) give_up("pipe");
  const pid_t first = fork();
  if (first < 0) return -1;
  if (first == 0) {
    close(ours[1]);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    const std::string refused = sight.is_limited() ? confine(sight) : "";
    if (!refused.empty()) say_unconfined(refused.c_str());
    std::exit(supervise(lifeline, ours[0], command));
  }
  close(ours[0]);
  int status = 0;
  while (waitpid(first, &status, 0) < 0 && errno == EINTR) {
  }
  return exit_status_of(status);
}

int number_of(const char* text) {
  int number = -1;
  std::from_chars(text, text + std::strlen(text), number);
  return number;
}

// All but the first three, the lifeline and what the guest inherits.
void close_others(int lifeline, int kept) {
  unsigned first = 3;
  for (const int each : {std::min(lifeline, kept), std::max(lifeline, kept)}) {
    if (each < 3) continue;
    if (static_cast<unsigned>(each) > first) close_range(first, static_cast<unsigned>(each) - 1, 0);
    first = static_cast<unsigned>(each) + 1;
  }
  close_range(first, ~0U, 0);
}

}  // namespace

int main(int argc, char** argv) {
  int lifeline = -1;
  int kept = -1;
  int next = 2;
  if (argc > 1) lifeline = number_of(argv[1]);
  bool plain = false;
  Sight sight;
  for (; next + 1 < argc && argv[next][0] == '-'; ++next) {
    if (std::strcmp(argv[next], "--no-namespace") == 0) {
      plain = true;
    } else if (std::strcmp(argv[next], "--keep") == 0) {
      kept = number_of(argv[++next]);
    } else {
      std::vector<std::string>& paths = std::strcmp(argv[next], "--write") == 0 ? sight.write : sight.read;
      paths.emplace_back(argv[++next]);
    }
  }
  if (lifeline < 3 || next >= argc || fcntl(lifeline, F_SETFD, FD_CLOEXEC) != 0) {
    std::fprintf(stderr,
                 "usage: softspine-keeper LIFELINE_FD [--no-namespace] [--keep FD] [--read PATH | --write PATH]... "
                 "COMMAND...\n");
    return kCannotStart;
  }
  close_others(lifeline, kept);
  setsid();
  constexpr rlimit kNoCore{0, 0};
  setrlimit(RLIMIT_CORE, &kNoCore);
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  if (!plain && enter_pid_namespace()) {
    const int status = supervise_in_namespace(lifeline, sight, argv + next);
    if (status >= 0) return status;
  }
  if (sight.is_limited()) say_unconfined("it has no PID namespace");
  return supervise(lifeline, -1, argv + next);
}
