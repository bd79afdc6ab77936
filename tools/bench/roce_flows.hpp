// SPDX-License-Identifier: Apache-2.0
// The bench's input: RoCEv2 WRITE_ONLY frames of many flows, in a fixed pseudo-random order, as a pcap
// file that any forwarder can be fed with.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace softspine::tools {

struct RoceFlows {
  uint32_t flows = 4096;
  uint32_t frame_bytes = 64;  // without FCS; at least 14 + 20 + 8 + 12 + 4 = 58
  uint32_t frames = 16384;    // in the file; every flow the same number of times when flows divides it
  std::array<uint8_t, 6> destination_mac{0x02, 0x00, 0x00, 0x00, 0x00, 0x01};
  std::array<uint8_t, 6> source_mac{0x02, 0x00, 0x00, 0x00, 0x01, 0x01};
};

// One frame of flow `index`: 10.1.0.0/16 → 10.2.0.0/16, source port 0xC000 + …, destination QP 0x100 + index.
std::vector<uint8_t> roce_frame(const RoceFlows& flows, uint32_t index);

// Throws std::runtime_error with the path when it can't be written.
void write_roce_pcap(const std::string& path, const RoceFlows& flows);

}  // namespace softspine::tools
