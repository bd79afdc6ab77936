// SPDX-License-Identifier: Apache-2.0
// What a testbed says of a link that both its ends obey (port_flow_control.hpp). The model, the plans of ports and the
// configurations of hosts and NICs hold it whole.
//
// To add a parameter: its member with its default, its line in link_keys() (link_modes.hpp), and the code that obeys
// it.
#pragma once

#include <optional>

#include "dataplane/flow_control/link_mode.hpp"
#include "dataplane/units/time.hpp"

namespace softspine::dataplane {

struct LinkParameters {
  LinkMode flow_control = LinkMode::kPfc;
  // The longest time, after a pause frame's last bit, in which an end may still start a frame of a paused priority.
  // None: the maximum of IEEE 802.3 for the link's rate. A switch's profile may set another value for its port.
  std::optional<Duration> pfc_response;
};

}  // namespace softspine::dataplane
