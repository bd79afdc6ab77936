// SPDX-License-Identifier: Apache-2.0
#include "testbeds/hosts/scale_up_port.hpp"

#include <algorithm>
#include <cstring>

#include "dataplane/packet/wire.hpp"
#include "dataplane/units/check.hpp"

namespace softspine::testbeds {

using namespace dataplane;

namespace {

// A notice: no addresses, IEEE's local experimental type, then this.
struct Notice {
  uint64_t bytes = 0;
  uint32_t sink = 0;
};
constexpr uint16_t kLocalExperimental = 0x88B5;

}  // namespace

uint32_t ScaleUpPort::add_flow(PortNo port, uint32_t peer_sink) {
  flows_.push_back({port, peer_sink});
  return first_flow_ + static_cast<uint32_t>(flows_.size()) - 1;
}

uint32_t ScaleUpPort::add_sink() {
  received_.push_back(0);
  return first_sink_ + static_cast<uint32_t>(received_.size()) - 1;
}

Duration ScaleUpPort::time_of(uint64_t bytes) const {
  return std::max(rate_.time_of_bytes(bytes), rate_.time_of_frame(kMinFrameBytes));
}

void ScaleUpPort::post(uint32_t flow, uint64_t bytes, uint64_t tag, Instant now) noexcept {
  SOFTSPINE_CHECK(flow - first_flow_ < flows_.size(), flow, first_flow_);
  out_free_ = std::max(out_free_, now) + time_of(bytes);
  out_.push({flow - first_flow_, bytes, tag, out_free_});
}

Instant ScaleUpPort::leaving() const {
  return out_.empty() ? Instant::never() : out_.front().left - rate_.time_of_frame(kMinFrameBytes);
}

Instant ScaleUpPort::next() const {
  return std::min(leaving(), in_.empty() ? Instant::never() : in_.front().whole);
}

void ScaleUpPort::take(Packet notice) noexcept {
  Notice it;
  std::memcpy(&it, notice.data() + ethernet::kBytes, sizeof it);
  const Instant came = notice.meta().at;
  PacketPool::release(std::move(notice));
  SOFTSPINE_CHECK(it.sink < received_.size(), it.sink, received_.size());
  in_free_ = std::max(came, in_free_ + time_of(it.bytes));
  in_.push({it.sink, in_free_});
}

void ScaleUpPort::act(Instant now, WorkEvents& events) noexcept {
  while (leaving() <= now) send_notice(events);
  while (!in_.empty() && in_.front().whole <= now) {
    const Incoming it = in_.pop();
    events.received(first_sink_ + it.sink, received_[it.sink]++, now);
  }
}

// Without memory the run is over.
void ScaleUpPort::send_notice(WorkEvents& events) noexcept {
  const Instant start = leaving();
  const Outgoing it = out_.pop();
  const Flow& flow = flows_[it.flow];
  Packet packet = pool_.make(kMinFrameBytes);
  if (!packet) return;
  const Notice notice{.bytes = it.bytes, .sink = flow.peer_sink};
  std::memset(packet.data(), 0, kMinFrameBytes);
  store16(packet.data() + ethernet::kType, kLocalExperimental);
  std::memcpy(packet.data() + ethernet::kBytes, &notice, sizeof notice);
  node_.transmitter(flow.port).send(std::move(packet), start);
  events.completed(first_flow_ + it.flow, it.tag, it.left);
}

}  // namespace softspine::testbeds
