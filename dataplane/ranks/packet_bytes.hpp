// SPDX-License-Identifier: Apache-2.0
// A message for a node of another rank as bytes, and back: the packet's stored bytes, its flow, and its meta as it
// stands, but for the list that it stands in. So it is there as here: whatever a receiver reads of the meta has come
// along.
#pragma once

#include <optional>

#include "dataplane/link/message.hpp"
#include "dataplane/packet/pool.hpp"
#include "dataplane/ranks/rank_bytes.hpp"

namespace softspine::dataplane {

// Ends the packet here.
void put_message(RankBytes& out, Message message);
// The packet is of `pool`, or of a larger one (PacketPool::make_any); it is empty when that has run out of memory.
// Nothing: the bytes are no message.
std::optional<Message> take_message(RankReader& in, PacketPool& pool);

}  // namespace softspine::dataplane
