// SPDX-License-Identifier: Apache-2.0
#include "testbeds/run/live_control.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "testbeds/run/port_fills.hpp"

namespace softspine::testbeds {

using dataplane::Instant;

void LiveControl::ask(std::function<void(control::FabricSnapshot)> see) {
  nodes_.engine().post([this, see = std::move(see)](Instant now) { see(snapshot_at_(now)); });
}

void LiveControl::start() {
  requests_.on(kWatch, [this](const std::string&, Instant now) {
    control::FabricSnapshot snapshot = snapshot_at_(now);
    snapshot.engine.pace = pace();
    if (!requests_.is_first()) return;
    std::unique_lock guard{lock_};
    const auto see = std::move(watchers_.front());
    watchers_.pop_front();
    guard.unlock();
    see(std::move(snapshot));
  });
}

// Since the last one.
control::RankPace LiveControl::pace() {
  const Ranks& ranks = nodes_.ranks();
  const auto waited = std::exchange(waited_, ranks.talk()->waited());
  const auto seen = std::exchange(seen_, std::chrono::steady_clock::now());
  const std::chrono::duration<double> time = seen_ - seen;
  const std::chrono::duration<double> mine = waited_ - waited;
  const std::vector<double> shares = ranks.gather(mine / time);
  const auto least = std::ranges::min_element(shares);
  return {.slowest = static_cast<uint32_t>(least - shares.begin()),
          .ranks = ranks.ranks(),
          .others_wait = (std::reduce(shares.begin(), shares.end()) - *least) / (ranks.ranks() - 1)};
}

void LiveControl::watch(std::function<void(control::FabricSnapshot)> see) {
  if (!requests_.are_shared()) return ask(std::move(see));
  const std::lock_guard guard{lock_};
  watchers_.push_back(std::move(see));
  requests_.put(kWatch, {});
}

void LiveControl::ask_with_fills(std::function<void(control::FabricSnapshot, control::PortFills)> see) {
  nodes_.engine().post([this, see = std::move(see)](Instant now) {
    control::FabricSnapshot snapshot = snapshot_at_(now);
    see(std::move(snapshot), fills_of(nodes_));
  });
}

void LiveControl::ask_with_tables(std::function<void(control::FabricSnapshot, PathTables)> see) {
  nodes_.engine().post(
      [this, see = std::move(see)](Instant now) { see(snapshot_at_(now), path_tables(nodes_, links_, flows_)); });
}

void LiveControl::ask_switch(uint32_t node, SeeSwitch see, std::function<void(control::Json)> done) {
  nodes_.engine().post([this, node, see = std::move(see), done = std::move(done)](Instant now) {
    control::Json seen;
    if (const pipelines::Switch* const here = nodes_.switch_at(node)) seen = see(*here, links_.routes(node), now);
    if (nodes_.ranks().is_alone()) return done(std::move(seen));
    for (const std::string& text : nodes_.ranks().collect(seen.is_null() ? std::string{} : seen.dump())) {
      if (!text.empty()) done(control::Json::parse(text));
    }
  });
}

void LiveControl::set_links(std::vector<uint32_t> links, bool up) {
  nodes_.engine().post([this, links = std::move(links), up](Instant now) { links_.set(links, up, now); });
}

void LiveControl::use_profile(uint32_t node, uint32_t profile) {
  nodes_.engine().post([this, node, profile](Instant now) { links_.use_profile(node, profile, now); });
}

void LiveControl::inject_fault(control::LiveFault fault) {
  nodes_.engine().post([this, fault = std::move(fault)](Instant now) {
    for (const control::Fault& each : fault.links) {
      nodes_.engine().at(now + (each.at - Instant{}), [this, each](Instant then) { links_.strike(each, then); });
    }
    for (const control::HostFault& each : fault.hosts) faults_.inject(each, now);
    for (const control::PortFault& each : fault.ports) faults_.inject(each, now);
  });
}

void LiveControl::clear_watermarks(std::optional<uint32_t> node) {
  nodes_.engine().post([this, node](Instant) {
    nodes_.for_each_switch([&](uint32_t n, pipelines::Switch& each) {
      if (node && *node != n) return;
      each.egress().mmu().clear_watermarks();
      for (dataplane::PortCounters& port : each.counters()) {
        for (dataplane::QueueCounters& queue : port.queues) queue.watermark_bytes = queue.current_bytes;
      }
    });
  });
}

}  // namespace softspine::testbeds
