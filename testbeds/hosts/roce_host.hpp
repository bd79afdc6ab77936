// SPDX-License-Identifier: Apache-2.0
// A built-in host: RoCEv2 queue pairs behind one port, or two. No kernel, no payload in memory. It joins these
// parts, none of which knows it:
//
//   ports   flow control, what waits to be sent, the buffer of a slow receiver     host_port.hpp
//   flows   the sending half of the queue pairs: what may be sent, and when        host_flows.hpp
//   sinks   the receiving half: PSNs, latencies, acknowledgements and CNPs         host_sinks.hpp
//   answers to ARP, neighbour solicitations and echo requests                      responder.hpp
//
// Sending. A port sends one thing at a time, the first of: a PFC or credit frame that is due; a control packet (an
// answer, an acknowledgement, a CNP); a packet of the flow whose turn it is. Flows take turns, a packet each, as in a
// NIC. start = max(port free, earliest eligible, the event that the host handles).
//
// Pausing. A PFC or PAUSE frame stops the priorities that it names at the port where it arrived (pause_state.hpp):
// flows and control packets of those priorities wait, PFC frames do not. On a link that goes by credit the priorities
// wait that have none (credit_link.hpp), and pauses say nothing there.
//
// Receiving. A RoCEv2 packet is checked whole, ICRC included (roce_reader.hpp), and goes to its queue pair's sink, or
// as a response to its flow. A packet for the host itself is answered by it. Everything else ends here with a reason.
//
// A host in a VLAN puts its tag on what leaves and takes it off what comes in; a frame without it, or with another,
// ends as kVlanNotAllowed (host_tag.hpp).
//
// Failing on purpose. A port may be told to be a slow receiver, to pause its peer for as long as it likes (a storm), or
// to be deaf to pauses.
//
// Two ports are a bond (host_bond.hpp). Once it no longer uses a port, since it has seen that the link is down or LACP
// has lost the switch, the port's flows, and the control packets that wait there, take the other port, whose flow
// control alone holds them from then on; answers to what comes in by the port left leave by the other, too. When the
// port is used again its flows go back. Until then, and with one port, what would leave by a link that is down waits.
// With an active backup all answers leave by the active port; what comes in by the other is taken.
//
// While the pool is empty flows wait, too: nothing is lost.
// At one instant timers come first, then departures, then arrivals.
//
// Maximum: 1024 control packets of a priority wait at a port, further answers are dropped (kQueueFull).
// Flows and sinks are added before the first window or from a control action, followed by Engine::wake(); so is
// everything that makes it fail.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "dataplane/link/node.hpp"
#include "dataplane/packet/pool.hpp"
#include "testbeds/hosts/counters.hpp"
#include "testbeds/hosts/frame_template.hpp"
#include "testbeds/hosts/host_bond.hpp"
#include "testbeds/hosts/host_config.hpp"
#include "testbeds/hosts/host_flows.hpp"
#include "testbeds/hosts/host_port.hpp"
#include "testbeds/hosts/host_sinks.hpp"
#include "testbeds/hosts/host_work.hpp"
#include "testbeds/hosts/qp_table.hpp"
#include "testbeds/hosts/responder.hpp"

namespace softspine::testbeds {

// What a host asks of its pool: the room of its packets.
inline constexpr uint32_t kHostPacketBytes = kTemplateBytes;

class RoceHost final : public dataplane::Node {
 public:
  // `config` passes validate(); `pool` outlives the host and has room for kHostPacketBytes.
  RoceHost(const HostConfig& config, dataplane::PacketPool& pool);

  // The flow passes validate(); its source QP has no flow yet; a reliable one's port has its link. Returns its
  // index here.
  uint32_t add_flow(const FlowConfig& flow);
  // The sink passes validate(); the QP has no sink yet.
  uint32_t add_sink(const SinkConfig& sink);

  // One more message for a flow that has a queue_depth: from a control action, followed by Engine::wake(), or from
  // WorkEvents. False if its queue is full, or its connection has failed.
  bool post(uint32_t flow, uint64_t bytes, uint64_t tag, dataplane::Instant now) noexcept {
    if (flow < flows_.count()) return flows_.post(flow, bytes, tag, now, ports_);
    work_.post(flow, bytes, tag, now);
    return true;
  }
  // Null without scale_up_ports.
  ScaleUpPort* scale_up() const { return work_.scale_up(); }
  // One more who is told of messages that are whole, and of those that were posted and are complete. Between windows.
  void listen(WorkEvents& listener) {
    flows_.listen(&work_);
    sinks_.listen(&work_);
    work_.add(listener);
  }
  // The listener is woken at that instant, once, and no longer at one asked for before; never(): not at all. From
  // WorkEvents, before the first window, or from a control action, followed by Engine::wake().
  void wake_at(const WorkEvents& listener, dataplane::Instant at) noexcept { work_.wake_at(listener, at); }

  // Before the first window: the port of a bond runs LACP. `partner`: both have agreed before.
  void run_lacp(dataplane::PortNo port, const dataplane::LacpConfig& config, const dataplane::LacpEnd& partner) {
    bond_.run_lacp(port, config, partner);
    find_due();
  }

  // Packets of its priorities wait in a buffer at that port; without a value they do no longer.
  void set_slow_receiver(dataplane::PortNo port, const std::optional<SlowReceiver>& slow, dataplane::Instant now);
  // Pauses these priorities at the peer without end; 0 falls silent, and the peer goes on when its time runs out.
  void set_storm(dataplane::PortNo port, uint8_t priorities, dataplane::Instant now);
  // From now on pauses of these priorities are counted and not obeyed; 0: the next ones are obeyed again.
  void set_deaf(dataplane::PortNo port, uint8_t priorities, dataplane::Instant now) {
    ports_[port.value()].make_deaf(priorities, now);
  }

  // Between windows. Null: no loss is recorded any more. `node`: what the records name.
  void record_losses(dataplane::LossBuffer* losses, uint32_t node) {
    losses_ = losses;
    node_in_losses_ = node;
  }

  dataplane::Instant run(dataplane::Instant until) noexcept override;
  void link_changed(dataplane::PortNo port, bool up, dataplane::Instant now) noexcept override;
  void drain() noexcept override;

  const HostConfig& config() const { return config_; }
  const HostCounters& counters() const { return counters_; }
  uint64_t rx_packets(dataplane::PortNo port) const { return ports_[port.value()].rx_packets; }
  // Between windows; looks at every packet that waits in a receive buffer. see(glance)
  template <typename See>
  void see_buffered(See&& see) const {
    for (const HostPort& port : ports_) port.buffer.for_each(see);
  }
  uint32_t flow_count() const { return flows_.count(); }
  uint32_t sink_count() const { return sinks_.count(); }
  const FlowSent& sent(uint32_t flow) const { return flows_.sent(flow); }
  dataplane::PortNo port_of(uint32_t flow) const { return flows_.port(flow); }  // by which it leaves now
  // The bond has not seen yet that the port's link is down: what waits there will leave by another one.
  bool will_leave(dataplane::PortNo port) const { return bond_.will_leave(port); }
  const FlowReceived& received(uint32_t sink) const { return sinks_.received(sink); }
  const HostSinks& sinks() const { return sinks_; }
  HostSinks& sinks() { return sinks_; }
  const ReliableSender* sender(uint32_t flow) const { return flows_.sender(flow); }  // none for an open loop
  const ReceiveBuffer& receive_buffer(dataplane::PortNo port) const { return ports_[port.value()].buffer; }
  const dataplane::PortFlowControl& flow_control(dataplane::PortNo port) const {
    return ports_[port.value()].flow_control;
  }

 private:
  // After a flow or sink was added.
  void update_read_by_run();
  // The earliest thing that a port can do; never() if there is none.
  dataplane::Instant departure(dataplane::PortNo port) const;
  dataplane::PortNo first_port() const;
  void depart(dataplane::PortNo port, dataplane::Instant now) noexcept;
  void act(dataplane::Instant now) noexcept;
  void act_on_bond(dataplane::Instant now) noexcept;
  void find_due() noexcept;
  void depart_beside(HostPort& out, dataplane::Instant now) noexcept;

  void receive(dataplane::Packet packet) noexcept;
  void receive_by_credit(dataplane::Packet packet, uint32_t wire_bytes, bool is_of_vlan) noexcept;
  void plan_flow_control(dataplane::PortNo port, dataplane::Instant now) noexcept;
  bool buffer(dataplane::Packet& packet) noexcept;
  void take_from_buffer(HostPort& port, dataplane::Instant now) noexcept;
  void drain_buffers(dataplane::Instant now) noexcept;
  HostPort& answers_to(dataplane::PortNo in) { return ports_[ports_.size() > 1 ? bond_.answers_by(in.value()) : 0]; }
  void process(dataplane::Packet packet) noexcept;
  void receive_roce(dataplane::Packet packet) noexcept;
  void respond(dataplane::Packet packet, const RoceFrame& frame) noexcept;
  void answer(dataplane::Packet packet) noexcept;
  void queue_answer(dataplane::Packet packet) noexcept;
  void drop(dataplane::Packet packet, dataplane::DropReason reason) noexcept;
  uint8_t priority_of(const dataplane::Packet& packet) const { return config_.priority_of_dscp[dscp_of(packet)]; }

  // What packets touch: two cache lines to the counters of rarer events, two of flows_, two of sinks_.
  alignas(dataplane::kCacheLine) std::vector<HostPort> ports_;
  // Of receive buffers, delayed CNPs, the bond's changes, and work.
  dataplane::Instant due_ = dataplane::Instant::never();
  QpTable queue_pairs_;
  bool is_slow_ = false;  // or was: a port's buffer may take packets
  bool has_credit_ = false;
  uint16_t vlan_;  // 0: frames have no tag
  Responder responder_;
  HostCounters counters_;
  HostConfig config_;
  HostFlows flows_;
  HostSinks sinks_;
  dataplane::PacketPool& pool_;
  HostBond bond_;
  dataplane::LossBuffer* losses_ = nullptr;
  uint32_t node_in_losses_ = 0;
  HostWork work_{due_};
};

}  // namespace softspine::testbeds
