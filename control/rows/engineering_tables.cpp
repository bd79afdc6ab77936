// SPDX-License-Identifier: Apache-2.0
// The tables about engineered paths: overrides, traffic_engineering.
#include "control/rows/tables.hpp"

namespace softspine::control {

using dataplane::Duration;

const Table<OverrideRow>& Tables<OverrideRow>::table() {
  static const Table<OverrideRow> table =
      Table<OverrideRow>("override", "An exact match at a switch, which goes before ECMP.")
          .required("at", &OverrideRow::at, "the switch")
          .optional("from", &OverrideRow::from,
                    "the port or LAG that packets come in by, or the hosts or the switch behind it; every port if not "
                    "given")
          .required("to", &OverrideRow::to, "destinations: hosts, ToRs (the subnets behind them), prefixes; or a list")
          .required("via", &OverrideRow::via,
                    "the port or LAG that they leave by, or the switch behind it; a next hop of all their routes");
  return table;
}

const Table<EngineeringRow>& Tables<EngineeringRow>::table() {
  static const Table<EngineeringRow> table =
      Table<EngineeringRow>("traffic_engineering",
                            "A controller that places flows: the largest first, each on the path whose most loaded "
                            "link stays the least loaded.")
          .optional("interval", &EngineeringRow::interval, "from one measurement of the flows to the next",
                    within(Duration::us(1), Duration::s(600)))
          .optional("delay", &EngineeringRow::delay, "from a measurement until its overrides are at the switches",
                    within(Duration::ps(1), Duration::s(600)))
          .optional("at", &EngineeringRow::at, "the ToRs that it writes overrides to; all if not given")
          .optional("utilisation", &EngineeringRow::utilisation,
                    "of a link, that placed flows may fill; a flow that fits nowhere stays with ECMP",
                    within<Share>({1}, {1'000'000}));
  return table;
}

}  // namespace softspine::control
