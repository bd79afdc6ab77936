// SPDX-License-Identifier: Apache-2.0
#include "tests/scenario/polarization/slow_reference.hpp"

#include <algorithm>
#include <cmath>
#include <random>
#include <string>

namespace softspine::tests {

namespace {

// Flows that came to one place, by the port that they left by, and the buckets of each port.
struct Cell {
  std::map<uint16_t, double> share;
  std::map<uint16_t, uint32_t> flows;
  uint32_t all = 0;
};
using Cells = std::map<std::string, Cell>;  // by a name of the place

double chi_square(const Cell& cell, const std::map<uint16_t, uint32_t>& flows) {
  double sum = 0;
  for (const auto& [port, share] : cell.share) {
    const double expected = share * cell.all;
    const auto found = flows.find(port);
    const double difference = (found == flows.end() ? 0 : found->second) - expected;
    sum += difference * difference / expected;
  }
  return sum;
}

Seen seen_in(const Cells& cells, uint32_t throws, std::mt19937_64& chance) {
  double seen = 0;
  double weighted = 0;
  double pairs = 0;
  std::vector<double> thrown(throws, 0);
  for (const auto& [name, cell] : cells) {
    if (cell.all < 2 || cell.share.size() < 2) continue;
    const double value = chi_square(cell, cell.flows);
    seen += value;
    weighted += cell.all * (value - static_cast<double>(cell.share.size() - 1));
    pairs += static_cast<double>(cell.all) * (cell.all - 1);
    std::vector<double> shares;
    std::vector<uint16_t> ports;
    for (const auto& [port, share] : cell.share) {
      ports.push_back(port);
      shares.push_back(share);
    }
    std::discrete_distribution<size_t> draw(shares.begin(), shares.end());
    for (double& sum : thrown) {
      std::vector<uint32_t> counts(ports.size(), 0);
      for (uint32_t i = 0; i < cell.all; ++i) ++counts[draw(chance)];
      for (size_t i = 0; i < ports.size(); ++i) {
        const double expected = shares[i] * cell.all;
        sum += (counts[i] - expected) * (counts[i] - expected) / expected;
      }
    }
  }
  double mean = 0;
  double square = 0;
  for (const double value : thrown) {
    mean += value / throws;
    square += value * value / throws;
  }
  const double deviation = std::sqrt(std::max(square - mean * mean, 1.0 / throws));
  return {pairs == 0 ? 0 : (seen - mean) / deviation, pairs == 0 ? 0 : weighted / pairs};
}

void keep_worst(Seen& worst, const Seen& seen) {
  if (seen.effect > 0.01 && seen.deviations > worst.deviations) worst = seen;
}

}  // namespace

SlowVerdict slow_verdict(control::Walker& walker, const std::vector<control::FlowProbe>& flows, uint32_t throws) {
  const control::Fabric& fabric = walker.testbed().fabric;
  std::map<std::string, Cells> by_tier;
  std::map<std::string, Cells> by_pair;
  for (const control::FlowProbe& flow : flows) {
    const control::Path path = walker.walk(flow.frame, static_cast<uint32_t>(flow.frame.size()), flow.sender);
    std::vector<std::string> before;
    for (const control::Hop& hop : path.hops) {
      if (!hop.choice) continue;
      const auto& state = walker.state(hop.node);
      const dataplane::EcmpGroup& group = state.groups[hop.choice->group];
      std::map<uint16_t, double> share;
      for (uint32_t b = 0; b < group.count; ++b)
        share[state.adjacencies[state.members[group.first + b]].port] += 1.0 / group.count;
      if (share.size() < 2) continue;
      const bool up = control::tier_of(fabric.nodes[fabric.peer_of({hop.node, hop.out_port}).node].role) >
                      control::tier_of(fabric.nodes[hop.node].role);
      const std::string tier = control::name_of(fabric.nodes[hop.node].role) + (up ? "+" : "-");
      std::string place = std::to_string(hop.node);
      for (const auto& [port, part] : share) place += "," + std::to_string(port);
      const auto count = [&](Cell& cell) {
        cell.share = share;
        ++cell.flows[hop.out_port];
        ++cell.all;
      };
      count(by_tier[tier][place]);
      for (const std::string& earlier : before) {
        const std::string pair = earlier.substr(0, earlier.find('@')) + tier;
        count(by_pair[pair][earlier + "/" + place]);
      }
      before.push_back(tier + "@" + std::to_string(hop.node) + ":" + std::to_string(hop.out_port));
    }
  }
  std::mt19937_64 chance{42};
  SlowVerdict out;
  for (const auto& [tier, cells] : by_tier) keep_worst(out.links, seen_in(cells, throws, chance));
  for (const auto& [pair, cells] : by_pair) keep_worst(out.given, seen_in(cells, throws, chance));
  return out;
}

}  // namespace softspine::tests
