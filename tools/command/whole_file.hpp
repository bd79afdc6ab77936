// SPDX-License-Identifier: Apache-2.0
// A file that is written whole or not at all: a full disk, or one without a free inode, leaves what was there before.
// The file is written beside its place, under a name of its own, and is moved there when all of it is on the disk. A
// path that is no regular file (a pipe, /dev/stdout) is written directly, and so is a file in a folder where we may
// create no other.
#pragma once

#include <atomic>
#include <expected>
#include <filesystem>
#include <string>

namespace softspine::tools {

// The error is the kernel's. A pipe is waited for: for its reader, which is said on stderr, and for its room.
// `ending`: true from when on that is given up after a while (dataplane/edge/patient_write.hpp).
std::expected<void, std::string> write_whole(const std::filesystem::path& path, const std::string& text,
                                             const std::atomic<bool>* ending = nullptr);

// Why the file could not be written, to be asked before a run is spent on it; empty if it can. The file is neither
// created nor changed.
std::string obstacle_to_writing(const std::filesystem::path& path);

// What is in it; nothing if it cannot be read.
std::string bytes_of_file(const std::filesystem::path& path);

}  // namespace softspine::tools
