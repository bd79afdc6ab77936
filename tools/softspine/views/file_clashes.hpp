// SPDX-License-Identifier: Apache-2.0
// Two uses of one file in a run of which one writes it: outputs would overwrite each other, or the run's input.
//
// Files are compared as the kernel has them (device and inode), so that links and other spellings are seen; what is not
// there yet by its path, at the end of its links. Devices take anything from anybody (/dev/null), and what leads to our
// own stdout or stderr is added to it (whole_file.hpp): neither is a clash.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "control/model/testbed.hpp"

namespace softspine::tools {

struct FileUse {
  std::string what;  // "the report", "the testbed"
  std::filesystem::path path;
  bool writes = false;
  bool numbered = false;  // a capture that begins new files: not this one is written, but numbered ones beside it
};

// The files that a testbed names: its own, those that it is made of (include, import, config_db and its like), and
// what its pcap edges read and write.
std::vector<FileUse> files_of(const control::Testbed& testbed);

// What its pcap edges read, alone.
std::vector<std::string> files_that_hosts_send(const control::Testbed& testbed);

// "cannot write the report r.json: it is what the flows are written to"; nothing if no file has two uses. Uses without
// a path count as absent.
std::optional<std::string> first_clash(const std::vector<FileUse>& uses);

// The first file that is only read, and lies in a folder that a run empties; empty if there is no such file.
std::optional<std::string> first_lost_in(const std::filesystem::path& folder, const std::vector<FileUse>& uses);

}  // namespace softspine::tools
