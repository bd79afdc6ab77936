// SPDX-License-Identifier: Apache-2.0
// How a sink answers, if it does: its frames, its priorities, its notification point.
#pragma once

#include <cstdint>

#include "dataplane/congestion/notification_point.hpp"
#include "dataplane/units/prefetch.hpp"
#include "testbeds/hosts/response_template.hpp"

namespace softspine::testbeds {

enum class Replies : uint8_t {
  kNone,          // CNPs only
  kAcknowledges,  // a reliable connection
  kEchoes,        // and its acknowledgements say more of the packets that they name
};

// Every packet that may be answered looks at the first cache line, an acknowledgement at the second, too.
struct alignas(dataplane::kCacheLine) Answering {
  dataplane::NotificationPoint notification;
  dataplane::Duration cnp_interval;  // zero: no CNPs
  dataplane::Duration nic_delay;     // of its CNPs
  uint8_t ack_priority;
  uint8_t cnp_priority;
  Replies replies;
  ResponseTemplate frames;
};

}  // namespace softspine::testbeds
