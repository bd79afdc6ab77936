// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "control/document/document.hpp"
#include "control/model/bond.hpp"
#include "dataplane/units/time.hpp"

namespace softspine::control {

// How hosts with two ports use them; a host's own keys replace those of its generator.
struct BondRow {
  Value where;
  std::optional<BondMode> mode;
  std::optional<LacpRate> lacp_rate;
  std::optional<bool> fast_rate;
  std::optional<uint8_t> retry_count;
  std::optional<XmitHashPolicy> xmit_hash_policy;
  std::optional<dataplane::Duration> miimon;
  std::optional<dataplane::Duration> downdelay;
  std::optional<dataplane::Duration> updelay;
  std::optional<RemoteFailover> remote_failover;
  std::optional<uint8_t> path_change_after;
};

}  // namespace softspine::control
