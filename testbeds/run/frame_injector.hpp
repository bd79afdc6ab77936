// SPDX-License-Identifier: Apache-2.0
// Frames that somebody puts into a running fabric. A frame arrives at its port right behind what is on its way there.
// From any thread, while the fabric runs; each request is done between two windows. Over ranks each call is made by all
// of them, from actions, and all get the same answer.
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
  // Both must outlive it.
  FrameInjector(const control::Testbed& testbed, Assembly& assembly) : testbed_(testbed), assembly_(assembly) {}

  // `done` is called with the instant of the arrival, or with what was wrong.
  void inject(control::LinkEnd port, std::vector<uint8_t> frame,
              std::function<void(std::expected<dataplane::Instant, std::string>)> done);
  // How many have not come to their end: on links, in queues and buffers. Over ranks, of those that have not left the
  // rank at which they came in.
  void ask_under_way(std::function<void(uint64_t under_way, dataplane::Instant now)> see);

 private:
  using Arrival = std::expected<dataplane::Instant, std::string>;
  Arrival arrive_anywhere(control::LinkEnd port, const std::vector<uint8_t>& frame, dataplane::Instant now);
  Arrival arrive(dataplane::PortRef port, const std::vector<uint8_t>& frame, dataplane::Instant now);

  const control::Testbed& testbed_;
  Assembly& assembly_;
};

}  // namespace softspine::testbeds
