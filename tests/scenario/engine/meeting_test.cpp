// SPDX-License-Identifier: Apache-2.0
// Where workers meet between windows: all reports combined, and messages with the nodes that they are for.
#include <gtest/gtest.h>

#include <array>
#include <thread>

#include "dataplane/engine/window_group.hpp"
#include "dataplane/engine/worker_meeting.hpp"
#include "tests/scenario/engine/gossip.hpp"

namespace softspine::dataplane {
namespace {

Instant ns(int64_t count) {
  return Instant::at(Duration::ns(count));
}

// Two workers with a node each. What a window's end tells both.
class TwoWorkers {
 public:
  TwoWorkers() {
    for (uint32_t i = 0; i < 2; ++i) {
      nodes_.push_back(std::make_unique<tests::Chatter>(2, 0));
      nodes_.back()->assign(NodeId{i}, Rng{1, i});
      parts_.adopt(*nodes_.back());
    }
  }
  Meeting& meeting() { return meeting_; }
  Outbox& from(uint32_t worker) { return meeting_.outbox(worker, 1 - worker); }
  Inbox& inbox_of(uint32_t node) { return nodes_[node]->inbox(); }

  std::array<WindowReport, 2> meet(const WindowReport& first, const WindowReport& second) {
    std::array<WindowReport, 2> out;
    std::jthread other{[&] { out[1] = meeting_.meet(1, second); }};
    out[0] = meeting_.meet(0, first);
    other.join();
    return out;
  }

 private:
  std::vector<std::unique_ptr<Node>> nodes_;
  WindowGroup parts_;
  WorkerMeeting meeting_{2, nodes_};
};

TEST(WorkerMeeting, TellsAllWorkersTheSame) {
  TwoWorkers two;
  const WindowReport first{.next = ns(30), .horizon = ns(200), .action = ns(70), .act = true};
  const WindowReport second{.next = ns(20), .horizon = ns(100), .busy = true};
  for (int round = 0; round < 3; ++round) {
    for (const WindowReport& all : two.meet(first, second)) {
      EXPECT_EQ(all.next, ns(20));
      EXPECT_EQ(all.horizon, ns(100));
      EXPECT_EQ(all.action, ns(70));
      EXPECT_TRUE(all.act && all.busy && !all.stop);
    }
  }
}

TEST(WorkerMeeting, BringsMessagesToTheirNodesAndCountsThemAsEvents) {
  TwoWorkers two;
  two.from(0).push(NodeId{1}, PortNo{1}, tests::packet_pool().make(64), ns(15));
  two.from(1).push(NodeId{0}, PortNo{0}, tests::packet_pool().make(64), ns(10));
  uint32_t under_way = 0;
  two.meeting().see_messages([&](const Message&) { ++under_way; });
  EXPECT_EQ(under_way, 2U);
  for (const WindowReport& all : two.meet({.next = ns(30)}, {})) EXPECT_EQ(all.next, ns(10));
  EXPECT_EQ(two.inbox_of(0).last(PortNo{0}), ns(10));
  EXPECT_EQ(two.inbox_of(1).last(PortNo{1}), ns(15));
  for (const WindowReport& all : two.meet({.next = ns(30)}, {}))
    EXPECT_EQ(all.next, ns(30)) << "they are no messages any more";
  for (const uint32_t node : {0U, 1U}) PacketPool::release(two.inbox_of(node).take_first());
}

TEST(WorkerMeeting, DeliversWhatAnActionSendsAtOnce) {
  TwoWorkers two;
  two.from(0).push(NodeId{1}, PortNo{0}, tests::packet_pool().make(64), ns(5));
  two.meeting().deliver_all();
  EXPECT_EQ(two.inbox_of(1).next(), ns(5));
  for (const WindowReport& all : two.meet({}, {})) EXPECT_TRUE(all.next.is_never());
  PacketPool::release(two.inbox_of(1).take_first());
}

TEST(WorkerMeeting, OfOneWorkerIsWhatThisOneSays) {
  const std::vector<std::unique_ptr<Node>> none;
  WorkerMeeting alone{1, none};
  Meeting& meeting = alone;
  EXPECT_EQ(meeting.meet(0, {.next = ns(3)}).next, ns(3));
  meeting.wait(0);
}

}  // namespace
}  // namespace softspine::dataplane
