// SPDX-License-Identifier: Apache-2.0
// PrefixTrie against a walk over the whole list, bit by bit.
#include "dataplane/forwarding/prefix_trie.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "dataplane/packet/wire.hpp"
#include "dataplane/units/rng.hpp"
#include "tests/harness/seed.hpp"

namespace softspine::dataplane {
namespace {

bool bit_of(const AddressBytes& address, uint32_t bit) {
  return (address[bit / 8] >> (7 - bit % 8) & 1) != 0;
}

bool covers(const Prefix& prefix, const AddressBytes& address) {
  for (uint32_t bit = 0; bit < prefix.length; ++bit) {
    if (bit_of(prefix.address, bit) != bit_of(address, bit)) return false;
  }
  return true;
}

uint32_t slow_lookup(const std::vector<PrefixValue>& list, const AddressBytes& address) {
  uint32_t value = PrefixTrie::kMiss;
  int best = -1;
  for (const PrefixValue& entry : list) {
    if (entry.prefix.length < best || !covers(entry.prefix, address)) continue;
    best = entry.prefix.length;
    value = entry.value;
  }
  return value;
}

void flip_bit(AddressBytes& address, uint32_t bit) {
  address[bit / 8] ^= static_cast<uint8_t>(0x80 >> bit % 8);
}

Prefix prefix_of(AddressBytes address, uint32_t length) {
  for (uint32_t bit = length; bit < 128; ++bit) {
    if (bit_of(address, bit)) flip_bit(address, bit);
  }
  return {address, static_cast<uint8_t>(length)};
}

class Family {
 public:
  Family(uint32_t bits, Rng rng) : bits_(bits), rng_(rng) {}

  AddressBytes random_address() {
    AddressBytes address{};
    for (uint32_t i = 0; i < bits_ / 8; ++i) address[i] = static_cast<uint8_t>(rng_.next());
    return address;
  }
  // Near another: the first bits are shared, so prefixes lie inside each other and nodes skip bytes.
  AddressBytes near(const AddressBytes& base) {
    const uint64_t shared = rng_.below(bits_ + 1);
    AddressBytes address = base;
    for (auto bit = static_cast<uint32_t>(shared); bit < bits_; ++bit) {
      if ((rng_.next() & 1) != 0) flip_bit(address, bit);
    }
    return address;
  }
  std::vector<PrefixValue> random_list(uint64_t size) {
    std::vector<PrefixValue> list;
    AddressBytes base = random_address();
    for (uint64_t i = 0; i < size; ++i) {
      if (rng_.below(8) == 0) base = random_address();
      const auto length = static_cast<uint32_t>(rng_.below(4) == 0 ? bits_ : rng_.below(bits_ + 1));
      list.push_back({prefix_of(near(base), length), static_cast<uint32_t>(i)});
    }
    return list;
  }
  // By both ways where there are two.
  uint32_t found(const PrefixTrie& trie, const AddressBytes& address) const {
    const uint32_t value = trie.lookup(address.data());
    if (bits_ == 32) {
      EXPECT_EQ(trie.lookup_ipv4(load32(address.data())), value);
    }
    return value;
  }
  // At every prefix: an address inside, its first and last ones, and the two just outside.
  void expect_alike(const std::vector<PrefixValue>& list) {
    const PrefixTrie trie{list};
    for (const PrefixValue& entry : list) {
      AddressBytes last = entry.prefix.address;
      for (uint32_t bit = entry.prefix.length; bit < bits_; ++bit) flip_bit(last, bit);
      for (AddressBytes address : {entry.prefix.address, last, near(entry.prefix.address), random_address()}) {
        ASSERT_EQ(found(trie, address), slow_lookup(list, address));
        if (entry.prefix.length == 0) continue;
        flip_bit(address, static_cast<uint32_t>(rng_.below(entry.prefix.length)));
        ASSERT_EQ(found(trie, address), slow_lookup(list, address));
      }
    }
  }
  Rng& rng() { return rng_; }
  uint32_t bits() const { return bits_; }

 private:
  uint32_t bits_;
  Rng rng_;
};

class PrefixTrieOf : public testing::TestWithParam<uint32_t> {
 protected:
  Family family_{GetParam(), Rng{tests::seed(), GetParam()}};
};

TEST_P(PrefixTrieOf, FindsWhatAWalkOverRandomListsFinds) {
  for (int i = 0; i < 300; ++i) {
    SCOPED_TRACE(i);
    family_.expect_alike(family_.random_list(1 + family_.rng().below(60)));
    if (HasFatalFailure()) return;
  }
}

TEST_P(PrefixTrieOf, FindsEveryLengthOfOneAddressAndOfItsNeighbours) {
  const AddressBytes base = family_.random_address();
  std::vector<PrefixValue> list;
  for (uint32_t length = 0; length <= family_.bits(); ++length) list.push_back({prefix_of(base, length), length});
  family_.expect_alike(list);
  const PrefixTrie trie{list};
  for (uint32_t bit = 0; bit < family_.bits(); ++bit) {
    AddressBytes other = base;
    flip_bit(other, bit);
    EXPECT_EQ(trie.lookup(other.data()), bit) << "shares that many bits";
  }
  EXPECT_EQ(trie.lookup(base.data()), family_.bits());
}

TEST_P(PrefixTrieOf, KeepsHostRoutesApartDownToTheLastBit) {
  AddressBytes base = family_.random_address();
  const uint32_t last = family_.bits() / 8 - 1;
  std::vector<PrefixValue> list;
  for (uint32_t i = 0; i < 256; i += 3) {
    base[last] = static_cast<uint8_t>(i);
    list.push_back({prefix_of(base, family_.bits()), i});
  }
  const PrefixTrie trie{list};
  for (uint32_t i = 0; i < 256; ++i) {
    base[last] = static_cast<uint8_t>(i);
    EXPECT_EQ(trie.lookup(base.data()), i % 3 == 0 ? i : PrefixTrie::kMiss);
  }
}

TEST_P(PrefixTrieOf, ARouteTakenOutUncoversTheShorterOne) {
  std::vector<PrefixValue> list = family_.random_list(40);
  while (!list.empty()) {
    list.erase(list.begin() + static_cast<std::ptrdiff_t>(family_.rng().below(list.size())));
    family_.expect_alike(list);
    if (HasFatalFailure()) return;
  }
}

TEST_P(PrefixTrieOf, TheOrderOfTheListDoesNotMatter) {
  std::vector<PrefixValue> list;
  for (const PrefixValue& entry : family_.random_list(50)) {
    bool is_there = false;
    for (const PrefixValue& other : list) is_there = is_there || other.prefix == entry.prefix;
    if (!is_there) list.push_back(entry);
  }
  const PrefixTrie forward{list};
  const PrefixTrie backward{std::vector<PrefixValue>{list.rbegin(), list.rend()}};
  for (int i = 0; i < 20'000; ++i) {
    const AddressBytes address = family_.near(list[family_.rng().below(list.size())].prefix.address);
    ASSERT_EQ(forward.lookup(address.data()), backward.lookup(address.data()));
  }
}

TEST_P(PrefixTrieOf, OfEqualPrefixesTheLastOneCounts) {
  const Prefix prefix = prefix_of(family_.random_address(), 20);
  EXPECT_EQ(PrefixTrie({{prefix, 1}, {prefix, 2}, {prefix, 7}}).lookup(prefix.address.data()), 7u);
  EXPECT_EQ(PrefixTrie({{Prefix{}, 1}, {Prefix{}, 2}}).lookup(prefix.address.data()), 2u);
}

TEST_P(PrefixTrieOf, AnEmptyOneMissesAndADefaultRouteNever) {
  const AddressBytes address = family_.random_address();
  EXPECT_EQ(PrefixTrie{}.lookup(address.data()), PrefixTrie::kMiss);
  EXPECT_EQ(PrefixTrie{std::vector<PrefixValue>{}}.lookup(address.data()), PrefixTrie::kMiss);
  EXPECT_EQ(PrefixTrie({{Prefix{}, 5}}).lookup(address.data()), 5u);
}

INSTANTIATE_TEST_SUITE_P(Families, PrefixTrieOf, testing::Values(32u, 128u),
                         [](const auto& param) { return "Ipv" + std::string(param.param == 32 ? "4" : "6"); });

// The manual's claim: a thousand subnets that share their first bytes take some ten nodes of a kilobyte.
TEST(PrefixTrie, AThousandSubnetsTakeAboutTenNodes) {
  std::vector<PrefixValue> list;
  for (uint32_t i = 0; i < 1'000; ++i) {
    list.push_back({{{10, 1, static_cast<uint8_t>(i / 256), static_cast<uint8_t>(i)}, 32}, i});
  }
  EXPECT_LT(PrefixTrie{list}.memory_bytes(), 12u * 1'100);
}

}  // namespace
}  // namespace softspine::dataplane
