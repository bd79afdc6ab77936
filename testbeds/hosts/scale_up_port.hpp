// SPDX-License-Identifier: Apache-2.0
// A GPU's end of what joins the GPUs of one server beside the fabric (NVLink, xGMI, UALink): messages, not packets.
//
//   out       messages leave one after the other, in the order in which they were posted: bytes / rate each
//   way       the latency of the link between the two hosts
//   in        the peer takes messages in one after the other, at its own rate, in the order in which their last bits
//             come: whole = max(last bit, whole of the one before + bytes / rate)
//   complete  when its last bit has left          received  when it is whole
//
// So a message alone takes bytes / rate + latency, and several that meet at one GPU share its rate. Both ends have one
// rate. A message shorter than a notice takes the time of one.
//
// Hosts meet in links, here as everywhere. A message is one frame on the engine's link, a notice of 60 bytes that says
// how long the message is. It arrives when the message's last bit would. Such links lose nothing.
//
// Numbers of flows and sinks go on where the host's own end (RoceHost::add_flow): they are added after these.
#pragma once

#include <cstdint>
#include <vector>

#include "dataplane/link/node.hpp"
#include "dataplane/packet/pool.hpp"
#include "testbeds/hosts/work_queue.hpp"

namespace softspine::testbeds {

class ScaleUpPort {
 public:
  // Node and pool outlive it. The rate is not zero, and that of the engine's links; their latency is theirs.
  ScaleUpPort(dataplane::Node& node, dataplane::PacketPool& pool, dataplane::Rate rate)
      : node_(node), pool_(pool), rate_(rate) {}

  // Before anything is posted: the numbers of its first flow and sink.
  void number_from(uint32_t flow, uint32_t sink) {
    first_flow_ = flow;
    first_sink_ = sink;
  }
  // By that port of the node, to the peer's sink with this index (0, 1, 2 … in the order of add_sink). Return numbers.
  uint32_t add_flow(dataplane::PortNo port, uint32_t peer_sink);
  uint32_t add_sink();

  void post(uint32_t flow, uint64_t bytes, uint64_t tag, dataplane::Instant now) noexcept;
  // A notice has come.
  void take(dataplane::Packet notice) noexcept;
  // When it has something to do.
  dataplane::Instant next() const;
  // Everything that is due.
  void act(dataplane::Instant now, WorkEvents& events) noexcept;

 private:
  struct Flow {
    dataplane::PortNo port;
    uint32_t peer_sink = 0;
  };
  struct Outgoing {
    uint32_t flow = 0;
    uint64_t bytes = 0;
    uint64_t tag = 0;
    dataplane::Instant left;
  };
  struct Incoming {
    uint32_t sink = 0;
    dataplane::Instant whole;
  };
  // A queue without end: it grows to what is under way, and does not shrink.
  template <typename T>
  class Line {
   public:
    bool empty() const { return head_ == tail_; }
    const T& front() const { return ring_[head_ & (ring_.size() - 1)]; }
    void push(const T& it) {
      if (tail_ - head_ == ring_.size()) grow();
      ring_[tail_++ & (ring_.size() - 1)] = it;
    }
    T pop() { return ring_[head_++ & (ring_.size() - 1)]; }

   private:
    void grow() {
      std::vector<T> larger(2 * ring_.size());
      const uint64_t count = tail_ - head_;
      for (uint64_t i = 0; i < count; ++i) larger[i] = ring_[(head_ + i) & (ring_.size() - 1)];
      ring_ = std::move(larger);
      head_ = 0;
      tail_ = count;
    }
    std::vector<T> ring_ = std::vector<T>(16);  // a power of two
    uint64_t head_ = 0;
    uint64_t tail_ = 0;
  };

  dataplane::Duration time_of(uint64_t bytes) const;
  dataplane::Instant leaving() const;  // of the first notice
  void send_notice(WorkEvents& events) noexcept;

  dataplane::Node& node_;
  dataplane::PacketPool& pool_;
  dataplane::Rate rate_;
  uint32_t first_flow_ = 0;
  uint32_t first_sink_ = 0;
  std::vector<Flow> flows_;
  std::vector<uint64_t> received_;  // messages, by sink
  Line<Outgoing> out_;
  Line<Incoming> in_;
  dataplane::Instant out_free_;
  dataplane::Instant in_free_;
};

}  // namespace softspine::testbeds
