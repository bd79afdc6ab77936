// SPDX-License-Identifier: Apache-2.0
// The list of what struck a fabric: in which order it is told. Made by hand.
#include "testbeds/run/incidents.hpp"

#include <gmock/gmock.h>

namespace softspine::testbeds {
namespace {

using dataplane::Duration;
using dataplane::Instant;
using testing::ElementsAre;

Instant at_us(int64_t us) {
  return Instant::at(Duration::us(us));
}
std::vector<std::string> words_of(const auto& all) {
  std::vector<std::string> out;
  for (const auto& each : all) out.push_back(each.what);
  return out;
}

// The order in which parts act at an instant is the run's, and shows nowhere.
TEST(Incidents, OfOneInstantAreToldByWhoseTheyAreAndThenAsTheyHappened) {
  Incidents all;
  all.add(IncidentOf::kDeadlocks, at_us(1), "seen before");
  all.add(IncidentOf::kDeadlocks, at_us(2), "deadlock");
  all.add(IncidentOf::kOutsides, at_us(2), "outside");
  all.add(IncidentOf::kRoutes, at_us(2), "tor2");
  all.add(IncidentOf::kRoutes, at_us(2), "tor1");
  all.add(IncidentOf::kPortsAndHosts, at_us(2), "port");
  all.add(IncidentOf::kStacks, at_us(2), "stack");
  all.add(IncidentOf::kLinks, at_us(2), "second link");
  all.add(IncidentOf::kLinks, at_us(2), "first link");
  EXPECT_THAT(words_of(all.since(1)),
              ElementsAre("second link", "first link", "stack", "port", "tor2", "tor1", "outside", "deadlock"));
  EXPECT_THAT(words_of(all.since(all.count())), ElementsAre());
}

TEST(Incidents, FaultsAreLinksStacksPortsAndHostsByInstantAndThenByWhoseTheyAre) {
  Incidents all;
  all.add(IncidentOf::kPortsAndHosts, at_us(3), "late port", 7);
  all.add(IncidentOf::kPortsAndHosts, at_us(2), "second port", 6);
  all.add(IncidentOf::kPortsAndHosts, at_us(2), "first port", 5);
  all.add(IncidentOf::kStacks, at_us(2), "stack");
  all.add(IncidentOf::kRoutes, at_us(2), "tor1");
  all.add(IncidentOf::kLinks, at_us(4), "late link", 3);
  all.add(IncidentOf::kLinks, at_us(2), "link", 2);
  all.add(IncidentOf::kOutsides, at_us(2), "outside");
  all.add(IncidentOf::kDeadlocks, at_us(2), "deadlock");
  const std::vector<control::FaultSnapshot> faults = all.faults();
  EXPECT_THAT(words_of(faults), ElementsAre("link", "stack", "second port", "first port", "late port", "late link"));
  std::vector<uint32_t> numbers;
  for (const control::FaultSnapshot& each : faults) numbers.push_back(each.number);
  EXPECT_THAT(numbers, ElementsAre(2, control::kNone, 6, 5, 7, 3));
  EXPECT_EQ(faults[4].at, at_us(3));
}

}  // namespace
}  // namespace softspine::testbeds
