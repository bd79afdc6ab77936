// SPDX-License-Identifier: Apache-2.0
// How many MAC control frames a switch takes from one port that sends nothing else: cut short, with reserved bits, of
// unknown opcodes, with every bit set. No frame is forwarded; the cost is the share that a hostile NIC could take from
// others.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace softspine::tools {

// Frame `index` of the flood; the same for the same index.
std::vector<uint8_t> flood_frame(uint32_t index);
// Throws std::runtime_error with the path when it can't be written.
void write_flood_pcap(const std::string& path);

}  // namespace softspine::tools
