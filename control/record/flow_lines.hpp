// SPDX-License-Identifier: Apache-2.0
// Flows over time as JSON lines in a file:
//
//   {"flow_series": 1, "testbed": …, "sample_interval_ps": …}
//   {"t_ps": …, "flow": "web", "source": "h2", "source_qp": 17, "destination": "h1", "destination_qp": 18,
//    "rate_bps": …, "window_bytes": …, "rtt_ps": …, "sent_bytes": …, "acks": …, "cnps": …, "ce_echoes": …}
//   {"end_ps": …, "samples": …, "lines": …}
#pragma once

#include <atomic>
#include <cstdint>
#include <expected>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "control/record/line_file.hpp"
#include "control/record/sink.hpp"

namespace softspine::control {

class FlowLines : public FlowSink {
 public:
  // As LineFile::open has it, with the path before an error.
  static std::expected<std::unique_ptr<FlowLines>, std::string> open(const std::string& path,
                                                                     const std::atomic<bool>* ending);
  void begin(const FlowShape& shape) override;
  void sample(dataplane::Instant now, std::span<const FlowSample> changed) override;
  void end(dataplane::Instant now) override;
  std::string take_error() override;

 private:
  FlowLines(std::string path, LineFile file) : path_(std::move(path)), file_(std::move(file)) {}

  std::string path_;
  LineFile file_;
  std::vector<std::string> keys_;  // by flow: they are the same in each line
  uint64_t samples_ = 0;
  uint64_t lines_ = 0;
};

}  // namespace softspine::control
