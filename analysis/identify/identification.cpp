// SPDX-License-Identifier: Apache-2.0
#include "analysis/identify/identification.hpp"

#include <algorithm>
#include <map>

#include "dataplane/units/rng.hpp"

namespace softspine::analysis {

namespace dp = dataplane;

namespace {

constexpr size_t kTestFlows = 1'024;

Flow::Address random_address(dp::Rng& rng, bool is_ipv6) {
  Flow::Address out{};
  for (size_t i = 0; i < (is_ipv6 ? 16U : 4U); ++i) out[i] = static_cast<uint8_t>(rng.below(256));
  return out;
}

// The flows' partition by bucket: buckets are numbered in the order in which they come.
std::vector<uint32_t> partition_of(const std::vector<uint32_t>& buckets) {
  std::map<uint32_t, uint32_t> numbers;
  std::vector<uint32_t> out;
  for (const uint32_t bucket : buckets)
    out.push_back(numbers.try_emplace(bucket, static_cast<uint32_t>(numbers.size())).first->second);
  return out;
}

std::vector<HashClass> classes_of(const Sample& sample, std::vector<Hypothesis> found) {
  std::vector<FlowFrame> frames = sample.frames;
  for (const Flow& flow : flows_like(sample, kTestFlows, 1)) frames.emplace_back(flow);
  std::map<std::vector<uint32_t>, size_t> known;
  std::vector<HashClass> out;
  for (Hypothesis& it : found) {
    const auto partition = partition_of(buckets_of(it.config, frames, sample.members));
    const auto [at, is_new] = known.try_emplace(partition, out.size());
    if (is_new) out.emplace_back();
    out[at->second].hypotheses.push_back(std::move(it));
  }
  return out;
}

}  // namespace

std::vector<Flow> flows_like(const Sample& sample, size_t count, uint64_t seed) {
  const std::set<FlowPart> varied = varied_parts(sample);
  const bool one_way = goes_one_way(sample);
  const bool upward = sample.flows.front().source < sample.flows.front().destination;
  dp::Rng rng{seed, 4};
  std::vector<Flow> out;
  while (out.size() < count) {
    // Protocol and destination port together, so that what is RoCEv2 stays RoCEv2.
    Flow flow = sample.flows[rng.below(sample.size())];
    flow.source = random_address(rng, sample.is_ipv6);
    flow.destination = random_address(rng, sample.is_ipv6);
    if (one_way && (flow.source < flow.destination) != upward) std::swap(flow.source, flow.destination);
    if (flow.has_ports()) flow.source_port = static_cast<uint16_t>(rng.below(65'536));
    const auto is_varied = [&varied](FlowPart part) { return varied.contains(part); };
    if (flow.has_ports() && !flow.is_roce() && is_varied(FlowPart::kDestinationPort))
      flow.destination_port = static_cast<uint16_t>(rng.below(4'000));
    if (flow.is_roce() && is_varied(FlowPart::kQp)) flow.qp = static_cast<uint32_t>(rng.below(1 << 24));
    if (flow.is_roce() && is_varied(FlowPart::kOpcode)) flow.opcode = static_cast<uint8_t>(rng.below(256));
    if (is_varied(FlowPart::kFlowLabel)) flow.flow_label = static_cast<uint32_t>(rng.below(1 << 20));
    if (is_varied(FlowPart::kInPort)) flow.in_port = static_cast<uint16_t>(rng.below(512));
    if (is_varied(FlowPart::kVlan)) flow.vlan = static_cast<uint16_t>(rng.below(4'095));
    out.push_back(flow);
  }
  return out;
}

Identification identify(const Observations& observations, uint32_t members, const SearchOptions& options) {
  const Sample sample = sample_of(observations, members);
  Identification out{.links = observations.links, .members = members, .flows = static_cast<uint32_t>(sample.size())};
  out.of_other_version = static_cast<uint32_t>(std::ranges::count_if(
      observations.flows, [&](const Observation& it) { return it.flow.is_ipv6 != sample.is_ipv6; }));
  out.on_several_links = observations.on_several_links;
  out.all_seeds = options.all_seeds;
  if (sample.size() == 0) {
    out.verdict = IdentifyVerdict::kIndistinguishable;
    return out;
  }
  out.is_ipv6 = sample.is_ipv6;
  out.one_way = goes_one_way(sample);
  const std::set<FlowPart> varied = varied_parts(sample);
  for (size_t part = 0; part < kFlowParts; ++part) {
    if (!varied.contains(static_cast<FlowPart>(part))) out.constant.push_back(static_cast<FlowPart>(part));
  }
  // Where one of them explains every flow, no observation is wrong.
  out.crc = find_crc(sample);
  out.linear = out.crc ? std::nullopt : solve_linear(sample);
  const uint32_t agreeing = out.crc ? out.crc->fit.agreeing : out.linear ? out.linear->agreeing : 0;
  SearchOptions of_models = options;
  of_models.is_linear_for_sure = agreeing == sample.size();
  SearchResult found = search(sample, of_models);
  out.is_cut = found.is_cut;
  out.is_ended = found.is_ended;
  if (found.found.empty()) {
    if (agreeing == 0 || out.is_ended) return out;
    out.verdict = IdentifyVerdict::kNoModel;
    out.chance = chance_of(sample, agreeing, out.crc ? out.crc->tried : out.linear->tried);
    return out;
  }
  out.crc.reset();
  out.linear.reset();
  out.chance = chance_of(sample, found.found.front().fit.agreeing, found.tried);
  out.classes = classes_of(sample, std::move(found.found));
  const bool is_one = out.classes.size() == 1 && !out.is_cut && !out.is_ended;
  out.verdict = is_one && out.chance < kNoChance ? IdentifyVerdict::kIdentified : IdentifyVerdict::kIndistinguishable;
  return out;
}

}  // namespace softspine::analysis
