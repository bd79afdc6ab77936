// SPDX-License-Identifier: Apache-2.0
// Whether a file is what a guest can boot or mount, by its first bytes; nothing is run.
//
//   ext4        0xEF53 at byte 1080 (the superblock begins at 1024)
//   squashfs    "hsqs" at byte 0
//   bzImage     "HdrS" at byte 0x202, protocol 2.12 or later, bit 0 (64 bits) of xloadflags at 0x236
//               (Linux, Documentation/x86/boot.rst)
//   user-mode Linux's program: an ELF file of 64 bits for x86-64 with a section .uml.setup.init, which its linker
//               script makes (arch/um)
#pragma once

#include <expected>
#include <string>

#include "control/model/attachment.hpp"

namespace softspine::control {

// The error is a message without the path.
std::expected<GuestRoot, std::string> image_kind_of(const std::string& path);
// Why a guest of this kind cannot boot it; empty: it can, as far as its bytes show.
std::string obstacle_to_kernel(const std::string& path, GuestKind kind);

}  // namespace softspine::control
