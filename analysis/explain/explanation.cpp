// SPDX-License-Identifier: Apache-2.0
#include "analysis/explain/explanation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "analysis/explain/field_reach.hpp"
#include "control/rows/row_formats.hpp"
#include "dataplane/hashing/ovs_key.hpp"

namespace softspine::analysis {

namespace dp = dataplane;

namespace {

std::string mode_of(dp::EcmpGroupMode mode) {
  switch (mode) {
    case dp::EcmpGroupMode::kHash: return "hash";
    case dp::EcmpGroupMode::kInPort: return "in_port";
    case dp::EcmpGroupMode::kFlowlet: return "flowlet";
    case dp::EcmpGroupMode::kSpray: return "spray";
  }
  return "?";
}

std::string hex(const std::vector<uint8_t>& bytes) {
  std::string out;
  for (const uint8_t byte : bytes) out += fmt::format("{:02x}", byte);
  return out;
}

std::string name_of(const dp::KeyPart& part) {
  if (part.source == dp::KeyPart::Source::kUdf) return fmt::format("udf[{}]", part.udf);
  const std::string word(control::word_of(part.field));
  return part.fine == dp::KeyPart::kNotFine ? word : fmt::format("fine_grained[{}] {}", part.fine, word);
}

struct Named {
  std::string name;
  std::string bytes;
  bool present;
};
std::vector<Named> parts_of(const Choice& choice) {
  const auto& parts = choice.layout->parts();
  std::vector<Named> out;
  for (size_t i = 0; i < parts.size(); ++i)
    out.push_back({name_of(parts[i]), hex(choice.layout->bytes_of(parts[i], choice.key)), choice.present[i]});
  if (!dp::is_symmetric_ovs(choice.taken.algorithm)) return out;
  for (Named& part : out) {  // which holds the sum of both
    if (part.name == control::word_of(control::HashField::kSrcIp)) part.name = "SRC_IP ⊕ DST_IP";
    if (part.name == control::word_of(control::HashField::kL4SrcPort)) part.name = "L4_SRC_PORT ⊕ L4_DST_PORT";
  }
  return out;
}

// The configuration with what the packet took of it: of RTAG7 that depends on the packet.
control::HashConfig as_taken(const dp::EcmpHash& hash, const Choice& choice) {
  control::HashConfig out = hash.config();
  out.algorithm = choice.taken.algorithm;
  out.seed = choice.taken.seed;
  out.offset = choice.taken.offset;
  return out;
}

std::string end_of(const control::Fabric& fabric, const Path& path) {
  const std::string& node = fabric.nodes[path.node].name;
  switch (path.end) {
    case PathEnd::kHost: return "arrives at " + node;
    case PathEnd::kSwitch: return node + " takes it itself";
    case PathEnd::kBridged: return node + " bridges it by what it has learned: its destination is not the router's MAC";
    case PathEnd::kLinkDown: return "is lost at " + node + ": the link is down, and the routes do not know yet";
    case PathEnd::kDropped: return fmt::format("{} drops it: {}", node, dp::name_of(path.reason));
    case PathEnd::kTooLong: return "goes in a circle";
  }
  return "?";
}

const char* end_word(PathEnd end) {
  static constexpr const char* kWords[] = {"host", "switch", "bridged", "link_down", "dropped", "too_long"};
  return kWords[static_cast<size_t>(end)];
}

bool has_key(const Choice& choice) {
  return choice.mode == dp::EcmpGroupMode::kHash || choice.mode == dp::EcmpGroupMode::kFlowlet;
}

// A hash, and the next hops that it chooses among, a number for each bucket.
struct Hashed {
  const dp::EcmpHash& hash;
  const Choice& choice;
  std::vector<uint32_t> members;

  std::vector<FieldReach> reach(PathDetail detail) const {
    if (detail != PathDetail::kFields || choice.mode != dp::EcmpGroupMode::kHash) return {};
    return reach_of_fields(hash, choice, members);
  }
};
Hashed hashed_at(Walker& walker, const Hop& hop) {
  const dp::ForwardingState& state = walker.state(hop.node);
  const auto first = state.members.begin() + hop.choice->group_in(state).first;
  return {state.hash, *hop.choice, {first, first + hop.choice->buckets}};
}
// The choice of a LAG, whose members have a bucket each.
Hashed lag_hashed_at(Walker& walker, const Hop& hop) {
  std::vector<uint32_t> members(hop.lag->choice.buckets);
  std::iota(members.begin(), members.end(), 0U);
  return {walker.state(hop.node).lags->hash, hop.lag->choice, std::move(members)};
}

control::Json hash_json(const Hashed& hashed, PathDetail detail) {
  const auto& [hash, choice, members] = hashed;
  const control::HashConfig config = as_taken(hash, choice);
  const std::vector<FieldReach> reach = hashed.reach(detail);
  const std::vector<Named> parts = parts_of(choice);
  control::Json fields = control::Json::array();
  for (size_t i = 0; i < parts.size(); ++i) {
    control::Json field{{"field", parts[i].name}, {"bytes", parts[i].bytes}};
    if (!parts[i].present) field["absent"] = true;
    if (!reach.empty() && parts[i].present)
      field["alone"] = {{"independent_bits", reach[i].independent},
                        {"links_reached", reach[i].reached},
                        {"links", reach[i].links},
                        {"least_load", reach[i].least},
                        {"most_load", reach[i].most}};
    fields.push_back(std::move(field));
  }
  control::Json out{{"model", control::word_of(config.model)},
                    {"algorithm", control::word_of(config.algorithm)},
                    {"seed", config.seed},
                    {"offset", config.offset},
                    {"key", hex(hash.bytes_of(choice.taken, choice.key))},
                    {"fields", std::move(fields)}};
  if (config.model == control::HashModel::kLinux) out["policy"] = config.linux_policy;
  if (config.rtag7) out["output"] = control::word_of(choice.taken.output);
  if (choice.taken.macro_flow >= 0) out["macro_flow"] = choice.taken.macro_flow;
  if (!choice.has_layer4) out["layer3_only"] = true;
  if (choice.key.cut_short) out["cut_short"] = true;
  if (hash.is_drawn()) return out;
  const int digits = static_cast<int>(hash.width_bits() / 4);
  out["bits"] = hash.width_bits();
  out["before_offset"] = fmt::format("0x{:0{}x}", choice.raw, digits);
  out["hash"] = fmt::format("0x{:0{}x}", choice.hash, digits);
  return out;
}

// "from Ethernet0 to 10.0.1.10/32, line 12"
std::string override_key(const Walker& walker, const Hop& hop) {
  const control::Override& it = walker.override_of(hop);
  const std::string to = std::visit([](const auto& prefix) { return to_string(prefix); }, it.to);
  return fmt::format("from {} to {}, line {}", walker.testbed().fabric.nodes[hop.node].ports[it.in_port].name, to,
                     it.place.line);
}

// Null: an override that can be used has none, nor has no override.
const char* fallback_of(const Walker& walker, const Hop& hop) {
  if (hop.override_use == OverrideUse::kWithdrawn) return "its next hop has left the routes";
  if (hop.override_use != OverrideUse::kLinkDown) return nullptr;
  const bool is_lag = walker.testbed().fabric.lag_of({hop.node, walker.override_of(hop).out_port}) != nullptr;
  return is_lag ? "its LAG is down" : "its link is down";
}

control::Json override_json(const Walker& walker, const Hop& hop) {
  const control::Override& it = walker.override_of(hop);
  const auto& ports = walker.testbed().fabric.nodes[hop.node].ports;
  control::Json out{{"from", ports[it.in_port].name},
                    {"to", std::visit([](const auto& prefix) { return to_string(prefix); }, it.to)},
                    {"via", walker.testbed().fabric.name_of_way({hop.node, it.out_port})},
                    {"line", it.place.line}};
  if (const char* reason = fallback_of(walker, hop)) out["falls_back"] = reason;
  return out;
}

// The controller's decisions are not known before it has measured.
std::string engineering_text(const control::Testbed& testbed, const Hop& hop) {
  const bool is_placed =
      hop.choice && testbed.engineering && std::ranges::binary_search(testbed.engineering->switches, hop.node);
  return is_placed ? "    until traffic_engineering has placed it: `softspine show overrides`\n" : "";
}

// For a hop that leaves by a LAG.
control::Json lag_json(Walker& walker, const Hop& hop, PathDetail detail) {
  const Choice& choice = hop.lag->choice;
  control::Json out{{"name", walker.testbed().fabric.lags[hop.lag->lag].name},
                    {"members", choice.buckets},
                    {"hash", hash_json(lag_hashed_at(walker, hop), detail)}};
  if (!choice.is_drawn) out["bucket"] = choice.bucket;
  return out;
}

control::Json hop_json(Walker& walker, const Hop& hop, PathDetail detail) {
  const control::Fabric& fabric = walker.testbed().fabric;
  const control::FabricNode& node = fabric.nodes[hop.node];
  control::Json out{
      {"switch", node.name}, {"role", control::name_of(node.role)}, {"in_port", node.ports[hop.in_port].name}};
  const bool is_overridden = hop.override_use == OverrideUse::kSent;
  out["route"] = hop.choice ? "group" : is_overridden ? "override" : hop.is_pinned ? "pinned" : "next hop";
  if (hop.override_use != OverrideUse::kUnused) out["override"] = override_json(walker, hop);
  if (hop.choice) {
    const Choice& choice = *hop.choice;
    out["mode"] = mode_of(choice.falls_back ? dp::EcmpGroupMode::kInPort : choice.mode);
    if (choice.falls_back) out["falls_back"] = true;
    out["buckets"] = choice.buckets;
    if (hop.is_pinned) out["slice"] = true;  // the group is the uplinks of the destination's slice
    if (has_key(choice)) out["hash"] = hash_json(hashed_at(walker, hop), detail);
    if (!choice.is_drawn) out["bucket"] = choice.bucket;
  }
  if (hop.lag) out["lag"] = lag_json(walker, hop, detail);
  if (hop.candidates.size() > 1) {
    control::Json drawn = control::Json::array();
    for (const uint16_t port : hop.candidates) drawn.push_back(node.ports[port].name);
    out["drawn_among"] = std::move(drawn);
  } else {
    out["out_port"] = node.ports[hop.out_port].name;
    out["to"] = fabric.nodes[fabric.peer_of({hop.node, hop.out_port}).node].name;
  }
  return out;
}

std::string key_text(const Hashed& hashed, PathDetail detail) {
  const auto& [hash, choice, members] = hashed;
  const std::vector<Named> parts = parts_of(choice);
  std::string key;
  for (const Named& part : parts) {
    key += fmt::format("{}{} {}", key.empty() ? "" : ", ", part.name, part.present ? part.bytes : "absent");
  }
  std::string out = fmt::format("    key {}: {}\n", hex(hash.bytes_of(choice.taken, choice.key)), key);
  if (!choice.has_layer4) out += "    no layer 4: a fragment, or neither UDP nor TCP; hashed by what is left\n";
  if (choice.key.cut_short) out += "    the packet ends before a UDF does: hashed by what is there\n";
  const std::vector<FieldReach> reach = hashed.reach(detail);
  for (size_t i = 0; i < reach.size(); ++i) {
    if (parts[i].present && !reach[i].spreads())
      out += fmt::format("    {}\n", reach_text(parts[i].name, reach[i], hash, choice.buckets));
  }
  return out;
}

std::string hashed_text(const dp::EcmpHash& hash, const Choice& choice) {
  const int digits = static_cast<int>(hash.width_bits() / 4);
  const control::HashConfig config = as_taken(hash, choice);
  const std::string rotated =
      config.offset == 0 ? "" : fmt::format(" ⟳ {} = 0x{:0{}x}", config.offset, choice.hash, digits);
  std::string output;
  if (choice.taken.macro_flow >= 0) output = fmt::format("macro flow {}: ", choice.taken.macro_flow);
  if (config.rtag7) output += fmt::format("{} = ", control::word_of(choice.taken.output));
  if (dp::row_of(config.algorithm).by_threshold)
    return fmt::format("{} = 0x{:08x}, range {} of {}", hash_words(config), choice.raw, choice.bucket, choice.buckets);
  return fmt::format("{}{} = 0x{:0{}x}{}, mod {} = {}", output, hash_words(config), choice.raw, digits, rotated,
                     choice.buckets, choice.bucket);
}

std::string choice_text(const dp::EcmpHash& hash, const Choice& choice) {
  if (choice.mode == dp::EcmpGroupMode::kInPort)
    return fmt::format("in_port {} mod {} = {}", choice.hash, choice.buckets, choice.bucket);
  const std::string why = choice.falls_back ? "in_port's own way is down; among the others: " : "";
  if (!choice.is_drawn) return why + hashed_text(hash, choice);
  return why + (choice.mode == dp::EcmpGroupMode::kHash ? "drawn for each packet" : "drawn: " + mode_of(choice.mode));
}

std::string hop_text(Walker& walker, const Hop& hop, PathDetail detail) {
  const control::Fabric& fabric = walker.testbed().fabric;
  const control::FabricNode& node = fabric.nodes[hop.node];
  const dp::EcmpHash& hash = walker.state(hop.node).hash;
  std::string to;
  for (const uint16_t port : hop.candidates) {
    const control::FabricNode& peer = fabric.nodes[fabric.peer_of({hop.node, port}).node];
    to += fmt::format("{}{} ({})", to.empty() ? "" : " or ", node.ports[port].name, peer.name);
  }
  const std::string slice = hop.is_pinned ? "of the destination's slice: " : "";
  const std::string why = hop.choice                               ? slice + choice_text(hash, *hop.choice)
                          : hop.override_use == OverrideUse::kSent ? "override: " + override_key(walker, hop)
                          : hop.is_pinned                          ? "pinned by the destination's slice"
                                                                   : "the only way";
  std::string out = fmt::format("{:<12} {} → {}\n    {}\n", node.name, node.ports[hop.in_port].name, to, why);
  if (hop.choice && has_key(*hop.choice)) out += key_text(hashed_at(walker, hop), detail);
  if (const char* reason = fallback_of(walker, hop)) {
    out += fmt::format("    falls back from the override {}: {}\n", override_key(walker, hop), reason);
  }
  out += engineering_text(walker.testbed(), hop);
  if (!hop.lag) return out;
  const dp::EcmpHash& of_lags = walker.state(hop.node).lags->hash;
  return out + fmt::format("    member of {}: {}\n{}", fabric.lags[hop.lag->lag].name,
                           choice_text(of_lags, hop.lag->choice), key_text(lag_hashed_at(walker, hop), detail));
}

}  // namespace

std::string hash_words(const control::HashConfig& hash) {
  if (hash.model == control::HashModel::kLinux)
    return fmt::format("Linux policy {}(seed {})", hash.linux_policy, hash.seed);
  const dp::HashModelRow& model = dp::row_of(hash.model);
  const std::string algorithm(control::word_of(hash.algorithm));
  const std::string name =
      hash.model == control::HashModel::kSai ? algorithm : fmt::format("{} {}", model.word, algorithm);
  if (model.is_of_hosts) return fmt::format("{}({} {})", name, model.seed, hash.seed);
  return fmt::format("{}(seed {}, offset {})", name, hash.seed, hash.offset);
}

control::Json path_json(Walker& walker, const Path& path, PathDetail detail) {
  control::Json hops = control::Json::array();
  for (const Hop& hop : path.hops) hops.push_back(hop_json(walker, hop, detail));
  control::Json out{
      {"hops", std::move(hops)}, {"end", end_word(path.end)}, {"at", walker.testbed().fabric.nodes[path.node].name}};
  if (path.end == PathEnd::kDropped) out["reason"] = dp::name_of(path.reason);
  return out;
}

std::string path_text(Walker& walker, const Path& path, PathDetail detail) {
  std::string out;
  for (const Hop& hop : path.hops) out += hop_text(walker, hop, detail);
  return out + end_of(walker.testbed().fabric, path) + "\n";
}

}  // namespace softspine::analysis
