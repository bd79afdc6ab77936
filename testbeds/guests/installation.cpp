// SPDX-License-Identifier: Apache-2.0
#include "testbeds/guests/installation.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "dataplane/edge/owned_fd.hpp"
#include "testbeds/guests/guest_programs.hpp"
#include "testbeds/guests/uml_host.hpp"
#include "testbeds/process/installed_folders.hpp"
#include "testbeds/process/keeper_program.hpp"
#include "testbeds/process/kept_process.hpp"

namespace softspine::testbeds {

using dataplane::OwnedFd;

namespace {

namespace fs = std::filesystem;

std::string read_to_end(int descriptor) {
  std::string text;
  std::array<char, 4096> part;
  for (ssize_t got = 0; (got = read(descriptor, part.data(), part.size())) > 0 || (got < 0 && errno == EINTR);) {
    if (got > 0) text.append(part.data(), static_cast<std::size_t>(got));
  }
  return text;
}

std::expected<pid_t, Error> spawn_into(std::vector<std::string> words, int output, bool with_errors) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, output, 1);
  if (with_errors) posix_spawn_file_actions_adddup2(&actions, output, 2);
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  pid_t pid = -1;
  const int failed = posix_spawn(&pid, words[0].c_str(), &actions, nullptr, pointers.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) return std::unexpected(Error{words[0], std::strerror(failed)});
  return pid;
}

std::expected<std::size_t, Error> room_of(const fs::path& kernel) {
  const auto file = kernel.parent_path() / "xsave_bytes";
  std::size_t room = 0;
  if (std::ifstream(file) >> room) return room;
  return std::unexpected(Error{file.string(), "does not say how large an XSAVE area the kernel has room for"});
}

fs::path guests_folder() {
  return own_part("SOFTSPINE_GUESTS", "guests", SOFTSPINE_GUESTS_SOURCE);
}

std::vector<std::string> programs_for_guests() {
  return {verbs_program(), agent_program()};
}

// The last line that a program printed, and whether it succeeded.
struct Said {
  std::string last;
  bool succeeded = false;
};

std::expected<Said, Error> run_program(const fs::path& program, const std::vector<std::string>& arguments,
                                       bool with_errors) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return std::unexpected(Error{program.string(), std::strerror(errno)});
  const OwnedFd read_end(ends[0]);
  OwnedFd write_end(ends[1]);
  std::vector<std::string> words{program.string()};
  words.insert(words.end(), arguments.begin(), arguments.end());
  const auto pid = spawn_into(std::move(words), write_end.get(), with_errors);
  write_end = OwnedFd{};
  if (!pid) return std::unexpected(pid.error());
  std::string text = read_to_end(read_end.get());
  int status = 0;
  while (waitpid(*pid, &status, 0) < 0 && errno == EINTR) {
  }
  while (text.ends_with('\n')) text.pop_back();
  return Said{text.substr(text.rfind('\n') + 1), status == 0};
}

// `--look`: the program makes nothing, and names in its last line what there is, or what is wrong.
PartHere look_with(const fs::path& program, std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "--look");
  const auto said = run_program(program, arguments, true);
  if (!said) return std::unexpected(said.error().path + ": " + said.error().message);
  if (!said->succeeded) return std::unexpected(said->last);
  return said->last;
}

// Before there is a kernel.
std::string obstacle_of_machine(const UmlHost& host) {
  const char* wish = std::getenv("SOFTSPINE_UML");
  if (wish != nullptr && std::string_view(wish) == "never") return "SOFTSPINE_UML=never forbids it";
  return obstacle_to_uml(host);
}

// Why it cannot be started here, or nothing. A part that is merely not installed yet is an error.
std::expected<std::string, Error> prepare_uml(const fs::path& guests, Installation& installation) {
  const UmlHost host = look_at_uml_host();
  if (auto obstacle = obstacle_of_machine(host); !obstacle.empty()) return obstacle;
  const auto kernel = last_line_of(guests / "kernel" / "build", {});
  if (!kernel) return std::unexpected(kernel.error());
  installation.uml_kernel = *kernel;
  const auto room = room_of(*kernel);
  if (!room) return std::unexpected(room.error());
  if (auto obstacle = obstacle_to_uml(host, *room); !obstacle.empty()) return obstacle;
  const auto root = last_line_of(guests / "root" / "make", programs_for_guests());
  if (!root) return std::unexpected(root.error());
  installation.root = *root;
  return last_line_of(guests / "kernel" / "probe", {*kernel, *root});
}

// qemu/make prints "QEMU KERNEL INITRAMFS ACCELERATOR", none of which holds a blank.
std::expected<void, Error> prepare_qemu(const fs::path& guests, Installation& installation,
                                        const fs::path& own_kernel = {}) {
  std::vector<std::string> arguments = programs_for_guests();
  if (!own_kernel.empty()) arguments.insert(arguments.begin(), {"--kernel", own_kernel.string()});
  const auto line = last_line_of(guests / "qemu" / "make", arguments);
  if (!line) return std::unexpected(line.error());
  std::istringstream words(*line);
  std::string qemu, kernel, initramfs, accelerator;
  if (!(words >> qemu >> kernel >> initramfs >> accelerator)) {
    return std::unexpected(Error{(guests / "qemu" / "make").string(), "said: " + *line});
  }
  installation.qemu = qemu;
  installation.qemu_kernel = kernel;
  installation.qemu_initramfs = initramfs;
  installation.kvm = accelerator == "kvm";
  return {};
}

}  // namespace

std::string verbs_program() {
  return own_program("SOFTSPINE_VERBS", "softspine-verbs", SOFTSPINE_VERBS_BUILT).string();
}

std::string agent_program() {
  return own_part("SOFTSPINE_AGENT", "softspine-agent", SOFTSPINE_AGENT_BUILT).string();
}

std::expected<std::string, Error> last_line_of(const fs::path& program, const std::vector<std::string>& arguments) {
  auto said = run_program(program, arguments, false);
  if (!said) return std::unexpected(said.error());
  if (!said->succeeded) return std::unexpected(Error{program.string(), "failed; its messages say why"});
  return std::move(said->last);
}

fs::path uml_kernel_script() {
  return (guests_folder() / "kernel" / "build").lexically_normal();
}

std::string install_command(const std::string& group) {
  return (installed_folders() ? installed_folders()->parts / "install" : fs::path("tools/install")).string() + " " +
         group;
}

PartHere uml_kernel_here() {
  return look_with(uml_kernel_script(), {});
}

PartHere guest_root_here() {
  return look_with(guests_folder() / "root" / "make", programs_for_guests());
}

PartHere qemu_here() {
  return look_with(guests_folder() / "qemu" / "make", programs_for_guests());
}

std::string obstacle_to_uml_here(const std::string& kernel, const std::string& root) {
  const UmlHost host = look_at_uml_host();
  if (auto obstacle = obstacle_of_machine(host); !obstacle.empty() || kernel.empty()) return obstacle;
  const auto room = room_of(kernel);
  if (!room) return room.error().path + ": " + room.error().message;
  if (auto obstacle = obstacle_to_uml(host, *room); !obstacle.empty() || root.empty()) return obstacle;
  const auto obstacle = last_line_of(guests_folder() / "kernel" / "probe", {kernel, root});
  return obstacle ? *obstacle : obstacle.error().path + ": " + obstacle.error().message;
}

std::expected<Installation, Error> prepare_installation(const std::set<GuestKind>& kinds) {
  Installation installation;
  const auto guests = guests_folder();
  installation.keeper = keeper_program();
  installation.enter = (guests / ".." / "namespaces" / "enter").lexically_normal();
  installation.enter_verbs = (guests / ".." / "verbs_device" / "enter").lexically_normal();
  if (kinds.contains(GuestKind::kUml)) {
    auto obstacle = prepare_uml(guests, installation);
    if (!obstacle) return std::unexpected(obstacle.error());
    installation.uml_obstacle = std::move(*obstacle);
  }
  if (kinds.contains(GuestKind::kQemu) || !installation.uml_obstacle.empty()) {
    auto done = prepare_qemu(guests, installation);
    if (!done && !installation.uml_obstacle.empty()) {
      done.error().message += "; it is needed since user-mode Linux cannot run here: " + installation.uml_obstacle;
    }
    if (!done) return std::unexpected(done.error());
  }
  return installation;
}

std::expected<Installation, Error> with_kernel(Installation installation, GuestKind kind, const fs::path& kernel) {
  const auto guests = guests_folder();
  if (kind == GuestKind::kQemu) {
    auto done = prepare_qemu(guests, installation, kernel);
    if (!done) return std::unexpected(std::move(done.error()));
    return installation;
  }
  if (auto obstacle = obstacle_of_machine(look_at_uml_host()); !obstacle.empty())
    return std::unexpected(Error{kernel.string(), "user-mode Linux cannot run here: " + obstacle});
  const auto root = last_line_of(guests / "root" / "make", programs_for_guests());
  if (!root) return std::unexpected(root.error());
  installation.root = *root;
  const auto obstacle = last_line_of(guests / "kernel" / "probe", {kernel.string(), *root});
  if (!obstacle) return std::unexpected(obstacle.error());
  if (!obstacle->empty()) return std::unexpected(Error{kernel.string(), *obstacle});
  installation.uml_kernel = kernel;
  return installation;
}

}  // namespace softspine::testbeds
