// SPDX-License-Identifier: Apache-2.0
// How far apart the packets of a flow arrived, as a run's capture has it: an account of stalls that owes nothing to the
// hosts. A capture stamps frames as they leave; on the last link all take the same time.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tests/scenario/run/running_testbed.hpp"
#include "tests/unit/telemetry/block_reader.hpp"

namespace softspine::testbeds {

class CapturedGaps {
 public:
  // Of a run that was captured whole, over IPv4 without tags.
  explicit CapturedGaps(const Outcome& out) {
    const auto path = std::filesystem::path(testing::TempDir()) / ("softspine-gaps-" + std::to_string(getpid()));
    std::ofstream(path, std::ios::binary) << out.capture;
    const tests::ReadFile file = tests::read_pcapng(path.string());
    std::filesystem::remove(path);
    for (const tests::ReadFrame& frame : file.frames) {
      const std::string& port = file.interfaces[frame.interface];
      if (!is_data(frame.bytes) || !out.report["links"].contains(port)) continue;
      const auto to = out.report["links"][port]["to"].get<std::string>();
      const uint32_t qp = byte(frame.bytes, kQp) << 16 | byte(frame.bytes, kQp + 1) << 8 | byte(frame.bytes, kQp + 2);
      arrivals_[{to.substr(0, to.find(':')), qp}].push_back(static_cast<int64_t>(frame.ticks) * kTick);
    }
  }

  // In ps, to 100 ps; by the number of the flow.
  std::vector<int64_t> of(const Outcome& out, size_t flow) const {
    const control::FlowSnapshot& which = out.snapshot.flows[flow];
    const auto found = arrivals_.find({which.destination, which.destination_qp});
    std::vector<int64_t> gaps;
    for (size_t i = 1; found != arrivals_.end() && i < found->second.size(); ++i) {
      gaps.push_back(found->second[i] - found->second[i - 1]);
    }
    return gaps;
  }
  int64_t longest(const Outcome& out, size_t flow) const {
    const std::vector<int64_t> gaps = of(out, flow);
    return gaps.empty() ? 0 : *std::ranges::max_element(gaps);
  }
  // Both ends of the gap are rounded.
  bool has(const Outcome& out, size_t flow, int64_t stalled) const {
    return std::ranges::any_of(of(out, flow), [&](int64_t gap) { return std::abs(gap - stalled) <= kTick; });
  }

 private:
  static constexpr int64_t kTick = 100;  // ps
  static constexpr size_t kBth = 14 + 20 + 8;
  static constexpr size_t kQp = kBth + 5;
  static uint32_t byte(const std::string& bytes, size_t at) { return static_cast<uint8_t>(bytes[at]); }
  // SEND and WRITE of either service; neither acknowledgements nor CNPs.
  static bool is_data(const std::string& bytes) {
    return bytes.size() > kQp + 3 && byte(bytes, 12) == 0x08 && byte(bytes, 13) == 0x00 && byte(bytes, 23) == 17 &&
           byte(bytes, 36) == 0x12 && byte(bytes, 37) == 0xb7 && (byte(bytes, kBth) & 0x1f) <= 0x0b;
  }

  std::map<std::pair<std::string, uint32_t>, std::vector<int64_t>> arrivals_;
};

}  // namespace softspine::testbeds
