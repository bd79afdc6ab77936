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
  assembly_.engine->post(
      [this, port, frame = std::move(frame), done = std::move(done)](Instant now) { done(arrive(port, frame, now)); });
}

void FrameInjector::ask_under_way(std::function<void(uint64_t, Instant)> see) {
  assembly_.engine->post([this, see = std::move(see)](Instant now) {
    see(assembly_.injected_pool ? assembly_.injected_pool->in_use() : uint64_t{0}, now);
  });
}

std::expected<Instant, std::string> FrameInjector::arrive(control::LinkEnd port, const std::vector<uint8_t>& frame,
                                                          Instant now) {
  if (frame.size() < ethernet::kBytes || frame.size() > kMaxFrameBytes) {
    return std::unexpected("a frame has 14 to " + std::to_string(kMaxFrameBytes) + " bytes, not " +
                           std::to_string(frame.size()));
  }
  const auto here = assembly_.nodes->at(port);
  if (!here) return std::unexpected("the port's node runs elsewhere");
  Node& node = assembly_.engine->node(here->node);
  const Transmitter& back = node.transmitter(here->port);
  if (!back.up()) return std::unexpected("the link is down");
  std::unique_ptr<PacketPool>& pool = assembly_.injected_pool;
  if (!pool) pool = std::make_unique<PacketPool>("injected", kInjectedPackets, kMaxFrameBytes);
  Packet packet = pool->make(static_cast<uint32_t>(frame.size()));
  if (!packet) return std::unexpected("too many injected frames are under way");
  std::ranges::copy(frame, packet.data());
  packet.meta().born = now;
  const Instant at = std::max(now, node.inbox().last(here->port));
  assembly_.engine->node(back.peer()->id()).transmitter(back.peer_port()).count_injected();
  node.deliver(here->port, std::move(packet), at);
  return at;
}

}  // namespace softspine::testbeds
