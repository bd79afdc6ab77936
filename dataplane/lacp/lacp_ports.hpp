// SPDX-License-Identifier: Apache-2.0
// LACP of a switch: the ports that run it. A node calls act() at next_due(), in its own schedule, and after each frame
// that it hands in. The number of ports is fixed at the start; afterwards nothing is allocated.
#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <vector>

#include "dataplane/lacp/lacp_port.hpp"
#include "dataplane/units/ids.hpp"

namespace softspine::dataplane {

class LacpPorts {
 public:
  // At the start: the port runs LACP from `now` on, its link being up. With `partner` both ends have agreed already.
  void add(PortNo port, const LacpConfig& config, Instant now, const std::optional<LacpEnd>& partner = std::nullopt) {
    ports_.push_back({port, LacpPort{config}});
    LacpPort& machine = ports_.back().machine;
    partner ? machine.begin_agreed(*partner, now) : machine.set_link(true, now);
    next_due_ = std::min(next_due_, now);
  }
  bool empty() const { return ports_.empty(); }
  const LacpPort* find(PortNo port) const noexcept {
    const auto found = std::ranges::find(ports_, port, &Entry::port);
    return found == ports_.end() ? nullptr : &found->machine;
  }

  void set_link(PortNo port, bool up, Instant now) noexcept {
    if (LacpPort* machine = of(port)) machine->set_link(up, now);
    note_next(now);
  }
  // A frame of the slow protocols. False: the port does not run LACP, or the frame is no LACPDU.
  bool receive(PortNo port, std::span<const uint8_t> frame, Instant now) noexcept {
    LacpPort* const machine = of(port);
    if (machine == nullptr) return false;
    const auto pdu = read_lacpdu(frame);
    pdu ? machine->receive(*pdu, now) : machine->receive_faulty();
    note_next(now);
    return pdu.has_value();
  }

  Instant next_due() const { return next_due_; }
  // Handles what is due; `send(PortNo, const Lacpdu&)` sends.
  template <typename Send>
  void act(Instant now, Send&& send) noexcept {
    for (Entry& each : ports_) {
      if (each.machine.next_due() > now) continue;
      each.machine.advance(now);
      if (each.machine.wants_to_send(now)) send(each.port, each.machine.take_pdu(now));
    }
    note_next(now);
  }

 private:
  struct Entry {
    PortNo port;
    LacpPort machine;
  };
  LacpPort* of(PortNo port) noexcept {
    const auto found = std::ranges::find(ports_, port, &Entry::port);
    return found == ports_.end() ? nullptr : &found->machine;
  }
  void note_next(Instant now) noexcept {
    next_due_ = Instant::never();
    for (const Entry& each : ports_) next_due_ = std::min(next_due_, each.machine.next_due());
    next_due_ = std::max(next_due_, now);
  }

  std::vector<Entry> ports_;
  Instant next_due_ = Instant::never();
};

}  // namespace softspine::dataplane
