// SPDX-License-Identifier: Apache-2.0
// A run with its capture, and what the frames say by themselves: which packets of each flow left when, and arrived
// when.
#pragma once

#include <map>
#include <string_view>
#include <tuple>
#include <vector>

#include "control/model/testbed.hpp"
#include "control/telemetry/snapshot.hpp"
#include "tests/scenario/random/captured_frames.hpp"

namespace softspine::tests {

struct PacketStart {
  int64_t at_ps;
  int64_t left_ps;  // its last bit
  uint32_t bytes;
};

struct PacketArrival {
  int64_t born_ps;  // its first bit left its source
  int64_t at_ps;
};

class CapturedRun {
 public:
  using FlowKey = std::tuple<uint32_t, uint32_t, uint32_t>;  // addresses, queue pair

  // Both outlive this.
  CapturedRun(const control::Testbed& of, const control::FabricSnapshot& seen, std::string_view capture);

  const control::FabricLink& link_of(control::LinkEnd end) const {
    return testbed.fabric.links[testbed.fabric.port(end).link];
  }
  // By the clock of the node that sends.
  dataplane::Rate rate_of(control::LinkEnd end) const {
    return testbed.fabric.nodes[end.node].clock.of(link_of(end).rate);
  }
  bool is_host(control::LinkEnd end) const { return testbed.fabric.nodes[end.node].kind == control::NodeKind::kHost; }
  control::LinkEnd sender_of(const CapturedFrame& frame) const { return ends[frame.interface]; }
  int64_t start_of(const CapturedFrame& frame) const {
    return frame.at_ps - rate_of(sender_of(frame)).time_of_frame(frame.bytes).count_ps();
  }
  int64_t arrival_of(const CapturedFrame& frame) const {
    return frame.at_ps + link_of(sender_of(frame)).propagation.count_ps();
  }

  FlowKey key_of(const control::FlowSnapshot& flow) const;
  const std::vector<PacketStart>& sent(const control::FlowSnapshot& flow) const;
  const std::vector<PacketArrival>& arrived(const control::FlowSnapshot& flow) const;
  // Whether the capture tells when each packet arrived that was received: not if a last link lost some, or if frames
  // that look like them came from elsewhere.
  bool has_all_arrivals(const control::FlowSnapshot& flow) const {
    return flow.foreign == 0 && arrived(flow).size() == flow.received_packets;
  }

  const control::Testbed& testbed;
  const control::FabricSnapshot& snapshot;
  const Captured captured;
  const int64_t end_ps;
  std::vector<control::LinkEnd> ends;  // of interfaces

 private:
  void follow_flows();

  std::map<FlowKey, std::vector<PacketStart>> sent_;
  std::map<FlowKey, std::vector<PacketArrival>> arrived_;
};

}  // namespace softspine::tests
