// SPDX-License-Identifier: Apache-2.0
#include "testbeds/run/tap_board.hpp"

namespace softspine::testbeds {

using dataplane::Direction;
using dataplane::Instant;
using dataplane::Packet;
using dataplane::PortNo;
using dataplane::Tap;

class TapBoard::Fan final : public Tap {
 public:
  void frame(Direction direction, const Packet& packet, Instant at, const char* comment) noexcept override {
    for (Tap* const tap : taps) tap->frame(direction, packet, at, comment);
  }
  std::vector<Tap*> taps;
};

TapBoard::TapBoard(const LocalNodes& nodes) : nodes_(nodes) {}
TapBoard::~TapBoard() = default;

void TapBoard::add(const Place& place, Tap* tap) {
  std::unique_ptr<Fan>& fan = fans_[place];
  if (!fan) fan = std::make_unique<Fan>();
  fan->taps.push_back(tap);
  connect(place);
}

void TapBoard::remove(const Place& place, Tap* tap) {
  const auto found = fans_.find(place);
  if (found == fans_.end()) return;
  std::erase(found->second->taps, tap);
  connect(place);
}

void TapBoard::connect(const Place& place) {
  Fan& fan = *fans_[place];
  Tap* const tap = fan.taps.empty() ? nullptr : fan.taps.size() == 1 ? fan.taps[0] : &fan;
  if (!place.received) {
    if (dataplane::Transmitter* const sender = nodes_.transmitter_at(place.port)) sender->set_tap(tap);
  } else if (pipelines::Switch* const node = nodes_.switch_at(place.port.node)) {
    node->set_receive_tap(PortNo{place.port.port}, tap);
  }
}

}  // namespace softspine::testbeds
