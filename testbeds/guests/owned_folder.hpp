// SPDX-License-Identifier: Apache-2.0
// A folder that a run fills, and that the next run with the same `--folder` empties or writes over. So that nothing of
// anybody else's is lost, it holds a mark, the file `.softspine`. The folder is ours if we make it, if we find it
// empty, or if the mark is in it; a link, or a folder that holds anything without the mark, is refused and left as it
// is.
//
// A user of the folder (a guest, a command) may leave anything under a name that we use. So a file of ours is made
// anew, after what had its name is gone, and none is read or written through a link, a pipe or a device.
#pragma once

#include <cstddef>
#include <expected>
#include <filesystem>
#include <string>
#include <string_view>

#include "testbeds/process/outside_error.hpp"

namespace softspine::testbeds {

// Nothing is changed: whether take_folder() would take it.
std::expected<void, Error> check_folder(const std::filesystem::path& folder);
// Makes it, and the folders above it, unless it is there; marks it.
std::expected<void, Error> take_folder(const std::filesystem::path& folder);
// Takes it, and removes all that it holds but the mark.
std::expected<void, Error> empty_folder(const std::filesystem::path& folder);

// Whatever has the path's name goes first; of a folder, with all that it holds.
std::expected<void, Error> write_new_file(const std::filesystem::path& path, std::string_view text);
// The last `most_bytes` of a regular file at most.
std::expected<std::string, Error> read_file_end(const std::filesystem::path& path, std::size_t most_bytes);

}  // namespace softspine::testbeds
