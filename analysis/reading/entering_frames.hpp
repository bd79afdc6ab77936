// SPDX-License-Identifier: Apache-2.0
// Frames of captures, as they would come to the testbed's fabric: without the VLAN tags of the network where they were
// captured (the walker tags as the host does), for the first switch's MAC, so that they are routed as they were there,
// and no longer than links carry. A frame begins at the host that has its source address, or at the place that the user
// gives.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>

#include "analysis/explain/walker.hpp"
#include "analysis/reading/captured_packet.hpp"
#include "dataplane/edge/pcap_reader.hpp"
#include "dataplane/hashing/hash_config.hpp"
#include "dataplane/packet/scratch_packet.hpp"
#include "dataplane/packet/wire.hpp"

namespace softspine::analysis {

struct EnteringFrame {
  enum class Known : uint8_t { kWithoutIp, kCutBeforeAddresses, kCutBeforePorts, kFlow };
  BareFrame frame;
  Known known = Known::kWithoutIp;  // the frame's part of its flow's identity
  FlowIdentity identity;            // of kFlow
  bool is_oversize = false;         // longer than links carry: followed as the longest frame
  bool is_cut_before_qp = false;    // RoCEv2, but its BTH was not captured
};

class EnteringFrames {
 public:
  // The bytes of a frame that a capture has to keep for all hashes: Ethernet, IPv4 with all options, and as far as a
  // UDF reaches.
  static constexpr uint32_t kHeaderReach = dataplane::ethernet::kBytes + 60 + dataplane::kMaxUdfReach;

  // `from`: where all frames come in; none: at the hosts that have the source addresses.
  EnteringFrames(const Walker& walker, std::optional<control::LinkEnd> from);

  // The frame, of which `most_bytes` are kept.
  EnteringFrame read(const dataplane::RecordedFrame& frame, uint32_t most_bytes);
  // The sender; empty: no host has the frame's source address. Only for kFlow, unless all come in at one place.
  std::optional<control::LinkEnd> sender_of(const EnteringFrame& entering) const;
  // Makes the switch that `sender` is connected to its next router.
  void address_to_router(EnteringFrame& entering, control::LinkEnd sender) const;

  bool is_host(const std::string& address) const { return hosts_.contains(address); }

 private:
  const Walker& walker_;
  std::optional<control::LinkEnd> from_;
  std::unordered_map<std::string, uint32_t> hosts_;
  uint32_t longest_;
  dataplane::ScratchPacket scratch_;
};

}  // namespace softspine::analysis
