// SPDX-License-Identifier: Apache-2.0
#include "control/compile/mtu_review.hpp"

#include <algorithm>
#include <map>

#include "control/traffic/pairs.hpp"
#include "control/traffic/workload_demands.hpp"
#include "control/traffic/workload_packets.hpp"

namespace softspine::control {
namespace {

constexpr size_t kSourcesLookedAt = 256;

class FittingWays {
 public:
  FittingWays(const Fabric& fabric, const Ways& ways, uint32_t packet_bytes) : fabric_(fabric) {
    for (const LinkEnd sender : ways.senders) {
      if (link_of(sender).mtu >= packet_bytes) {
        next_[sender.node].push_back(fabric.peer_of(sender).node);
      } else {
        small_.push_back(sender);
      }
    }
  }

  const std::vector<LinkEnd>& small() const { return small_; }
  const FabricLink& link_of(LinkEnd sender) const { return fabric_.links[fabric_.port(sender).link]; }

  // The first of `to` that is not reached over links that are large enough.
  std::optional<uint32_t> out_of_reach(uint32_t from, const std::vector<uint32_t>& to) const {
    std::vector<bool> reached(fabric_.nodes.size(), false);
    std::vector<uint32_t> open{from};
    reached[from] = true;
    while (!open.empty()) {
      const auto next = next_.find(open.back());
      open.pop_back();
      if (next == next_.end()) continue;
      for (const uint32_t node : next->second) {
        if (reached[node]) continue;
        reached[node] = true;
        open.push_back(node);
      }
    }
    const auto found = std::ranges::find_if(to, [&](uint32_t node) { return !reached[node]; });
    return found == to.end() ? std::nullopt : std::optional(*found);
  }

 private:
  const Fabric& fabric_;
  std::map<uint32_t, std::vector<uint32_t>> next_;
  std::vector<LinkEnd> small_;
};

// The payload of the longest packet: a message, or the part of it that a queue pair has, may be shorter than the path
// MTU.
uint32_t payload_of(const Workload& workload) {
  const uint64_t parts = workload.scaling == Scaling::kSplit ? workload.qps : 1;
  const uint64_t part = (largest_message(workload) + parts - 1) / parts;
  return static_cast<uint32_t>(std::min<uint64_t>(workload.mtu, part));
}

// A pair of hosts without a way; a permutation has only some of its demands.
std::optional<std::pair<uint32_t, uint32_t>> pair_without_way(const Demands& demands, const FittingWays& ways) {
  size_t looked_at = 0;
  for (const Demand& demand : demands) {
    for (const uint32_t from : demand.from) {
      if (++looked_at > kSourcesLookedAt) return std::nullopt;
      if (const auto to = ways.out_of_reach(from, demand.to)) return std::pair(from, *to);
    }
  }
  return std::nullopt;
}

}  // namespace

void review_mtu(const Testbed& testbed, const Workload& workload, Errors& errors, Errors& warnings) {
  const Fabric& fabric = testbed.fabric;
  const uint32_t payload = payload_of(workload);
  const uint32_t packet_bytes = payload + kWriteHeaderBytes;
  if (std::ranges::none_of(fabric.links, [&](const FabricLink& link) { return link.mtu < packet_bytes; })) return;
  const Demands demands = data_demands_of(workload);
  const Ways ways = find_ways(fabric, {demands}).front();
  const FittingWays fitting(fabric, ways, packet_bytes);
  if (fitting.small().empty()) return;
  const LinkEnd first = fitting.small().front();
  const std::string link = fabric.name_of(first) + " to " + fabric.name_of(fabric.peer_of(first)) + ", whose mtu is " +
                           std::to_string(fitting.link_of(first).mtu);
  const std::string packets = (payload == workload.mtu ? "an mtu of " : "a message of ") + std::to_string(payload) +
                              " makes packets of up to " + std::to_string(packet_bytes) + " bytes";
  // Without any way there is an error of its own.
  const auto pair = ways.cut ? std::nullopt : pair_without_way(demands, fitting);
  if (pair && !is_drawn(workload.pattern)) {
    errors.push_back(error_at(workload.place, packets + ", which fit no way from " + fabric.nodes[pair->first].name +
                                                  " to " + fabric.nodes[pair->second].name + ": not " + link));
    return;
  }
  const size_t more = fitting.small().size() - 1;
  warnings.push_back(
      error_at(workload.place,
               packets + ", which do not fit " + link +
                   (more == 0 ? "" : ", and " + std::to_string(more) + (more == 1 ? " more link" : " more links")) +
                   ": what goes there is dropped"));
}

}  // namespace softspine::control
