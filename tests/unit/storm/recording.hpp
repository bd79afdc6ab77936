// SPDX-License-Identifier: Apache-2.0
// Frames handed to a recorder one by one, and the log that comes of them.
#pragma once

#include <string>
#include <vector>

#include "analysis/storm/pause_log.hpp"
#include "tests/unit/storm/capture_bytes.hpp"

namespace softspine::tests {

inline constexpr uint64_t k100G = 100'000'000'000;

// A port of 100G.
inline analysis::storm::CapturedInterface ethernet(const std::string& name, const std::string& description = "",
                                                   uint64_t mac = 0) {
  return {.name = name, .description = description, .speed_bps = k100G, .mac = mac, .link_type = 1};
}

struct Recording {
  std::vector<analysis::storm::CapturedInterface> interfaces;
  analysis::storm::PauseRecorder recorder;

  void frame(uint32_t interface, analysis::storm::Way way, int64_t us, const CaptureBytes& bytes) {
    recorder.take({.interface = interface, .way = way, .at = dataplane::Instant::at_ps(us * 1'000'000), .bytes = bytes},
                  interfaces);
  }
  // To the nanosecond.
  void frame_ns(uint32_t interface, analysis::storm::Way way, int64_t ns, const CaptureBytes& bytes) {
    recorder.take({.interface = interface, .way = way, .at = dataplane::Instant::at_ps(ns * 1'000), .bytes = bytes},
                  interfaces);
  }
  analysis::storm::PauseLog log(const analysis::storm::KnownFabric& known = {}) {
    recorder.finish(interfaces);
    return analysis::storm::assemble_log(recorder, known);
  }
};

// "h1:eth0 stops tor1:a", by begin.
inline std::vector<std::string> pauses_of(const analysis::storm::PauseLog& log) {
  std::vector<std::string> out;
  for (const analysis::storm::Pause& it : log.pauses) out.push_back(log.name(it.from) + " stops " + log.name(it.to));
  return out;
}

using Texts = std::vector<std::string>;

}  // namespace softspine::tests
