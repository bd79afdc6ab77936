// SPDX-License-Identifier: Apache-2.0
// The watchdogs of a switch alone: what they read is set by hand, what they find is compared. Nothing is carried out
// here.
#include "dataplane/egress/pfc_watchdogs.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace softspine::dataplane {
namespace {

constexpr Rate kLine = Rate::gbps(100);
constexpr Duration kPollInterval = Duration::us(100);

class TwoWatchedPorts {
 public:
  // Storms after two polls, restored after two.
  static QosPlan plan(WatchdogAction action) {
    QosPlan plan = QosPlan::plain(2, {1 << 20, 1 << 20, 1 << 20, 1 << 20, 1 << 20, 1 << 20, 1 << 20, 1 << 20});
    plan.watchdog_poll = kPollInterval;
    for (PortQosPlan& port : plan.ports) {
      port.pfc_enabled = 0x18;
      port.watchdog = {
          .action = action, .detection = kPollInterval * 2, .restoration = kPollInterval * 2, .priorities = 0x18};
    }
    return plan;
  }
  explicit TwoWatchedPorts(WatchdogAction action) : plan_(plan(action)) {
    mmu_.apply(plan_.buffer);
    flow_control_.apply(plan_, now_);
    watchdogs_.apply(plan_, [](const WatchdogFinding&) { FAIL() << "nothing was watched before"; });
  }

  // Something waits in the queue of that priority, and its neighbour says XOFF again before each poll.
  void pause(uint16_t port, uint8_t priority) {
    counters_[port].queues[priority].current_packets = 1;
    flow_control_.port(port).receive(PfcFrame::of(static_cast<uint8_t>(1U << priority), 0xffff), kLine, now_);
  }
  std::string poll() {
    now_ = now_ + kPollInterval;
    std::string found;
    watchdogs_.poll(now_, [&](const WatchdogFinding& finding) { found += text_of(finding); });
    return found;
  }
  std::string apply(const QosPlan& next) {
    std::string found;
    watchdogs_.apply(next, [&](const WatchdogFinding& finding) { found += text_of(finding); });
    return found;
  }
  // As "1.3 storm drop; ".
  static std::string text_of(const WatchdogFinding& finding) {
    const std::string where = std::to_string(finding.port.value()) + '.' + std::to_string(finding.priority.value());
    if (finding.event == WatchdogEvent::kRestored) return where + " restored; ";
    return where + (finding.action == WatchdogAction::kDrop ? " storm drop; " : " storm forward; ");
  }
  std::vector<PortCounters>& counters() { return counters_; }
  PfcWatchdogs& watchdogs() { return watchdogs_; }

 private:
  Instant now_;
  QosPlan plan_;
  Mmu mmu_{2};
  PriorityGroupFlowControl flow_control_{2, mmu_};
  std::vector<PortCounters> counters_{2};
  PfcWatchdogs watchdogs_{flow_control_, mmu_, counters_};
};

TEST(PfcWatchdogs, ReportAStormWithItsActionAndTheRestorationOnceEach) {
  TwoWatchedPorts ports{WatchdogAction::kDrop};
  std::vector<std::string> found;
  for (int poll = 0; poll < 4; ++poll) {
    ports.pause(1, 3);
    found.push_back(ports.poll());
  }
  for (int poll = 0; poll < 3; ++poll) found.push_back(ports.poll());
  EXPECT_EQ(found, (std::vector<std::string>{"", "1.3 storm drop; ", "", "", "", "1.3 restored; ", ""}));
}

TEST(PfcWatchdogs, LookAtTheNextPriorityAfterTheFindingWasCarriedOut) {
  TwoWatchedPorts ports{WatchdogAction::kForward};
  for (int poll = 0; poll < 2; ++poll) {
    ports.pause(0, 3);
    ports.pause(0, 4);
    if (poll == 0) (void)ports.poll();
  }
  std::string found;
  ports.watchdogs().poll(Instant::at_ps(0) + kPollInterval * 2, [&](const WatchdogFinding& finding) {
    found += TwoWatchedPorts::text_of(finding);
    ++ports.counters()[0].queues[4].packets;  // by what was done for priority 3, priority 4 has sent
  });
  EXPECT_EQ(found, "0.3 storm forward; ");
}

TEST(PfcWatchdogs, EndAStormWhenTheNewPlanWatchesItsPortOtherwise) {
  TwoWatchedPorts ports{WatchdogAction::kDrop};
  for (int poll = 0; poll < 2; ++poll) {
    ports.pause(0, 4);
    ports.pause(1, 3);
    (void)ports.poll();
  }
  const QosPlan same = TwoWatchedPorts::plan(WatchdogAction::kDrop);
  EXPECT_EQ(ports.apply(same), "");
  QosPlan other = same;
  other.ports[1].watchdog.action = WatchdogAction::kForward;
  EXPECT_EQ(ports.apply(other), "1.3 restored; ");
  EXPECT_TRUE(ports.watchdogs().at(PortNo{0}, Priority{4}).stormed());
}

// Polls at which these priorities of port 1 are paused; what was found, poll by poll.
std::vector<std::string> found_while_paused(TwoWatchedPorts& ports, const std::vector<uint8_t>& priorities, int polls) {
  std::vector<std::string> found;
  for (int poll = 0; poll < polls; ++poll) {
    for (const uint8_t priority : priorities) ports.pause(1, priority);
    found.push_back(ports.poll());
  }
  return found;
}

QosPlan counting_while_enabled() {
  QosPlan plan = TwoWatchedPorts::plan(WatchdogAction::kDrop);
  for (PortQosPlan& port : plan.ports) port.watchdog.counts_while_enabled = true;
  return plan;
}

// Two polls each: found, over, found … though the pauses never end.
TEST(PfcWatchdogs, FlapWhereAllPrioritiesStormAndTheChipCountsOnlyWhilePfcIsOn) {
  const QosPlan plan = counting_while_enabled();
  TwoWatchedPorts ports{WatchdogAction::kDrop};
  (void)ports.apply(plan);
  const std::string storm = "1.3 storm drop; 1.4 storm drop; ";
  const std::string over = "1.3 restored; 1.4 restored; ";
  EXPECT_EQ(found_while_paused(ports, {3, 4}, 8), (std::vector<std::string>{"", storm, "", over, "", storm, "", over}));
}

TEST(PfcWatchdogs, HoldWhereOnePriorityHasNoStorm) {
  const QosPlan plan = counting_while_enabled();
  TwoWatchedPorts ports{WatchdogAction::kDrop};
  (void)ports.apply(plan);
  EXPECT_EQ(found_while_paused(ports, {3}, 6), (std::vector<std::string>{"", "1.3 storm drop; ", "", "", "", ""}));
}

TEST(PfcWatchdogs, HoldWhereTheChipCountsAlways) {
  TwoWatchedPorts ports{WatchdogAction::kDrop};
  EXPECT_EQ(found_while_paused(ports, {3, 4}, 6),
            (std::vector<std::string>{"", "1.3 storm drop; 1.4 storm drop; ", "", "", "", ""}));
}

TEST(PfcWatchdogs, AttributeToAStormWhatWasDroppedSinceItBegan) {
  TwoWatchedPorts ports{WatchdogAction::kDrop};
  ports.counters()[1].queues[3].dropped_packets = 10;  // before
  for (int poll = 0; poll < 2; ++poll) {
    ports.pause(1, 3);
    (void)ports.poll();
  }
  ports.counters()[1].queues[3].dropped_packets += 7;
  const WatchdogTraffic by_now = ports.watchdogs().traffic(PortNo{1}, Priority{3});
  EXPECT_EQ(ports.watchdogs().at(PortNo{1}, Priority{3}).in_storms(by_now).tx_drops, 7u);
}

}  // namespace
}  // namespace softspine::dataplane
