// SPDX-License-Identifier: Apache-2.0
// Where our own files are. An installed program finds them by its own place, so an installation may be moved as a
// whole:
//
//   PREFIX/bin                 softspine, softspine-verbs
//   PREFIX/libexec/softspine   softspine-keeper, install, verbs/ (libraries), and guests/, namespaces/, verbs_device/
//   as in
//                              the sources
//
// A program that stands elsewhere, in a build folder, uses what was built with it. The words after PREFIX are meson's
// bindir and libexecdir.
#pragma once

#include <filesystem>
#include <optional>

namespace softspine::testbeds {

struct InstalledFolders {
  std::filesystem::path programs;
  std::filesystem::path parts;
};

// Of this process' program; none: it is not installed.
const std::optional<InstalledFolders>& installed_folders();
// Of the program at this path, which stands in PREFIX/`bin` and has its parts in PREFIX/`libexec`/softspine.
std::optional<InstalledFolders> installed_folders_of(const std::filesystem::path& program,
                                                     const std::filesystem::path& bin,
                                                     const std::filesystem::path& libexec);

// What the environment names; else the installed file, else the built one.
std::filesystem::path own_program(const char* variable, const char* name, const char* built);
std::filesystem::path own_part(const char* variable, const char* name, const char* built);

}  // namespace softspine::testbeds
