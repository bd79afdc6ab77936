// SPDX-License-Identifier: Apache-2.0
#include "testbeds/run/frame_injector.hpp"

#include <algorithm>
#include <utility>

#include "dataplane/packet/wire.hpp"

namespace softspine::testbeds {

using namespace dataplane;

namespace {

constexpr uint32_t kInjectedPackets = 1'023;

}  // namespace

void FrameInjector::inject(control::LinkEnd port, std::vector<uint8_t> frame,
                           std::function<void(std::expected<Instant, std::string>)> done) {
  assembly_.engine->post([this, port, frame = std::move(frame), done = std::move(done)](Instant now) {
    done(arrive_anywhere(port, frame, now));
  });
}

void FrameInjector::ask_under_way(std::function<void(uint64_t, Instant)> see) {
  assembly_.engine->post([this, see = std::move(see)](Instant now) {
    uint64_t under_way = 0;
    const uint64_t here = assembly_.injected_pool ? assembly_.injected_pool->in_use() : 0;
    for (const uint64_t of_rank : assembly_.nodes->ranks().gather(here)) under_way += of_rank;
    see(under_way, now);
  });
}

// At the rank that has the port's node. The one that has the other end of the link counts the frame.
FrameInjector::Arrival FrameInjector::arrive_anywhere(control::LinkEnd port, const std::vector<uint8_t>& frame,
                                                      Instant now) {
  struct Outcome {
    bool is_here = false;
    int64_t at_ps = 0;
    std::string error;
  };
  Outcome mine;
  if (const auto here = assembly_.nodes->at(port)) {
    const Arrival at = arrive(*here, frame, now);
    mine = {.is_here = true, .at_ps = at ? at->count_ps() : 0, .error = at ? "" : at.error()};
  }
  Arrival out = std::unexpected("no rank has the port's node");
  for (const Outcome& each : assembly_.nodes->ranks().gather(mine)) {
    if (!each.is_here) continue;
    out = Instant::at_ps(each.at_ps);
    if (!each.error.empty()) out = std::unexpected(each.error);
  }
  if (!out) return out;
  Transmitter* const back = assembly_.nodes->transmitter_at(testbed_.fabric.peer_of(port));
  if (back != nullptr) back->count_injected();
  return out;
}

FrameInjector::Arrival FrameInjector::arrive(PortRef port, const std::vector<uint8_t>& frame, Instant now) {
  if (frame.size() < ethernet::kBytes || frame.size() > kMaxFrameBytes) {
    return std::unexpected("a frame has 14 to " + std::to_string(kMaxFrameBytes) + " bytes, not " +
                           std::to_string(frame.size()));
  }
  Node& node = assembly_.engine->node(port.node);
  if (!node.transmitter(port.port).up()) return std::unexpected("the link is down");
  std::unique_ptr<PacketPool>& pool = assembly_.injected_pool;
  if (!pool)
    pool = std::make_unique<PacketPool>("injected_" + std::to_string(assembly_.nodes->ranks().rank()), kInjectedPackets,
                                        kMaxFrameBytes);
  Packet packet = pool->make(static_cast<uint32_t>(frame.size()));
  if (!packet) return std::unexpected("too many injected frames are under way");
  std::ranges::copy(frame, packet.data());
  packet.meta().born = now;
  const Instant at = std::max(now, node.inbox().last(port.port));
  node.deliver(port.port, std::move(packet), at);
  return at;
}

}  // namespace softspine::testbeds
