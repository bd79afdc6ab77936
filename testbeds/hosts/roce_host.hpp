// SPDX-License-Identifier: Apache-2.0
// A built-in host: RoCEv2 queue pairs behind one port, or two. No kernel, no payload in memory.
//
// Sending. A port takes the queue pairs that may send in turns, a packet each, as a NIC does:
//   start = max(port free, earliest eligible)
// PFC frames go first, then what is beside the data (control_queue.hpp), then data.
// What a queue pair may send, and when, its transport says (open_loop.hpp, reliable_sender.hpp).
//
// Pausing. A PFC or PAUSE frame stops the priorities that it names at the port where it arrived, as
// pause_state.hpp says: queue pairs and control packets of that priority wait. PFC frames of ours do not.
//
// On a link that goes by credit the priorities wait that have none (credit_link.hpp), and pauses say nothing there.
//
// Receiving. A RoCEv2 packet is checked whole, ICRC included, and goes to its queue pair's sink
// (receive_queue.hpp), which may answer with an acknowledgement or a CNP (response_template.hpp); what comes back
// goes to the sender (handle_response()). The host answers for itself (responder.hpp). Everything else ends here with a
// reason. At one instant timers come first, then departures, then arrivals.
//
// Failing on purpose. A port may be told to be a slow receiver (receive_buffer.hpp), which pauses its peer when its
// buffer fills, to pause its peer for as long as it likes (a storm), or to be deaf to pauses.
//
// While a port's link is down its queue pairs wait. While the pool is empty they wait, too: nothing is lost.
//
// Maximum: 1024 answers of a priority wait at a port, further ones are dropped (kQueueFull).
// Flows and sinks are added before the first window or from a control action, followed by Engine::wake(); so is
// everything that makes it fail.
#pragma once

#include <cstdint>
#include <vector>

#include "dataplane/link/node.hpp"
#include "dataplane/packet/pool.hpp"
#include "testbeds/hosts/answering.hpp"
#include "testbeds/hosts/counters.hpp"
#include "testbeds/hosts/frame_template.hpp"
#include "testbeds/hosts/host_config.hpp"
#include "testbeds/hosts/host_port.hpp"
#include "testbeds/hosts/open_loop.hpp"
#include "testbeds/hosts/qp_table.hpp"
#include "testbeds/hosts/receive_queue.hpp"
#include "testbeds/hosts/reliable_sender.hpp"
#include "testbeds/hosts/responder.hpp"

namespace softspine::testbeds {

// What a host asks of its pool: the room of its packets.
inline constexpr uint32_t kHostPacketBytes = kTemplateBytes;

class RoceHost final : public dataplane::Node {
 public:
  // `config` passes wrong_with(); `pool` outlives the host and has room for kHostPacketBytes.
  RoceHost(const HostConfig& config, dataplane::PacketPool& pool);

  // The flow passes wrong_with(); its source QP has no flow yet; a reliable one's port has its link. Returns its
  // index here.
  uint32_t add_flow(const FlowConfig& flow);
  // The sink passes wrong_with(); the QP has no sink yet.
  uint32_t add_sink(const SinkConfig& sink);

  // Packets of its priorities wait in a buffer at that port; without a value they do no longer.
  void set_slow_receiver(dataplane::PortNo port, const std::optional<SlowReceiver>& slow, dataplane::Instant now);
  // Pauses these priorities at the peer without end; 0 falls silent, and the peer goes on when its time runs out.
  void set_storm(dataplane::PortNo port, uint8_t priorities, dataplane::Instant now);

  // From now on pauses of these priorities are counted and not obeyed; 0: the next ones are obeyed again.
  void set_deaf(dataplane::PortNo port, uint8_t priorities, dataplane::Instant now);

  dataplane::Instant run(dataplane::Instant until) noexcept override;
  void link_changed(dataplane::PortNo port, bool up, dataplane::Instant now) noexcept override;
  void drain() noexcept override;

  const HostConfig& config() const { return config_; }
  const HostCounters& counters() const { return counters_; }
  uint64_t rx_packets(dataplane::PortNo port) const { return ports_[port.value()].rx_packets; }
  // Of packets delivered, by group, in the order in which the groups' first sinks were added; and of all together.
  const std::vector<LatencyGroup>& latencies() const { return latencies_; }
  dataplane::Histogram latency() const;
  // Between windows; looks at every packet that waits in a receive buffer. see(flow)
  template <typename See>
  void see_buffered(See&& see) const {
    for (const HostPort& port : ports_) port.buffer.for_each(see);
  }
  uint32_t flow_count() const { return static_cast<uint32_t>(flows_.size()); }
  uint32_t sink_count() const { return static_cast<uint32_t>(sinks_.size()); }
  const FlowSent& sent(uint32_t flow) const { return flows_[flow].counters; }
  const FlowReceived& received(uint32_t sink) const { return sinks_[sink].counters(); }
  // None for an open loop.
  const ReliableSender* sender(uint32_t flow) const {
    return flows_[flow].sender == QpTable::kNone ? nullptr : &senders_[flows_[flow].sender];
  }
  const ReceiveBuffer& receive_buffer(dataplane::PortNo port) const { return ports_[port.value()].buffer; }
  const dataplane::PortFlowControl& flow_control(dataplane::PortNo port) const {
    return ports_[port.value()].flow_control;
  }

 private:
  struct Flow {
    OpenLoop transport;
    uint32_t first_template;
    uint32_t sender;  // of senders_, if it is reliable
    dataplane::PortNo port;
    uint8_t priority_bit;
    FlowSent counters;
  };

  // The earliest thing that a port can do; never() if there is none.
  dataplane::Instant departure(dataplane::PortNo port) const;
  dataplane::PortNo first_port() const;
  void depart(dataplane::PortNo port, dataplane::Instant now) noexcept;
  void depart_beside(dataplane::PortNo port, HostPort& out, dataplane::Instant now) noexcept;
  void send_own_frame(dataplane::PortNo port, HostPort& out, dataplane::Instant now) noexcept;
  void charge(HostPort& out, const Flow& flow, uint32_t frame_bytes, dataplane::Instant now) noexcept;
  void send_segment(HostPort& out, dataplane::Instant now) noexcept;
  void send_reliable(HostPort& out, uint32_t index, dataplane::Instant now) noexcept;
  bool transmit(HostPort& out, Flow& flow, const FrameTemplate& frame, uint32_t psn, bool asks,
                dataplane::Instant now) noexcept;
  void expire(dataplane::Instant now) noexcept;
  void arm(uint32_t sender) noexcept;
  void revive(ReliableSender& sender, dataplane::Instant now) noexcept;

  void receive(dataplane::Packet packet) noexcept;
  uint32_t group_number(uint32_t group);
  void receive_by_credit(dataplane::Packet packet) noexcept;
  void receive_credit(dataplane::Packet packet, const dataplane::CreditFrame& frame) noexcept;
  void plan_flow_control(dataplane::PortNo port, dataplane::Instant now) noexcept;
  bool buffer(dataplane::Packet& packet) noexcept;
  void take_from_buffer(HostPort& port, dataplane::Instant now) noexcept;
  void drain_buffers(dataplane::Instant now) noexcept;
  void adjust_pause(HostPort& port, dataplane::Instant now) noexcept;
  void process(dataplane::Packet packet) noexcept;
  void receive_roce(dataplane::Packet packet) noexcept;
  dataplane::Duration receive_and_answer(const dataplane::Packet& packet, const RoceFrame& frame,
                                         const QpTable::Entry& entry) noexcept;
  dataplane::Packet make_response(HostPort& port, uint8_t priority) noexcept;
  void queue_response(HostPort& port, uint8_t priority, dataplane::Packet packet, uint32_t bytes,
                      dataplane::Instant now) noexcept;
  void respond(dataplane::Packet packet, const RoceFrame& frame) noexcept;
  void handle_response(ReliableSender& sender, const RoceFrame& frame, dataplane::Instant now) noexcept;
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
  std::vector<ReliableSender> senders_;
  dataplane::TimedHeap timers_;  // of senders, each at its deadline or before
  dataplane::Instant buffer_due_ = dataplane::Instant::never();
  bool is_slow_ = false;  // or was: a port's buffer may take packets
  bool has_credit_ = false;
  std::vector<ReceiveQueue> sinks_;
  std::vector<LatencyGroup> latencies_;
  std::vector<Answering> answering_;
  std::vector<HostPort> ports_;
  HostCounters counters_;
};

}  // namespace softspine::testbeds
