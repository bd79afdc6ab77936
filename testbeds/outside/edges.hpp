// SPDX-License-Identifier: Apache-2.0
// The engine's node for a bare edge, whose outside exists already or is made by someone else.
#pragma once

#include <expected>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "control/model/attachment.hpp"
#include "dataplane/edge/nic.hpp"
#include "dataplane/edge/pcap_edge.hpp"
#include "dataplane/packet/pool.hpp"
#include "testbeds/process/outside_error.hpp"

namespace softspine::testbeds {

struct OpenedEdge {
  std::unique_ptr<dataplane::Nic> node;      // one port; its counters are read from an engine's action
  std::string note;                          // what the edge cannot do here, and what would help; mostly empty
  dataplane::PcapEdge* recording = nullptr;  // the node, if its zero is that of all recordings (first_recorded_ns)
};

// The arguments with which every edge is opened.
struct EdgeSetting {
  std::string name;  // the node's
  uint32_t mtu = 1500;
  dataplane::PacketPool& pool;  // has room for a whole frame and outlives the node
  int64_t dilation = 1;         // as of the wall clock
  uint32_t speed_mbps = 0;      // of the link, for the drivers of guests
  dataplane::NicConfig nic;
};

//   tap        is made; the kernel's side is up and has the link's MTU, addresses are left to the user
//   af_packet  is an interface that exists; what the kernel leaves to a receiver is switched off while the edge lives
//              (packet_offload.hpp)
//   dpdk       the MTU is the largest that the device and the pool's room allow, up to 9216
//   pcap       relative paths begin at `testbed_folder`
std::expected<OpenedEdge, Error> open_edge(const control::Edge& edge, const std::filesystem::path& testbed_folder,
                                           const EdgeSetting& setting);

// When the earliest of the recordings begins, by its own clock; nothing if none has a frame.
std::optional<int64_t> first_recorded_ns(std::span<dataplane::PcapEdge* const> recordings);

// The NIC of a namespace, made in the namespace that this thread is in; not up yet.
std::expected<OpenedEdge, Error> open_nic(const std::string& interface, const EdgeSetting& setting);

}  // namespace softspine::testbeds
