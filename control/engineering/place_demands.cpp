// SPDX-License-Identifier: Apache-2.0
#include "control/engineering/place_demands.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <utility>

namespace softspine::control {

namespace {

class Placer {
 public:
  Placer(std::span<const double> capacity_bps, double utilisation, std::vector<double>& load)
      : capacity_bps_(capacity_bps), utilisation_(utilisation), load_(load) {}

  std::optional<uint32_t> place(const PathDemand& demand) {
    std::vector<double> costs;
    for (const DemandPath& path : demand.paths) costs.push_back(cost_of(path, demand.bps));
    const auto least = std::ranges::min_element(costs);
    if (least == costs.end() || *least > utilisation_ + kTolerance) return std::nullopt;
    auto chosen = static_cast<uint32_t>(least - costs.begin());
    if (demand.current && *demand.current < costs.size()) {
      const double now = costs[*demand.current];
      if (now <= *least + kTolerance && now <= utilisation_ + kTolerance) chosen = *demand.current;
    }
    for (const LinkShare& each : demand.paths[chosen].links) load_[each.link] += added(each, demand.bps);
    return chosen;
  }

 private:
  double added(const LinkShare& each, double bps) const { return bps * each.share / capacity_bps_[each.link]; }
  // The load of its most loaded link, with the demand.
  double cost_of(const DemandPath& path, double bps) const {
    double most = 0;
    for (const LinkShare& each : path.links) most = std::max(most, load_[each.link] + added(each, bps));
    return most;
  }

  std::span<const double> capacity_bps_;
  double utilisation_;
  std::vector<double>& load_;
};

}  // namespace

double PlacedDemands::highest() const {
  return load.empty() ? 0 : *std::ranges::max_element(load);
}

PlacedDemands place_demands(std::span<const PathDemand> demands, std::span<const double> capacity_bps,
                            double utilisation, std::vector<double> load) {
  PlacedDemands out{.path = std::vector<std::optional<uint32_t>>(demands.size()), .load = std::move(load)};
  std::vector<uint32_t> order(demands.size());
  std::iota(order.begin(), order.end(), 0U);
  const double step = kTolerance * (capacity_bps.empty() ? 1 : *std::ranges::max_element(capacity_bps));
  // A demand that keeps its path goes first among equals: else one that has lost its own would take another's, and so
  // on.
  std::ranges::stable_sort(order, std::greater<>{}, [&](uint32_t d) {
    return std::pair{std::round(demands[d].bps / step), demands[d].current.has_value()};
  });
  Placer placer(capacity_bps, utilisation, out.load);
  for (const uint32_t d : order) out.path[d] = placer.place(demands[d]);
  return out;
}

}  // namespace softspine::control
