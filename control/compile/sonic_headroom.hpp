// SPDX-License-Identifier: Apache-2.0
// The headroom of a lossless priority group as SONiC's calculator for Spectrum switches has it, beside the exact one
// (dataplane/buffer/headroom.hpp). Source: sonic-swss, buffer_headroom_mellanox.lua; the chip's delays from
// sonic-buildimage, platform/mellanox/asic_table.j2. KiB are 1,024 bytes.
//
//   worst       ⌈2 c / (1 + c)⌉ for cells c of up to 128 bytes, ⌈c / 64⌉ for larger ones: memory that packets of
//               64 bytes take, in their own bytes
//   small       100 · 64 / (p · 64 + (100 − p) · mtu): p is small_packet_percentage, and mtu is that of
//               LOSSLESS_TRAFFIC_PATTERN
//   occupancy   1 + small · (worst − 1)
//   response    quanta of 802.3's table 31B for the speed, of 64 bytes each; 3.8 KiB for other speeds
//   cable       2 · metres · bits a second / 1.98e8 / 8
//   travelling  port MTU + cable + 0.8 KiB (MAC and PHY) + response (+ speed · 120 / 8 Gb/s on a Spectrum-4)
//   xoff        mtu + travelling · occupancy, in whole KiB; without a shared headroom pool 2 KiB more, if xoff is
//               more than 2 KiB below the xoff for packets of 64 bytes only (p = 100)
//   xon         19 KiB, the pipeline's latency; twice that for ports of eight lanes
//   size        with a shared headroom pool xon, else xoff + xon (+ port MTU, eight lanes), in whole KiB
// Gearboxes are not in it: their delay stands in a switch's STATE_DB, in no table of its configuration.
#pragma once

#include <cstdint>

#include "control/compile/port_shape.hpp"
#include "control/model/qos.hpp"

namespace softspine::control {

// The memory of a priority group while its packets pass the pipeline; SONiC counts it to every group in use.
inline constexpr uint64_t kPipelineBytes = 19 << 10;
inline constexpr uint64_t kPipelineBytesOf8Lanes = 2 * kPipelineBytes;

struct SonicHeadroom {
  uint64_t size = 0;
  uint64_t xon = 0;
  uint64_t xoff = 0;
  friend bool operator==(const SonicHeadroom&, const SonicHeadroom&) = default;
};

// By PORT's speed and CABLE_LENGTH, where the tables have them, else by the link's.
SonicHeadroom sonic_headroom(const QosConfig& config, const PortShape& shape);

// The profile as this port has it: one that is `calculated` gets its figures.
BufferProfileConfig fitted(const BufferProfileConfig& profile, const QosConfig& config, const PortShape& shape);

}  // namespace softspine::control
