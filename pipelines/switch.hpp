// SPDX-License-Identifier: Apache-2.0
// Shared by tor, aggregation and core: a packet's way from a link to a queue.
//
//   inbox → burst → [the role's stages] → in the order of arrival: departures due by then, then
//           forward → egress queue   flood → copies   local → answers   drop → counted, freed
//
// The stages look at a whole burst at once (they decide by tables only); what depends on the moment
// (queues, answers) happens packet by packet, each at the instant of its arrival. So that what came together in a burst
// decides nothing, a burst goes through the stages in parts wherever the end of a packet changes the tables: a part
// ends with a packet from which the switch may learn (stages.hpp), and before LACP is due; where what is learned ages,
// each packet is a part.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "dataplane/egress/egress.hpp"
#include "dataplane/egress/port_counters.hpp"
#include "dataplane/forwarding/stages.hpp"
#include "dataplane/forwarding/usual_pass.hpp"
#include "dataplane/lacp/lacp_ports.hpp"
#include "dataplane/link/node.hpp"
#include "dataplane/local/local_agent.hpp"
#include "dataplane/packet/parse.hpp"

namespace softspine::pipelines {

class Switch : public dataplane::Node {
 public:
  // `pool`: for packets that the switch makes itself and for flooded copies; outlives the switch.
  Switch(std::string name, uint32_t ports, dataplane::PacketPool& pool);

  // Between windows. Learned tables, queues and counters stay; from `now` on the new state's plan applies to waiting
  // packets, too.
  void publish(std::shared_ptr<const dataplane::ForwardingState> state, dataplane::Instant now = {});
  const dataplane::SwitchTables& tables() const { return tables_; }

  // Between windows: the counters so far.
  const std::vector<dataplane::PortCounters>& counters() const { return counters_; }
  std::vector<dataplane::PortCounters>& counters() { return counters_; }
  // Sets the tap of frames that come in at a port; null: none. (Frames that go out are tapped at the transmitter.)
  void set_receive_tap(dataplane::PortNo port, dataplane::Tap* tap);

  const dataplane::Egress& egress() const { return egress_; }
  dataplane::Egress& egress() { return egress_; }

  // Before the first window: the port runs LACP. Frames of the slow protocols end at the switch either way.
  // `partner`: LACP has agreed with it before.
  void run_lacp(dataplane::PortNo port, const dataplane::LacpConfig& config,
                const std::optional<dataplane::LacpEnd>& partner = std::nullopt) {
    lacp_.add(port, config, {}, partner);
  }
  const dataplane::LacpPorts& lacp() const { return lacp_; }

  void link_changed(dataplane::PortNo port, bool up, dataplane::Instant now) noexcept override;
  void drain() noexcept override;
  bool puts_off() const noexcept override { return true; }
  dataplane::Instant first_put_off() const noexcept override { return egress_.first_put_off(); }
  void complete_before(dataplane::Instant now) noexcept override { egress_.complete_before(now); }

 protected:
  // The loop; `forward` is the role's stages over a burst, inlined. Usual packets at a burst's front go through them in
  // one pass (usual_pass.hpp).
  template <dataplane::PassPorts P, typename Forward>
  dataplane::Instant run_with(dataplane::Instant until, Forward&& forward) noexcept {
    for (;;) {
      const dataplane::Instant due = lacp_.next_due();
      inbox().take(std::min(until, due), burst_);
      if (burst_.empty()) {
        if (due >= until) break;
        act_on_lacp(due);
        continue;
      }
      receive(burst_);
      if (tables_.state->ages) [[unlikely]]
        burst_.put_off_from(1);
      for (;;) {
        if (is_usual_) [[likely]]
          burst_.begin_at(dataplane::forward_usual<P>(tables_, burst_));
        if (burst_.needs_stages()) [[unlikely]]
          forward(burst_);
        burst_.begin_at(0);
        dispatch(burst_);
        if (!burst_.has_put_off()) [[likely]]
          break;
        begin_next_part();
      }
      burst_.clear();
    }
    egress_.act_before(until);
    return std::min(std::min(inbox().next(), egress_.next()), lacp_.next_due());
  }

 private:
  void receive(dataplane::Burst& burst) noexcept;
  void dispatch(dataplane::Burst& burst) noexcept;
  void begin_next_part() noexcept;
  void prefetch_ways_out(dataplane::Burst& burst) const noexcept;
  void dispatch_one(dataplane::Packet& packet) noexcept;
  void dispatch_counted(dataplane::Burst& burst) noexcept;
  void end_here(dataplane::Packet packet, dataplane::Instant now) noexcept;
  void receive_pause(dataplane::Packet packet, dataplane::Instant now) noexcept;
  void forward_one(dataplane::Packet packet, dataplane::Instant now) noexcept;
  void choose_queue(dataplane::Packet& packet) noexcept;
  void flood(dataplane::Packet packet, dataplane::Instant now) noexcept;
  bool flood_to(uint16_t port, const dataplane::Packet& packet, dataplane::Instant now) noexcept;
  void remember_hosts(dataplane::PortNo port, dataplane::Instant now) noexcept;
  bool takes_lacp(const dataplane::Packet& packet, dataplane::Instant now) noexcept;
  void end_lacp(dataplane::Packet packet, dataplane::Instant now) noexcept;
  void act_on_lacp(dataplane::Instant now) noexcept;
  void send_lacp(dataplane::PortNo port, const dataplane::Lacpdu& pdu, dataplane::Instant now) noexcept;
  void answer(dataplane::LocalAgent::Outcomes& outcomes, dataplane::Instant now) noexcept;
  void end(dataplane::Packet packet, dataplane::DropReason reason, dataplane::Instant now) noexcept;
  // Which port's counters a packet belongs to: the one it came in by, or would have left by if we made it.
  dataplane::PortCounters& home_of(const dataplane::PacketMeta& meta) noexcept;

  // Two cache lines, to the tables' state, are what a short burst touches of these.
  alignas(dataplane::kCacheLine) std::vector<dataplane::Tap*> receive_taps_;  // empty unless someone watches
  bool is_usual_ = false;                                                     // is_usual_switch() of the state
  dataplane::Burst burst_;  // empty between runs; here because clearing a fresh one costs as much as a packet
  alignas(dataplane::kCacheLine) std::vector<dataplane::PortCounters> counters_;
  dataplane::LacpPorts lacp_;

 protected:
  dataplane::SwitchTables tables_;

 private:
  dataplane::Egress egress_;
  dataplane::PacketPool& pool_;
  dataplane::LocalAgent agent_;
};

}  // namespace softspine::pipelines
