// SPDX-License-Identifier: Apache-2.0
// Admission alone: no queue holds the packets, no frame leaves.
#include "dataplane/egress/admission.hpp"

#include <gtest/gtest.h>

#include "dataplane/packet/pool.hpp"

namespace softspine::dataplane {
namespace {

class OneQueue {
 public:
  // Room for 1000 bytes in queue 2 of port 1.
  OneQueue() {
    std::array<uint32_t, kQueues> limits{};
    limits[2] = 1'000;
    plan_ = QosPlan::plain(2, limits);
    wire_.set_up(true);
    port_.wire = &wire_;
    port_.counters = &counters_;
    wred_.apply(plan_);
    admission_.apply(plan_);
  }
  DropReason admit(Packet& packet) { return admission_.admit(port_, packet); }
  Packet packet(uint32_t frame_bytes) {
    Packet packet = pool_.make(64);
    std::fill_n(packet.data(), 64, uint8_t{0});
    PacketMeta& meta = packet.meta();
    meta.frame_bytes = frame_bytes;
    meta.in_port = 0;
    meta.out_port = 1;
    meta.queue = 2;
    meta.priority_group = 5;
    meta.flags = 0;
    return packet;
  }
  Admission& admission() { return admission_; }
  Transmitter& wire() { return wire_; }
  const QueueCounters& queue() const { return counters_.queues[2]; }

 private:
  PacketPool pool_{"admission", 255, 128};
  Rng rng_{1, 0};
  QosPlan plan_;
  EarlyDetection wred_{rng_};
  Admission admission_{2, wred_};
  Transmitter wire_;
  PortCounters counters_;
  EgressPort port_;
};

TEST(Admission, ChargesAPacketUntilItIsReleasedAndRefusesWhatDoesNotFit) {
  OneQueue queue;
  Packet first = queue.packet(600);
  Packet second = queue.packet(600);
  ASSERT_EQ(queue.admit(first), DropReason::kCount);
  EXPECT_EQ(first.meta().held_by, Mmu::number_of_pg(0, 5));
  EXPECT_EQ(queue.admission().mmu().pg(0, 5).held(), first.meta().cells);
  EXPECT_EQ(queue.admit(second), DropReason::kQueueFull);
  EXPECT_EQ(queue.queue().dropped_packets, 1u);
  EXPECT_FALSE(queue.admission().release(1, 2, first.meta().held_by, first.meta().cells));
  EXPECT_EQ(queue.admit(second), DropReason::kCount);
  EXPECT_FALSE(queue.admission().release(1, 2, second.meta().held_by, second.meta().cells));
  EXPECT_STREQ(queue.admission().mmu().validate(true), "");
  PacketPool::release(std::move(first));
  PacketPool::release(std::move(second));
}

TEST(Admission, RefusesAPacketForALinkThatIsDownAndForAQueueThatIsShut) {
  OneQueue queue;
  Packet packet = queue.packet(600);
  queue.wire().set_up(false);
  EXPECT_EQ(queue.admit(packet), DropReason::kLinkDown);
  queue.wire().set_up(true);
  EXPECT_TRUE(queue.admission().shut(1, 2, Priority{2}, true));
  EXPECT_FALSE(queue.admission().shut(1, 3, Priority{2}, true)) << "another priority's queue";
  EXPECT_EQ(queue.admit(packet), DropReason::kPfcWatchdog);
  EXPECT_FALSE(queue.admission().shut(1, 2, Priority{2}, false));
  EXPECT_EQ(queue.admit(packet), DropReason::kCount);
  PacketPool::release(std::move(packet));
}

}  // namespace
}  // namespace softspine::dataplane
