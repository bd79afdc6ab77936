// SPDX-License-Identifier: Apache-2.0
// One lookup at the switch against a search of all overrides and all routes, on random tables.
#include "control/compile/override_routes.hpp"

#include <gtest/gtest.h>

#include <optional>

#include "dataplane/units/rng.hpp"
#include "tests/harness/seed.hpp"

namespace softspine::control {
namespace {

using dataplane::OverrideEntry;
using dataplane::OverrideTable;
using dataplane::Prefix;
using dataplane::PrefixTrie;
using dataplane::PrefixValue;
using dataplane::Rng;
using dataplane::RouteKind;
using dataplane::RouteValue;

constexpr uint32_t kHopOffset = 1000;  // hop_at(port)

struct Tables {
  PlannedRoutes routes;  // before
  std::vector<PortOverride> overrides;
  PrefixTrie trie;
  OverrideTable table;
};

Prefix prefix(std::initializer_list<uint8_t> bytes, uint8_t length) {
  Prefix out{.address = {}, .length = length};
  std::copy(bytes.begin(), bytes.end(), out.address.begin());
  return out;
}

Tables compiled(PlannedRoutes routes, std::vector<PortOverride> overrides) {
  Tables out{.routes = routes, .overrides = std::move(overrides), .trie = {}, .table = {}};
  add_overrides(routes, out.overrides, [](uint16_t port) { return kHopOffset + port; }, out.table);
  std::vector<PrefixValue> list;
  for (const auto& [key, route] : routes) list.push_back({key, route.value});
  out.trie = PrefixTrie{list};
  return out;
}

struct Found {
  uint32_t route = PrefixTrie::kMiss;  // packed
  bool fell_back = false;
  friend bool operator==(const Found&, const Found&) = default;
};

// As the switch does it.
Found by_table(const Tables& tables, const dataplane::AddressBytes& address, uint16_t in_port) {
  const uint32_t found = tables.trie.lookup(address.data());
  if (RouteValue{found}.kind() != RouteKind::kOverride) return {found};
  const uint32_t set = RouteValue{found}.index();
  const OverrideEntry* entry = tables.table.find(set, in_port);
  if (entry == nullptr || entry->is_withdrawn()) return {tables.table.set(set).route, entry != nullptr};
  return {RouteValue{RouteKind::kAdjacency, entry->next_hop}.packed()};
}

bool covers(const Prefix& prefix, const dataplane::AddressBytes& address) {
  for (uint32_t bit = 0; bit < prefix.length; ++bit) {
    const auto mask = static_cast<uint8_t>(0x80 >> bit % 8);
    if (((prefix.address[bit / 8] ^ address[bit / 8]) & mask) != 0) return false;
  }
  return true;
}

// By the rule, one after the other.
Found by_search(const Tables& tables, const dataplane::AddressBytes& address, uint16_t in_port) {
  std::optional<PlannedRoute> route;
  int longest = -1;
  for (const auto& [key, each] : tables.routes) {
    if (key.length <= longest || !covers(key, address)) continue;
    longest = key.length;
    route = each;
  }
  const PortOverride* best = nullptr;
  for (const PortOverride& each : tables.overrides) {
    if (each.in_port != in_port || !covers(each.to, address)) continue;
    if (best == nullptr || each.to.length > best->to.length ||
        (each.to.length == best->to.length && each.number < best->number)) {
      best = &each;
    }
  }
  const uint32_t below = route ? route->value : PrefixTrie::kMiss;
  const bool is_own = route && RouteValue{below}.kind() == RouteKind::kLocal;
  if (best == nullptr || is_own) return {below};
  const bool leads =
      route && route->ports != nullptr && std::ranges::find(*route->ports, best->out_port) != route->ports->end();
  if (!leads) return {below, true};
  return {RouteValue{RouteKind::kAdjacency, kHopOffset + best->out_port}.packed()};
}

// Prefixes that often lie in each other: of a few bits behind 10.0.
Prefix random_prefix(Rng& rng) {
  const auto length = static_cast<uint8_t>(14 + rng.below(19));
  Prefix out = prefix({10, 0, static_cast<uint8_t>(rng.below(4) << 6), static_cast<uint8_t>(rng.below(4))}, length);
  for (uint32_t bit = length; bit < 32; ++bit) out.address[bit / 8] &= static_cast<uint8_t>(~(0x80 >> bit % 8));
  return out;
}

TEST(OverrideRoutes, OneLookupFindsWhatASearchOfAllFinds) {
  const std::vector<std::vector<uint16_t>> groups{{4, 5, 6, 7}, {5, 7}, {6}};
  uint64_t hits = 0;
  uint64_t fallbacks = 0;
  uint64_t misses = 0;
  for (uint64_t round = 0; round < 400; ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    Rng rng(tests::seed(), round);
    PlannedRoutes routes;
    for (uint32_t i = 0; i < 1 + rng.below(12); ++i) {
      const uint32_t kind = static_cast<uint32_t>(rng.below(6));
      if (kind == 0) {
        routes[random_prefix(rng)] = {RouteValue{RouteKind::kLocal, 0}.packed(), nullptr};
      } else if (kind == 1) {
        routes[random_prefix(rng)] = {RouteValue{RouteKind::kSubnet, i}.packed(), nullptr};
      } else {
        const uint32_t group = static_cast<uint32_t>(rng.below(groups.size()));
        routes[random_prefix(rng)] = {RouteValue{RouteKind::kEcmpGroup, group}.packed(), &groups[group]};
      }
    }
    std::vector<PortOverride> overrides;
    for (uint32_t i = 0; i < rng.below(12); ++i) {
      overrides.push_back(
          {random_prefix(rng), static_cast<uint16_t>(rng.below(4)), static_cast<uint16_t>(4 + rng.below(4)), i});
    }
    const Tables tables = compiled(routes, overrides);
    for (uint32_t packet = 0; packet < 200; ++packet) {
      dataplane::AddressBytes address =
          prefix({10, 0, static_cast<uint8_t>(rng.below(4) << 6 | rng.below(2)), static_cast<uint8_t>(rng.below(5))},
                 32)
              .address;
      const auto in_port = static_cast<uint16_t>(rng.below(4));
      const Found expected = by_search(tables, address, in_port);
      ASSERT_EQ(by_table(tables, address, in_port), expected) << "packet " << packet << " of port " << in_port;
      const bool is_hit = RouteValue{expected.route}.kind() == RouteKind::kAdjacency;
      hits += is_hit;
      fallbacks += expected.fell_back;
      misses += !is_hit && !expected.fell_back;
    }
  }
  EXPECT_GT(hits, 2'000u);
  EXPECT_GT(fallbacks, 2'000u);
  EXPECT_GT(misses, 2'000u);
}

TEST(OverrideRoutes, WithoutOverridesTheRoutesStayAsTheyAre) {
  const std::vector<uint16_t> ports{4, 5};
  PlannedRoutes routes{{prefix({10, 0, 1}, 24), {RouteValue{RouteKind::kEcmpGroup, 0}.packed(), &ports}}};
  const Tables tables = compiled(routes, {});
  EXPECT_EQ(by_table(tables, prefix({10, 0, 1, 9}, 32).address, 0).route,
            (RouteValue{RouteKind::kEcmpGroup, 0}.packed()));
  EXPECT_TRUE(tables.table.entries().empty());
}

TEST(OverrideRoutes, TheFilesGoBeforeTheControllers) {
  const std::vector<uint16_t> ports{4, 5};
  const PlannedRoutes routes{{prefix({10, 0, 1}, 24), {RouteValue{RouteKind::kEcmpGroup, 0}.packed(), &ports}}};
  const Prefix host = prefix({10, 0, 1, 9}, 32);
  const Tables tables = compiled(routes, {{host, 0, 5, 1}, {host, 0, 4, 0}});
  EXPECT_EQ(by_table(tables, host.address, 0).route, (RouteValue{RouteKind::kAdjacency, kHopOffset + 4}.packed()));
}

TEST(OverrideRoutes, APortThatIsNoNextHopAnyMoreFallsBack) {
  const std::vector<uint16_t> ports{5};
  const PlannedRoutes routes{{prefix({10, 0, 1}, 24), {RouteValue{RouteKind::kAdjacency, 3}.packed(), &ports}}};
  const Prefix host = prefix({10, 0, 1, 9}, 32);
  const Tables tables = compiled(routes, {{host, 0, 4, 0}, {host, 1, 5, 1}});
  EXPECT_EQ(by_table(tables, host.address, 0), (Found{RouteValue{RouteKind::kAdjacency, 3}.packed(), true}));
  EXPECT_EQ(by_table(tables, host.address, 1), (Found{RouteValue{RouteKind::kAdjacency, kHopOffset + 5}.packed()}));
  EXPECT_EQ(by_table(tables, host.address, 2), (Found{RouteValue{RouteKind::kAdjacency, 3}.packed()})) << "a miss";
}

}  // namespace
}  // namespace softspine::control
