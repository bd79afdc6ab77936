// SPDX-License-Identifier: Apache-2.0
// The configuration of a built-in host. What its queue pairs send and receive: control/traffic/flow.hpp.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "control/model/bond.hpp"
#include "control/model/builtin_host_parameters.hpp"
#include "control/traffic/flow.hpp"
#include "control/traffic/rxe_source_port.hpp"
#include "dataplane/flow_control/link_parameters.hpp"
#include "dataplane/forwarding/azure_maps.hpp"
#include "dataplane/packet/wire.hpp"
#include "dataplane/units/ids.hpp"
#include "dataplane/units/rate.hpp"
#include "dataplane/units/time.hpp"
#include "testbeds/hosts/host_tag.hpp"

namespace softspine::testbeds {

using Ipv4Address = uint32_t;  // 10.0.0.1 is 0x0a000001
using control::IpAddress;

using PriorityMap = std::array<uint8_t, 64>;  // by DSCP

// The link of one of the host's ports. If it goes by credit (credit_link.hpp), the host keeps kHostRoomBytes for each
// of the priorities, or what its receive buffer has.
struct HostLink {
  dataplane::LinkParameters parameters;
  uint8_t credit_priorities = 0;
  uint32_t largest_frame = 0;
};
inline constexpr uint32_t kHostCellBytes = 256;
inline constexpr uint32_t kHostRoomBytes = 128 << 10;

struct HostConfig {
  std::string name;
  dataplane::MacAddress mac{};
  Ipv4Address ipv4 = 0;             // 0: none
  dataplane::Ipv6Address ipv6{};    // all zero: none
  dataplane::MacAddress gateway{};  // every packet's next hop: a static neighbour (or the only other host)
  uint32_t mtu = 9216;              // bytes of an IP packet
  uint16_t ports = 1;
  uint16_t scale_up_ports = 0;  // behind these: one to each other GPU of its server (scale_up_port.hpp)
  // A packet's priority, which a pause stops or credit holds back, by its DSCP. What is not IP has the priority of DSCP
  // 0.
  PriorityMap priority_of_dscp = dataplane::kAzureDscpToTc;
  HostTag tag;
  bool obeys_pause = true;
  std::array<HostLink, 2> links;  // by port
  control::Bond bond;             // of two ports
  control::BuiltinHostParameters parameters;
  uint32_t start_jitter_millionths = 0;  // start_jitter.hpp
};

using control::TransportKind;  // open loop: it paces (open_loop.hpp); reliable: go-back-N (reliable_sender.hpp)
using control::Verb;

using control::FlowConfig;
using control::ReliableParameters;
using control::SinkConfig;

using control::kFirstQp;
using control::kMaxMessageBytes;
using control::rxe_source_port;

// Everything that contradicts itself, as sentences; empty when the host could run it.
std::vector<std::string> validate(const HostConfig& host);
std::vector<std::string> validate(const HostConfig& host, const FlowConfig& flow);
std::vector<std::string> validate(const HostConfig& host, const SinkConfig& sink);

}  // namespace softspine::testbeds
