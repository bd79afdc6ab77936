// SPDX-License-Identifier: Apache-2.0
// Which fault a lost packet is lost by: the latest one that explains it. A fault explains losses from the instant at
// which it strikes until all is as before.
//
// Which losses a kind of fault explains stands in its row (control/model/fault_kinds.hpp). Pauses that die with other
// frames are missed until they are said again (0xFFFF quanta at most).
//
// No way on: a link of the destination host at that switch is a fault's; else the latest of the faults of links without
// which (and without those that struck after it) the switch would have a route to the destination host; else, if it has
// one now, the latest that routes have not followed yet, or the latest whose end they have not followed.
// Nothing else is explained: a queue that overflows with what a failed link's neighbours have to carry is congestion.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "control/model/testbed.hpp"
#include "dataplane/packet/loss_buffer.hpp"
#include "testbeds/run/run_flows.hpp"

namespace softspine::testbeds {

// The packets that a fault takes away.
struct FaultScope {
  control::FaultKind kind = control::FaultKind::kClear;
  std::vector<uint32_t> links = {};          // ascending: links down; those that routes leave
  std::vector<control::LinkEnd> ports = {};  // ascending: that send the frames that die; deaf, disabled; the host's

  const control::LossScope& losses() const { return control::row_of(kind).losses; }
};

class LossCauses {
 public:
  // Both outlive this.
  LossCauses(const control::Fabric& fabric, const RunFlows& flows);

  void begin(uint32_t fault, FaultScope scope);
  // Routes are computed over these links from now on.
  void set_links(const std::vector<bool>& usable);
  void followed(uint32_t fault);
  // All is as before.
  void forget(uint32_t fault);

  std::optional<uint32_t> of(const dataplane::LossRecord& record);

 private:
  struct Open {
    uint32_t fault;
    FaultScope scope;
    bool followed = false;
  };

  bool explains(const FaultScope& scope, const dataplane::LossRecord& record) const;
  bool takes_down(const FaultScope& scope, control::LinkEnd end) const;
  bool explains_drop(const FaultScope& scope, const control::ExplainedDrop& drop,
                     const dataplane::LossRecord& record) const;
  std::optional<uint32_t> by_routes(uint32_t node, uint32_t host) const;
  std::optional<uint32_t> destination_of(const dataplane::LossRecord& record) const;
  bool joins(const FaultScope& scope, uint32_t node, uint32_t host) const;

  const control::Fabric& fabric_;
  const RunFlows& flows_;
  std::map<control::Ipv4Address, uint32_t> by_ipv4_;  // hosts
  std::map<control::Ipv6Address, uint32_t> by_ipv6_;
  std::vector<bool> usable_;  // by link
  std::vector<Open> open_;    // in the order in which they struck
  // Known for (switch, host), until a fault begins, ends or is followed.
  std::map<std::pair<uint32_t, uint32_t>, std::optional<uint32_t>> known_;
};

}  // namespace softspine::testbeds
