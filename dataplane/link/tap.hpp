// SPDX-License-Identifier: Apache-2.0
// Someone who watches a port: told of each frame before it goes on. Absent (null) unless asked for,
// so that watching nobody costs one test. Called by the worker that owns the port; the frame's bytes
// are read at once, never kept.
#pragma once

#include <cstdint>

#include "dataplane/packet/packet.hpp"
#include "dataplane/units/ids.hpp"
#include "dataplane/units/time.hpp"

namespace softspine::dataplane {

enum class Direction : uint8_t { kReceived, kTransmitted };

class Tap {
 public:
  virtual ~Tap() = default;
  // `at`: when the last bit arrived or left. `comment` may be null.
  virtual void frame(Direction direction, const Packet& packet, Instant at, const char* comment) noexcept = 0;
};

}  // namespace softspine::dataplane
