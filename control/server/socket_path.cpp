// SPDX-License-Identifier: Apache-2.0
#include "control/server/socket_path.hpp"

#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace softspine::control {

namespace {

constexpr const char* kSuffix = ".sock";
constexpr mode_t kOthersBits = 077;

bool is_file_name(const std::string& name) {
  constexpr const char* kAllowed = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
  return !name.empty() && name.front() != '.' && name.find_first_not_of(kAllowed) == std::string::npos;
}

}  // namespace

std::filesystem::path socket_folder() {
  const char* runtime = std::getenv("XDG_RUNTIME_DIR");
  const std::filesystem::path base = runtime != nullptr && *runtime != '\0' ? runtime : "/tmp";
  return base / ("softspine-" + std::to_string(getuid()));
}

bool fits_socket_address(const std::filesystem::path& path) {
  return path.native().size() < sizeof(sockaddr_un::sun_path);
}

std::expected<std::filesystem::path, std::string> socket_path(const std::string& name) {
  if (!is_file_name(name)) {
    return std::unexpected("'" + name +
                           "' cannot name a fabric: letters, digits, '-', '_' and '.' can, not beginning with '.'");
  }
  std::filesystem::path path = socket_folder() / (name + kSuffix);
  if (!fits_socket_address(path)) return std::unexpected("too long for a socket's path: " + path.native());
  return path;
}

std::expected<void, std::string> make_socket_folder() {
  const std::string folder = socket_folder().native();
  if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) {
    return std::unexpected("cannot make " + folder + ": " + std::strerror(errno));
  }
  struct stat about{};
  if (::lstat(folder.c_str(), &about) != 0)
    return std::unexpected("cannot look at " + folder + ": " + std::strerror(errno));
  if (!S_ISDIR(about.st_mode)) return std::unexpected(folder + " is in the way: it is not a folder");
  if (about.st_uid != getuid()) return std::unexpected(folder + " belongs to another user");
  if ((about.st_mode & kOthersBits) != 0) return std::unexpected(folder + " is open to other users; make it 0700");
  return {};
}

std::vector<std::string> fabrics_in_folder() {
  std::vector<std::string> names;
  std::error_code gone;
  for (const auto& entry : std::filesystem::directory_iterator{socket_folder(), gone}) {
    if (entry.path().extension() == kSuffix && entry.is_socket(gone)) names.push_back(entry.path().stem().string());
  }
  std::ranges::sort(names);
  return names;
}

}  // namespace softspine::control
