// SPDX-License-Identifier: Apache-2.0
#include "testbeds/run/traffic_controller.hpp"

#include <algorithm>
#include <utility>

namespace softspine::testbeds {

using control::FlowDemand;
using control::LinkEnd;
using dataplane::Duration;
using dataplane::Instant;

namespace {

// The bytes beside a RoCEv2 packet's payload: preamble and gap 20, Ethernet and FCS 18, IPv4 20, UDP 8, BTH 12, ICRC 4.
constexpr uint64_t kWireBytes = 82;

}  // namespace

void TrafficController::start() {
  if (!testbed_.engineering) return;
  sent_bytes_.resize(flows_.size());
  engine_.look_at(Instant::at(testbed_.engineering->interval), [this](Instant now) { look(now); });
}

void TrafficController::snapshot(control::FabricSnapshot& out) {
  if (testbed_.engineering) out.engineering = counters_;
}

void TrafficController::look(Instant now) {
  const Instant next = engine_.next_event();
  if (next.is_never() && !engine_.is_wall()) return;
  flows_.share();
  const auto demands = measure(now - measured_);
  measured_ = now;
  control::EngineeringPlan plan =
      control::engineer(testbed_, links_.all_routes(), demands, planned_, links_.lag_members());
  ++counters_.plans;
  counters_.demands = plan.demands;
  counters_.placed = plan.placed;
  counters_.moved += plan.moved;
  counters_.highest_load = plan.highest;
  if (plan.overrides != planned_) {
    planned_ = plan.overrides;
    engine_.at(now + testbed_.engineering->delay,
               [this, plan = std::move(plan)](Instant then) { install(plan, then); });
  }
  engine_.look_at(after(now), [this](Instant then) { look(then); });
}

// The next multiple; or the first one after the next event, if nothing happens before that.
Instant TrafficController::after(Instant now) const {
  const Duration interval = testbed_.engineering->interval;
  const Instant usual = now + interval;
  const Instant event = engine_.next_event();
  if (engine_.is_wall() || event < usual) return usual;
  return Instant::at(interval * ((event - Instant{}) / interval + 1));
}

std::vector<FlowDemand> TrafficController::measure(Duration since) {
  std::map<std::pair<LinkEnd, uint32_t>, uint64_t> sent;
  for (size_t i = 0; i < flows_.size(); ++i) {
    const auto& source = flows_.source(i);
    if (!source) continue;
    const FlowSent& flow = source->sent();
    const uint64_t bytes = flow.bytes + flow.packets * kWireBytes;
    const uint64_t more = bytes - std::exchange(sent_bytes_[i], bytes);
    if (more == 0) continue;
    const LinkEnd at = testbed_.fabric.peer_of({flows_.plan(i).source, source->port().value()});
    if (testbed_.fabric.nodes[at.node].kind == control::NodeKind::kSwitch)
      sent[{at, flows_.plan(i).destination}] += more;
  }
  std::vector<FlowDemand> out;
  for (const auto& [key, bytes] : sent) {
    out.push_back({.at = key.first,
                   .to = key.second,
                   .bps = static_cast<double>(bytes) * 8e12 / static_cast<double>(since.count_ps())});
  }
  return out;
}

void TrafficController::install(const control::EngineeringPlan& plan, Instant now) {
  for (const auto& [node, overrides] : plan.overrides) {
    if (links_.use_engineered(node, overrides, now)) ++counters_.updates;
  }
}

}  // namespace softspine::testbeds
