// SPDX-License-Identifier: Apache-2.0
// A capture of a running fabric: which ports are watched, and when what they saw goes to the file.
//
// Without patterns: what every port sends, so that each frame stands once for each link that it crosses.
// With patterns: what the named ports send, and of switches also what they receive.
#pragma once

#include <expected>
#include <memory>
#include <string>
#include <vector>

#include "control/telemetry/capture.hpp"
#include "testbeds/run/assembly.hpp"

namespace softspine::testbeds {

struct CaptureRequest {
  std::string path;
  std::vector<std::string> ports;  // patterns of "node:port"; none: all
  uint32_t snaplen = 256;
  uint64_t max_bytes = 0;  // 0: no limit
};

class FabricCapture {
 public:
  // Before the first window. All three outlive it. The error is a sentence for a person.
  static std::expected<std::unique_ptr<FabricCapture>, std::string> open(const CaptureRequest& request,
                                                                         const control::Testbed& testbed,
                                                                         Assembly& assembly);
  // After the last window.
  std::expected<control::CaptureTotals, std::string> close() { return capture_->close(); }

 private:
  explicit FabricCapture(std::unique_ptr<control::Capture> capture) : capture_(std::move(capture)) {}
  void watch(bool received_too, const control::Testbed& testbed, Assembly& assembly);
  void flush_now_and_then(dataplane::Engine& engine, dataplane::Duration every);

  std::unique_ptr<control::Capture> capture_;
};

}  // namespace softspine::testbeds
