// SPDX-License-Identifier: Apache-2.0
#include "control/explain/polarization_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "control/telemetry/svg.hpp"

namespace softspine::control {

namespace {

double rounded(double value) {
  return std::round(value * 1'000) / 1'000;
}

Json switch_json(const Fabric& fabric, const SwitchShare& share) {
  const Spread spread = spread_of(share.flows);
  const Ideal ideal = ideal_of({{static_cast<uint32_t>(spread.flows), spread.links}}, 200);
  Json links = Json::object();
  for (size_t i = 0; i < share.links.size(); ++i) {
    const double part = spread.flows == 0 ? 0 : static_cast<double>(share.flows[i]) / static_cast<double>(spread.flows);
    add_key(links, fabric.port(share.links[i]).name,
            {{"to", fabric.nodes[fabric.peer_of(share.links[i]).node].name},
             {"flows", share.flows[i]},
             {"share", rounded(part)}});
  }
  return {{"switch", fabric.nodes[share.node].name},
          {"flows", spread.flows},
          {"max_over_mean", rounded(spread.max_over_mean)},
          {"ideal_max_over_mean", rounded(ideal.max_over_mean)},
          {"jain", rounded(spread.jain)},
          {"links", std::move(links)}};
}

Json tier_json(const Fabric& fabric, const TierShare& tier) {
  Json switches = Json::array();
  for (const SwitchShare& share : tier.switches) switches.push_back(switch_json(fabric, share));
  return {{"tier", tier.name},
          {"flows", tier.spread.flows},
          {"distinct_keys", tier.distinct_keys},
          {"links", tier.spread.links},
          {"idle_links", tier.spread.idle},
          {"max_over_mean", rounded(tier.spread.max_over_mean)},
          {"jain", rounded(tier.spread.jain)},
          {"ideal",
           {{"max_over_mean", rounded(tier.ideal.max_over_mean)},
            {"largest_max_over_mean", rounded(tier.ideal.largest)},
            {"jain", rounded(tier.ideal.jain)}}},
          {"drawn", tier.is_drawn},
          {"uneven", tier.is_uneven()},
          {"switches", std::move(switches)}};
}

std::string verdict_of(const TierShare& tier) {
  if (tier.is_drawn) return "drawn for each packet or flowlet: no flow has one link";
  if (!tier.is_uneven()) return "as even as chance";
  if (tier.distinct_keys < tier.spread.links) return "UNEVEN: fewer keys than links";
  return "UNEVEN";
}

// Colour by load over mean: blue at 0, grey at 1, red at 2 and more.
std::string colour_of(double load) {
  const double t = std::clamp(load, 0.0, 2.0);
  const auto mix = [](double from, double to, double part) { return static_cast<int>(from + (to - from) * part); };
  if (t < 1) return fmt::format("rgb({},{},{})", mix(60, 170, t), mix(110, 170, t), mix(220, 170, t));
  return fmt::format("rgb({},{},{})", mix(170, 210, t - 1), mix(170, 40, t - 1), mix(170, 40, t - 1));
}

constexpr double kWidth = 1'200;
constexpr double kMargin = 10;
constexpr double kStrip = 140;
constexpr double kBars = 90;  // of a strip, for load 3 and more

void draw_strip(Svg& svg, const Fabric& fabric, const TierShare& tier, double top) {
  const double mean = tier.spread.links == 0 ? 0 : static_cast<double>(tier.spread.flows) / tier.spread.links;
  svg.text({kMargin, top + 16}, fmt::format("{}: {} flows on {} links, max/mean {:.2f} (ideal {:.2f}), Jain {:.3f}",
                                            tier.name, tier.spread.flows, tier.spread.links, tier.spread.max_over_mean,
                                            tier.ideal.max_over_mean, tier.spread.jain));
  const double step = (kWidth - 2 * kMargin) / std::max(1U, tier.spread.links);
  const double floor = top + 26 + kBars;
  double x = kMargin;
  for (const SwitchShare& share : tier.switches) {
    for (size_t i = 0; i < share.links.size(); ++i) {
      const double load = mean == 0 ? 0 : share.flows[i] / mean;
      const double height = std::max(1.0, std::min(load, 3.0) / 3 * kBars);
      svg.box({x, floor - height}, std::max(0.4, step * 0.9), height, colour_of(load), "none", 1, 0,
              fmt::format("{}: {} flows", fabric.name_of(share.links[i]), share.flows[i]));
      x += step;
    }
  }
  const double even = floor - kBars / 3;
  svg.line({kMargin, even}, {kWidth - kMargin, even}, "black", 1, "4");
}

}  // namespace

Json polarization_json(const Fabric& fabric, const Polarization& found, const std::vector<Cure>& cures) {
  Json tiers = Json::array();
  for (const TierShare& tier : found.tiers) tiers.push_back(tier_json(fabric, tier));
  Json correlations = Json::array();
  for (const Correlation& c : found.correlations) {
    Json entry{{"first", found.tiers[c.first].name},
               {"second", found.tiers[c.second].name},
               {"reuse", rounded(c.reuse)},
               {"polarized", c.is_polarized}};
    if (c.is_polarized) entry["why"] = c.why;
    correlations.push_back(std::move(entry));
  }
  Json out{{"flows", found.flows},
           {"arrived", found.arrived},
           {"worst_max_over_mean", rounded(found.worst())},
           {"tiers", std::move(tiers)},
           {"correlations", std::move(correlations)}};
  out["cures"] = Json::array();
  for (const Cure& cure : cures) {
    out["cures"].push_back({{"cure", cure.name},
                            {"what", cure.what},
                            {"worst_max_over_mean", rounded(cure.worst)},
                            {"ideal_max_over_mean", rounded(cure.ideal)},
                            {"improvement", rounded(found.worst() / cure.worst)},
                            {"cured", cure.is_cured}});
  }
  return out;
}

std::string polarization_text(const Polarization& found, const std::vector<Cure>& cures) {
  std::string out =
      fmt::format("{} flows, {} arrive\n\n{:<18} {:>7} {:>8} {:>7} {:>6} {:>9} {:>6} {:>7} {:>6}\n", found.flows,
                  found.arrived, "tier", "flows", "keys", "links", "idle", "max/mean", "ideal", "Jain", "ideal");
  for (const TierShare& tier : found.tiers) {
    out += fmt::format("{:<18} {:>7} {:>8} {:>7} {:>6} {:>9.2f} {:>6.2f} {:>7.3f} {:>6.3f}  {}\n", tier.name,
                       tier.spread.flows, tier.distinct_keys, tier.spread.links, tier.spread.idle,
                       tier.spread.max_over_mean, tier.ideal.max_over_mean, tier.spread.jain, tier.ideal.jain,
                       verdict_of(tier));
  }
  for (const Correlation& c : found.correlations) {
    if (!c.is_polarized) continue;
    out += fmt::format(
        "\nPOLARIZED: flows that share a link of {} use {:.0f} % of the links of {} that chance would:\n  {}\n",
        found.tiers[c.first].name, c.reuse * 100, found.tiers[c.second].name, c.why);
  }
  if (!cures.empty())
    out += fmt::format("\nWhat would help (the worst tier's max/mean is {:.2f} now)\n", found.worst());
  for (const Cure& cure : cures) {
    out += fmt::format("  {:<10} {:>6.2f}, {:>5.2f} × better{:<8} {}\n", cure.name, cure.worst,
                       found.worst() / cure.worst, cure.is_cured ? ", cured" : "", cure.what);
  }
  return out;
}

std::string polarization_picture(const Fabric& fabric, const Polarization& found) {
  Svg svg{kWidth, static_cast<double>(found.tiers.size()) * kStrip + 2 * kMargin};
  double top = kMargin;
  for (const TierShare& tier : found.tiers) {
    draw_strip(svg, fabric, tier, top);
    top += kStrip;
  }
  return std::move(svg).finish();
}

}  // namespace softspine::control
