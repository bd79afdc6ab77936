// SPDX-License-Identifier: Apache-2.0
#include "tools/softspine/labs/host_program.hpp"

#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <utility>

#include "control/server/client.hpp"
#include "dataplane/edge/owned_fd.hpp"
#include "testbeds/process/attended_program.hpp"

// glibc 2.36's header does not declare its functions as C.
extern "C" {
#include <sys/pidfd.h>
}

namespace softspine::tools {

using control::Client;
using control::Json;
using dataplane::OwnedFd;
using testbeds::Attendant;

namespace {

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

void put_environment(const HostEntrance& entrance) {
  for (const auto& [name, value] : entrance.environment) setenv(name.c_str(), value.c_str(), 1);
}

[[noreturn]] void be_child(const HostEntrance& entrance, const Attendant& attendant, const std::function<int()>& work) {
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
  HostEntrance out{.host = host,
                   .environment = {},
                   .folder = answer->value("folder", ""),
                   .process = {},
                   .line = answer->value("line", "")};
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

}  // namespace softspine::tools
