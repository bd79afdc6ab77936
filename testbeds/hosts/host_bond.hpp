// SPDX-License-Identifier: Apache-2.0
// A host's two ports as its bond has them (control/model/bond.hpp); a host with one port has it, too, and always uses
// it.
//
//   usable     the bond uses the port: its link is there, as far as the bond has seen (link_monitor.hpp), and LACP,
//              where it runs, has agreed on it with the switch (dataplane/lacp/lacp_port.hpp)
//   closed     where LACP runs, nothing but LACPDUs leaves by a port that the bond does not use (host_port.hpp): what
//              has no other port waits
//   answers    leave by the port where the question came in; by the other one if only that is usable. With an active
//              backup they leave by the active port
//
// LACP learns of its links from the monitor, not from the links: so does Linux's.
// The caller makes the calls in the order of time, advance() at next() at the latest.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>

#include "control/model/bond.hpp"
#include "dataplane/lacp/lacp_ports.hpp"
#include "testbeds/hosts/link_monitor.hpp"

namespace softspine::testbeds {

class HostBond {
 public:
  HostBond(const control::Bond& bond, uint16_t ports)
      : monitor_(bond, ports),
        ports_(ports),
        has_backup_(bond.mode == control::BondMode::kActiveBackup),
        usable_(monitor_.usable()) {
    choose_answering_ports();
  }

  // Before the first window: the port runs LACP, and both ends have agreed before.
  void run_lacp(dataplane::PortNo port, const dataplane::LacpConfig& config, const dataplane::LacpEnd& partner) {
    lacp_.add(port, config, {}, partner);
  }

  bool runs_lacp() const { return !lacp_.empty(); }
  void link_changed(dataplane::PortNo port, bool up, dataplane::Instant now) noexcept {
    monitor_.link_changed(port, up, now);
  }
  // A frame of any kind. False: it is no LACPDU, or LACP does not run there. Else advance() follows.
  bool takes(dataplane::PortNo port, std::span<const uint8_t> frame, dataplane::Instant now) noexcept {
    namespace ethernet = dataplane::ethernet;
    if (lacp_.empty() || frame.size() < ethernet::kBytes) return false;
    if (dataplane::load16(frame.data() + ethernet::kType) != dataplane::kTypeSlowProtocols) return false;
    return lacp_.receive(port, frame, now);
  }
  dataplane::Instant next() const { return std::min(monitor_.next(), lacp_.next_due()); }
  // `send(PortNo, const Lacpdu&)` sends.
  template <typename Send>
  void advance(dataplane::Instant now, Send&& send) noexcept {
    monitor_.advance(now);
    if (!lacp_.empty()) {
      for (uint16_t p = 0; p < ports_; ++p)
        lacp_.set_link(dataplane::PortNo{p}, (monitor_.usable() >> p & 1) != 0, now);
      lacp_.act(now, send);
    }
    usable_ = static_cast<uint8_t>(monitor_.usable() & agreed());
    choose_answering_ports();
  }

  // Its link is down, which the bond has not seen yet.
  bool will_leave(dataplane::PortNo port) const { return monitor_.will_leave(port); }
  // Bit n: the bond uses port n.
  uint8_t usable() const { return usable_; }
  // By which answers to what comes in by `port` leave.
  uint8_t answers_by(uint16_t port) const { return answers_by_[port]; }

 private:
  uint8_t agreed() const {
    if (lacp_.empty()) return 0xff;
    uint8_t out = 0;
    for (uint16_t p = 0; p < ports_; ++p) {
      const dataplane::LacpPort* machine = lacp_.find(dataplane::PortNo{p});
      if (machine != nullptr && machine->is_distributing()) out = static_cast<uint8_t>(out | 1U << p);
    }
    return out;
  }
  void choose_answering_ports() noexcept {
    for (uint8_t p = 0; p < ports_; ++p) {
      const uint8_t wanted = has_backup_ ? uint8_t{0} : p;
      const auto other = static_cast<uint8_t>(1 - wanted);
      const bool takes_other = ports_ > 1 && (usable_ >> wanted & 1) == 0 && (usable_ >> other & 1) != 0;
      answers_by_[p] = takes_other ? other : wanted;
    }
  }

  LinkMonitor monitor_;
  dataplane::LacpPorts lacp_;
  uint16_t ports_;
  bool has_backup_;
  uint8_t usable_;
  std::array<uint8_t, 2> answers_by_{0, 1};  // by port of arrival
};

}  // namespace softspine::testbeds
