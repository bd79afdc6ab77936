// SPDX-License-Identifier: Apache-2.0
// An observer of a port, called for each frame before the frame goes on. A port that is not observed has a null tap,
// which costs one test. The worker that owns the port makes the call; the tap reads the frame's bytes at once and
// never keeps them.
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
