// SPDX-License-Identifier: Apache-2.0
#include "analysis/reading/counter_readings.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/storm/pause_counts.hpp"
#include "control/model/role.hpp"

namespace softspine::analysis {

namespace {

struct ReadingFiles {
  std::string node;
  std::string port;  // of ethtool's counters; empty: a switch's
  std::string before;
  std::string after;
};

std::expected<ReadingFiles, std::string> reading_files(const std::string& text) {
  const size_t equals = text.find('=');
  const size_t comma = text.find(',', equals == std::string::npos ? 0 : equals);
  if (equals == 0 || equals == std::string::npos || comma == std::string::npos) {
    return std::unexpected("'" + text + "': write NODE=BEFORE,AFTER or NODE:PORT=BEFORE,AFTER");
  }
  const std::string place = text.substr(0, equals);
  const size_t colon = place.rfind(':');
  return ReadingFiles{.node = place.substr(0, colon),
                      .port = colon == std::string::npos ? "" : place.substr(colon + 1),
                      .before = text.substr(equals + 1, comma - equals - 1),
                      .after = text.substr(comma + 1)};
}

// They may be the root as well.
void add_unread(storm::CountedFabric& fabric, const control::Fabric& known) {
  for (const control::FabricNode& node : known.nodes) {
    if (std::ranges::find(fabric.nodes, node.name, &storm::CountedNode::name) != fabric.nodes.end()) continue;
    fabric.nodes.push_back({.name = node.name,
                            .is_host = control::tier_of(node.role) == control::kHostTier,
                            .known_ports = static_cast<uint32_t>(node.ports.size()),
                            .ports = {},
                            .is_read = false});
  }
}

void add_links(storm::CountedFabric& fabric, const control::Fabric& known) {
  for (const control::FabricLink& link : known.links) {
    fabric.peers.emplace(known.name_of(link.a), known.name_of(link.b));
    fabric.peers.emplace(known.name_of(link.b), known.name_of(link.a));
  }
}

}  // namespace

std::expected<void, std::string> CounterReadings::add(const std::string& text) {
  const auto files = reading_files(text);
  if (!files) return std::unexpected(files.error());
  const auto before = storm::read_counts(files->before, files->port);
  if (!before) return std::unexpected(before.error());
  const auto after = storm::read_counts(files->after, files->port);
  if (!after) return std::unexpected(after.error());
  const auto counted = storm::difference(*before, *after);
  if (!counted) return std::unexpected(text + ": " + counted.error());
  if (counted->ports.contains(""))
    return std::unexpected(text + ": ethtool's counters are of a port: write NODE:PORT=");
  storm::CountedNode& node = node_of(files->node);
  // A NIC's counters are of one port, a switch shows all that it has.
  node.is_host = !files->port.empty();
  for (const auto& [port, counts] : counted->ports) {
    if (!node.ports.emplace(port, counts).second) return std::unexpected(text + ": " + port + " is counted twice");
  }
  if (!node.is_host) node.known_ports = static_cast<uint32_t>(node.ports.size());
  for (const auto& [queue, storms] : counted->watchdog) {
    if (!storms.is_stormed && storms.detected == 0) continue;
    watchdog_.push_back(fmt::format("the watchdog of {}:{} found {} storm{} of queue {}{}", files->node, queue.first,
                                    storms.detected, storms.detected == 1 ? "" : "s", queue.second,
                                    storms.is_stormed ? ", and one is not over" : ""));
  }
  return {};
}

std::expected<void, std::string> CounterReadings::fit(const control::Testbed& testbed) {
  for (storm::CountedNode& node : fabric_.nodes) {
    const auto known = std::ranges::find(testbed.fabric.nodes, node.name, &control::FabricNode::name);
    if (known == testbed.fabric.nodes.end()) return std::unexpected(node.name + " is no node of " + testbed.name);
    node.is_host = control::tier_of(known->role) == control::kHostTier;
    node.known_ports = static_cast<uint32_t>(known->ports.size());
    // A port without a cable pauses nobody, and counts for nothing.
    std::erase_if(node.ports, [&](const auto& it) {
      return std::ranges::find(known->ports, it.first, &control::FabricPort::name) == known->ports.end();
    });
  }
  add_unread(fabric_, testbed.fabric);
  add_links(fabric_, testbed.fabric);
  return {};
}

storm::CountedNode& CounterReadings::node_of(const std::string& name) {
  const auto known = std::ranges::find(fabric_.nodes, name, &storm::CountedNode::name);
  return known != fabric_.nodes.end() ? *known
                                      : fabric_.nodes.emplace_back(storm::CountedNode{.name = name, .ports = {}});
}

}  // namespace softspine::analysis
