// SPDX-License-Identifier: Apache-2.0
// Frames that somebody puts into a running fabric. A frame arrives at its port right behind what is on its way there.
// From any thread, while the fabric runs; each request is done between two windows.
#pragma once

#include <cstdint>
#include <expected>
#include <functional>
#include <string>
#include <vector>

#include "testbeds/run/assembly.hpp"
#include "testbeds/run/run_part.hpp"

namespace softspine::testbeds {

class FrameInjector : public RunPart {
 public:
  // The assembly must outlive it.
  explicit FrameInjector(Assembly& assembly) : assembly_(assembly) {}

  // `done` is called with the instant of the arrival, or with what was wrong.
  void inject(control::LinkEnd port, std::vector<uint8_t> frame,
              std::function<void(std::expected<dataplane::Instant, std::string>)> done);
  // How many have not come to their end: on links, in queues and buffers.
  void ask_under_way(std::function<void(uint64_t under_way, dataplane::Instant now)> see);

 private:
  std::expected<dataplane::Instant, std::string> arrive(control::LinkEnd port, const std::vector<uint8_t>& frame,
                                                        dataplane::Instant now);

  Assembly& assembly_;
};

}  // namespace softspine::testbeds
