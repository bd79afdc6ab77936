// SPDX-License-Identifier: Apache-2.0
// A packet with every byte of its frame in memory, as edges and captures of whole frames need it. The payload of
// zeros that built-in traffic leaves out is written out.
#pragma once

#include "dataplane/packet/packet.hpp"
#include "dataplane/packet/pool.hpp"

namespace softspine::dataplane {

// A deep copy with stored_bytes() == frame_bytes(); the original stays the caller's to end.
// Empty when memory has run out, or no pool (PacketPool::make_any) has the room for the frame.
Packet materialise(const Packet& packet, PacketPool& pool) noexcept;

}  // namespace softspine::dataplane
