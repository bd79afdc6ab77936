// SPDX-License-Identifier: Apache-2.0
// The places in a program where a part of a message lies.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "testbeds/verbs_device/memory_regions.hpp"
#include "testbeds/verbs_device/shared/queue_memory.hpp"

namespace softspine::testbeds {

// Calls see(address in the program, bytes) for `bytes` from `offset` on. False if a piece is in no region of the
// protection domain that allows `access`, or the pieces end before.
template <typename See>
bool walk_pieces(const MemoryRegions& regions, uint32_t pd, std::span<const MemoryPiece> pieces, uint64_t offset,
                 uint64_t bytes, uint32_t access, See&& see) {
  for (const MemoryPiece& piece : pieces) {
    if (bytes == 0) return true;
    if (offset >= piece.length) {
      offset -= piece.length;
      continue;
    }
    const uint64_t part = std::min(bytes, piece.length - offset);
    const auto place = regions.find(piece.key, pd, piece.address + offset, part, access);
    if (!place) return false;
    see(*place, static_cast<uint32_t>(part));
    bytes -= part;
    offset = 0;
  }
  return bytes == 0;
}

}  // namespace softspine::testbeds
