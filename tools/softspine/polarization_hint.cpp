// SPDX-License-Identifier: Apache-2.0
#include "tools/softspine/polarization_hint.hpp"

#include <fmt/format.h>

#include "analysis/explain/polarization.hpp"
#include "analysis/reading/flow_probes.hpp"
#include "control/telemetry/json.hpp"
#include "testbeds/run/workload_flows.hpp"

namespace softspine::tools {

namespace {

// Enough to find polarization, and on a pod of 15,360 GPUs less work than the rest of `check`.
constexpr uint32_t kFlowsAsked = 4'096;

}  // namespace

std::vector<PolarizedTier> polarized_tiers(const control::Testbed& testbed) {
  analysis::Walker walker{testbed, std::vector<bool>(testbed.fabric.links.size(), true)};
  analysis::FlowProbes flows = testbeds::workload_flows(walker, kFlowsAsked);
  if (flows->empty()) flows = analysis::random_flows(walker, kFlowsAsked, testbed.run.seed);
  if (!flows) return {};  // no two hosts are apart
  const analysis::Polarization found = polarization_of(walker, *flows);
  std::vector<PolarizedTier> out;
  for (const analysis::Polarized& pair : found.pairs) {
    if (!pair.does_harm) continue;
    const analysis::TierShare& later = found.tiers[pair.later];
    out.push_back({.tier = later.tier.name,
                   .by = found.tiers[pair.earlier].tier.name,
                   .used = pair.used,
                   .max_over_mean = later.by_flows.max_over_mean,
                   .by_chance = later.by_flows.by_chance});
  }
  return out;
}

std::string polarized_text(const std::vector<PolarizedTier>& tiers, const std::string& file) {
  std::string out;
  for (const PolarizedTier& tier : tiers)
    out += fmt::format("POLARIZED: {} by {}: the fullest link has {:.2f} times its share, by chance {:.2f}\n",
                       tier.tier, tier.by, tier.max_over_mean, tier.by_chance);
  if (!tiers.empty()) out += fmt::format("  why, and what cures it: softspine polarization {}\n", file);
  return out;
}

control::Json polarized_json(const std::vector<PolarizedTier>& tiers) {
  control::Json out = control::Json::array();
  for (const PolarizedTier& tier : tiers)
    out.push_back({{"tier", tier.tier},
                   {"by", tier.by},
                   {"used_over_chance", tier.used},
                   {"max_over_mean", tier.max_over_mean},
                   {"by_chance", tier.by_chance}});
  return out;
}

}  // namespace softspine::tools
