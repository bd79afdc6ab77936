// SPDX-License-Identifier: Apache-2.0
#include "testbeds/run/route_waves.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "control/routing/mixed_routes.hpp"

namespace softspine::testbeds {

using control::RouteTable;
using dataplane::Instant;

void RouteWaves::start() {
  routes_ = compute();
  members_ = links_.agreed;
  for (const control::Lag& lag : testbed_.fabric.lags) follow_members(lag);
  elsewhere_.resize(routes_->size());
  for (uint32_t n = 0; n < routes_->size(); ++n) {
    publish(n, Instant{});
  }
}

std::shared_ptr<const std::vector<RouteTable>> RouteWaves::compute() const {
  auto tables = compiler_.routes(links_.usable);
  if (links_.last_resort == links_.usable) return tables;
  const auto others = compiler_.routes(links_.last_resort);
  std::vector<RouteTable> out;
  for (uint32_t n = 0; n < tables->size(); ++n) {
    out.push_back(control::with_last_resort(testbed_.fabric, (*tables)[n], (*others)[n]));
  }
  return std::make_shared<const std::vector<RouteTable>>(std::move(out));
}

void RouteWaves::publish(uint32_t node, Instant now) {
  if (pipelines::Switch* const here = nodes_.switch_at(node)) {
    here->publish(compiler_.compile(node, routes(node), members_), now);
  } else {
    elsewhere_[node] = nullptr;
  }
}

std::vector<std::shared_ptr<const dataplane::ForwardingState>> RouteWaves::tables() {
  for (uint32_t n = 0; n < elsewhere_.size(); ++n) {
    if (!is_switch(n) || nodes_.switch_at(n) != nullptr || elsewhere_[n] != nullptr) continue;
    elsewhere_[n] = compiler_.compile(n, routes(n), members_);
  }
  auto out = elsewhere_;
  nodes_.for_each_switch([&out](uint32_t n, const pipelines::Switch& here) { out[n] = here.tables().state; });
  return out;
}

bool RouteWaves::follow_members(const control::Lag& lag) {
  const auto is_member = [this](uint32_t link) { return links_.carrier[link] && links_.usable[link]; };
  const bool has_enough = lag.is_up(is_member);
  bool any = false;
  for (const uint32_t link : lag.links) {
    const bool is_now = has_enough ? is_member(link) : links_.carrier[link] && links_.last_resort[link];
    any = any || members_[link] != is_now;
    members_[link] = is_now;
  }
  return any;
}

void RouteWaves::follow_members(const std::vector<uint32_t>& links, Instant now) {
  const control::Fabric& fabric = testbed_.fabric;
  if (!has_started()) return;
  std::set<uint32_t> lags;
  std::set<uint32_t> nodes;
  for (const uint32_t link : links) {
    if (fabric.links[link].lag != control::kNone) {
      lags.insert(fabric.links[link].lag);
    } else if (members_[link] != links_.agreed[link]) {
      members_[link] = links_.agreed[link];
      for (const control::LinkEnd end : {fabric.links[link].a, fabric.links[link].b}) {
        if (is_switch(end.node)) nodes.insert(end.node);
      }
    }
  }
  for (const uint32_t lag : lags) {
    if (follow_members(fabric.lags[lag])) nodes.insert(fabric.lags[lag].nodes.begin(), fabric.lags[lag].nodes.end());
  }
  for (const uint32_t node : nodes) publish(node, now);
}

void RouteWaves::publish_again(uint32_t node, Instant now) {
  publish(node, now);
}

void RouteWaves::follow(const std::vector<uint32_t>& links, Instant now, Done done) {
  if (!spreads(testbed_)) {
    const auto act = [this, done = std::move(done)](Instant then) {
      follow_at_once(then);
      done(then);
    };
    if (testbed_.convergence.count_ps() == 0) return act(now);
    nodes_.engine().at(now + testbed_.convergence, act);
    return;
  }
  if (mixed_.empty()) {
    mixed_ = *routes_;
    routes_ = std::shared_ptr<const std::vector<RouteTable>>(std::shared_ptr<void>{}, &mixed_);
    learned_.resize(mixed_.size());
    wanted_.resize(mixed_.size());
  }
  const auto wave = std::make_shared<Wave>(
      Wave{.number = ++waves_, .wanted = compute(), .rings = rings_around(links), .done = std::move(done)});
  reach(wave, 0, now);
}

void RouteWaves::note_change(uint32_t node, Instant now) {
  ++changes_;
  incidents_.add(IncidentOf::kRoutes, now, testbed_.fabric.nodes[node].name);
}

void RouteWaves::follow_at_once(Instant now) {
  auto now_there = compute();
  const auto before = std::exchange(routes_, std::move(now_there));
  for (uint32_t n = 0; n < routes_->size(); ++n) {
    if (!is_switch(n) || (*before)[n] == routes(n)) continue;
    publish(n, now);
    note_change(n, now);
  }
}

std::vector<std::vector<uint32_t>> RouteWaves::rings_around(const std::vector<uint32_t>& links) const {
  const control::Fabric& fabric = testbed_.fabric;
  std::vector<bool> known(fabric.nodes.size());
  std::vector<std::vector<uint32_t>> rings(1);
  const auto add = [&](std::vector<uint32_t>& ring, uint32_t n) {
    if (known[n] || !is_switch(n)) return;
    known[n] = true;
    ring.push_back(n);
  };
  for (const uint32_t link : links) {
    add(rings[0], fabric.links[link].a.node);
    add(rings[0], fabric.links[link].b.node);
  }
  while (!rings.back().empty()) {
    std::vector<uint32_t> next;
    for (const uint32_t n : rings.back()) {
      for (uint16_t p = 0; p < fabric.nodes[n].ports.size(); ++p) {
        const uint32_t link = fabric.nodes[n].ports[p].link;
        if (link != control::kNone && links_.usable[link]) add(next, fabric.peer_of({n, p}).node);
      }
    }
    rings.push_back(std::move(next));
  }
  for (uint32_t n = 0; n < fabric.nodes.size(); ++n) add(rings.back(), n);
  if (rings.back().empty() && rings.size() > 1) rings.pop_back();
  if (!testbed_.convergence_per_hop && rings.size() > 2) {
    for (size_t i = 2; i < rings.size(); ++i) rings[1].insert(rings[1].end(), rings[i].begin(), rings[i].end());
    rings.resize(2);
  }
  for (auto& ring : rings) std::ranges::sort(ring);
  return rings;
}

void RouteWaves::reach(const std::shared_ptr<Wave>& wave, size_t ring, Instant now) {
  learn(*wave, wave->rings[ring]);
  take_what_is_safe(now);
  if (ring + 1 == wave->rings.size()) return wave->done(now);
  const dataplane::Duration step = testbed_.convergence_per_hop.value_or(testbed_.convergence);
  if (step.count_ps() == 0) return reach(wave, ring + 1, now);
  nodes_.engine().at(now + step, [this, wave, ring](Instant then) { reach(wave, ring + 1, then); });
}

void RouteWaves::learn(const Wave& wave, const std::vector<uint32_t>& nodes) {
  for (const uint32_t n : nodes) {
    if (learned_[n] > wave.number) continue;
    learned_[n] = wave.number;
    wanted_[n] = std::shared_ptr<const RouteTable>(wave.wanted, &(*wave.wanted)[n]);
  }
}

// Round by round, since what one switch takes may free the next. When all have learned of the same change, there is
// nothing to wait for.
void RouteWaves::take_what_is_safe(Instant now) {
  const control::Fabric& fabric = testbed_.fabric;
  std::vector<uint32_t> changed;
  const auto take = [&](uint32_t n, RouteTable table) {
    if (table == mixed_[n]) return false;
    mixed_[n] = std::move(table);
    changed.push_back(n);
    return true;
  };
  bool all_learned = true;
  for (uint32_t n = 0; n < mixed_.size(); ++n) {
    if (is_switch(n) && learned_[n] != waves_) all_learned = false;
  }
  bool any = true;
  while (any) {
    any = false;
    for (uint32_t n = 0; n < mixed_.size(); ++n) {
      if (!is_switch(n) || wanted_[n] == nullptr) continue;
      const bool took = take(n, all_learned ? *wanted_[n] : control::without_loops(fabric, mixed_, n, *wanted_[n]));
      any = (took && !all_learned) || any;
    }
  }
  std::ranges::sort(changed);
  const auto repeated = std::ranges::unique(changed);
  changed.erase(repeated.begin(), repeated.end());
  for (const uint32_t n : changed) {
    publish(n, now);
    note_change(n, now);
  }
}

}  // namespace softspine::testbeds
