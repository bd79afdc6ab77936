// SPDX-License-Identifier: Apache-2.0
#include "analysis/explain/tier_tests.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <unordered_set>

#include "analysis/explain/group_tail.hpp"
#include "analysis/explain/likelihood.hpp"

namespace softspine::analysis {

namespace {

uint64_t joined(uint64_t a, uint64_t b) {
  a = (a ^ (a >> 32)) * 0x9E3779B97F4A7C15 + b;
  a = (a ^ (a >> 29)) * 0xBF58476D1CE4E5B9;
  return a ^ (a >> 32);
}

// One item of a stratum, in the order in which strata and equal items stand together.
struct Entry {
  uint64_t stratum = 0;
  FunctionPair functions;
  uint64_t draw = 0;
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

class TierItems {
 public:
  TierItems(const FlowChoices& choices, uint32_t tier) : choices_(choices) {
    for (uint64_t flow = 0; flow < choices.flows(); ++flow) {
      const MetChoice* met = choice_at(choices, flow, tier).met;
      if (met == nullptr) continue;
      const LinkGroup& group = choices.groups[met->group];
      const uint64_t draw = joined(joined(group.function, group.shape), met->key) | 1;
      keys_.insert(met->key);
      items_.push_back({met->group, draw, met->link, static_cast<double>(choices.bytes[flow])});
    }
    std::ranges::sort(items_, {}, [](const Item& item) { return std::tuple{item.stratum, item.draw, item.link}; });
  }
  bool has_bytes() const {
    const auto differs = [this](const Item& item) { return item.bytes != items_.front().bytes; };
    return std::ranges::any_of(items_, differs) &&
           std::ranges::none_of(items_, [](const Item& item) { return item.bytes == 0; });
  }
  uint64_t distinct_keys() const { return keys_.size(); }
  Evenness of_keys(double finest) const {
    EvennessTest test;
    add_groups(test, [](const Item&) { return 1.0; }, true);
    return test.result(finest);
  }
  Evenness of_bytes(double finest) const {
    // In units of the mean, so that powers stay in range.
    double sum = 0;
    for (const Item& item : items_) sum += item.bytes;
    const double mean = sum / static_cast<double>(std::max<size_t>(1, items_.size()));
    EvennessTest test;
    add_groups(test, [mean](const Item& item) { return item.bytes / mean; }, true);
    return test.result(finest);
  }
  // The unevenness that their keys cause, and no more.
  Evenness of_flows(double finest) const {
    EvennessTest test;
    add_groups(test, [](const Item&) { return 1.0; }, false);
    double by_keys = 0;
    by_stratum(items_, [&](size_t begin, size_t end) { by_keys += by_keys_of(begin, end); });
    return test.result(finest, by_keys);
  }
  std::vector<UnevenEcmpGroup> uneven_groups(double finest, double of_concern) const {
    uint32_t groups = 0;
    by_stratum(items_, [&](size_t begin, size_t end) { groups += end - begin > 1; });
    constexpr double kTests = 2;
    const double most = finest / (kTests * std::max(groups, 1U));
    std::vector<UnevenEcmpGroup> out;
    by_stratum(items_, [&](size_t begin, size_t end) {
      const auto is_uneven = [&](const GroupTail& tail) { return tail.likely < most && tail.deviation2 > of_concern; };
      const auto group = static_cast<uint32_t>(items_[begin].stratum);
      const std::vector<double>& weights = choices_.groups[group].weights;
      const auto one = [](const Item&) { return 1.0; };
      const GroupTail keys = group_tail(weights, items_of(begin, end, one, true));
      if (is_uneven(keys)) return out.push_back({group, false, keys.deviation2});
      const GroupTail flows = group_tail(weights, items_of(begin, end, one, false), by_keys_of(begin, end));
      if (is_uneven(flows)) out.push_back({group, true, flows.deviation2});
    });
    return out;
  }

 private:
  struct Item {
    uint64_t stratum;  // the group
    uint64_t draw;
    uint32_t link;
    double bytes;
  };

  // U that flows which share a key have under any hash: 1 / w − 1 for each pair, m − 1 on average.
  double by_keys_of(size_t begin, size_t end) const {
    double pairs = 0;
    for (size_t i = begin, first = begin; i < end; ++i) {
      if (items_[i].draw != items_[first].draw) first = i;
      pairs += static_cast<double>(i - first);
    }
    return pairs * static_cast<double>(choices_.groups[items_[begin].stratum].weights.size() - 1);
  }

  // An item for each flow, or for each key as large as its flows together.
  template <typename SizeOf>
  std::vector<EvennessTest::Item> items_of(size_t begin, size_t end, SizeOf&& size_of, bool by_key) const {
    std::vector<EvennessTest::Item> out;
    for (size_t i = begin; i < end; ++i) {
      const Item& item = items_[i];
      const bool is_same = by_key && i > begin && item.draw == items_[i - 1].draw;
      if (!is_same) out.push_back({item.link, 0, by_key ? item.draw : 0});
      out.back().size += size_of(item);
    }
    return out;
  }
  template <typename SizeOf>
  void add_groups(EvennessTest& test, SizeOf&& size_of, bool by_key) const {
    by_stratum(items_, [&](size_t begin, size_t end) {
      test.add(choices_.groups[items_[begin].stratum].weights, items_of(begin, end, size_of, by_key));
    });
  }

  const FlowChoices& choices_;
  std::vector<Item> items_;
  std::unordered_set<uint64_t> keys_;
};

// The entries of a tier's dependence on an earlier one, of each draw one.
std::vector<Entry> entries_of(const FlowChoices& choices, uint32_t earlier, uint32_t later, SharedBy by) {
  std::vector<Entry> out;
  const auto place_of = [&](const MetChoice& met) {
    const LinkGroup& group = choices.groups[met.group];
    return by == SharedBy::kLink ? uint64_t{met.group} : joined(group.function, group.shape);
  };
  for (uint64_t flow = 0; flow < choices.flows(); ++flow) {
    const ChoiceAt second = choice_at(choices, flow, later);
    const ChoiceAt first = choice_at(choices, flow, earlier);
    if (first.met == nullptr || second.met == nullptr) continue;
    const LinkGroup& one = choices.groups[first.met->group];
    const LinkGroup& other = choices.groups[second.met->group];
    const uint64_t hashes = joined(joined(one.function, one.shape), joined(other.function, other.shape));
    uint64_t stratum = joined(place_of(*first.met), other.shape);
    for (const MetChoice& met : first.before) stratum = joined(stratum, joined(place_of(met), met.link));
    const uint64_t draw = joined(hashes, joined(first.met->key, second.met->key));
    out.push_back({stratum, {one.function, other.function}, draw, first.met->link, second.met->link});
  }
  // Only one of the strata that have the same draw counts it: the others would count its luck again.
  const auto by_draw = [](const Entry& entry) {
    return std::tuple{entry.draw, entry.stratum, entry.row, entry.column};
  };
  std::ranges::sort(out, {}, by_draw);
  const auto repeated = std::ranges::unique(out, {}, &Entry::draw);
  out.erase(repeated.begin(), repeated.end());
  std::ranges::sort(out);
  return out;
}

}  // namespace

ChoiceAt choice_at(const FlowChoices& choices, uint64_t flow, uint32_t tier) {
  const auto met = choices.of(flow);
  for (size_t i = 0; i < met.size(); ++i) {
    const LinkGroup& group = choices.groups[met[i].group];
    if (group.tier == tier && group.is_hashed) return {&met[i], met.first(i)};
  }
  return {};
}

TierEvenness evenness_of(const FlowChoices& choices, uint32_t tier, double finest, double of_concern) {
  const TierItems items(choices, tier);
  TierEvenness out{.keys = items.of_keys(finest),
                   .flows = items.of_flows(finest),
                   .bytes = {},
                   .distinct_keys = items.distinct_keys(),
                   .has_bytes = items.has_bytes(),
                   .groups = items.uneven_groups(finest, of_concern)};
  if (out.has_bytes) out.bytes = items.of_bytes(finest);
  return out;
}

TierDependence dependence_of(const FlowChoices& choices, uint32_t earlier, uint32_t later, SharedBy by, double finest) {
  const std::vector<Entry> entries = entries_of(choices, earlier, later, by);
  DependenceTest all;
  std::map<FunctionPair, DependenceTest> pairs;
  std::vector<DependenceTest::Item> items;
  const auto add_to = [&](DependenceTest& test, size_t begin, size_t end) {
    items.clear();
    for (size_t i = begin; i < end; ++i) items.push_back({entries[i].row, entries[i].column});
    test.add(items);
  };
  by_stratum(entries, [&](size_t begin, size_t end) {
    add_to(all, begin, end);
    for (size_t first = begin, i = begin; i < end; ++i) {
      if (i + 1 < end && entries[i + 1].functions == entries[first].functions) continue;
      add_to(pairs[entries[first].functions], first, i + 1);
      first = i + 1;
    }
  });
  TierDependence out{.all = all.result(finest), .pairs = {}};
  if (pairs.size() == 1) return {.all = out.all, .pairs = {{pairs.begin()->first, out.all}}};
  for (const auto& [functions, test] : pairs) {
    Dependence found = test.by_curve();
    if (found.expected < kManyPairs) continue;
    found.likely *= static_cast<double>(pairs.size());
    out.pairs.push_back({functions, found});
  }
  return out;
}

double used_of_chance(const FlowChoices& choices, uint32_t earlier, uint32_t later,
                      const std::vector<FunctionPair>& functions) {
  std::vector<Use> uses;
  for (uint64_t flow = 0; flow < choices.flows(); ++flow) {
    const MetChoice* second = choice_at(choices, flow, later).met;
    const MetChoice* first = choice_at(choices, flow, earlier).met;
    if (first == nullptr || second == nullptr) continue;
    const FunctionPair pair{choices.groups[first->group].function, choices.groups[second->group].function};
    if (std::ranges::find(functions, pair) == functions.end()) continue;
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

}  // namespace softspine::analysis
