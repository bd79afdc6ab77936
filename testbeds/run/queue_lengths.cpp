// SPDX-License-Identifier: Apache-2.0
#include "testbeds/run/queue_lengths.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>

#include "testbeds/run/ns3_nodes.hpp"

namespace softspine::testbeds {

using dataplane::Duration;
using dataplane::Instant;

void QueueLengths::begin_every(Duration interval) {
  interval_ = interval;
  counts_.resize(testbed_.fabric.nodes.size());
  nodes_.for_each_switch([this](uint32_t n, const pipelines::Switch& node) { counts_[n].resize(node.ports()); });
  nodes_.engine().look_at(Instant::at(interval), [this](Instant now) { sample(now); });
}

void QueueLengths::count(uint64_t times) {
  constexpr uint64_t kUnit = 1'000;
  if (times == 0) return;
  nodes_.for_each_switch([&](uint32_t n, const pipelines::Switch& node) {
    for (uint32_t p = 0; p < node.ports(); ++p) {
      std::vector<uint64_t>& port = counts_[n][p];
      const uint64_t at = node.counters()[p].queued_bytes() / kUnit;
      if (at >= port.size()) port.resize(at + 1);
      port[at] += times;
    }
  });
}

// The multiple before the next event is looked at next; those between are as it is then.
void QueueLengths::sample(Instant now) {
  count(static_cast<uint64_t>((now - sampled_) / interval_));
  sampled_ = now;
  dataplane::Engine& engine = nodes_.engine();
  const Instant event = engine.next_event();
  if (event.is_never() && !engine.is_wall()) return;
  const Instant usual = now + interval_;
  const bool waits = !engine.is_wall() && event > usual;
  const Instant then = waits ? now + interval_ * ((event - now) / interval_) : usual;
  engine.look_at(then, [this](Instant later) { sample(later); });
}

void QueueLengths::finish(Instant now) {
  if (interval_ == Duration{}) return;
  end_ = now;
  count(static_cast<uint64_t>((now - sampled_) / interval_));
  for (auto& its : nodes_.ranks().collect(counts_)) {
    for (size_t n = 0; n < its.size(); ++n) {
      if (!its[n].empty()) counts_[n] = std::move(its[n]);
    }
  }
}

std::string QueueLengths::text() const {
  constexpr int64_t kPsOfNanosecond = 1'000;
  std::string out = fmt::format("time: {}\n", end_.count_ps() / kPsOfNanosecond);
  const std::vector<uint32_t> numbers = ns3_nodes(testbed_.fabric);
  for (size_t n = 0; n < counts_.size(); ++n) {
    for (size_t p = 0; p < counts_[n].size(); ++p) {
      fmt::format_to(std::back_inserter(out), "{} {}", numbers[n], p + 1);
      for (const uint64_t times : counts_[n][p]) fmt::format_to(std::back_inserter(out), " {}", times);
      out += '\n';
    }
  }
  return out;
}

}  // namespace softspine::testbeds
