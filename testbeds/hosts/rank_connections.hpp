// SPDX-License-Identifier: Apache-2.0
// What a rank talks by: for each (peer, channel) its queue pairs, the order of messages on them, and which of these
// have come.
//
//   scaling      message m of a connection with k queue pairs goes
//                round robin   whole by queue pair m mod k
//                split         in k parts, one by each: ⌈bytes / k⌉ rounded up to 128 B, the last ones less or nothing.
//                              It is whole when the last part is
//                least         whole by the queue pair with the fewest bytes that are not complete, of those with room,
//                              the first of several. The flows are SENDs with immediate data, which is the message's
//                              number modulo 2^32: nothing else tells the receiver which one has come
//   arrived      messages by each queue pair. They come in order there, so these counts say of any message whether it
//                has come, also before its receive. least: the numbers themselves, all up to the first that has not
//                come and those that have overtaken it, of which there are as many as the sender has open
//   admission    by the receiver, if there are clear_flow and clear_sink: message m is sent when m + 1 clear-to-sends
//                have come. Open without them
//   room         a queue pair has `depth` messages under way at most
//
// Both ends count messages in the order of their operations' numbers, so sends of one connection are posted, and its
// receives started, in that order.
// Source: NCCL's net_ib, NCCL_IB_QPS_PER_CONNECTION and NCCL_IB_SPLIT_DATA_ON_QPS; least: HPN (SIGCOMM 2024), section
// 6.1.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "dataplane/units/check.hpp"
#include "testbeds/hosts/operation_window.hpp"

namespace softspine::testbeds {

enum class QueuePairScaling : uint8_t { kRoundRobin, kSplit, kLeastOutstanding };

// Numbers of flows and sinks are the host's own (RoceHost::add_flow). A flow or sink belongs to one connection.
struct RankConnection {
  static constexpr uint32_t kNone = UINT32_MAX;

  uint32_t peer = 0;
  uint32_t channel = 0;
  std::vector<uint32_t> flows;  // to the peer, one a queue pair; none: nothing is sent
  std::vector<uint32_t> sinks;  // from it; none: nothing is received
  uint32_t depth = 64;          // the flows' queue_depth
  uint32_t clear_flow = kNone;  // tells the peer that it may send
  uint32_t clear_depth = 64;    // its queue_depth
  uint32_t clear_sink = kNone;  // the peer says so
  // Beside the fabric, by one flow and one sink (scale_up_port.hpp): the GPUs do it themselves, without the proxy.
  bool is_scale_up = false;
};

inline constexpr uint64_t kSplitBytes = 128;

inline uint64_t part_bytes(uint64_t bytes, uint32_t parts, uint32_t part) {
  if (parts == 1) return bytes;
  const uint64_t even = (bytes + parts - 1) / parts;
  const uint64_t each = (even + kSplitBytes - 1) / kSplitBytes * kSplitBytes;
  return std::min(each, bytes - std::min(bytes, each * part));
}

class RankConnections {
 public:
  struct QueuePair {
    uint32_t flow = 0;
    uint32_t under_way = 0;
    uint64_t outstanding_bytes = 0;
  };
  struct Connection {
    uint32_t peer = 0;
    uint32_t channel = 0;
    uint32_t depth = 0;
    uint32_t clear_flow = RankConnection::kNone;
    uint32_t clear_depth = 0;
    bool asks_for_clear = false;
    bool is_scale_up = false;
    uint32_t clears_under_way = 0;
    uint64_t clears_owed = 0;  // more than its queue holds
    uint64_t granted = 0;      // clear-to-sends that have come
    std::vector<QueuePair> out;
    std::vector<uint64_t> arrived;  // by queue pair
    uint64_t arrived_up_to = 0;     // least: all messages before this one have come
    std::vector<uint64_t> early;    // least: those behind it that have come, ascending
    OperationLine sends;            // not posted
    OperationLine receives;         // not started
    OperationLine expected;         // started, not whole
    uint64_t sends_opened = 0;
    uint64_t receives_opened = 0;
    uint64_t receives_started = 0;
  };
  enum class Role : uint8_t { kForeign, kData, kClear };
  struct End {
    Role role = Role::kForeign;
    uint32_t connection = 0;
    uint32_t queue_pair = 0;
  };

  RankConnections(const std::vector<RankConnection>& connections, QueuePairScaling scaling);

  uint32_t count() const { return static_cast<uint32_t>(connections_.size()); }
  Connection& operator[](uint32_t index) { return connections_[index]; }
  const Connection& operator[](uint32_t index) const { return connections_[index]; }
  // There is one.
  uint32_t find(uint32_t peer, uint32_t channel) const;
  End end_of_flow(uint32_t flow) const { return flow < flows_.size() ? flows_[flow] : End{}; }
  End end_of_sink(uint32_t sink) const { return sink < sinks_.size() ? sinks_[sink] : End{}; }

  bool splits() const { return scaling_ == QueuePairScaling::kSplit; }
  uint32_t parts_out(const Connection& it) const { return splits() ? static_cast<uint32_t>(it.out.size()) : 1; }
  uint32_t parts_in(const Connection& it) const { return splits() ? static_cast<uint32_t>(it.arrived.size()) : 1; }
  bool has_room(const Connection& it, uint64_t message) const;
  // By which queue pair a whole message goes, for which there is room.
  uint32_t choose(const Connection& it, uint64_t message) const;
  // Of the part of a message for which choose() has chosen.
  uint32_t queue_pair_out(const OpenOperation& op, uint32_t part) const { return splits() ? part : op.queue_pair; }
  uint64_t bytes_out(const Connection& it, const OpenOperation& op, uint32_t part) const {
    return part_bytes(op.bytes, parts_out(it), part);
  }
  void begin_part(Connection& it, const OpenOperation& op, uint32_t part) const;
  void end_part(Connection& it, const OpenOperation& op, uint32_t part) const;
  // The queue pair's `number`th has come: returns the message that it is, or is a part of.
  uint64_t arrive(Connection& it, uint32_t queue_pair, uint64_t number, uint32_t immediate) const;
  // How many of its parts have come.
  uint32_t arrived_parts(const Connection& it, uint64_t message) const;
  // Of those a part of which has come: what no receive has asked for.
  uint64_t unclaimed(const Connection& it) const;
  uint32_t most_parts() const { return most_parts_; }

 private:
  // Its messages say themselves which they are.
  bool are_numbered(const Connection& it) const {
    return scaling_ == QueuePairScaling::kLeastOutstanding && it.arrived.size() > 1;
  }
  static void arrive_numbered(Connection& it, uint64_t message);
  void enter(std::vector<End>& ends, uint32_t number, const End& end);

  QueuePairScaling scaling_;
  uint32_t most_parts_ = 1;
  std::vector<Connection> connections_;
  std::vector<std::pair<uint64_t, uint32_t>> by_peer_;  // peer and channel, index: sorted
  std::vector<End> flows_;
  std::vector<End> sinks_;
};

}  // namespace softspine::testbeds
