// SPDX-License-Identifier: Apache-2.0
// Checks lossless ports before anything runs: whether their headroom is enough for their rate, length and MTU by the
// formula (dataplane/buffer/headroom.hpp), how far a shared headroom pool is oversubscribed, and where pauses are
// configured without headroom or headroom without pauses.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "control/model/testbed.hpp"

namespace softspine::control {

// A set of ports that are alike and have too little headroom.
struct ShortHeadroom {
  std::string profile;         // of the switches
  std::string buffer_profile;  // of the priority groups
  Place place;
  std::vector<std::string> ports;  // "tor1:Ethernet0", each once
  dataplane::Rate rate;
  dataplane::Duration propagation;
  uint32_t mtu = 0;
  uint64_t has_bytes = 0;     // whole cells
  uint64_t needed_bytes = 0;  // for frames of any size
  uint32_t enough_from = 0;   // the headroom is enough for frames of this size and larger; 0: for none
};

struct SharedHeadroom {
  std::string node;
  std::string pool;
  uint64_t promised_bytes = 0;  // of all lossless groups, summed up
  uint64_t has_bytes = 0;
};

struct HeadroomCheck {
  uint64_t judged = 0;  // lossless priority groups whose priority can be paused
  std::vector<ShortHeadroom> too_little;
  std::vector<SharedHeadroom> shared;
  Errors remarks;  // "profile x: priority group 3 …", each once, at the profile
};

HeadroomCheck check_headroom(const Testbed& testbed);

}  // namespace softspine::control
