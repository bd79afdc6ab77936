// SPDX-License-Identifier: Apache-2.0
#include "testbeds/run/scale_up_links.hpp"

#include <algorithm>
#include <set>

namespace softspine::testbeds {

ScaleUpLinks::ScaleUpLinks(const control::Testbed& testbed) : testbed_(testbed) {
  std::map<uint32_t, std::set<uint32_t>> found;
  const auto take = [&found](const control::RankTraffic& traffic) {
    for (const auto& pair : traffic.scale_up) {
      found[traffic.hosts[pair.from_rank]].insert(traffic.hosts[pair.to_rank]);
      found[traffic.hosts[pair.to_rank]].insert(traffic.hosts[pair.from_rank]);
    }
  };
  for (const control::CollectiveRun& run : testbed.collectives) take(run.traffic);
  for (const control::TrainingRun& run : testbed.trainings) take(run.traffic);
  for (const auto& [node, peers] : found) peers_of_[node].assign(peers.begin(), peers.end());
}

uint16_t ScaleUpLinks::ports_of(uint32_t node) const {
  const auto found = peers_of_.find(node);
  return found == peers_of_.end() ? uint16_t{0} : static_cast<uint16_t>(found->second.size());
}

dataplane::PortNo ScaleUpLinks::port(uint32_t node, uint32_t peer) const {
  const std::vector<uint32_t>& peers = peers_of_.at(node);
  const auto index = std::ranges::lower_bound(peers, peer) - peers.begin();
  return dataplane::PortNo{
      static_cast<uint16_t>(testbed_.fabric.nodes[node].ports.size() + static_cast<size_t>(index))};
}

}  // namespace softspine::testbeds
