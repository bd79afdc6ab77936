// SPDX-License-Identifier: Apache-2.0
#include "control/explain/tier_tests.hpp"

#include <algorithm>
#include <cmath>
#include <unordered_set>

namespace softspine::control {

namespace {

uint64_t joined(uint64_t a, uint64_t b) {
  a = (a ^ (a >> 32)) * 0x9E3779B97F4A7C15 + b;
  a = (a ^ (a >> 29)) * 0xBF58476D1CE4E5B9;
  return a ^ (a >> 32);
}

// One item of a stratum, in the order in which strata and equal items stand together.
struct Entry {
  uint64_t stratum = 0;
  uint64_t key = 0;
  uint32_t row = 0;
  uint32_t column = 0;
  friend auto operator<=>(const Entry&, const Entry&) = default;
};

// A link of a group that a flow of the stratum uses.
struct Use {
  uint64_t stratum = 0;
  uint32_t group = 0;
  uint32_t link = 0;
  friend auto operator<=>(const Use&, const Use&) = default;
};

// `visit(begin, end)` of each stratum.
template <typename Entries, typename Visit>
void by_stratum(const Entries& entries, Visit&& visit) {
  for (size_t begin = 0; begin < entries.size();) {
    size_t end = begin;
    while (end < entries.size() && entries[end].stratum == entries[begin].stratum) ++end;
    visit(begin, end);
    begin = end;
  }
}

// The choice of a flow at a tier, and the flow's choices before.
struct At {
  const MetChoice* met = nullptr;
  std::span<const MetChoice> before;
};
At choice_at(const FlowChoices& choices, uint64_t flow, uint32_t tier) {
  const auto met = choices.of(flow);
  for (size_t i = 0; i < met.size(); ++i) {
    if (choices.groups[met[i].group].tier == tier) return {&met[i], met.first(i)};
  }
  return {};
}

class TierItems {
 public:
  TierItems(const FlowChoices& choices, uint32_t tier) : choices_(choices) {
    for (uint64_t flow = 0; flow < choices.flows(); ++flow) {
      const MetChoice* met = choice_at(choices, flow, tier).met;
      if (met == nullptr) continue;
      items_.push_back({met->group, met->key, met->link, static_cast<double>(choices.bytes[flow])});
    }
    std::ranges::sort(items_, {}, [](const Item& item) { return std::tuple{item.stratum, item.key, item.link}; });
  }
  bool has_bytes() const {
    const auto differs = [this](const Item& item) { return item.bytes != items_.front().bytes; };
    return std::ranges::any_of(items_, differs) &&
           std::ranges::none_of(items_, [](const Item& item) { return item.bytes == 0; });
  }
  uint64_t distinct_keys() const {
    std::unordered_set<uint64_t> keys;
    for (const Item& item : items_) keys.insert(item.key);
    return keys.size();
  }
  Evenness of_flows(double finest) const {
    return tested(finest, [this](size_t i) { return EvennessTest::Item{items_[i].link, 1}; });
  }
  Evenness of_bytes(double finest) const {
    // In units of the mean, so that powers stay in range.
    double sum = 0;
    for (const Item& item : items_) sum += item.bytes;
    const double mean = sum / static_cast<double>(std::max<size_t>(1, items_.size()));
    return tested(finest,
                  [this, mean](size_t i) { return EvennessTest::Item{items_[i].link, items_[i].bytes / mean}; });
  }
  // An item for each key: as many flows as have it.
  Evenness of_keys(double finest) const {
    EvennessTest test;
    std::vector<EvennessTest::Item> items;
    by_stratum(items_, [&](size_t begin, size_t end) {
      items.clear();
      for (size_t i = begin; i < end; ++i) {
        const bool is_same = i > begin && items_[i].key == items_[i - 1].key && items_[i].link == items_[i - 1].link;
        if (!is_same) items.push_back({items_[i].link, 0});
        items.back().size += 1;
      }
      test.add(choices_.groups[items_[begin].stratum].weights, items);
    });
    return test.result(finest);
  }

 private:
  struct Item {
    uint64_t stratum;  // the group
    uint64_t key;
    uint32_t link;
    double bytes;
  };
  template <typename ItemOf>
  Evenness tested(double finest, ItemOf&& item_of) const {
    EvennessTest test;
    std::vector<EvennessTest::Item> items;
    by_stratum(items_, [&](size_t begin, size_t end) {
      items.clear();
      for (size_t i = begin; i < end; ++i) items.push_back(item_of(i));
      test.add(choices_.groups[items_[begin].stratum].weights, items);
    });
    return test.result(finest);
  }

  const FlowChoices& choices_;
  std::vector<Item> items_;
};

}  // namespace

TierEvenness evenness_of(const FlowChoices& choices, uint32_t tier, double finest) {
  const TierItems items(choices, tier);
  TierEvenness out{.flows = items.of_flows(finest),
                   .keys = items.of_keys(finest),
                   .bytes = {},
                   .distinct_keys = items.distinct_keys(),
                   .has_bytes = items.has_bytes()};
  if (out.has_bytes) out.bytes = items.of_bytes(finest);
  return out;
}

Dependence dependence_of(const FlowChoices& choices, uint32_t earlier, uint32_t later, SharedBy by, double finest) {
  std::vector<Entry> entries;
  const auto place_of = [&](const MetChoice& met) {
    return by == SharedBy::kLink ? uint64_t{met.group} : uint64_t{choices.groups[met.group].shape};
  };
  for (uint64_t flow = 0; flow < choices.flows(); ++flow) {
    const At second = choice_at(choices, flow, later);
    const At first = choice_at(choices, flow, earlier);
    if (first.met == nullptr || second.met == nullptr) continue;
    uint64_t stratum = joined(place_of(*first.met), choices.groups[second.met->group].shape);
    for (const MetChoice& met : first.before) stratum = joined(stratum, joined(place_of(met), met.link));
    entries.push_back({stratum, joined(first.met->key, second.met->key), first.met->link, second.met->link});
  }
  std::ranges::sort(entries);
  const auto repeated = std::ranges::unique(entries);
  entries.erase(repeated.begin(), repeated.end());
  DependenceTest test;
  std::vector<DependenceTest::Item> items;
  by_stratum(entries, [&](size_t begin, size_t end) {
    items.clear();
    for (size_t i = begin; i < end; ++i) items.push_back({entries[i].row, entries[i].column});
    test.add(items);
  });
  return test.result(finest);
}

double used_of_chance(const FlowChoices& choices, uint32_t earlier, uint32_t later) {
  std::vector<Use> uses;
  for (uint64_t flow = 0; flow < choices.flows(); ++flow) {
    const MetChoice* second = choice_at(choices, flow, later).met;
    const MetChoice* first = choice_at(choices, flow, earlier).met;
    if (first == nullptr || second == nullptr) continue;
    uses.push_back({joined(joined(first->group, first->link), second->group), second->group, second->link});
  }
  std::ranges::sort(uses);
  double used = 0;
  double by_chance = 0;
  by_stratum(uses, [&](size_t begin, size_t end) {
    const auto n = static_cast<double>(end - begin);
    if (end - begin < 2) return;
    for (size_t i = begin; i < end; ++i) used += i == begin || uses[i].link != uses[i - 1].link ? 1 : 0;
    for (const double weight : choices.groups[uses[begin].group].weights) by_chance += 1 - std::pow(1 - weight, n);
  });
  return by_chance > 0 ? used / by_chance : 1;
}

}  // namespace softspine::control
