// SPDX-License-Identifier: Apache-2.0
// The other end of an edge's link: sends what it is told when it is told, records what arrives and when.
#pragma once

#include <algorithm>
#include <map>
#include <vector>

#include "dataplane/link/node.hpp"

namespace softspine::dataplane {

class Probe final : public Node {
 public:
  struct Arrival {
    Instant at;
    std::vector<uint8_t> bytes;  // as stored
    uint32_t frame_bytes;
  };

  explicit Probe(PacketPool& pool) : Node("probe", 1), pool_(pool) {}

  // Its first bit leaves at `start`, or when the port is free. `frame_bytes` beyond the stored ones are elided.
  void send_at(Instant start, std::vector<uint8_t> stored, uint32_t frame_bytes = 0) {
    const uint32_t length = frame_bytes == 0 ? static_cast<uint32_t>(stored.size()) : frame_bytes;
    to_send_.emplace(start, Outgoing{std::move(stored), length});
  }
  const std::vector<Arrival>& arrivals() const { return arrivals_; }

  Instant run(Instant until) noexcept override {
    while (!to_send_.empty() && to_send_.begin()->first < until) {
      send_first();
    }
    while (inbox().next() < until) {
      Packet packet = inbox().take_first();
      arrivals_.push_back(
          {packet.meta().at, {packet.data(), packet.data() + packet.stored_bytes()}, packet.frame_bytes()});
      PacketPool::release(std::move(packet));
    }
    return to_send_.empty() ? inbox().next() : std::min(inbox().next(), to_send_.begin()->first);
  }

 private:
  struct Outgoing {
    std::vector<uint8_t> stored;
    uint32_t frame_bytes;
  };
  void send_first() {
    const auto first = to_send_.begin();
    Packet packet = pool_.make(static_cast<uint32_t>(first->second.stored.size()));
    std::copy(first->second.stored.begin(), first->second.stored.end(), packet.data());
    packet.meta().frame_bytes = first->second.frame_bytes;
    free_at_ = transmitter(PortNo{0}).send(std::move(packet), std::max(free_at_, first->first));
    to_send_.erase(first);
  }

  PacketPool& pool_;
  std::multimap<Instant, Outgoing> to_send_;
  std::vector<Arrival> arrivals_;
  Instant free_at_;
};

// A frame of `bytes` bytes whose content tells its number.
inline std::vector<uint8_t> numbered_frame(uint32_t bytes, uint8_t number) {
  std::vector<uint8_t> frame(bytes);
  for (uint32_t i = 0; i < bytes; ++i) frame[i] = static_cast<uint8_t>(number + i);
  return frame;
}

}  // namespace softspine::dataplane
