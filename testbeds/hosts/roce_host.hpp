// SPDX-License-Identifier: Apache-2.0
// A built-in host: RoCEv2 queue pairs behind one port, or two. No kernel, no payload in memory.
//
// Sending. A port takes the queue pairs that may send in turns, a packet each, as a NIC does:
//   start = max(port free, earliest eligible)
// PFC frames go first, then what is beside the data (control_queue.hpp), then data.
// What a queue pair may send, and when, its transport says (open_loop.hpp).
//
// Pausing. A PFC or PAUSE frame stops the priorities that it names at the port where it arrived, as
// pause_state.hpp says: queue pairs and control packets of that priority wait. PFC frames of ours do not.
//
// Receiving. A RoCEv2 packet is checked whole, ICRC included, and goes to its queue pair's sink
// (receive_queue.hpp); acknowledgements and CNPs go to the sender (respond()). The host answers for
// itself (responder.hpp). Everything else ends here with a reason. At one instant departures come before arrivals.
//
// While a port's link is down its queue pairs wait. While the pool is empty they wait, too: nothing is lost.
//
// Maximum: 1024 answers of a priority wait at a port, further ones are dropped (kQueueFull).
// Flows and sinks are added before the first window or from a control action, followed by Engine::wake().
#pragma once

#include <cstdint>
#include <vector>

#include "dataplane/link/node.hpp"
#include "dataplane/packet/pool.hpp"
#include "testbeds/hosts/counters.hpp"
#include "testbeds/hosts/frame_template.hpp"
#include "testbeds/hosts/host_config.hpp"
#include "testbeds/hosts/host_port.hpp"
#include "testbeds/hosts/open_loop.hpp"
#include "testbeds/hosts/qp_table.hpp"
#include "testbeds/hosts/receive_queue.hpp"
#include "testbeds/hosts/responder.hpp"

namespace softspine::testbeds {

// What a host asks of its pool: the room of its packets.
inline constexpr uint32_t kHostPacketBytes = kTemplateBytes;

class RoceHost final : public dataplane::Node {
 public:
  // `config` passes wrong_with(); `pool` outlives the host and has room for kHostPacketBytes.
  RoceHost(const HostConfig& config, dataplane::PacketPool& pool);

  // The flow passes wrong_with(); its source QP has no flow yet. Returns its index here.
  uint32_t add_flow(const FlowConfig& flow);
  // The QP has no sink yet.
  uint32_t add_sink(const SinkConfig& sink);

  dataplane::Instant run(dataplane::Instant until) noexcept override;
  void link_changed(dataplane::PortNo port, bool up, dataplane::Instant now) noexcept override;
  void drain() noexcept override;

  const HostConfig& config() const { return config_; }
  const HostCounters& counters() const { return counters_; }
  uint32_t flow_count() const { return static_cast<uint32_t>(flows_.size()); }
  uint32_t sink_count() const { return static_cast<uint32_t>(sinks_.size()); }
  const FlowSent& sent(uint32_t flow) const { return flows_[flow].counters; }
  const FlowReceived& received(uint32_t sink) const { return sinks_[sink].counters(); }
  const dataplane::PauseState& pause(dataplane::PortNo port) const { return ports_[port.value()].pause; }

 private:
  struct Flow {
    OpenLoop transport;
    FlowSent counters;
    uint32_t first_template;
    dataplane::PortNo port;
    uint8_t priority_bit;
  };

  // The earliest thing that a port can do; never() if there is none.
  dataplane::Instant departure(dataplane::PortNo port) const;
  dataplane::PortNo first_port() const;
  void depart(dataplane::PortNo port, dataplane::Instant now) noexcept;
  void depart_beside(dataplane::PortNo port, HostPort& out, dataplane::Instant now) noexcept;
  void send_pause(dataplane::PortNo port, HostPort& out, dataplane::Instant now) noexcept;
  void send_segment(dataplane::PortNo port, HostPort& out, dataplane::Instant now) noexcept;
  void receive(dataplane::Packet packet) noexcept;
  void receive_roce(dataplane::Packet packet) noexcept;
  void respond(dataplane::Packet packet, const RoceFrame& frame) noexcept;
  void receive_pause(dataplane::Packet packet) noexcept;
  void answer(dataplane::Packet packet) noexcept;
  void queue_answer(dataplane::Packet packet) noexcept;
  void drop(dataplane::Packet packet, dataplane::DropReason reason) noexcept;
  bool is_for_us(const uint8_t* frame) const;
  uint8_t priority_of(const dataplane::Packet& packet) const;

  HostConfig config_;
  dataplane::PacketPool& pool_;
  Responder responder_;
  QpTable queue_pairs_;
  std::vector<Flow> flows_;
  std::vector<FrameTemplate> templates_;
  std::vector<ReceiveQueue> sinks_;
  std::vector<HostPort> ports_;
  HostCounters counters_;
};

}  // namespace softspine::testbeds
