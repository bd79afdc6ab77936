// SPDX-License-Identifier: Apache-2.0
#include "analysis/explain/comparison_report.hpp"

#include <fmt/format.h>

#include "analysis/explain/flow_headers.hpp"
#include "control/telemetry/json.hpp"
#include "control/telemetry/text_table.hpp"
#include "dataplane/packet/parse.hpp"

namespace softspine::analysis {

namespace {

const char* verdict_word(FlowVerdict verdict) {
  static constexpr const char* kWords[] = {"agrees", "differs", "undecided", "no_choice"};
  return kWords[static_cast<size_t>(verdict)];
}
const char* verdict_word(HopVerdict verdict) {
  static constexpr const char* kWords[] = {"agrees", "differs", "not_seen", "not_computable"};
  return kWords[static_cast<size_t>(verdict)];
}

FlowHeaders headers_of(dataplane::ScratchPacket& scratch, const SightedFlow& flow) {
  dataplane::Packet& packet =
      scratch.load(flow.frame, std::max(flow.frame_bytes, static_cast<uint32_t>(flow.frame.size())));
  dataplane::parse(packet);
  return flow_headers(packet);
}

control::Json hop_json(const control::Fabric& fabric, const ComparedHop& hop) {
  const control::FabricNode& node = fabric.nodes[hop.node];
  control::Json predicted = control::Json::array();
  for (const uint16_t port : hop.predicted) predicted.push_back(node.ports[port].name);
  control::Json actual = control::Json::array();
  for (const auto& [port, packets] : hop.seen) {
    control::Json seen{{"port", node.ports[port].name}};
    packets > 0 ? seen["packets"] = packets : seen["inferred"] = true;
    actual.push_back(std::move(seen));
  }
  control::Json out{{"switch", node.name},
                    {"choice", hop.is_choice},
                    {"predicted", std::move(predicted)},
                    {"actual", std::move(actual)},
                    {"verdict", verdict_word(hop.verdict)}};
  if (!hop.why.empty()) out["why"] = hop.why;
  return out;
}

std::string predicted_text(const control::FabricNode& node, const ComparedHop& hop) {
  if (hop.predicted.empty()) return hop.why;
  std::string out;
  for (const uint16_t port : hop.predicted) out += (out.empty() ? "" : " or ") + node.ports[port].name;
  return out;
}

std::string actual_text(const control::FabricNode& node, const ComparedHop& hop) {
  std::string out;
  for (const auto& [port, packets] : hop.seen) {
    if (!out.empty()) out += ", ";
    out += node.ports[port].name;
    out += packets == 0   ? " (by the next switch)"
           : packets == 1 ? " (1 packet)"
                          : fmt::format(" ({} packets)", packets);
  }
  return out.empty() ? "not seen" : out;
}

std::string with_rest(const control::TextTable& table, uint64_t all) {
  std::string out = table.text();
  if (all > table.rows())
    out += fmt::format("… and {} more: --all or --json has them\n", control::grouped(all - table.rows()));
  return out;
}

std::string differences_text(const control::Fabric& fabric, const std::vector<SightedFlow>& flows,
                             const PathComparison& found, size_t rows) {
  control::TextTable table{{"<flow", "<switch", "<predicted", "<actual"}};
  dataplane::ScratchPacket scratch;
  uint64_t all = 0;
  for (size_t f = 0; f < flows.size(); ++f) {
    for (const ComparedHop& hop : found.flows[f].hops) {
      if (hop.verdict != HopVerdict::kDiffers || ++all > rows) continue;
      const control::FabricNode& node = fabric.nodes[hop.node];
      table.add({text_of(headers_of(scratch, flows[f])), node.name, predicted_text(node, hop), actual_text(node, hop)});
    }
  }
  return all == 0 ? "" : "\nDifferences\n" + with_rest(table, all);
}

std::string reason_of(const ComparedFlow& flow) {
  for (const ComparedHop& hop : flow.hops) {
    if (!hop.why.empty()) return hop.why;
  }
  return flow.hops.empty() ? "nobody knows where it comes from, and no switch was seen to send it"
                           : "not seen behind a switch that had a choice";
}

std::string undecided_text(const std::vector<SightedFlow>& flows, const PathComparison& found, size_t rows) {
  control::TextTable table{{"<flow", "<why"}};
  dataplane::ScratchPacket scratch;
  uint64_t all = 0;
  for (size_t f = 0; f < flows.size(); ++f) {
    if (found.flows[f].verdict != FlowVerdict::kUndecided || ++all > rows) continue;
    table.add({text_of(headers_of(scratch, flows[f])), reason_of(found.flows[f])});
  }
  return all == 0 ? "" : "\nUndecided\n" + with_rest(table, all);
}

}  // namespace

control::Json comparison_json(const control::Fabric& fabric, const std::vector<SightedFlow>& flows,
                              const PathComparison& found) {
  control::Json out{{"flows", flows.size()},
                    {"agree", found.count(FlowVerdict::kAgrees)},
                    {"differ", found.count(FlowVerdict::kDiffers)},
                    {"undecided", found.count(FlowVerdict::kUndecided)},
                    {"without_choice", found.count(FlowVerdict::kNoChoice)}};
  out["tiers"] = control::Json::array();
  for (const ComparedTier& tier : found.tiers) {
    out["tiers"].push_back({{"tier", tier.name},
                            {"agree", tier.agree},
                            {"differ", tier.differ},
                            {"not_seen", tier.not_seen},
                            {"not_computable", tier.not_computable}});
  }
  dataplane::ScratchPacket scratch;
  out["compared"] = control::Json::array();
  for (size_t f = 0; f < flows.size(); ++f) {
    control::Json flow = json_of(headers_of(scratch, flows[f]));
    flow["verdict"] = verdict_word(found.flows[f].verdict);
    if (found.flows[f].verdict == FlowVerdict::kUndecided) flow["why"] = reason_of(found.flows[f]);
    flow["hops"] = control::Json::array();
    for (const ComparedHop& hop : found.flows[f].hops) flow["hops"].push_back(hop_json(fabric, hop));
    out["compared"].push_back(std::move(flow));
  }
  return out;
}

std::string comparison_text(const control::Fabric& fabric, const std::vector<SightedFlow>& flows,
                            const PathComparison& found, size_t rows) {
  std::string out = fmt::format("{} flows: {} agree, {} differ, {} undecided, {} without a choice on their way\n\n",
                                control::grouped(flows.size()), control::grouped(found.count(FlowVerdict::kAgrees)),
                                control::grouped(found.count(FlowVerdict::kDiffers)),
                                control::grouped(found.count(FlowVerdict::kUndecided)),
                                control::grouped(found.count(FlowVerdict::kNoChoice)));
  control::TextTable tiers{{"<tier", "agree", "differ", "not seen", "not computable"}};
  for (const ComparedTier& tier : found.tiers)
    tiers.add({tier.name, control::grouped(tier.agree), control::grouped(tier.differ), control::grouped(tier.not_seen),
               control::grouped(tier.not_computable)});
  return out + tiers.text() + differences_text(fabric, flows, found, rows) + undecided_text(flows, found, rows);
}

}  // namespace softspine::analysis
