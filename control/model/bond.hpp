// SPDX-License-Identifier: Apache-2.0
// How a host with two ports uses them, and what becomes of its traffic when a link of one of them fails.
//
//   mode               lacp, balance-xor: both ports carry traffic, each queue pair's packets leave by one of them;
//                      active-backup: all leave by eth0, and by eth1 only while eth0 is out of use
//   lacp_rate          LACP: the host asks its switches for a LACPDU every 30 s (slow) or every second (fast), and
//                      times out after three periods. None: no LACPDUs; both ends count as agreed all the time
//   fast_rate          LACP: what its switches ask the host for, as SONiC's PORTCHANNEL has it: a LACPDU every second,
//                      or every 30 s
//   retry_count        LACP: how many such periods of silence its switches wait until they give the host up
//   xmit_hash_policy   which queue pair leaves by which port: testbeds/hosts/bond_hash.hpp
//   miimon             the host looks at the carrier of its links at every multiple of this; zero: never
//   downdelay, updelay how long the carrier must have been away, or back, before the port leaves the bond or joins it
//                      again; a multiple of miimon, rounded down, as Linux has it
//   remote_failover    how others reach the host while one of its ports has no link
//   path_change_after  timeouts in a row after which a reliable connection's sender takes the other port
// The keys and their meanings are those of Linux's bonding driver, where it has them.
#pragma once

#include <cstdint>
#include <optional>

#include "dataplane/units/time.hpp"

namespace softspine::control {

enum class BondMode : uint8_t { kLacp, kActiveBackup, kBalanceXor };

enum class LacpRate : uint8_t { kSlow, kFast };

enum class XmitHashPolicy : uint8_t { kQp, kLayer2, kLayer23, kLayer34 };

// Two means, each alone or together. The host route of a host that has lost a port: its other ToRs are announced as the
// only way to it. A path change: the sender of a reliable connection that times out takes its other port.
enum class RemoteFailover : uint8_t { kNone, kRoute, kTransport, kBoth };

struct Bond {
  BondMode mode = BondMode::kLacp;
  std::optional<LacpRate> lacp_rate;
  bool fast_rate = true;
  uint8_t retry_count = 3;
  XmitHashPolicy xmit_hash_policy = XmitHashPolicy::kQp;
  dataplane::Duration miimon = dataplane::Duration::ms(100);
  dataplane::Duration downdelay;
  dataplane::Duration updelay;
  RemoteFailover remote_failover = RemoteFailover::kBoth;
  uint8_t path_change_after = 2;

  bool is_routed_around() const {
    return remote_failover == RemoteFailover::kRoute || remote_failover == RemoteFailover::kBoth;
  }
  bool changes_paths() const {
    return remote_failover == RemoteFailover::kTransport || remote_failover == RemoteFailover::kBoth;
  }
};

}  // namespace softspine::control
