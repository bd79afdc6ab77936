// SPDX-License-Identifier: Apache-2.0
#include "testbeds/guests/installation.hpp"

#include <fcntl.h>
#include <linux/kvm.h>
#include <spawn.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>

#include "testbeds/process/keeper_program.hpp"
#include "testbeds/process/kept_process.hpp"

namespace softspine::testbeds {
namespace {

namespace fs = std::filesystem;

fs::path from_environment(const char* variable, const char* otherwise) {
  const char* value = std::getenv(variable);
  return value != nullptr && *value != '\0' ? value : otherwise;
}

std::string read_to_end(int descriptor) {
  std::string text;
  std::array<char, 4096> part;
  for (ssize_t got = 0; (got = read(descriptor, part.data(), part.size())) > 0 || (got < 0 && errno == EINTR);) {
    if (got > 0) text.append(part.data(), static_cast<std::size_t>(got));
  }
  return text;
}

std::expected<pid_t, Error> spawn_into(const fs::path& program, int output) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, output, 1);
  std::string word = program.string();
  char* const words[] = {word.data(), nullptr};
  pid_t pid = -1;
  const int failed = posix_spawn(&pid, word.c_str(), &actions, nullptr, words, environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) return std::unexpected(Error{word, std::strerror(failed)});
  return pid;
}

std::expected<void, Error> prepare_uml(const fs::path& guests, Installation& installation) {
  const auto kernel = last_line_of(guests / "kernel" / "build");
  if (!kernel) return std::unexpected(kernel.error());
  const auto root = last_line_of(guests / "root" / "make");
  if (!root) return std::unexpected(root.error());
  installation.uml_kernel = *kernel;
  installation.root = *root;
  return {};
}

// qemu/make prints "QEMU KERNEL INITRAMFS", none of which holds a blank.
std::expected<void, Error> prepare_qemu(const fs::path& guests, Installation& installation) {
  const auto line = last_line_of(guests / "qemu" / "make");
  if (!line) return std::unexpected(line.error());
  const auto first = line->find(' ');
  const auto second = line->find(' ', first + 1);
  if (second == std::string::npos) return std::unexpected(Error{(guests / "qemu" / "make").string(), "said: " + *line});
  installation.qemu = line->substr(0, first);
  installation.qemu_kernel = line->substr(first + 1, second - first - 1);
  installation.qemu_initramfs = line->substr(second + 1);
  installation.kvm = kvm_works();
  return {};
}

}  // namespace

bool kvm_works() {
  const Descriptor kvm(open("/dev/kvm", O_RDWR | O_CLOEXEC));
  if (kvm.number() < 0 || ioctl(kvm.number(), KVM_GET_API_VERSION, 0) != KVM_API_VERSION) return false;
  const Descriptor machine(ioctl(kvm.number(), KVM_CREATE_VM, 0));
  if (machine.number() < 0) return false;
  return Descriptor(ioctl(machine.number(), KVM_CREATE_VCPU, 0)).number() >= 0;
}

std::expected<std::string, Error> last_line_of(const fs::path& program) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return std::unexpected(Error{program.string(), std::strerror(errno)});
  const Descriptor read_end(ends[0]);
  Descriptor write_end(ends[1]);
  const auto pid = spawn_into(program, write_end.number());
  write_end.reset();
  if (!pid) return std::unexpected(pid.error());
  auto text = read_to_end(read_end.number());
  int status = 0;
  while (waitpid(*pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (status != 0) return std::unexpected(Error{program.string(), "failed; its messages say why"});
  while (text.ends_with('\n')) text.pop_back();
  return text.substr(text.rfind('\n') + 1);
}

std::expected<Installation, Error> prepare_installation(const std::set<GuestKind>& kinds) {
  Installation installation;
  const auto guests = from_environment("SOFTSPINE_GUESTS", SOFTSPINE_GUESTS_SOURCE);
  installation.keeper = keeper_program();
  installation.enter = (guests / ".." / "namespaces" / "enter").lexically_normal();
  if (kinds.contains(GuestKind::kUml)) {
    if (auto done = prepare_uml(guests, installation); !done) return std::unexpected(done.error());
  }
  if (kinds.contains(GuestKind::kQemu)) {
    if (auto done = prepare_qemu(guests, installation); !done) return std::unexpected(done.error());
  }
  return installation;
}

}  // namespace softspine::testbeds
