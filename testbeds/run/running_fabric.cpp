// SPDX-License-Identifier: Apache-2.0
#include "testbeds/run/running_fabric.hpp"

#include <algorithm>
#include <chrono>

#include "testbeds/run/begin_together.hpp"
#include "testbeds/run/outside_watch.hpp"
#include "testbeds/run/packet_shortage.hpp"
#include "testbeds/run/parts_of_run.hpp"
#include "testbeds/run/snapshots.hpp"

namespace softspine::testbeds {

std::expected<std::unique_ptr<RunningFabric>, std::string> RunningFabric::make(const control::Testbed& testbed,
                                                                               const FabricOptions& options) {
  std::unique_ptr<RunningFabric> out{new RunningFabric(testbed)};
  out->meeting_ = options.meeting;
  Ranks ranks{options.talk, testbed.fabric, testbed.run.workers};
  auto outside = make_outside(testbed, ranks, options.run_folder, options.stays);
  if (!outside) return std::unexpected(outside.error());
  out->outside_ = std::move(*outside);
  auto assembly = assemble(testbed, out->compiler_, out->outside_.get(), options.flat, std::move(ranks));
  if (!assembly) return std::unexpected(assembly.error());
  out->assembly_ = std::move(*assembly);
  add_parts(out->parts_, {testbed,
                          out->compiler_,
                          out->outside_.get(),
                          *out->assembly_,
                          out->incidents_,
                          out->errors_,
                          [all = out.get()](dataplane::Instant now) { return all->snapshot_at(now); },
                          {.explained = options.steps, .traced = options.traced_steps},
                          options.stays});
  out->parts_.start();
  if (!options.capture) return out;
  if (const auto opened = out->part<Captures>().open_for_run(*options.capture); !opened) {
    return std::unexpected(opened.error());
  }
  return out;
}

std::expected<void, std::string> RunningFabric::run() {
  const auto begin = std::chrono::steady_clock::now();
  share_zero();
  if (auto begun = begin_together(parts_, assembly_->nodes->ranks(), assembly_->engine->now()); !begun) return begun;
  assembly_->engine->run(part<OutsideWatch>().engine_end());
  parts_.finish(assembly_->engine->now());
  wall_seconds_ = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  const Ranks& ranks = assembly_->nodes->ranks();
  is_spent_ = !ranks.all(!assembly_->budget->is_spent());
  was_stopped_ = !ranks.all(!stop_requested_.load(std::memory_order_relaxed));
  if (!ran_out_of_memory()) return {};
  errors_.report("packet memory", packet_shortage(testbed_, *assembly_));
  return std::unexpected(packet_shortage(testbed_, *assembly_));
}

// Recordings that were made together begin where the earliest of them does, on whichever rank.
void RunningFabric::share_zero() {
  std::optional<int64_t> zero_ns;
  for (const auto& first : assembly_->nodes->ranks().gather(first_recorded_ns(assembly_->recordings))) {
    if (first) zero_ns = std::min(*first, zero_ns.value_or(*first));
  }
  for (dataplane::PcapEdge* each : assembly_->recordings) {
    if (zero_ns) each->set_zero(*zero_ns);
  }
}

void RunningFabric::stop() noexcept {
  stop_requested_.store(true, std::memory_order_relaxed);
  parts_.end_soon();
}

bool RunningFabric::was_interrupted() const {
  const bool is_stopped = was_stopped_ || stop_requested_.load(std::memory_order_relaxed);
  return is_stopped && part<OutsideWatch>().has_end();
}

control::FabricSnapshot RunningFabric::snapshot_at(dataplane::Instant now) const {
  control::FabricSnapshot out = snapshot_of(testbed_, compiler_, *assembly_->nodes, assembly_->flows, now);
  out.engine.wall_seconds = wall_seconds_;
  out.engine.meeting = meeting_;
  if (const dataplane::FollowingClock* const clock = assembly_->following_clock) {
    for (const dataplane::Duration each : assembly_->nodes->ranks().gather(clock->uncertainty())) {
      out.engine.clock_uncertainty = std::max(out.engine.clock_uncertainty, each);
    }
  }
  out.faults = incidents_.faults();
  parts_.snapshot(out);
  for (auto& each : assembly_->nodes->ranks().gather(errors_.all())) {
    out.errors.insert(out.errors.end(), each.begin(), each.end());
  }
  std::ranges::stable_sort(out.errors, control::is_listed_before);
  return out;
}

uint64_t RunningFabric::drain() {
  if (!assembly_) return 0;
  parts_.let_go();
  assembly_->engine->drain();
  return assembly_->packets_in_use();
}

}  // namespace softspine::testbeds
