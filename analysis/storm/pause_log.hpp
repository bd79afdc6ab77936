// SPDX-License-Identifier: Apache-2.0
// A log of pauses: nodes, their ports, the links between them, and every pause from its first XOFF to its
// end. The analysis works on this; assemble_log() makes it from a capture, or a test by hand.
//
// A pause goes from the port that sent PFC frames to the port at the other end of the link, whose egress stood still.
// A port's node is what stands before the last ':' of its name ("tor1" of "tor1:Ethernet4"), or the name.
// Nodes and ports that the capture does not name get names from what is known of them: a source MAC, or "peer of PORT".
// Which port a frame is assigned to: sender_ends.hpp.
// Tier: 0 hosts, 1 their switches, 2 and 3 above; kNoTier where nothing is known.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analysis/storm/pause_recorder.hpp"
#include "dataplane/units/rate.hpp"
#include "dataplane/units/time.hpp"

namespace softspine::analysis::storm {

inline constexpr uint32_t kNone = UINT32_MAX;
inline constexpr int kNoTier = -1;

struct LogNode {
  std::string name;
  std::vector<uint32_t> ports;
  int tier = kNoTier;
  bool is_tier_known = false;  // from the testbed, or from its name; else it is a guess
  bool is_named = true;        // false: the name was made up here
  uint32_t known_ports = 0;    // how many it has, captured or not; 0: not known
};

struct LogPort {
  std::string name;
  uint32_t node = kNone;
  uint32_t peer = kNone;
  dataplane::Rate speed;          // zero: unknown
  bool is_captured = false;       // frames were taken here, or could have been
  CapturedTime time = {};         // in which they were, if so
  bool hears = true;              // false: only those that it sent
  bool is_silence_known = false;  // where no frame was captured, none was there that pauses
  CapturedTime seen = kNever;     // from the first frame that was captured here to the last one
  CapturedTime lapses = kNever;   // from the first pause that was captured here and lapsed to the last one
};

struct Pause {
  uint32_t from = 0;  // port: sent the PFC frames
  uint32_t to = 0;    // port: its egress stood still
  uint8_t priority = 0;
  PauseSpan span;
};

// Causes for which pauses may be missing in the capture, as far as they can be seen.
struct Gaps {
  uint64_t missed = 0;      // frames that the capture counts as missed
  uint64_t cut = 0;         // frames cut before the part that names whom they pause
  uint64_t strange = 0;     // frames to the address of pause frames that are none known here
  uint64_t omitted = 0;     // pause frames beyond what can be analysed
  uint64_t timeless = 0;    // frames without a time, or with one that cannot be
  uint64_t disordered = 0;  // frames older than the one before them: some clock is wrong
  uint64_t clock_set = 0;   // times that its clock was set back
  bool is_filtered = false;
  dataplane::Duration clocks;  // of several captures: how far their clocks may be apart
  bool any() const { return missed + cut + strange + omitted + timeless + disordered + clock_set > 0 || is_filtered; }
  // Pauses may be there although none was read.
  bool hides_all() const { return cut + strange + omitted + timeless > 0 || is_filtered; }
};

struct PauseLog {
  std::vector<LogNode> nodes;
  std::vector<LogPort> ports;
  std::vector<Pause> pauses;  // by begin
  dataplane::Instant begin;   // of the capture
  dataplane::Instant end;
  std::vector<CapturedTime> silences;  // that are no part of it (clock_steps.hpp), in their order
  Gaps gaps;
  std::string contradiction;  // what is said of links or ports that cannot all be true, as a sentence's end; or empty
  uint64_t copies = 0;        // pause frames that were captured in a second place, and count in the first

  // The length of the capture, and of a part of it, without its silences.
  dataplane::Duration length() const { return length(begin, end); }
  dataplane::Duration length(dataplane::Instant from, dataplane::Instant until) const;

  uint32_t node_of(uint32_t port) const { return ports[port].node; }
  const std::string& node_name(uint32_t port) const { return nodes[ports[port].node].name; }
  // A port's name in pictures and tables: "tor1:Ethernet4".
  const std::string& name(uint32_t port) const { return ports[port].name; }

  uint32_t add_node(const std::string& name);
  uint32_t add_port(const std::string& name, uint32_t node, dataplane::Rate speed = {});
  // False: one of them has a neighbour already.
  bool join(uint32_t a, uint32_t b);
};

std::string node_part(const std::string& port_name);

// A line of a list of ports.
struct ListedName {
  int line = 0;
  std::string what;
  uint64_t mac = 0;  // 0: the name of an interface
};

// Facts about the fabric from outside the capture: from a testbed's file, from a list of ports.
struct KnownFabric {
  std::vector<std::pair<std::string, std::string>> links;  // of ports: all of each node that is named here
  std::vector<std::pair<std::string, int>> tiers;          // of nodes
  std::unordered_map<uint64_t, std::string> port_of_mac;
  std::unordered_map<std::string, std::string> port_of_interface;  // what the capture calls it → what it is
  std::vector<ListedName> listed = {};                             // those of a list of ports
  std::unordered_map<uint64_t, std::string> node_of_mac = {};      // that all ports of a node send from
};

// `clocks`: how far those of several captures may be apart.
PauseLog assemble_log(const PauseRecorder& recorded, const KnownFabric& known = {}, dataplane::Duration clocks = {});

}  // namespace softspine::analysis::storm
