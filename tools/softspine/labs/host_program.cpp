// SPDX-License-Identifier: Apache-2.0
#include "tools/softspine/labs/host_program.hpp"

#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <utility>

#include "control/server/client.hpp"
#include "dataplane/edge/owned_fd.hpp"
#include "tools/command/complain.hpp"

// glibc 2.36's header does not declare its functions as C.
extern "C" {
#include <sys/pidfd.h>
}

namespace softspine::tools {

using control::Client;
using control::Json;
using dataplane::OwnedFd;

namespace {

constexpr int kNotFound = 127;
constexpr int kCannotRun = 126;
constexpr std::initializer_list<int> kPassedOn{SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2};
// As a host's own command has it (testbeds/namespaces/enter).
constexpr std::initializer_list<int> kTakenAway{CAP_SYS_MODULE, CAP_SYS_RAWIO, CAP_SYS_BOOT, CAP_SYS_TIME, CAP_MKNOD};

std::string of(int process, const char* kind) {
  return "/proc/" + (process == 0 ? std::string("self") : std::to_string(process)) + "/ns/" + kind;
}

bool shares(int process, const char* kind) {
  struct stat ours{};
  struct stat its{};
  if (stat(of(0, kind).c_str(), &ours) != 0 || stat(of(process, kind).c_str(), &its) != 0) return false;
  return ours.st_ino == its.st_ino && ours.st_dev == its.st_dev;
}

// This process; its PID namespace is that of its children. The folder stays, by its name.
std::string enter(const HostEntrance& entrance) {
  const OwnedFd process{pidfd_open(*entrance.process, 0)};
  if (!process) return entrance.host + " has ended";
  int kinds = CLONE_NEWNET | CLONE_NEWNS | CLONE_NEWUTS;
  if (!shares(*entrance.process, "user")) kinds |= CLONE_NEWUSER;
  if (!shares(*entrance.process, "pid")) kinds |= CLONE_NEWPID;
  std::error_code none;
  const std::filesystem::path here = std::filesystem::current_path(none);
  if (setns(process.get(), kinds) != 0) {
    return entrance.host + " cannot be entered: " + std::strerror(errno) +
           (errno == EPERM ? " (it needs the rights that the fabric runs with)" : "");
  }
  if (none || chdir(here.c_str()) != 0) static_cast<void>(chdir("/"));
  return "";
}

sigset_t set_of(std::initializer_list<int> numbers) {
  sigset_t set;
  sigemptyset(&set);
  for (const int number : numbers) sigaddset(&set, number);
  return set;
}

// The terminal of stdin, if this process is its foreground.
class Foreground {
 public:
  Foreground() : is_ours_(isatty(STDIN_FILENO) != 0 && tcgetpgrp(STDIN_FILENO) == getpgrp()) {}
  bool is_ours() const { return is_ours_; }
  // SIGTTOU must be blocked: whoever gives the terminal may be in its background.
  void give_to(pid_t group) const {
    if (is_ours_) tcsetpgrp(STDIN_FILENO, group);
  }

 private:
  bool is_ours_;
};

// The parent's side: signals wait in `all_`, and are taken one by one.
class Attendant {
 public:
  Attendant() {
    sigset_t blocked = set_of({SIGCHLD, SIGTTOU});
    for (const int number : kPassedOn) sigaddset(&blocked, number);
    sigprocmask(SIG_BLOCK, &blocked, &before_);
    awaited_ = blocked;
    sigdelset(&awaited_, SIGTTOU);
  }
  ~Attendant() { sigprocmask(SIG_SETMASK, &before_, nullptr); }
  Attendant(const Attendant&) = delete;
  Attendant& operator=(const Attendant&) = delete;

  // In the child. It may have begun before its parent has given it the terminal.
  void become_child() const {
    if (terminal_.is_ours()) {
      setpgid(0, 0);
      terminal_.give_to(getpgrp());
    }
    sigprocmask(SIG_SETMASK, &before_, nullptr);
  }

  int attend(pid_t child) const {
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
      return WIFEXITED(how) ? WEXITSTATUS(how) : 128 + WTERMSIG(how);
    }
  }

 private:
  // The terminal's own come to its foreground: to the child, too, if that is in our group; to us alone if the child has
  // not got the terminal yet.
  void pass_on(pid_t child, int number, bool is_sent) const {
    if (is_sent) {
      kill(child, number);
    } else if (terminal_.is_ours()) {
      kill(-child, number);
    }
  }

  // With our whole group, as the terminal would have done it, until our own shell lets us go on.
  void stop_with(pid_t child) const {
    terminal_.give_to(getpgrp());
    kill(0, SIGSTOP);
    terminal_.give_to(child);
    kill(-child, SIGCONT);
  }

  Foreground terminal_;
  sigset_t before_{};
  sigset_t awaited_{};
};

void put_environment(const HostEntrance& entrance) {
  for (const auto& [name, value] : entrance.environment) setenv(name.c_str(), value.c_str(), 1);
}

[[noreturn]] void be_child(const HostEntrance& entrance, const Attendant& attendant, const std::function<int()>& work) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  attendant.become_child();
  for (const int right : kTakenAway) prctl(PR_CAPBSET_DROP, right, 0, 0, 0);
  put_environment(entrance);
  const int status = work();
  std::fflush(nullptr);
  _exit(status);
}

}  // namespace

std::expected<HostEntrance, std::string> entrance_of(const std::string& fabric, const std::string& host) {
  auto client = Client::connect_to_fabric(fabric);
  if (!client) return std::unexpected(client.error());
  const auto answer = client->call("entrance", {{"node", host}});
  if (!answer) return std::unexpected(answer.error());
  HostEntrance out{.host = host, .environment = {}, .folder = answer->value("folder", ""), .process = {}};
  const Json& environment = (*answer)["environment"];
  for (const auto& [name, value] : environment.items()) out.environment[name] = value.get<std::string>();
  const Json& process = (*answer)["process"];
  if (process.is_number_integer()) out.process = process.get<int>();
  return out;
}

std::expected<int, std::string> run_on_host(const HostEntrance& entrance, const std::function<int()>& work) {
  if (!entrance.process) {
    put_environment(entrance);
    return work();
  }
  std::fflush(nullptr);
  const Attendant attendant;
  if (std::string refused = enter(entrance); !refused.empty()) return std::unexpected(std::move(refused));
  const pid_t child = fork();
  if (child < 0) return std::unexpected(entrance.host + ": fork: " + std::strerror(errno));
  if (child == 0) be_child(entrance, attendant, work);
  return attendant.attend(child);
}

int become(const std::vector<std::string>& command) {
  std::vector<std::string> copies = command;
  std::vector<char*> words;
  for (std::string& word : copies) words.push_back(word.data());
  words.push_back(nullptr);
  execvp(words.front(), words.data());
  const int why = errno;
  complain("softspine: {}: {}\n", command.front(), std::strerror(why));
  return why == ENOENT ? kNotFound : kCannotRun;
}

}  // namespace softspine::tools
