// SPDX-License-Identifier: Apache-2.0
#include "testbeds/guests/uml_host.hpp"

#include <elf.h>
#include <fmt/format.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <vector>

namespace softspine::testbeds {
namespace {

constexpr std::size_t kMoreThanAnyArea = 1U << 20;

std::unexpected<std::string> failed(const char* call, int number) {
  return std::unexpected(fmt::format("{}: {}", call, std::strerror(number)));
}

void await(pid_t child, int& status) {
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
}

// Only what a child of a process with threads may call.
[[noreturn]] void be_traced() {
  if (ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) _exit(errno);
  kill(getpid(), SIGSTOP);
  _exit(0);
}

std::expected<std::size_t, std::string> xsave_bytes_of(pid_t stopped) {
  std::vector<char> area(kMoreThanAnyArea);
  iovec part{area.data(), area.size()};
  // NOLINTNEXTLINE(performance-no-int-to-ptr): the kernel's interface: the register set's number as an address
  if (ptrace(PTRACE_GETREGSET, stopped, reinterpret_cast<void*>(NT_X86_XSTATE), &part) != 0) {
    return failed("PTRACE_GETREGSET", errno);
  }
  return part.iov_len;
}

std::expected<std::size_t, std::string> read_xsave_bytes() {
  const pid_t child = fork();
  if (child < 0) return failed("fork", errno);
  if (child == 0) be_traced();
  int status = 0;
  await(child, status);
  if (!WIFSTOPPED(status)) {
    return failed("PTRACE_TRACEME", WIFEXITED(status) && WEXITSTATUS(status) != 0 ? WEXITSTATUS(status) : EPERM);
  }
  auto bytes = xsave_bytes_of(child);
  kill(child, SIGKILL);
  await(child, status);
  return bytes;
}

}  // namespace

UmlHost look_at_uml_host() {
  utsname name{};
  uname(&name);
  return {name.machine, read_xsave_bytes()};
}

std::string obstacle_to_uml(const UmlHost& host) {
  if (host.machine != "x86_64") return fmt::format("this machine is {}, not x86_64", host.machine);
  if (!host.xsave_bytes) {
    return fmt::format("this machine lets no process be traced ({}), as some containers do", host.xsave_bytes.error());
  }
  return "";
}

std::string obstacle_to_uml(const UmlHost& host, std::size_t room_bytes) {
  if (auto obstacle = obstacle_to_uml(host); !obstacle.empty()) return obstacle;
  if (*host.xsave_bytes <= room_bytes) return "";
  return fmt::format("this processor's XSAVE area has {} bytes, and the kernel has room for {}", *host.xsave_bytes,
                     room_bytes);
}

}  // namespace softspine::testbeds
