// SPDX-License-Identifier: Apache-2.0
// Fdb and NeighbourTable against a std::map.
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <utility>

#include "dataplane/forwarding/fdb.hpp"
#include "dataplane/forwarding/neighbour_table.hpp"
#include "dataplane/units/rng.hpp"
#include "tests/harness/seed.hpp"

namespace softspine::dataplane {
namespace {

struct Seen {
  uint16_t port;
  Instant at;
};

// Few stations and a big table, so that nothing has to give way.
TEST(Fdb, KnowsTheLastPortOfEachStationUntilItIsTooOld) {
  Rng rng{tests::seed(), 21};
  Fdb fdb;
  std::map<std::pair<uint16_t, uint64_t>, Seen> model;
  std::set<std::pair<uint16_t, uint64_t>> forgotten;
  Instant now;
  for (int i = 0; i < 50'000; ++i) {
    now = now + Duration::ms(static_cast<int64_t>(rng.below(3'000)));
    const auto vlan = static_cast<uint16_t>(1 + rng.below(3));
    const uint64_t mac = 0x020000000000 + rng.below(200);
    const auto port = static_cast<uint16_t>(rng.below(8));
    const auto it = model.find({vlan, mac});
    const bool is_fresh = it != model.end() && now - it->second.at < Fdb::kAge;
    ASSERT_EQ(fdb.find(vlan, mac, now), is_fresh ? it->second.port : Fdb::kUnknown) << i;
    const bool is_forgotten = it == model.end() && forgotten.contains({vlan, mac});
    const bool was_never_heard = it == model.end() && !is_forgotten;
    ASSERT_EQ(fdb.is_fresh(vlan, mac, now), is_fresh || (was_never_heard && now - Instant{} < Fdb::kAge)) << i;
    if (rng.below(8) == 0) {
      fdb.learn(vlan, mac, port, now);
      model[{vlan, mac}] = {port, now};
    }
    if (rng.below(2'000) == 0) {
      fdb.forget(port);
      std::erase_if(model, [&](const auto& entry) {
        if (entry.second.port != port) return false;
        forgotten.insert(entry.first);
        return true;
      });
    }
  }
  EXPECT_EQ(fdb.evictions(), 0u);
}

TEST(Fdb, AFullNeighbourhoodGivesUpItsOldestAndCountsIt) {
  Fdb fdb{Fdb::kMaxProbes};  // one neighbourhood
  for (uint64_t i = 0; i < Fdb::kMaxProbes; ++i) {
    fdb.learn(1, 100 + i, static_cast<uint16_t>(i), Instant::at(Duration::ms(static_cast<int64_t>(i))));
  }
  const Instant later = Instant::at(Duration::s(1));
  EXPECT_EQ(fdb.evictions(), 0u);
  fdb.learn(1, 200, 9, later);
  EXPECT_EQ(fdb.evictions(), 1u);
  EXPECT_EQ(fdb.find(1, 200, later), 9);
  EXPECT_EQ(fdb.find(1, 100, later), Fdb::kUnknown);
  for (uint64_t i = 1; i < Fdb::kMaxProbes; ++i) EXPECT_EQ(fdb.find(1, 100 + i, later), i);
}

AddressBytes address_of(uint64_t n) {
  return {10, 0, static_cast<uint8_t>(n >> 8), static_cast<uint8_t>(n)};
}

TEST(NeighbourTable, KnowsTheLastAdjacencyOfEachNeighbour) {
  Rng rng{tests::seed(), 22};
  NeighbourTable table{512};
  std::map<AddressBytes, uint16_t> model;
  for (int i = 0; i < 50'000; ++i) {
    const AddressBytes address = address_of(rng.below(300));
    const auto port = static_cast<uint16_t>(rng.below(8));
    const uint32_t found = table.find(address);
    const auto it = model.find(address);
    ASSERT_EQ(found != NeighbourTable::kNone, it != model.end());
    if (it != model.end()) {
      ASSERT_EQ(table.adjacency(found).port, it->second);
    }
    switch (rng.below(400)) {
      case 0:
        table.forget(port);
        std::erase_if(model, [port](const auto& entry) { return entry.second == port; });
        break;
      case 1:
      case 2:
      case 3:
      case 4:
        table.learn(address, Adjacency{.port = port}, Instant{});
        model[address] = port;
        break;
      default: break;
    }
  }
  EXPECT_EQ(table.refusals(), 0u);
}

TEST(NeighbourTable, AsksAtOnceThenOncePerInterval) {
  NeighbourTable table;
  const Instant start;
  EXPECT_TRUE(table.should_ask(address_of(1), start));
  EXPECT_FALSE(table.should_ask(address_of(1), start));
  EXPECT_TRUE(table.should_ask(address_of(2), start)) << "each address has its own interval";
  EXPECT_FALSE(table.should_ask(address_of(1), start + (NeighbourTable::kAskInterval - Duration::ps(1))));
  EXPECT_TRUE(table.should_ask(address_of(1), start + NeighbourTable::kAskInterval));
}

TEST(NeighbourTable, AFullOneLearnsNoMoreButKeepsWhatItKnows) {
  NeighbourTable table{16};
  for (uint64_t n = 0; n < 20; ++n) table.learn(address_of(n), Adjacency{.port = static_cast<uint16_t>(n)}, Instant{});
  EXPECT_EQ(table.refusals(), 8u);
  for (uint64_t n = 0; n < 20; ++n) EXPECT_EQ(table.find(address_of(n)) != NeighbourTable::kNone, n < 12) << n;
  table.learn(address_of(3), Adjacency{.port = 77}, Instant{});
  EXPECT_EQ(table.adjacency(table.find(address_of(3))).port, 77);
}

TEST(NeighbourTable, NamesEachCompleteNeighbourOnce) {
  NeighbourTable table;
  table.learn(address_of(1), Adjacency{.port = 1}, Instant{});
  table.learn(address_of(2), Adjacency{.port = 2}, Instant{});
  table.should_ask(address_of(3), Instant{});
  table.forget(2);
  std::map<AddressBytes, int> seen;
  table.for_each([&seen](const AddressBytes& address, const Adjacency&) { ++seen[address]; });
  EXPECT_EQ(seen, (std::map<AddressBytes, int>{{address_of(1), 1}}));
}

}  // namespace
}  // namespace softspine::dataplane
