// SPDX-License-Identifier: Apache-2.0
#include "testbeds/process/installed_folders.hpp"

#include <cstdlib>
#include <system_error>

namespace softspine::testbeds {
namespace {

namespace fs = std::filesystem;

std::optional<InstalledFolders> folders_of_this_program() {
  std::error_code unreadable;
  const fs::path program = fs::read_symlink("/proc/self/exe", unreadable);
  return installed_folders_of(program, SOFTSPINE_BINDIR, SOFTSPINE_LIBEXECDIR);
}

const char* set_in_environment(const char* variable) {
  const char* value = std::getenv(variable);
  return value != nullptr && *value != '\0' ? value : nullptr;
}

}  // namespace

std::optional<InstalledFolders> installed_folders_of(const fs::path& program, const fs::path& bin,
                                                     const fs::path& libexec) {
  fs::path prefix = program.parent_path();
  for (fs::path rest = bin; !rest.empty(); rest = rest.parent_path(), prefix = prefix.parent_path()) {
    if (rest.filename() != prefix.filename()) return std::nullopt;
  }
  InstalledFolders out{.programs = program.parent_path(), .parts = prefix / libexec / "softspine"};
  std::error_code unreadable;
  if (!fs::is_directory(out.parts, unreadable)) return std::nullopt;
  return out;
}

const std::optional<InstalledFolders>& installed_folders() {
  static const std::optional<InstalledFolders> folders = folders_of_this_program();
  return folders;
}

fs::path own_program(const char* variable, const char* name, const char* built) {
  if (const char* named = set_in_environment(variable)) return named;
  return installed_folders() ? installed_folders()->programs / name : fs::path(built);
}

fs::path own_part(const char* variable, const char* name, const char* built) {
  if (const char* named = set_in_environment(variable)) return named;
  return installed_folders() ? installed_folders()->parts / name : fs::path(built);
}

}  // namespace softspine::testbeds
