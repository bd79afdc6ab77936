// SPDX-License-Identifier: Apache-2.0
// The ports that flows took, as captures saw them, beside those that the testbed's hashes predict.
//
// A flow is followed from its sender. At each switch the prediction is asked anew, with the packet and the port that
// it really came in by: after a switch that chose another port than predicted, the next ones are judged by where the
// flow went, not by where it should have gone. Where nothing was captured the walk goes on as predicted. A switch that
// was seen to send the flow and that the walk does not reach is judged by itself.
//
//   agrees          every packet was seen at the predicted port
//   differs         packets were seen at another port
//   not seen        at no port of this switch: not captured there, or lost
//   not computable  drawn for each packet, or hashed by something that the captures do not have
//
// A port that was not captured is inferred where one next switch was seen to send the flow, if the way up to here is
// certain: then the flow came from here. Parallel links to that switch stay unknown.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analysis/explain/walker.hpp"

namespace softspine::analysis {

// A flow, and by which ports nodes sent its packets.
struct SightedFlow {
  std::vector<uint8_t> frame;  // a packet of it, untagged; its MACs are not looked at
  uint32_t frame_bytes = 0;    // of the original, if the capture cut the frame
  std::optional<control::LinkEnd> sender;
  std::map<control::LinkEnd, uint64_t> left;  // packets by port
};

enum class HopVerdict : uint8_t { kAgrees, kDiffers, kNotSeen, kNotComputable };
enum class FlowVerdict : uint8_t { kAgrees, kDiffers, kUndecided, kNoChoice };

struct ComparedHop {
  uint32_t node = 0;
  bool is_choice = false;             // among two links or more
  std::vector<uint16_t> predicted;    // ports; several: drawn among them; none: `why`
  std::map<uint16_t, uint64_t> seen;  // packets by port; 0: inferred from the next switch
  HopVerdict verdict = HopVerdict::kNotSeen;
  std::string why;  // not computable
};

struct ComparedFlow {
  std::vector<ComparedHop> hops;
  FlowVerdict verdict = FlowVerdict::kUndecided;
};

struct ComparedTier {
  std::string name;  // "tor up"
  uint64_t agree = 0;
  uint64_t differ = 0;
  uint64_t not_seen = 0;
  uint64_t not_computable = 0;
};

struct PathComparison {
  std::vector<ComparedFlow> flows;  // as they were given
  std::vector<ComparedTier> tiers;  // choices and differences, in the order of the way
  uint64_t count(FlowVerdict verdict) const;
};

PathComparison compare_with(Walker& walker, const std::vector<SightedFlow>& flows);

}  // namespace softspine::analysis
