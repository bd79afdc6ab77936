// SPDX-License-Identifier: Apache-2.0
// The engine's node for a bare edge: what is outside is there already, or somebody else's business.
#pragma once

#include <expected>
#include <filesystem>
#include <memory>
#include <string>

#include "control/model/attachment.hpp"
#include "dataplane/edge/nic.hpp"
#include "dataplane/packet/pool.hpp"
#include "testbeds/process/error.hpp"

namespace softspine::testbeds {

struct OpenedEdge {
  std::unique_ptr<dataplane::Nic> node;  // one port; its counters are read from an engine's action
  std::string note;                      // what it cannot do here, and what would help; mostly empty
};

// What every edge is opened with.
struct EdgeSetting {
  std::string name;  // the node's
  uint32_t mtu = 1500;
  dataplane::PacketPool& pool;  // has room for a whole frame and outlives the node
  int64_t dilation = 1;         // as of the wall clock
  dataplane::NicConfig nic;
};

std::expected<OpenedEdge, Error> open_edge(const control::VhostUserEdge& edge, const EdgeSetting& setting);
// The kernel's side is up and has the link's MTU; addresses are up to whoever wants it.
std::expected<OpenedEdge, Error> open_edge(const control::TapEdge& edge, const EdgeSetting& setting);
// A namespace's NIC, made in the namespace that this thread is in; not up yet.
std::expected<OpenedEdge, Error> open_nic(const std::string& interface, const EdgeSetting& setting);
// An interface that exists. What the kernel leaves to a receiver is switched off while the edge lives
// (packet_offload.hpp).
std::expected<OpenedEdge, Error> open_edge(const control::AfPacketEdge& edge, const EdgeSetting& setting);
// The mtu is the device's own business as far as it does not say: up to 9216.
std::expected<OpenedEdge, Error> open_edge(const control::DpdkEdge& edge, const EdgeSetting& setting);
std::expected<OpenedEdge, Error> open_edge(const control::PcapEdge& edge, const std::filesystem::path& testbed_folder,
                                           const EdgeSetting& setting);

}  // namespace softspine::testbeds
