// SPDX-License-Identifier: Apache-2.0
// Departures that are put off (departures.hpp) against departures that are all events: a switch with the same plan, but
// for one group that goes by credit and that nobody uses, so that its buffer wants each release at its instant.
#include "dataplane/units/rng.hpp"
#include "tests/harness/seed.hpp"
#include "tests/scenario/switch/bench.hpp"

namespace softspine::tests {
namespace {

using namespace dataplane;

constexpr uint32_t kUnused = 7;  // a group

// A small memory: some runs stay below all limits, in others groups raise XOFF and frames are refused.
std::shared_ptr<QosPlan> draw_plan(Rng& rng) {
  const auto draw = [&rng](uint64_t below) { return static_cast<uint32_t>(rng.below(below)); };
  QosPlan plan = QosPlan::plain(kBenchPorts, {});
  plan.buffer.cell = CellSize{208};
  plan.buffer.ingress_pools = {{20 + draw(200), rng.below(2) == 0 ? 0 : 30 + draw(60)}};
  plan.buffer.egress_pools = {{20 + draw(300), 0}};
  const auto limit = [&] {
    return rng.below(2) == 0 ? SharedLimit::fixed(4 + draw(60)) : SharedLimit::dynamic(static_cast<int>(draw(6)) - 3);
  };
  const uint32_t reserved = rng.below(2) == 0 ? 0 : draw(12);
  for (PortBufferPlan& port : plan.buffer.ports) {
    for (QueuePlan& queue : port.queues) queue = {.reserved_cells = draw(2) * draw(8), .limit = limit()};
    for (PriorityGroupPlan& group : port.groups) group = {.reserved_cells = reserved, .limit = limit()};
    port.groups[3] = {.lossless = true,
                      .reserved_cells = reserved,
                      .limit = limit(),
                      .headroom_cells = draw(80),
                      .xon_cells = draw(10),
                      .xon_offset_cells = draw(10)};
  }
  const bool is_watched = rng.below(2) == 0;
  plan.watchdog_poll = Duration::ns(200 + draw(2'000));
  for (PortQosPlan& port : plan.ports) {
    port.pfc_enabled = 1 << 3;
    if (is_watched) {
      port.watchdog.action = WatchdogAction::kDrop;
      port.watchdog.detection = port.watchdog.restoration = Duration::ns(200 + draw(4'000));
    }
    if (rng.below(4) == 0) port.shaper = {.rate = Rate::gbps(40), .burst_bytes = 3000};
  }
  if (rng.below(2) == 0) {
    plan.wred.push_back({.mark = {.min_bytes = 1500, .max_bytes = 9000, .max_probability = 1U << 30},
                         .drop = {.min_bytes = 2500, .max_bytes = 9000, .max_probability = 1U << 30}});
    for (PortQosPlan& port : plan.ports) port.queues[3].wred = port.queues[1].wred = 1;
  }
  return std::make_shared<QosPlan>(std::move(plan));
}

struct DrawnFrame {
  Instant at;
  uint16_t port;
  Bytes frame;
};

Bytes pause_of_three(uint16_t time) {
  Bytes body = join({be16(0x0101), be16(1 << 3), Bytes(6, 0), be16(time)});
  body.resize(46, 0);
  return ethernet_frame({0x01, 0x80, 0xc2, 0, 0, 1}, station(4), 0x8808, body);
}

std::vector<DrawnFrame> draw_frames(Rng& rng) {
  std::vector<DrawnFrame> out;
  const uint64_t spread = 2'000 + rng.below(120'000);  // from all at once to far apart
  for (uint64_t i = 0; i < 300; ++i) {
    const Instant at = Instant::at_ps(static_cast<int64_t>(rng.below(300) * spread));
    const auto port = static_cast<uint16_t>(4 + rng.below(4));
    if (rng.below(40) == 0) {
      out.push_back({at, port, pause_of_three(static_cast<uint16_t>(rng.below(3'000)))});
      continue;
    }
    const Bytes to = {10, static_cast<uint8_t>(1 + rng.below(2)), 0, static_cast<uint8_t>(rng.below(4))};
    const auto tos = static_cast<uint8_t>((rng.below(2) == 0 ? 3 : 0) << 2 | rng.below(3));
    const size_t payload = rng.below(2) == 0 ? 400 : rng.below(1'400);  // many of one size: cells are passed on
    const Bytes packet = ipv4_packet({.from = ip4("10.0.30.2"), .to = to, .tos = tos, .id = static_cast<uint16_t>(i)},
                                     udp_datagram(static_cast<uint16_t>(rng.below(9)), 9, counting(payload)));
    out.push_back({at, port, ethernet_frame(kRouter, station(6), 0x0800, packet)});
  }
  return out;
}

// At an instant the switch gets another plan: with more reserved cells here and there, or drawn anew.
struct PlanChange {
  Instant at;
  QosPlan plan;
};
std::vector<PlanChange> draw_changes(Rng& rng, const QosPlan& plan) {
  std::vector<PlanChange> out;
  for (uint64_t i = rng.below(3); i > 0; --i) {
    const Instant at = Instant::at_ps(static_cast<int64_t>(rng.below(40'000'000)));
    QosPlan next = rng.below(4) == 0 ? *draw_plan(rng) : plan;
    for (PortBufferPlan& port : next.buffer.ports) {
      for (QueuePlan& queue : port.queues) queue.reserved_cells += static_cast<uint32_t>(rng.below(3) * rng.below(8));
      for (PriorityGroupPlan& group : port.groups)
        group.reserved_cells += static_cast<uint32_t>(rng.below(3) * rng.below(8));
    }
    out.push_back({at, std::move(next)});
  }
  std::ranges::sort(out, {}, &PlanChange::at);
  return out;
}

struct SwitchSeen {
  std::vector<std::pair<Instant, Frame>> arrived;
  std::vector<std::vector<PortCounters>> counters;  // at each look, and at the end
  std::vector<std::vector<uint32_t>> buffer;
  std::vector<Instant> next_events;
  uint32_t put_off = 0;  // looks that found departures put off
  friend bool operator==(const SwitchSeen&, const SwitchSeen&) = default;
};

std::vector<uint32_t> buffer_of(const Mmu& mmu) {
  std::vector<uint32_t> out;
  for (const auto* pools : {&mmu.ingress_pools(), &mmu.egress_pools()}) {
    for (const PoolUse& pool : *pools) {
      for (const uint32_t value :
           {pool.shared(), pool.watermark(), pool.reserved, pool.headroom, pool.headroom_watermark})
        out.push_back(value);
    }
  }
  for (uint32_t port = 0; port <= kBenchPorts; ++port) {
    for (uint32_t i = 0; i < kQueues; ++i) {
      const PriorityGroupUse& group = mmu.pg(port, i);
      const QueueUse& queue = mmu.queue(port, i);
      for (const uint32_t value : {group.shared, group.headroom, group.reserved(), group.shared_watermark,
                                   static_cast<uint32_t>(group.packets), uint32_t{group.xoff}, queue.shared,
                                   queue.reserved(), queue.shared_watermark})
        out.push_back(value);
    }
  }
  return out;
}

// `looks`: when control reads everything, or does not.
SwitchSeen seen_with(const QosPlan& first, const std::vector<PlanChange>& changes,
                     const std::vector<DrawnFrame>& frames, const std::vector<Instant>& looks, bool all_are_events) {
  const auto state_of = [all_are_events](QosPlan plan) {
    for (PortBufferPlan& port : plan.buffer.ports) port.groups[kUnused].credited = all_are_events;
    ForwardingState state = bench_state();
    state.plan = std::make_shared<const QosPlan>(std::move(plan));
    return state;
  };
  Bench<pipelines::Core> bench{state_of(first)};
  for (const PlanChange& change : changes)
    bench.engine().at(change.at, [&](Instant now) { bench.publish(state_of(change.plan), now); });
  SwitchSeen out;
  const auto look = [&](bool is_end) {
    out.counters.push_back(bench.node().counters());
    out.buffer.push_back(buffer_of(bench.node().egress().mmu()));
    for (uint16_t p = 0; p < kBenchPorts; ++p)
      out.buffer.back().push_back(bench.node().egress().departures().is_sending(PortNo{p}));
    if (!is_end) out.next_events.push_back(bench.engine().next_event());
    out.put_off += bench.node().first_put_off().is_never() ? 0 : 1;
  };
  for (const Instant at : looks) bench.engine().look_at(at, [&look](Instant) { look(false); });
  for (const DrawnFrame& each : frames) bench.send_at(each.at, each.port, each.frame);
  (void)bench.run();
  look(true);
  for (uint16_t p = 0; p < kBenchPorts; ++p) {
    for (const Probe::Arrival& each : bench.arrivals(p)) out.arrived.push_back({each.at, {p, each.bytes}});
  }
  return out;
}

TEST(PutOffDepartures, AreSeenByNobody) {
  uint32_t put_off = 0;
  for (uint64_t n = 0; n < to_repeat(100); ++n) {
    Rng rng{seed() + n, 1};
    const auto plan = draw_plan(rng);
    const auto frames = draw_frames(rng);
    std::vector<Instant> looks;
    for (uint64_t i = rng.below(20); i > 0; --i)
      looks.push_back(Instant::at_ps(static_cast<int64_t>(rng.below(40'000'000))));
    const auto changes = draw_changes(rng, *plan);
    const SwitchSeen exact = seen_with(*plan, changes, frames, looks, true);
    const SwitchSeen lazy = seen_with(*plan, changes, frames, looks, false);
    EXPECT_EQ(exact.put_off, 0U) << "seed " << seed() + n;
    put_off += lazy.put_off;
    EXPECT_TRUE(exact.arrived == lazy.arrived) << "seed " << seed() + n;
    EXPECT_TRUE(exact.counters == lazy.counters) << "seed " << seed() + n;
    EXPECT_TRUE(exact.buffer == lazy.buffer) << "seed " << seed() + n;
    EXPECT_EQ(exact.next_events, lazy.next_events) << "seed " << seed() + n;
  }
  EXPECT_GT(put_off, 0U);
}

}  // namespace
}  // namespace softspine::tests
