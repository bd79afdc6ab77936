// SPDX-License-Identifier: Apache-2.0
#include "analysis/identify/sample.hpp"

#include <algorithm>
#include <map>

namespace softspine::analysis {

namespace {

constexpr size_t kMaxTaken = 4'096;

}  // namespace

uint32_t Sample::links_seen() const {
  return static_cast<uint32_t>(std::set<uint32_t>(links.begin(), links.end()).size());
}

Sample sample_of(const Observations& observations, uint32_t members) {
  const auto six = std::ranges::count_if(observations.flows, [](const Observation& it) { return it.flow.is_ipv6; });
  Sample out;
  out.is_ipv6 = static_cast<size_t>(six) * 2 > observations.flows.size();
  out.link_count = static_cast<uint32_t>(observations.links.size());
  out.members = members;
  const size_t count = out.is_ipv6 ? static_cast<size_t>(six) : observations.flows.size() - static_cast<size_t>(six);
  const size_t step = count / kMaxTaken + 1;
  size_t number = 0;
  for (const Observation& it : observations.flows) {
    if (it.flow.is_ipv6 != out.is_ipv6 || number++ % step != 0) continue;
    out.flows.push_back(it.flow);
    out.frames.emplace_back(it.flow);
    out.links.push_back(it.link);
  }
  return out;
}

Sample part_of(const Sample& sample, const std::vector<bool>& keep) {
  Sample out{.link_count = sample.link_count, .members = sample.members, .is_ipv6 = sample.is_ipv6};
  for (size_t i = 0; i < sample.size(); ++i) {
    if (!keep[i]) continue;
    out.flows.push_back(sample.flows[i]);
    out.frames.push_back(sample.frames[i]);
    out.links.push_back(sample.links[i]);
  }
  return out;
}

std::vector<FlowPair> pairs_on_one_link(const Sample& sample) {
  std::vector<int64_t> first(sample.link_count, -1);
  std::vector<FlowPair> out;
  for (uint32_t i = 0; i < sample.size(); ++i) {
    int64_t& one = first[sample.links[i]];
    if (one < 0) {
      one = i;
    } else {
      out.push_back({static_cast<uint32_t>(one), i});
    }
  }
  return out;
}

std::set<FlowPart> varied_parts(const Sample& sample) {
  std::set<FlowPart> out;
  for (size_t p = 0; p < kFlowParts; ++p) {
    const auto part = static_cast<FlowPart>(p);
    const auto differs = [&](const Flow& flow) { return value_of(flow, part) != value_of(sample.flows[0], part); };
    if (std::ranges::any_of(sample.flows, differs)) out.insert(part);
  }
  return out;
}

bool goes_one_way(const Sample& sample) {
  const auto is_upward = [](const Flow& flow) { return flow.source < flow.destination; };
  return std::ranges::all_of(sample.flows, is_upward) || std::ranges::none_of(sample.flows, is_upward);
}

bool is_rich(const Sample& sample) {
  constexpr size_t kEnough = 8;
  for (const FlowPart part : {FlowPart::kSource, FlowPart::kDestination, FlowPart::kSourcePort}) {
    std::set<uint64_t> values;
    for (const Flow& flow : sample.flows) values.insert(value_of(flow, part));
    if (values.size() < kEnough) return false;
  }
  return true;
}

std::set<FlowPart> proven_parts(const Sample& sample, bool may_be_wrong) {
  constexpr size_t kFewest = 8;
  std::set<FlowPart> out;
  for (const FlowPart part : varied_parts(sample)) {
    std::map<Flow, uint32_t> others;  // to the last one's link
    size_t pairs = 0;
    size_t parted = 0;
    for (size_t i = 0; i < sample.size(); ++i) {
      const auto [it, is_new] = others.try_emplace(without(sample.flows[i], part), sample.links[i]);
      pairs += is_new ? 0 : 1;
      parted += !is_new && it->second != sample.links[i] ? 1 : 0;
      it->second = sample.links[i];
    }
    const bool is_proven = may_be_wrong ? pairs >= kFewest && parted * 2 > pairs : parted > 0;
    if (is_proven) out.insert(part);
  }
  return out;
}

}  // namespace softspine::analysis
