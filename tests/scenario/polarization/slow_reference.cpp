// SPDX-License-Identifier: Apache-2.0
#include "tests/scenario/polarization/slow_reference.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>
#include <set>
#include <string>

namespace softspine::tests {

namespace {

// Flows that came to one place: the link that each took, and the number of its key.
struct Cell {
  std::vector<double> share;    // of each link
  std::vector<uint32_t> links;  // of each flow
  std::vector<uint32_t> keys;
};
using Cells = std::map<std::string, Cell>;  // by a name of the place

double chi_square(const Cell& cell, const std::vector<uint32_t>& links) {
  std::vector<double> counts(cell.share.size(), 0);
  for (const uint32_t link : links) counts[link] += 1;
  double sum = 0;
  for (size_t i = 0; i < counts.size(); ++i) {
    const double expected = cell.share[i] * static_cast<double>(links.size());
    sum += (counts[i] - expected) * (counts[i] - expected) / expected;
  }
  return sum;
}

struct Moments {
  double mean = 0;
  double deviation = 0;
  std::vector<double> values;
};

class Draw {
 public:
  explicit Draw(const std::vector<double>& share)
      : is_even_(std::ranges::all_of(share, [&](double it) { return it == share.front(); })),
        links_(static_cast<uint32_t>(share.size())),
        uneven_(share.begin(), share.end()) {}
  uint32_t operator()(std::mt19937_64& chance) {
    return is_even_ ? static_cast<uint32_t>(chance() % links_) : uneven_(chance);
  }

 private:
  bool is_even_;
  uint32_t links_;
  std::discrete_distribution<uint32_t> uneven_;
};

class Throws {
 public:
  explicit Throws(const Cells& cells) : cells_(cells) {
    uint32_t keys = 0;
    for (const auto& [name, cell] : cells) {
      draws_.emplace_back(cell.share);
      for (const uint32_t key : cell.keys) keys = std::max(keys, key + 1);
    }
    drawn_.assign(keys, {});
  }

  double seen() const {
    double out = 0;
    for (const auto& [name, cell] : cells_) out += counts(cell) ? chi_square(cell, cell.links) : 0;
    return out;
  }
  // n (chi² − (m − 1)) over the pairs, of what is thrown on average or was seen.
  double effect() const {
    double weighted = 0;
    double pairs = 0;
    for (const auto& [name, cell] : cells_) {
      if (!counts(cell)) continue;
      const auto n = static_cast<double>(cell.links.size());
      weighted += n * (chi_square(cell, cell.links) - static_cast<double>(cell.share.size() - 1));
      pairs += n * (n - 1);
    }
    return pairs > 0 ? weighted / pairs : 0;
  }
  Moments of(uint32_t throws, bool by_key, std::mt19937_64& chance) const {
    Moments out;
    for (uint32_t i = 0; i < throws; ++i) out.values.push_back(one(by_key, chance));
    double square = 0;
    for (const double value : out.values) {
      out.mean += value / throws;
      square += value * value / throws;
    }
    out.deviation = std::sqrt(std::max(square - out.mean * out.mean, 1.0 / throws));
    return out;
  }

 private:
  static bool counts(const Cell& cell) { return cell.links.size() > 1 && cell.share.size() > 1; }
  double one(bool by_key, std::mt19937_64& chance) const {
    ++throw_;
    double sum = 0;
    std::vector<uint32_t> links;
    size_t at = 0;
    for (const auto& [name, cell] : cells_) {
      auto& draw = draws_[at++];
      if (!counts(cell)) continue;
      links.clear();
      for (const uint32_t key : cell.keys) {
        Drawn& drawn = drawn_[key];
        if (!by_key || drawn.in_throw != throw_) drawn = {throw_, draw(chance)};
        links.push_back(drawn.link);
      }
      sum += chi_square(cell, links);
    }
    return sum;
  }
  struct Drawn {
    uint64_t in_throw = 0;
    uint32_t link = 0;
  };
  mutable std::vector<Draw> draws_;   // of each cell
  mutable std::vector<Drawn> drawn_;  // of each key
  mutable uint64_t throw_ = 0;
  const Cells& cells_;
};

bool have_common_keys(const Cells& cells) {
  std::set<uint32_t> known;
  for (const auto& [name, cell] : cells) {
    for (const uint32_t key : cell.keys) {
      if (!known.insert(key).second) return true;
    }
  }
  return false;
}

constexpr double kSuspicious = 6;
constexpr uint32_t kFurther = 1'500;
constexpr size_t kFew = 400;         // flows: of more, deviations say enough
constexpr size_t kMaxToSum = 3'000;  // flows of a group

Seen seen_in(const Cells& cells, uint32_t throws, std::mt19937_64& chance) {
  const Throws all(cells);
  const double seen = all.seen();
  size_t flows = 0;
  for (const auto& [name, cell] : cells) flows += cell.links.size();
  const auto further = [&](bool by_key, double deviations, double value) {
    if (deviations < kSuspicious) return 1.0;
    if (flows > kFew) return 0.0;
    const Moments more = all.of(kFurther, by_key, chance);
    const auto reached = std::ranges::count_if(more.values, [value](double it) { return it >= value; });
    // Tails of such sums fall exponentially: twice as far from the mean as the farthest throw, and it is squared.
    const bool is_far = value - more.mean > 2 * (std::ranges::max(more.values) - more.mean);
    return is_far ? 0.0 : static_cast<double>(reached + 1) / kFurther;
  };
  const Moments one_by_one = all.of(throws, false, chance);
  if (!have_common_keys(cells)) {
    const double deviations = (seen - one_by_one.mean) / one_by_one.deviation;
    return {deviations, all.effect(), further(false, deviations, seen)};
  }
  const Moments by_key = all.of(throws, true, chance);
  const double beyond_keys = (seen - by_key.mean) / by_key.deviation;
  const double counted = std::min(seen, by_key.mean);
  const double of_keys = (counted - one_by_one.mean) / one_by_one.deviation;
  if (beyond_keys > of_keys) return {beyond_keys, all.effect(), further(true, beyond_keys, seen)};
  return {of_keys, all.effect(), further(false, of_keys, counted)};
}

void keep_worst(Seen& worst, const Seen& seen) {
  if (seen.effect > 0.01 && seen.deviations > worst.deviations) worst = seen;
}

// P(at least `count` of `all`), term by term.
double binomial_tail(uint32_t count, uint32_t all, double share) {
  double sum = 0;
  for (uint32_t i = count; i <= all; ++i)
    sum += std::exp(std::lgamma(all + 1.0) - std::lgamma(i + 1.0) - std::lgamma(all - i + 1.0) + i * std::log(share) +
                    (all - i) * std::log1p(-share));
  return sum;
}

// Of the worst group; keys count once, or flows if half of them share their key.
double one_group_of(const Cells& cells) {
  double least = 1;
  double links = 0;
  for (const auto& [name, cell] : cells) {
    if (cell.share.size() < 2 || cell.links.size() > kMaxToSum) continue;
    links += static_cast<double>(cell.share.size());
    std::vector<uint32_t> flows(cell.share.size(), 0);
    std::vector<std::set<uint32_t>> keys(cell.share.size());
    std::set<uint32_t> all_keys;
    for (size_t i = 0; i < cell.links.size(); ++i) {
      ++flows[cell.links[i]];
      keys[cell.links[i]].insert(cell.keys[i]);
      all_keys.insert(cell.keys[i]);
    }
    const bool are_few = 2 * all_keys.size() <= cell.links.size();
    for (size_t i = 0; i < cell.share.size(); ++i) {
      const auto of_keys = static_cast<uint32_t>(keys[i].size());
      least = std::min(least, binomial_tail(of_keys, static_cast<uint32_t>(all_keys.size()), cell.share[i]));
      if (are_few)
        least = std::min(least, binomial_tail(flows[i], static_cast<uint32_t>(cell.links.size()), cell.share[i]));
    }
  }
  return std::min(1.0, least * std::max(links, 1.0));
}

// Which cells each flow belongs to: at its tiers, and given each of its earlier hops.
class Gathering {
 public:
  Gathering(analysis::Walker& walker, const std::vector<analysis::FlowProbe>& flows) : walker_(walker) {
    for (const analysis::FlowProbe& flow : flows) add(flow);
  }
  std::map<std::string, Cells> by_tier;
  std::map<std::string, Cells> by_pair;

 private:
  void add(const analysis::FlowProbe& flow) {
    const analysis::Path path = walker_.walk(flow.frame, static_cast<uint32_t>(flow.frame.size()), flow.sender);
    std::vector<std::string> before;
    for (const analysis::Hop& hop : path.hops) {
      if (!hop.choice) continue;
      const Place& at = place_of(hop);
      if (at.share.size() < 2) continue;
      const auto& words = hop.choice->key.words;
      std::string key = at.function;
      key.append(reinterpret_cast<const char*>(words.data()), hop.choice->key.count * sizeof(words[0]));
      const auto number = keys_.emplace(std::move(key), static_cast<uint32_t>(keys_.size())).first->second;
      const auto link = static_cast<uint32_t>(std::ranges::find(at.ports, hop.out_port) - at.ports.begin());
      const auto count = [&](Cell& cell) {
        if (cell.share.empty()) cell.share = at.share;
        cell.links.push_back(link);
        cell.keys.push_back(number);
      };
      count(by_tier[at.tier][at.name]);
      for (const std::string& earlier : before)
        count(by_pair[earlier.substr(0, earlier.find('@')) + at.tier][earlier + "/" + at.name]);
      before.push_back(at.tier + "@" + std::to_string(hop.node) + ":" + std::to_string(hop.out_port));
    }
  }

  // One group of one switch.
  struct Place {
    std::string tier;
    std::string name;
    std::string function;  // of what is drawn for a key once
    std::vector<uint16_t> ports;
    std::vector<double> share;
  };
  const Place& place_of(const analysis::Hop& hop) {
    const auto [known, is_new] = places_.try_emplace({hop.node, hop.choice->group});
    if (is_new) known->second = made(hop);
    return known->second;
  }
  Place made(const analysis::Hop& hop) {
    const control::Fabric& fabric = walker_.testbed().fabric;
    const auto& state = walker_.state(hop.node);
    const dataplane::EcmpGroup group = hop.choice->group_in(state);
    std::vector<uint16_t> by_bucket;
    for (uint32_t b = 0; b < group.count; ++b) {
      const uint32_t member = state.members[group.first + b];
      if (member != dataplane::kDeadMember) by_bucket.push_back(state.adjacencies[member].port);
    }
    std::map<uint16_t, double> share;
    for (const uint16_t port : by_bucket) share[port] += 1.0 / static_cast<double>(by_bucket.size());
    const control::FabricNode& node = fabric.nodes[hop.node];
    const bool up = control::tier_of(fabric.nodes[fabric.peer_of({hop.node, hop.out_port}).node].role) >
                    control::tier_of(node.role);
    Place out{.tier = control::name_of(node.role) + (up ? "+" : "-"), .name = std::to_string(hop.node)};
    for (const auto& [port, part] : share) {
      out.name += "," + std::to_string(port);
      out.ports.push_back(port);
      out.share.push_back(part);
    }
    out.function = std::to_string(node.profile) + out.tier;
    for (const uint16_t port : by_bucket)
      out.function += std::to_string(std::ranges::find(out.ports, port) - out.ports.begin()) + ",";
    return out;
  }
  analysis::Walker& walker_;
  std::map<std::string, uint32_t> keys_;
  std::map<std::pair<uint32_t, uint32_t>, Place> places_;
};

}  // namespace

SlowVerdict slow_verdict(analysis::Walker& walker, const std::vector<analysis::FlowProbe>& flows, uint32_t throws) {
  const Gathering gathered(walker, flows);
  std::mt19937_64 chance{42};
  SlowVerdict out;
  for (const auto& [tier, cells] : gathered.by_tier) {
    keep_worst(out.links, seen_in(cells, throws, chance));
    out.one_group = std::min(out.one_group, one_group_of(cells));
  }
  for (const auto& [pair, cells] : gathered.by_pair) keep_worst(out.given, seen_in(cells, throws, chance));
  return out;
}

}  // namespace softspine::tests
