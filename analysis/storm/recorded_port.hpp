// SPDX-License-Identifier: Apache-2.0
// A port that frames were captured at, as the capture's interface describes it: name, speed, address, and, in our own
// captures, the other end of its link.
#pragma once

#include <string>

#include "analysis/storm/capture_reader.hpp"
#include "dataplane/units/rate.hpp"

namespace softspine::analysis::storm {

// The node of a machine's ports whose capture does not name the machine.
inline constexpr const char* kThisMachine = "here";

struct RecordedPort {
  std::string name;  // made up if the capture has none
  bool is_named = false;
  bool is_shared = false;   // several ports of a machine, which the capture does not distinguish
  std::string peer;         // "node:port" from the description, if it has one
  uint32_t node_ports = 0;  // how many its node has, from the description as well
  dataplane::Rate speed;    // zero: unknown
  uint64_t mac = 0;         // zero: unknown
  uint64_t frames = 0;
  CapturedTime time = {};         // in which its frames were captured
  bool hears = true;              // false: only those that it sent
  bool is_silence_known = false;  // its capture has as many frames as it counts as received, or a filter chose
  CapturedTime seen = kNever;     // from its first frame to its last one
  CapturedTime lapses = kNever;   // from the first of its pauses that lapsed to the last one
};

// `index`: the interface's number, which names it if nothing else does. `speed`: of every port, in place of the
// capture's; zero: as in the capture.
RecordedPort port_of_interface(size_t index, const CapturedInterface& interface, dataplane::Rate speed);

// In a capture of all interfaces of a machine (`-i any`): the one that has this number there. 0: the capture does not
// distinguish them.
RecordedPort port_of_machine(uint32_t number, const CapturedInterface& interface, dataplane::Rate speed);

}  // namespace softspine::analysis::storm
