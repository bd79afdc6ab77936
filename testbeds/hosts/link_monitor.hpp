// SPDX-License-Identifier: Apache-2.0
// What a bond knows of its links: it looks at their carrier at every multiple of miimon, not when they change.
//
//   seen     the first multiple of miimon at or after the change, if the link is then still as it is now
//   in use   from seen + updelay on            left: from seen + downdelay on     each rounded down to looks
//
// A link that changes and changes back before the bond has acted changes nothing; a delay begins anew with each change.
// With miimon 0 nobody looks, and the ports stay in use for ever. A host with one port has no bond: likewise.
// Nothing runs between the changes: next() is never() as long as all links are as the bond knows them.
// Source: Linux's bonding driver, bond_miimon_inspect and Documentation/networking/bonding.rst.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "control/model/bond.hpp"
#include "dataplane/units/ids.hpp"
#include "dataplane/units/time.hpp"

namespace softspine::testbeds {

class LinkMonitor {
 public:
  LinkMonitor(const control::Bond& bond, uint16_t ports)
      : bond_(bond), usable_(static_cast<uint8_t>((1U << ports) - 1)), looks_(ports > 1 && bond.miimon.count_ps() > 0) {
    changes_.fill(dataplane::Instant::never());
  }

  // The carrier came or went.
  void link_changed(dataplane::PortNo port, bool up, dataplane::Instant now) noexcept {
    if (!looks_) return;
    const bool is_known = ((usable_ >> port.value() & 1) != 0) == up;
    changes_[port.value()] = is_known ? dataplane::Instant::never() : change_at(up, now);
  }
  // When the bond will act; never() while it has no reason to.
  dataplane::Instant next() const { return std::min(changes_[0], changes_[1]); }
  void advance(dataplane::Instant now) noexcept {
    for (unsigned p = 0; p < changes_.size(); ++p) {
      if (changes_[p] > now) continue;
      changes_[p] = dataplane::Instant::never();
      usable_ = static_cast<uint8_t>(usable_ ^ 1U << p);
    }
  }
  // Of a link that went down: the bond has not left the port yet, and will.
  bool will_leave(dataplane::PortNo port) const {
    return (usable_ >> port.value() & 1) != 0 && !changes_[port.value()].is_never();
  }
  // Bit n: the bond uses port n.
  uint8_t usable() const { return usable_; }

 private:
  dataplane::Instant change_at(bool up, dataplane::Instant now) const {
    const int64_t every = bond_.miimon.count_ps();
    const int64_t looks =
        (now.count_ps() + every - 1) / every + (up ? bond_.updelay : bond_.downdelay).count_ps() / every;
    return dataplane::Instant::at_ps(looks * every);
  }

  control::Bond bond_;
  std::array<dataplane::Instant, 2> changes_;
  uint8_t usable_;
  bool looks_;
};

}  // namespace softspine::testbeds
