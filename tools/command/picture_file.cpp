// SPDX-License-Identifier: Apache-2.0
#include "tools/command/picture_file.hpp"

#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "dataplane/edge/owned_fd.hpp"
#include "tools/command/whole_file.hpp"

extern char** environ;

namespace softspine::tools {

namespace {

using dataplane::OwnedFd;
using Outcome = std::expected<void, std::string>;

constexpr const char* kConverter = "rsvg-convert";

Outcome failed(const std::string& path, const std::string& why) {
  return std::unexpected("cannot write the picture " + path + ": " + why);
}

bool write_all(int file, const std::string& text) {
  for (size_t done = 0; done < text.size();) {
    const ssize_t n = ::write(file, text.data() + done, text.size() - done);
    if (n < 0 && errno != EINTR) return false;
    done += n < 0 ? 0 : static_cast<size_t>(n);
  }
  return true;
}

Outcome write_finished(const std::string& path, const std::string& picture) {
  const Outcome written = write_whole(path, picture);
  return written ? written : failed(path, written.error());
}

// The converter reads the SVG as its standard input, out of memory, and writes the PNG as its standard output.
Outcome convert(const std::string& path, int from, int to) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, from, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, to, STDOUT_FILENO);
  std::string name = kConverter;
  std::string format = "--format=png";
  char* arguments[] = {name.data(), format.data(), nullptr};
  pid_t child = 0;
  const int error = posix_spawnp(&child, kConverter, &actions, nullptr, arguments, environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error == ENOENT) {
    return failed(path, "rsvg-convert is not installed (Debian: librsvg2-bin); a name ending in .svg needs nothing");
  }
  if (error != 0) return failed(path, std::string{kConverter} + ": " + std::strerror(error));
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) return failed(path, std::string{kConverter} + " failed");
  return {};
}

// All bytes of a file in memory, from its beginning.
std::expected<std::string, int> contents(int file) {
  std::string out;
  std::array<char, size_t{1} << 16> block{};
  for (off_t at = 0;; at = static_cast<off_t>(out.size())) {
    const ssize_t n = ::pread(file, block.data(), block.size(), at);
    if (n < 0 && errno != EINTR) return std::unexpected(errno);
    if (n == 0) return out;
    if (n > 0) out.append(block.data(), static_cast<size_t>(n));
  }
}

// The picture's place is touched when the picture is there: a converter that is missing or fails leaves an old one.
Outcome write_png(const std::string& path, const std::string& svg) {
  const OwnedFd source{memfd_create("picture.svg", MFD_CLOEXEC)};
  const OwnedFd picture{memfd_create("picture.png", MFD_CLOEXEC)};
  if (!source || !picture || !write_all(source.get(), svg) || lseek(source.get(), 0, SEEK_SET) != 0) {
    return failed(path, std::strerror(errno));
  }
  if (Outcome outcome = convert(path, source.get(), picture.get()); !outcome) return outcome;
  const auto png = contents(picture.get());
  return png ? write_finished(path, *png) : failed(path, std::strerror(png.error()));
}

}  // namespace

std::string wrong_picture_name(const std::string& path) {
  if (path.ends_with(".svg") || path.ends_with(".png")) return {};
  return "'" + path + "' ends in neither .svg nor .png";
}

Outcome write_picture(const std::string& path, const std::string& svg) {
  return path.ends_with(".png") ? write_png(path, svg) : write_finished(path, svg);
}

}  // namespace softspine::tools
