// SPDX-License-Identifier: Apache-2.0
// A station that sends frames of one size without a gap, and stops as late as 802.3 allows when it is asked to;
// and the rig around it: one switch, the sender at port 0, a station at port 1 that has stopped the switch.
#pragma once

#include <memory>

#include "dataplane/engine/engine.hpp"
#include "dataplane/flow_control/pause_state.hpp"
#include "dataplane/flow_control/pause_timing.hpp"
#include "dataplane/packet/checksum.hpp"
#include "pipelines/core.hpp"
#include "tests/scenario/edge/probe_node.hpp"
#include "tests/scenario/fabric_environment.hpp"
#include "tests/scenario/switch/frames.hpp"

namespace softspine::tests {

inline constexpr dataplane::Duration kSenderBegins = dataplane::Duration::us(20);

class LineRateSender final : public dataplane::Node {
 public:
  LineRateSender(dataplane::PacketPool& pool, Bytes frame, uint32_t frame_bytes)
      : Node("sender", 1), pool_(pool), frame_(std::move(frame)), frame_bytes_(frame_bytes) {}

  dataplane::Instant run(dataplane::Instant until) noexcept override {
    using namespace dataplane;
    for (;;) {
      const Instant arrival = inbox().next();
      if (next_ <= arrival) {
        if (!(next_ < until)) break;
        send();
      } else {
        if (!(arrival < until)) break;
        receive();
      }
    }
    return std::min(next_, inbox().next());
  }
  uint64_t sent() const { return sent_; }
  // When the first pause came in; never() if none did.
  dataplane::Instant first_pause() const { return first_pause_; }

 private:
  void send() {
    using namespace dataplane;
    constexpr uint8_t kPriority = 1 << 3;
    if ((pause_.advance(next_) & kPriority) != 0) {
      next_ = pause_.next_change();
      return;
    }
    Packet packet = pool_.make(static_cast<uint32_t>(frame_.size()));
    std::ranges::copy(frame_, packet.data());
    packet.meta().frame_bytes = frame_bytes_;
    next_ = transmitter(PortNo{0}).send(std::move(packet), next_);
    ++sent_;
  }
  void receive() {
    using namespace dataplane;
    Packet packet = inbox().take_first();
    const Instant now = packet.meta().at;
    if (load16(packet.data() + ethernet::kType) == ethernet::kTypeMacControl) {
      const auto frame = read_pfc(packet.data(), packet.stored_bytes());
      const PauseTiming timing = PauseTiming::of(transmitter(PortNo{0}).rate());
      pause_.receive(*frame, now, timing.quantum, timing.response);
      first_pause_ = std::min(first_pause_, now);
      next_ = std::max(next_, now);  // paused already: asks again, maybe it may
    }
    PacketPool::release(std::move(packet));
  }

  dataplane::PacketPool& pool_;
  Bytes frame_;
  uint32_t frame_bytes_;
  dataplane::PauseState pause_;
  dataplane::Instant next_ = dataplane::Instant::at(kSenderBegins);
  dataplane::Instant first_pause_ = dataplane::Instant::never();
  uint64_t sent_ = 0;
};

struct LosslessCase {
  dataplane::Rate rate;
  dataplane::Duration propagation;
  uint32_t largest_frame;
  uint32_t frame;  // bytes
  uint32_t cell;
  uint32_t pool_cells;
  int dynamic_th;
  uint32_t headroom_cells;
};

// The switch may not send to port 1, so what comes fills its group until it says XOFF. `obstacle`: when the
// last bit of a largest frame for port 0 comes in, which then is on the wire when the pause wants to leave.
class LosslessBottleneck {
 public:
  LosslessBottleneck(const LosslessCase& c, dataplane::Instant obstacle)
      : engine_(clock_, dataplane::Engine::Config{}), case_(c) {
    using namespace dataplane;
    const NodeId dut = engine_.add(std::make_unique<pipelines::Core>("dut", 2, packet_pool()), 0);
    node_ = static_cast<pipelines::Core*>(&engine_.node(dut));
    node_->publish(state());
    const NodeId sender = engine_.add(std::make_unique<LineRateSender>(packet_pool(), towards(1, 3), c.frame), 0);
    sender_ = static_cast<LineRateSender*>(&engine_.node(sender));
    const NodeId stopper = engine_.add(std::make_unique<Probe>(packet_pool()), 0);
    auto* probe = static_cast<Probe*>(&engine_.node(stopper));
    engine_.connect({dut, PortNo{0}}, {sender, PortNo{0}}, c.rate, c.propagation);
    engine_.connect({dut, PortNo{1}}, {stopper, PortNo{0}}, c.rate, Duration::ns(1));
    Bytes pause(mac_control::kFrameBytes);
    write_pfc(pause.data(), MacAddress{2}, PfcFrame::of(1 << 3, 0xffff));
    for (int i = 0; i < 8; ++i) probe->send_at(Instant{} + pause_quantum(c.rate) * 0x7000 * i, pause);
    if (!obstacle.is_never()) {
      const Instant begin = obstacle - Duration::ns(1) - c.rate.time_of_frame(c.largest_frame);
      probe->send_at(begin, towards(0, 48), c.largest_frame);
    }
  }
  ~LosslessBottleneck() { engine_.drain(); }

  // Until everything has stopped.
  void run() {
    const uint64_t frames = 2 * (uint64_t{case_.pool_cells} + case_.headroom_cells);
    engine_.run(dataplane::Instant::at(kSenderBegins) +
                case_.rate.time_of_frame(case_.frame) * static_cast<int64_t>(frames));
  }
  pipelines::Core& node() { return *node_; }
  const LineRateSender& sender() const { return *sender_; }
  uint64_t lost() const {
    return node_->counters()[0].drops[static_cast<size_t>(dataplane::DropReason::kHeadroomFull)];
  }

 private:
  Bytes towards(uint8_t port, uint8_t dscp) const {
    const Mac router{2, 0, 0, 0, 0, 1};
    const Bytes packet = ipv4_packet(
        {.from = ip4("10.0.9.9"), .to = {10, 0, port, 1}, .tos = static_cast<uint8_t>(dscp << 2)}, Bytes(26, 0));
    Bytes frame = ethernet_frame(router, station(9), 0x0800, packet);
    const uint32_t bytes = dscp == 3 ? case_.frame : case_.largest_frame;
    const auto ip_bytes = static_cast<uint16_t>(bytes - 14);
    dataplane::store16(frame.data() + 16, ip_bytes);
    dataplane::store16(frame.data() + 24, 0);
    dataplane::store16(frame.data() + 24, dataplane::ipv4_checksum(frame.data() + 14, 20));
    return frame;
  }
  std::shared_ptr<const dataplane::ForwardingState> state() const {
    using namespace dataplane;
    auto state = std::make_shared<ForwardingState>();
    state->router_mac = {2, 0, 0, 0, 0, 1};
    state->qos = azure_maps(0);
    state->ports.resize(2);
    for (uint16_t port = 0; port < 2; ++port) {
      Adjacency adjacency;
      adjacency.port = port;
      adjacency.mtu = static_cast<uint16_t>(case_.largest_frame - 14);
      state->adjacencies.push_back(adjacency);
    }
    state->ipv4 =
        PrefixTrie{{{Prefix{.address = {10, 0, 0}, .length = 24}, RouteValue{RouteKind::kAdjacency, 0}.packed()},
                    {Prefix{.address = {10, 0, 1}, .length = 24}, RouteValue{RouteKind::kAdjacency, 1}.packed()}}};
    QosPlan plan = QosPlan::plain(2, {});
    plan.buffer.cell = CellSize{case_.cell};
    plan.buffer.ingress_pools[0].shared_cells = case_.pool_cells;
    for (PortBufferPlan& port : plan.buffer.ports) {
      for (QueuePlan& queue : port.queues) queue.limit = SharedLimit::fixed(BufferPlan::kUnlimitedCells);
      port.groups[3] = {
          .lossless = true, .limit = SharedLimit::dynamic(case_.dynamic_th), .headroom_cells = case_.headroom_cells};
    }
    for (PortQosPlan& port : plan.ports) port.pfc_enabled = 1 << 3;
    state->plan = std::make_shared<QosPlan>(std::move(plan));
    return state;
  }

  dataplane::VirtualClock clock_;
  dataplane::Engine engine_;
  LosslessCase case_;
  pipelines::Core* node_ = nullptr;
  LineRateSender* sender_ = nullptr;
};

}  // namespace softspine::tests
