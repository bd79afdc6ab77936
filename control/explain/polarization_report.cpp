// SPDX-License-Identifier: Apache-2.0
#include "control/explain/polarization_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "control/explain/cure_text.hpp"
#include "control/explain/vendor_lines.hpp"

namespace softspine::control {

namespace {

double rounded(double value) {
  return std::round(value * 1'000) / 1'000;
}

Json load_json(const Load& load) {
  return {{"max_over_mean", rounded(load.max_over_mean)}, {"by_chance", rounded(load.by_chance)}};
}

Json group_json(const Fabric& fabric, const LinkGroup& group, const GroupLoad& load) {
  const uint64_t flows = std::accumulate(load.flows.begin(), load.flows.end(), uint64_t{0});
  Json links = Json::object();
  for (size_t i = 0; i < group.links.size(); ++i) {
    add_key(links, fabric.port(group.links[i]).name,
            {{"to", fabric.nodes[fabric.peer_of(group.links[i]).node].name},
             {"flows", load.flows[i]},
             {"bytes", load.bytes[i]},
             {"expected_flows", rounded(static_cast<double>(flows) * group.weights[i])}});
  }
  return {{"switch", fabric.nodes[group.node].name}, {"flows", flows}, {"links", std::move(links)}};
}

Json tier_json(const TierShare& tier) {
  Json out{{"tier", tier.tier.name},
           {"verdict", word_of(tier.verdict)},
           {"flows", tier.flows},
           {"distinct_keys", tier.keys},
           {"links", tier.links},
           {"idle_links", tier.idle},
           {"idle_links_by_chance", rounded(tier.idle_by_chance)},
           {"of_flows", load_json(tier.by_flows)}};
  if (tier.by_bytes) out["of_bytes"] = load_json(*tier.by_bytes);
  out["chi_square_over_chance"] = rounded(tier.evenness.relative);
  if (tier.cause) out["cause"] = {{"kind", word_of(tier.cause->kind)}, {"text", tier.cause->text}};
  return out;
}

Json groups_json(const Fabric& fabric, const Polarization& found, const TierShare& tier) {
  Json groups = Json::array();
  for (const GroupLoad& load : tier.groups)
    groups.push_back(group_json(fabric, found.choices.groups[load.group], load));
  return groups;
}

// The tiers that may choose: of each role, up if there is something above it, and down.
std::vector<std::string> tier_names(const Fabric& fabric) {
  std::vector<std::string> out;
  for (const RoleRow& row : kSwitchRoles) {
    const auto has = [&fabric](auto&& claim) { return std::ranges::any_of(fabric.nodes, claim); };
    if (!has([&row](const FabricNode& node) { return node.role == row.role; })) continue;
    if (has([&row](const FabricNode& node) { return tier_of(node.role) > row.tier; }))
      out.push_back(std::string(row.word) + " up");
    out.push_back(std::string(row.word) + " down");
  }
  return out;
}

Json pair_json(const Polarization& found, const Polarized& pair) {
  return {{"earlier", found.tiers[pair.earlier].tier.name},
          {"later", found.tiers[pair.later].tier.name},
          {"together_over_chance", rounded(pair.strength)},
          {"used_over_chance", rounded(pair.used)},
          {"cause", {{"kind", word_of(pair.cause.kind)}, {"text", pair.cause.text}}}};
}

Json cure_json(const Testbed& testbed, const Cure& cure) {
  Json vendors = Json::object();
  for (const VendorLines& vendor : vendor_lines_of(cure.changes))
    vendors[vendor.vendor] = {{"lines", vendor.lines}, {"notes", vendor.notes}};
  return {{"cure", cure.name},
          {"change", words_of(cure.changes)},
          {"worst_max_over_mean", rounded(cure.worst)},
          {"by_chance", rounded(cure.by_chance)},
          {"testbed", yaml_of(testbed, cure.changes)},
          {"switches", std::move(vendors)}};
}

std::string tier_line(const TierShare& tier) {
  return fmt::format("{:<18} {:>7} {:>8} {:>7} {:>6} {:>9.1f} {:>9.2f} {:>9.2f}  {}\n", tier.tier.name, tier.flows,
                     tier.keys, tier.links, tier.idle, tier.idle_by_chance, tier.by_flows.max_over_mean,
                     tier.by_flows.by_chance, word_of(tier.verdict));
}

std::string causes_text(const Polarization& found) {
  std::string out;
  for (const Polarized& pair : found.pairs) {
    out += fmt::format(
        "\nPOLARIZED: {} by {}: flows that share a link there use {:.0f} % of the links that chance would:\n  {}\n",
        found.tiers[pair.later].tier.name, found.tiers[pair.earlier].tier.name, pair.used * 100, pair.cause.text);
  }
  const Cause* last = nullptr;
  for (const TierShare& tier : found.tiers) {
    if (!tier.cause) continue;
    const bool is_shadow = last != nullptr && last->kind == CauseKind::kFewKeys && tier.cause->kind == last->kind;
    out += fmt::format("\nUNEVEN: {}:\n  {}\n", tier.tier.name, is_shadow ? "for the same reason" : tier.cause->text);
    last = &*tier.cause;
  }
  return out;
}

std::string indented(const std::string& text) {
  std::string out = "      ";
  for (const char c : text.substr(0, text.size() - 1)) {
    out += c;
    if (c == '\n') out += "      ";
  }
  return out + "\n";
}

std::string vendors_text(const Cure& cure) {
  std::string out;
  for (const VendorLines& vendor : vendor_lines_of(cure.changes)) {
    for (const std::string& line : vendor.lines) out += fmt::format("      {}, {}\n", vendor.vendor, line);
    for (const std::string& note : vendor.notes) out += fmt::format("      {}: {}\n", vendor.vendor, note);
  }
  return out;
}

}  // namespace

Json polarization_json(const Testbed& testbed, const Polarization& found, const std::vector<Cure>& cures) {
  Json out{{"flows", found.flows}, {"arrived", found.arrived}, {"worst_max_over_mean", rounded(found.worst())}};
  out["tiers"] = Json::array();
  for (const TierShare& tier : found.tiers) {
    out["tiers"].push_back(tier_json(tier));
    out["tiers"].back()["groups"] = groups_json(testbed.fabric, found, tier);
  }
  out["polarized"] = Json::array();
  for (const Polarized& pair : found.pairs) out["polarized"].push_back(pair_json(found, pair));
  out["cures"] = Json::array();
  for (const Cure& cure : cures) out["cures"].push_back(cure_json(testbed, cure));
  return out;
}

Json polarization_values(const Polarization& found) {
  Json out{{"flows", found.flows},
           {"arrived", found.arrived},
           {"polarized", found.is(TierVerdict::kPolarized)},
           {"uneven", found.is(TierVerdict::kUneven)},
           {"worst_max_over_mean", rounded(found.worst())},
           {"tiers", Json::object()}};
  for (const TierShare& tier : found.tiers) out["tiers"][tier.tier.name] = tier_json(tier);
  return out;
}

Json polarization_outline(const Fabric& fabric) {
  Polarization every;
  for (std::string& name : tier_names(fabric)) {
    TierShare& tier = every.tiers.emplace_back();
    tier.tier.name = std::move(name);
    tier.by_bytes.emplace();
    tier.cause.emplace();
  }
  return polarization_values(every);
}

std::string polarization_text(const Polarization& found) {
  std::string out =
      fmt::format("{} flows, {} arrive\n\n{:<18} {:>7} {:>8} {:>7} {:>6} {:>9} {:>9} {:>9}\n", found.flows,
                  found.arrived, "tier", "flows", "keys", "links", "idle", "by chance", "max/mean", "by chance");
  for (const TierShare& tier : found.tiers) {
    out += tier_line(tier);
    if (!tier.by_bytes) continue;
    out +=
        fmt::format("{:<59} {:>9.2f} {:>9.2f}\n", "  by bytes", tier.by_bytes->max_over_mean, tier.by_bytes->by_chance);
  }
  return out + causes_text(found);
}

std::string cures_text(const Testbed& testbed, const Polarization& found, const std::vector<Cure>& cures) {
  if (!found.is_amiss()) return {};
  if (cures.empty()) return "\nNo change of the hash by role that was tried cures it.\n";
  std::string out = "\nWhat cures it, tried with these flows; the least change first\n";
  for (const Cure& cure : cures) {
    out += fmt::format("  {:<12} {}: max/mean {:.2f}, chance {:.2f}\n", cure.name, words_of(cure.changes), cure.worst,
                       cure.by_chance);
    out += vendors_text(cure);
  }
  out += fmt::format("  in the testbed's file, for {}:\n{}", cures.front().name,
                     indented(yaml_of(testbed, cures.front().changes)));
  return out;
}

}  // namespace softspine::control
