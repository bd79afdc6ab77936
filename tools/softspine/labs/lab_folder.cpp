// SPDX-License-Identifier: Apache-2.0
#include "tools/softspine/labs/lab_folder.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>
#include <utility>

#include "control/server/client.hpp"
#include "control/server/socket_path.hpp"

namespace softspine::tools {

using dataplane::OwnedFd;
namespace fs = std::filesystem;

namespace {

struct flock whole_file() {
  struct flock lock{};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  return lock;
}

// Of an open file, not of a process: so it stays with a child, and asking for it takes nothing.
bool is_locked(int file) {
  struct flock lock = whole_file();
  return fcntl(file, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

std::optional<int> number_in(const fs::path& file) {
  std::ifstream in{file};
  std::string text;
  std::getline(in, text);
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end == text.data()) return std::nullopt;
  return number;
}

std::unexpected<std::string> failed(const fs::path& path) {
  return std::unexpected(path.native() + ": " + std::strerror(errno));
}

}  // namespace

std::optional<Lab> lab_named(const std::string& name) {
  const auto socket = control::socket_path(name);
  if (!socket) return std::nullopt;
  Lab lab{.name = name, .folder = socket->parent_path() / name, .process = {}, .status = {}};
  const OwnedFd file{open((lab.folder / "pid").c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW)};
  if (!file) return std::nullopt;
  lab.is_up = is_locked(file.get());
  if (lab.is_up) lab.process = number_in(lab.folder / "pid");
  if (!lab.is_up) lab.status = number_in(lab.folder / "status");
  return lab;
}

std::vector<Lab> labs() {
  std::vector<Lab> out;
  std::error_code gone;
  for (const auto& entry : fs::directory_iterator{control::socket_folder(), gone}) {
    if (!entry.is_directory(gone)) continue;
    if (auto lab = lab_named(entry.path().filename())) out.push_back(std::move(*lab));
  }
  std::ranges::sort(out, {}, &Lab::name);
  return out;
}

void forget_lab(const std::string& name) {
  const auto socket = control::socket_path(name);
  if (!socket) return;
  std::error_code ignored;
  fs::remove_all(socket->parent_path() / name, ignored);
  if (fs::is_socket(*socket, ignored) && !control::Client::connect(*socket)) fs::remove(*socket, ignored);
}

std::expected<LabFolder, std::string> LabFolder::take(const std::string& name) {
  if (auto made = control::make_socket_folder(); !made) return std::unexpected(made.error());
  const auto socket = control::socket_path(name);
  if (!socket) return std::unexpected(socket.error());
  const fs::path folder = socket->parent_path() / name;
  std::error_code error;
  fs::create_directory(folder, error);
  if (error) return std::unexpected("cannot make " + folder.native() + ": " + error.message());
  OwnedFd held{open((folder / "pid").c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600)};
  if (!held) return failed(folder / "pid");
  struct flock lock = whole_file();
  if (fcntl(held.get(), F_OFD_SETLK, &lock) != 0) {
    return std::unexpected(name + " is up already: softspine down " + name + " ends it");
  }
  for (const char* const left : {"log", "status", "files"}) fs::remove_all(folder / left, error);
  if (ftruncate(held.get(), 0) != 0) return failed(folder / "pid");
  return LabFolder{folder, std::move(held)};
}

void LabFolder::write_process(int process) {
  const std::string text = std::to_string(process) + "\n";
  static_cast<void>(pwrite(held_.get(), text.data(), text.size(), 0));
}

void LabFolder::write_status(int status) const {
  std::ofstream{folder_ / "status"} << status << '\n';
}

}  // namespace softspine::tools
