// SPDX-License-Identifier: Apache-2.0
// What lies over our root folder in a guest, read only: a folder or image of the user's, and copies of files. The
// guest's kernel lays them one over the other (scripts/softspine-layers), its changes in memory above.
//
//   root     the user's folder or image itself: hostfs, 9p, or a block device. Nothing writes to it: the keeper, QEMU
//            and the guest's mount are each read only
//   files    copies in run_folder/NAME.files/tree, at their places, made before the guest starts. So one mechanism
//            serves user-mode Linux and QEMU, and a guest sees no neighbour of a file
#pragma once

#include <cstdint>
#include <expected>
#include <filesystem>
#include <string>
#include <vector>

#include "testbeds/process/outside_error.hpp"

namespace softspine::testbeds {

// Copies, of all files of a guest: what is more belongs in a root folder, which is not copied.
inline constexpr uint64_t kMaxFilesBytes = 1ULL << 30;
inline constexpr uint64_t kMaxFilesEntries = 100'000;

enum class LayerKind : uint8_t { kNone, kFolder, kExt4, kSquashfs };

struct RootLayer {
  LayerKind kind = LayerKind::kNone;
  std::filesystem::path path;
};

struct LaidFile {
  std::string place;             // absolute, in the guest; without "." and ".."
  std::filesystem::path source;  // a file or folder
};

// What a guest is given: run_folder/NAME.files, and the folder in it that the guest sees.
std::filesystem::path files_folder(const std::filesystem::path& run_folder, const std::string& guest);
std::filesystem::path files_tree(const std::filesystem::path& folder);

// Takes `folder` (owned_folder.hpp), empties it, and copies the files into its tree, in their order: with permissions
// and times, without setuid bits and owners, links as links. Nothing is written through a link, and nothing but files,
// folders and links is copied.
std::expected<void, Error> lay_files(const std::filesystem::path& folder, const std::vector<LaidFile>& files,
                                     uint64_t most_bytes = kMaxFilesBytes, uint64_t most_entries = kMaxFilesEntries);
// All of it.
void remove_files(const std::filesystem::path& folder);

}  // namespace softspine::testbeds
