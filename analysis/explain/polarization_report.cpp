// SPDX-License-Identifier: Apache-2.0
#include "analysis/explain/polarization_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <utility>

#include "analysis/explain/cure_text.hpp"
#include "analysis/explain/vendor_lines.hpp"
#include "control/telemetry/json.hpp"

namespace softspine::analysis {

namespace {

double rounded(double value) {
  return std::round(value * 1'000) / 1'000;
}

control::Json load_json(const Load& load) {
  return {{"max_over_mean", rounded(load.max_over_mean)}, {"by_chance", rounded(load.by_chance)}};
}

control::Json group_json(const control::Fabric& fabric, const LinkGroup& group, const EcmpGroupLoad& load) {
  const uint64_t flows = std::accumulate(load.flows.begin(), load.flows.end(), uint64_t{0});
  control::Json links = control::Json::object();
  for (size_t i = 0; i < group.links.size(); ++i) {
    control::add_key(links, fabric.port(group.links[i]).name,
                     {{"to", fabric.nodes[fabric.peer_of(group.links[i]).node].name},
                      {"flows", load.flows[i]},
                      {"bytes", load.bytes[i]},
                      {"expected_flows", rounded(static_cast<double>(flows) * group.weights[i])}});
  }
  return {{"switch", fabric.nodes[group.node].name},
          {"flows", flows},
          {"hashed", group.is_hashed},
          {"links", std::move(links)}};
}

control::Json tier_json(const TierShare& tier) {
  control::Json out{{"tier", tier.tier.name},
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

control::Json groups_json(const control::Fabric& fabric, const Polarization& found, const TierShare& tier) {
  control::Json groups = control::Json::array();
  for (const EcmpGroupLoad& load : tier.groups)
    groups.push_back(group_json(fabric, found.choices.groups[load.group], load));
  return groups;
}

// The tiers that may choose: of each role, up if there is something above it, and down.
std::vector<std::string> tier_names(const control::Fabric& fabric) {
  std::vector<std::string> out;
  for (const control::RoleRow& row : control::kSwitchRoles) {
    const auto has = [&fabric](auto&& claim) { return std::ranges::any_of(fabric.nodes, claim); };
    if (!has([&row](const control::FabricNode& node) { return node.role == row.role; })) continue;
    if (has([&row](const control::FabricNode& node) { return tier_of(node.role) > row.tier; }))
      out.push_back(std::string(row.word) + " up");
    out.push_back(std::string(row.word) + " down");
    const auto has_lag = [&](const control::Lag& lag) {
      return std::ranges::any_of(lag.nodes, [&](uint32_t n) { return fabric.nodes[n].role == row.role; });
    };
    if (std::ranges::none_of(fabric.lags, has_lag)) continue;
    for (const char* way : {" up lags", " down lags"}) out.push_back(std::string(row.word) + way);
  }
  return out;
}

std::vector<std::string> switches_of(const control::Fabric& fabric, const Polarization& found,
                                     const std::vector<uint32_t>& groups) {
  std::vector<std::string> out;
  for (const uint32_t group : groups) {
    const std::string& name = fabric.nodes[found.choices.groups[group].node].name;
    if (std::ranges::find(out, name) == out.end()) out.push_back(name);
  }
  return out;
}

control::Json pair_json(const control::Fabric& fabric, const Polarization& found, const Polarized& pair) {
  return {{"earlier", found.tiers[pair.earlier].tier.name},
          {"later", found.tiers[pair.later].tier.name},
          {"at", switches_of(fabric, found, pair.later_groups)},
          {"together_over_chance", rounded(pair.strength)},
          {"used_over_chance", rounded(pair.used)},
          {"cause", {{"kind", word_of(pair.cause.kind)}, {"text", pair.cause.text}}}};
}

control::Json cure_json(const control::Testbed& testbed, const Cure& cure) {
  control::Json vendors = control::Json::object();
  for (const VendorLines& vendor : vendor_lines_of(testbed, cure.changes))
    vendors[vendor.vendor] = {{"lines", vendor.lines}, {"notes", vendor.notes}};
  return {{"cure", cure.name},
          {"change", words_of(cure.changes)},
          {"worst_max_over_mean", rounded(cure.worst)},
          {"by_chance", rounded(cure.by_chance)},
          {"testbed", yaml_of(testbed, cure.changes)},
          {"switches", std::move(vendors)}};
}

size_t name_width(const Polarization& found) {
  size_t width = 18;
  for (const TierShare& tier : found.tiers) width = std::max(width, tier.tier.name.size());
  return width;
}

std::string tier_line(const TierShare& tier, size_t width) {
  return fmt::format("{:<{}} {:>7} {:>8} {:>7} {:>6} {:>9.1f} {:>9.2f} {:>9.2f}  {}\n", tier.tier.name, width,
                     tier.flows, tier.keys, tier.links, tier.idle, tier.idle_by_chance, tier.by_flows.max_over_mean,
                     tier.by_flows.by_chance, word_of(tier.verdict));
}

// ", at tor1 and tor7": nothing if it is everywhere.
std::string at_switches(const control::Fabric& fabric, const Polarization& found, const std::vector<uint32_t>& groups) {
  const std::vector<std::string> names = switches_of(fabric, found, groups);
  constexpr size_t kNamed = 6;
  std::string out;
  for (size_t i = 0; i < std::min(names.size(), kNamed); ++i) out += (i == 0 ? ", at " : ", ") + names[i];
  if (names.size() > kNamed) out += fmt::format(" and {} more", names.size() - kNamed);
  return out;
}

// Where few flows share a link, the places of links show the dependence, and the links used don't.
std::string strength_text(const Polarized& pair) {
  constexpr double kTelling = 0.95;
  if (pair.used < kTelling)
    return fmt::format("flows that share a link there use {:.0f} % of the links that chance would", pair.used * 100);
  return fmt::format(
      "flows that share a link, or its place among its switch's, do so here again {:.2f} times as often "
      "as by chance",
      pair.strength);
}

std::string causes_text(const control::Fabric& fabric, const Polarization& found) {
  std::string out;
  for (const Polarized& pair : found.pairs) {
    out += fmt::format("\n{}: {} by {}{}: {}:\n  {}\n", pair.does_harm ? "POLARIZED" : "Dependent",
                       found.tiers[pair.later].tier.name, found.tiers[pair.earlier].tier.name,
                       at_switches(fabric, found, pair.later_groups), strength_text(pair), pair.cause.text);
    if (!pair.does_harm)
      out +=
          "  No harm is done: these flows load the links as evenly as by chance, since what several earlier links "
          "leave "
          "to each other adds up.\n  Where links fail it need not: --down NODE:PORT tries that.\n";
  }
  const Cause* last = nullptr;
  for (const TierShare& tier : found.tiers) {
    if (!tier.cause) continue;
    const bool is_shadow = last != nullptr && last->kind == CauseKind::kFewKeys && tier.cause->kind == last->kind;
    out += fmt::format("\nUNEVEN: {}{}:\n  {}\n", tier.tier.name, at_switches(fabric, found, tier.uneven_groups),
                       is_shadow ? "for the same reason" : tier.cause->text);
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

std::string vendors_text(const control::Testbed& testbed, const Cure& cure) {
  std::string out;
  for (const VendorLines& vendor : vendor_lines_of(testbed, cure.changes)) {
    for (const std::string& line : vendor.lines) out += fmt::format("      {}, {}\n", vendor.vendor, line);
    for (const std::string& note : vendor.notes) out += fmt::format("      {}: {}\n", vendor.vendor, note);
  }
  return out;
}

// Flows that have one key; or two tiers of the same switches, on the way up and on the way down, have one hash whatever
// a role is given.
std::string no_cure_text(const Polarization& found) {
  const std::string begin = "\nNo change of the hash by role that was tried cures it";
  std::set<std::pair<uint32_t, uint32_t>> alike;
  for (uint64_t flow = 0; flow < found.choices.flows(); ++flow) {
    const auto met = found.choices.of(flow);
    for (size_t later = 1; later < met.size(); ++later) {
      const LinkGroup& two = found.choices.groups[met[later].group];
      for (size_t earlier = 0; earlier < later; ++earlier) {
        const LinkGroup& one = found.choices.groups[met[earlier].group];
        const bool have_factor = std::gcd(one.by_bucket.size(), two.by_bucket.size()) > 1;
        const bool is_one_role =
            found.tiers[one.tier].tier.role == found.tiers[two.tier].tier.role && one.is_lag == two.is_lag;
        if (one.is_hashed && two.is_hashed && one.function == two.function && is_one_role && have_factor)
          alike.emplace(one.tier, two.tier);
      }
    }
  }
  const auto has_few_keys = [](const TierShare& tier) { return tier.cause && tier.cause->kind == CauseKind::kFewKeys; };
  if (alike.empty() && std::ranges::any_of(found.tiers, has_few_keys))
    return begin +
           ": flows of one key go one way by any function, and nothing that was tried gives them more keys. They have "
           "to differ more in what is hashed there.\n";
  if (alike.empty()) return begin + ".\n";
  const TierShare& first = found.tiers[alike.begin()->first];
  return fmt::format(
      "{}: {} and {} are choices of the same switches, by one hash whatever the {} switches are given, "
      "and their numbers of links have a factor in common. Switches on the way up must hash otherwise "
      "than those on the way down: give some of them another profile.\n",
      begin, first.tier.name, found.tiers[alike.begin()->second].tier.name, name_of(first.tier.role));
}

// ", 3 do not: mtu_exceeded 2, no_route 1"
std::string lost_text(const Polarization& found) {
  std::string out;
  for (const auto& [why, flows] : found.choices.lost)
    out += fmt::format("{} {} {}", out.empty() ? ":" : ",", why, flows);
  return out.empty() ? out : fmt::format(", {} do not{}", found.flows - found.arrived, out);
}

}  // namespace

control::Json polarization_json(const control::Testbed& testbed, const Polarization& found,
                                const std::vector<Cure>& cures) {
  control::Json out{{"flows", found.flows},
                    {"arrived", found.arrived},
                    {"lost", found.choices.lost},
                    {"worst_max_over_mean", rounded(found.worst())}};
  out["tiers"] = control::Json::array();
  for (const TierShare& tier : found.tiers) {
    out["tiers"].push_back(tier_json(tier));
    out["tiers"].back()["flows_not_judged"] = tier.flows_not_judged;
    out["tiers"].back()["uneven_at"] = switches_of(testbed.fabric, found, tier.uneven_groups);
    out["tiers"].back()["groups"] = groups_json(testbed.fabric, found, tier);
  }
  out["polarized"] = control::Json::array();
  out["dependent"] = control::Json::array();
  for (const Polarized& pair : found.pairs)
    out[pair.does_harm ? "polarized" : "dependent"].push_back(pair_json(testbed.fabric, found, pair));
  out["cures"] = control::Json::array();
  for (const Cure& cure : cures) out["cures"].push_back(cure_json(testbed, cure));
  return out;
}

control::Json polarization_values(const Polarization& found) {
  control::Json out{{"flows", found.flows},
                    {"arrived", found.arrived},
                    {"polarized", found.is(TierVerdict::kPolarized)},
                    {"uneven", found.is(TierVerdict::kUneven)},
                    {"dependent", found.is(TierVerdict::kDependent)},
                    {"worst_max_over_mean", rounded(found.worst())},
                    {"tiers", control::Json::object()}};
  for (const TierShare& tier : found.tiers) out["tiers"][tier.tier.name] = tier_json(tier);
  return out;
}

control::Json polarization_outline(const control::Fabric& fabric) {
  Polarization every;
  for (std::string& name : tier_names(fabric)) {
    TierShare& tier = every.tiers.emplace_back();
    tier.tier.name = std::move(name);
    tier.by_bytes.emplace();
    tier.cause.emplace();
  }
  return polarization_values(every);
}

std::string polarization_text(const control::Testbed& testbed, const Polarization& found) {
  std::string out = fmt::format("{} flows, {} arrive{}\n", found.flows, found.arrived, lost_text(found));
  if (found.tiers.empty()) return out + "Nothing is judged: no flow came to a switch with more than one link for it.\n";
  const size_t width = name_width(found);
  out += fmt::format("\n{:<{}} {:>7} {:>8} {:>7} {:>6} {:>9} {:>9} {:>9}\n", "tier", width, "flows", "keys", "links",
                     "idle", "by chance", "max/mean", "by chance");
  for (const TierShare& tier : found.tiers) {
    out += tier_line(tier, width);
    if (tier.by_bytes)
      out += fmt::format("{:<{}} {:>9.2f} {:>9.2f}\n", "  by bytes", width + 41, tier.by_bytes->max_over_mean,
                         tier.by_bytes->by_chance);
    if (tier.flows_not_judged > 0)
      out += fmt::format("  not judged: {} flows at switches that do not hash\n", tier.flows_not_judged);
  }
  return out + causes_text(testbed.fabric, found);
}

std::string cures_text(const control::Testbed& testbed, const Polarization& found, const std::vector<Cure>& cures) {
  if (!found.is_unbalanced()) return {};
  if (cures.empty()) return no_cure_text(found);
  std::string out = "\nWhat cures it, tried with these flows; the least change first\n";
  for (const Cure& cure : cures) {
    out += fmt::format("  {:<12} {}: max/mean {:.2f}, chance {:.2f}\n", cure.name, words_of(cure.changes), cure.worst,
                       cure.by_chance);
    out += vendors_text(testbed, cure);
  }
  out += fmt::format("  in the testbed's file, for {}:\n{}", cures.front().name,
                     indented(yaml_of(testbed, cures.front().changes)));
  return out;
}

}  // namespace softspine::analysis
