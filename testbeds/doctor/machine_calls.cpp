// SPDX-License-Identifier: Apache-2.0
// Questions to this machine's kernel.
#include <fcntl.h>
#include <linux/ethtool.h>
#include <linux/nsfs.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <sstream>

#include "dataplane/edge/owned_fd.hpp"
#include "testbeds/doctor/machine.hpp"
#include "testbeds/namespaces/network_namespace.hpp"
#include "testbeds/outside/veth_peer.hpp"

namespace softspine::testbeds {

using dataplane::OwnedFd;

namespace {

// The kernel names a namespace's owner only to those whose own user namespace the owner is, or lies in.
bool owns_network() {
  const OwnedFd network(open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC));
  const OwnedFd owner(network.get() < 0 ? -1 : ioctl(network.get(), NS_GET_USERNS));
  return owner.get() >= 0;
}

// Here, in this thread's network namespace.
std::optional<InterfaceHere> one_interface(const std::string& name) {
  const OwnedFd socket_of(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  ifreq request{};
  name.copy(request.ifr_name, IFNAMSIZ - 1);
  if (ioctl(socket_of.get(), SIOCGIFFLAGS, &request) != 0) return std::nullopt;
  InterfaceHere out;
  out.up = (request.ifr_flags & IFF_UP) != 0;
  out.carrier = (request.ifr_flags & IFF_RUNNING) != 0;
  if (ioctl(socket_of.get(), SIOCGIFMTU, &request) == 0) out.mtu = static_cast<uint32_t>(request.ifr_mtu);
  ethtool_drvinfo driver{};
  driver.cmd = ETHTOOL_GDRVINFO;
  request.ifr_data = reinterpret_cast<char*>(&driver);
  if (ioctl(socket_of.get(), SIOCETHTOOL, &request) == 0) out.driver = driver.driver;
  return out;
}

std::optional<InterfaceHere> interface_named(const std::string& name) {
  auto out = one_interface(name);
  if (!out || out->driver != "veth") return out;
  const auto peer = veth_peer_of(name);
  if (!peer || !*peer) return out;
  out->peer = (*peer)->interface;
  static_cast<void>((*peer)->within([&] {
    const auto end = one_interface((*peer)->interface);
    out->peer_mtu = end ? end->mtu : 0;
  }));
  return out;
}

std::string why_no_namespace() {
  const auto made = NetworkNamespace::make();
  return made ? "" : made.error().message;
}

// Without CAP_NET_RAW it cannot be known: the right has a row of its own.
std::string why_no_xdp() {
  constexpr int kXdp = 44;  // AF_XDP
  const OwnedFd made(socket(kXdp, SOCK_RAW | SOCK_CLOEXEC, 0));
  return made.get() >= 0 || errno == EPERM ? "" : std::strerror(errno);
}

// Only what a child of a process with threads may call.
[[noreturn]] void be_read(int ready) {
  prctl(PR_SET_PTRACER, static_cast<unsigned long>(getppid()), 0, 0, 0);
  static_cast<void>(write(ready, "", 1));
  for (;;) pause();
}

// Of a child, which lets us as a program of a verbs host does.
std::string why_no_foreign_memory() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return std::strerror(errno);
  const OwnedFd heard(ends[0]);
  OwnedFd ready(ends[1]);
  const pid_t child = fork();
  if (child < 0) return std::strerror(errno);
  if (child == 0) be_read(ready.get());
  ready = OwnedFd{};
  char there = 1;
  static_cast<void>(read(heard.get(), &there, 1));
  char copy = 0;
  const iovec ours{&copy, 1};
  const iovec theirs{&there, 1};
  const bool copied = process_vm_readv(child, &ours, 1, &theirs, 1, 0) == 1;
  const int failed = errno;
  kill(child, SIGKILL);
  while (waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
  }
  return copied ? "" : std::strerror(failed);
}

bool has_program(const std::string& program) {
  if (program.starts_with('/')) return access(program.c_str(), X_OK) == 0;
  const char* const path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "" : path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    if (access((folder + "/" + program).c_str(), X_OK) == 0) return true;
  }
  return false;
}

}  // namespace

MachineCalls calls_of_this_machine() {
  return {.owns_network = owns_network,
          .interface = interface_named,
          .why_no_namespace = why_no_namespace,
          .why_no_xdp = why_no_xdp,
          .has_program = has_program,
          .why_no_foreign_memory = why_no_foreign_memory,
          .uml_kernel = uml_kernel_here,
          .guest_root = guest_root_here,
          .qemu = qemu_here,
          .uml_obstacle = obstacle_to_uml_here};
}

}  // namespace softspine::testbeds
