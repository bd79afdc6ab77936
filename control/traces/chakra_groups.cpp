// SPDX-License-Identifier: Apache-2.0
#include "control/traces/chakra_groups.hpp"

#include <array>

#include "control/document/words.hpp"

namespace softspine::control {
namespace {

constexpr std::array<std::string_view, 10> kCommTypes{
    "AllReduce", "Reduce",        "AllGather",          "Gather", "Scatter", "Broadcast",
    "AllToAll",  "ReduceScatter", "ReduceScatterBlock", "Barrier"};

std::string text_of(uint64_t comm_type, uint64_t comm_size) {
  const std::string word =
      comm_type < kCommTypes.size() ? std::string(kCommTypes[comm_type]) : "comm_type " + std::to_string(comm_type);
  return word + " of " + std::to_string(comm_size) + " bytes";
}

std::string group_text(const std::string& name) {
  return name.empty() ? "of all ranks" : "of group " + shown(name);
}

}  // namespace

std::optional<Collective> collective_of_chakra(uint64_t comm_type) {
  switch (comm_type) {
    case 0:
    case 9: return Collective::kAllReduce;
    case 1: return Collective::kReduce;
    case 2: return Collective::kAllGather;
    case 5: return Collective::kBroadcast;
    case 6: return Collective::kAllToAll;
    case 7:
    case 8: return Collective::kReduceScatter;
    default: return std::nullopt;
  }
}

bool is_chakra_barrier(uint64_t comm_type) {
  return comm_type == 9;
}

std::string ChakraGroups::add(uint32_t rank, const ChakraNode& node) {
  Group& group = groups_[node.group];
  if (group.ranks.empty() || group.ranks.back() != rank) {
    group.ranks.push_back(rank);
    group.counts.push_back(0);
  }
  const uint64_t number = group.counts.back()++;
  const Group::Started it{*node.comm_type, node.comm_size.value_or(0)};
  if (number == group.collectives.size()) {
    if (group.ranks.size() == 1) group.collectives.push_back(it);
    return {};
  }
  if (number > group.collectives.size()) return {};
  const Group::Started& first = group.collectives[number];
  if (first.comm_type == it.comm_type && first.comm_size == it.comm_size) return {};
  return "is collective " + std::to_string(number + 1) + " " + group_text(node.group) + ", " +
         text_of(it.comm_type, it.comm_size) + "; on rank " + std::to_string(group.ranks.front()) + " that is " +
         text_of(first.comm_type, first.comm_size);
}

std::string ChakraGroups::finish(uint32_t ranks) {
  uint32_t tag = 1U << 31U;
  for (auto& [name, group] : groups_) {
    group.first_tag = tag;
    if (group.collectives.size() > (UINT32_MAX - 1) - tag) return "has more collectives than can be told apart";
    tag += static_cast<uint32_t>(group.collectives.size());
    for (size_t i = 0; i < group.ranks.size(); ++i) {
      if (group.counts[i] == group.collectives.size()) continue;
      return "rank " + std::to_string(group.ranks[i]) + " has " + std::to_string(group.counts[i]) + " collectives " +
             group_text(name) + ", and rank " + std::to_string(group.ranks.front()) + " has " +
             std::to_string(group.collectives.size());
    }
    if (name.empty() && group.ranks.size() != ranks) {
      uint32_t missing = 0;
      while (missing < group.ranks.size() && group.ranks[missing] == missing) ++missing;
      return "rank " + std::to_string(missing) + " has no collective of all ranks, and rank " +
             std::to_string(group.ranks.front()) + " has " + std::to_string(group.collectives.size());
    }
  }
  return {};
}

}  // namespace softspine::control
