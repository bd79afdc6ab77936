// SPDX-License-Identifier: Apache-2.0
// How much memory this process can still take: what the kernel calls available, or less where a control group (of a
// container, of a service) has less left. Page cache of the group that is inactive counts as free.
#pragma once

#include <cstdint>
#include <filesystem>

namespace softspine::testbeds {

// `root`: where /proc and /sys are. UINT64_MAX where nothing is known.
uint64_t available_memory(const std::filesystem::path& root = "/");

}  // namespace softspine::testbeds
