// SPDX-License-Identifier: Apache-2.0
// The demands of edges on the interfaces of this machine, before a device is opened.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "testbeds/process/outside_error.hpp"

namespace softspine::testbeds {

// The kernel takes 66 bytes of a slot of 9216 for itself, Ethernet and a tag 18.
inline constexpr uint32_t kMaxPacketMtu = 9216 - 66 - 18;

// The rings of an af_packet edge, one each way. DPDK takes each as one array, so slots must fill blocks, and a slot
// must fit a packet's room.
struct PacketRing {
  uint64_t frame_bytes = 2048;
  uint64_t block_bytes = 4096;
  uint64_t frames = 512;

  std::string arguments() const;  // ",framesz=…", for net_af_packet
  // The bytes of both rings: the driver has the kernel lock them.
  uint64_t locked_bytes() const { return 2 * frame_bytes * frames; }
};
// The ring for a link's MTU.
PacketRing packet_ring(uint32_t mtu);
// As a `dpdk:` edge writes net_af_packet; what it leaves out is the driver's.
PacketRing packet_ring_in(const std::string& devargs);

// "eth1" of ("net_af_xdp0,iface=eth1", "iface"); empty: not given.
std::string argument_in(const std::string& devargs, std::string_view key);
// An interface that has to be there before the device; empty: none. (net_tap's is made.)
std::string interface_in(const std::string& devargs);

// DPDK calls a missing one "Operation not permitted". Names those of the network namespace that we are in.
std::optional<Error> missing_interface(const std::string& interface);

}  // namespace softspine::testbeds
