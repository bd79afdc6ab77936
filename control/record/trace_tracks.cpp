// SPDX-License-Identifier: Apache-2.0
#include "control/record/trace_tracks.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "dataplane/flow_control/whole_link.hpp"
#include "dataplane/units/ids.hpp"

namespace softspine::control {

namespace {

bool pauses_all(const Fabric& fabric, LinkEnd port) {
  return dataplane::pauses_whole_link(fabric.links[fabric.port(port).link].parameters.flow_control);
}

std::string name_of_track(PortTrack what, uint8_t number, bool is_link) {
  const std::string whose = is_link ? "link" : fmt::format("priority {}", number);
  switch (what) {
    case PortTrack::kPaused: return whose + " paused";
    case PortTrack::kPauses: return whose + " pauses its neighbour";
    case PortTrack::kQueue: return fmt::format("queue {} bytes", number);
    case PortTrack::kGroupShared: return fmt::format("group {} shared bytes", number);
    case PortTrack::kGroupHeadroom: break;
  }
  return fmt::format("group {} headroom bytes", number);
}

}  // namespace

std::string_view word_for(OperationKind kind) {
  return kOperationWords[static_cast<size_t>(kind)];
}

TraceTracks::Found TraceTracks::find(What what, uint64_t index, uint64_t number) {
  constexpr unsigned kWhatAt = 60;
  constexpr unsigned kIndexAt = 20;
  const uint64_t key = static_cast<uint64_t>(what) << kWhatAt | index << kIndexAt | number;
  const auto [at, is_new] = tracks_.try_emplace(key, tracks_.size() + 1);
  return {at->second, is_new};
}

uint64_t TraceTracks::control() {
  const auto [uuid, is_new] = find(What::kControl, 0);
  if (is_new) packets_.track(uuid, 0, "control", TrackKind::kEvents);
  return uuid;
}

uint64_t TraceTracks::node(uint32_t node) {
  const auto [uuid, is_new] = find(What::kNode, node);
  if (is_new) packets_.track(uuid, 0, fabric_.nodes[node].name, TrackKind::kSorted);
  return uuid;
}

uint64_t TraceTracks::port(LinkEnd port) {
  const uint64_t parent = node(port.node);
  const auto [uuid, is_new] = find(What::kPort, ports_.of(port));
  if (is_new) packets_.track(uuid, parent, fabric_.name_of(port), TrackKind::kSorted);
  return uuid;
}

uint64_t TraceTracks::of_port(LinkEnd port, PortTrack what, uint8_t number) {
  const uint64_t slot = static_cast<uint64_t>(what) * dataplane::kPriorities + number;
  const auto [uuid, is_new] = find(What::kOfPort, ports_.of(port), slot);
  if (!is_new) return uuid;
  const TrackKind kind = what < PortTrack::kQueue ? TrackKind::kEvents : TrackKind::kBytes;
  packets_.track(uuid, this->port(port), name_of_track(what, number, pauses_all(fabric_, port)), kind);
  return uuid;
}

uint64_t TraceTracks::pool(uint32_t place, const std::string& name, PoolTrack what) {
  const auto [uuid, is_new] = find(What::kPool, place, static_cast<uint64_t>(what));
  if (!is_new) return uuid;
  const auto its = std::ranges::find(fabric_.nodes, name.substr(0, name.find(':')), &FabricNode::name);
  const auto number = static_cast<uint32_t>(its - fabric_.nodes.begin());
  packets_.track(uuid, node(number), name + (what == PoolTrack::kShared ? " shared bytes" : " headroom bytes"),
                 TrackKind::kBytes);
  return uuid;
}

uint64_t TraceTracks::rank(uint32_t job, uint32_t rank) {
  const auto [parent, is_new_job] = find(What::kJob, job);
  if (is_new_job) packets_.track(parent, 0, jobs_[job].name, TrackKind::kEvents);
  const auto [uuid, is_new] = find(What::kRank, job, rank);
  if (is_new) {
    const std::string& host = fabric_.nodes[jobs_[job].hosts[rank]].name;
    packets_.track(uuid, parent, fmt::format("rank {} at {}", rank, host), TrackKind::kSorted);
  }
  return uuid;
}

uint64_t TraceTracks::operation(uint32_t job, uint32_t rank, OperationKind kind, uint32_t lane) {
  const uint64_t parent = this->rank(job, rank);
  const uint64_t slot = uint64_t{lane} * kOperationWords.size() + static_cast<uint64_t>(kind);
  const auto [uuid, is_new] = find(What::kLane, parent, slot);
  if (is_new) packets_.track(uuid, parent, word_for(kind), TrackKind::kEvents);
  return uuid;
}

}  // namespace softspine::control
