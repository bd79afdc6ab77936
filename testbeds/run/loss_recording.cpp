// SPDX-License-Identifier: Apache-2.0
#include "testbeds/run/loss_recording.hpp"

#include <algorithm>
#include <tuple>

namespace softspine::testbeds {

using dataplane::LossBuffer;
using dataplane::LossRecord;

namespace {

constexpr size_t kRestAt = size_t{1} << 16;

}  // namespace

LossRecording::~LossRecording() {
  if (has_started()) record_into(false);
}

void LossRecording::start() {
  dataplane::Engine& engine = nodes_.engine();
  for (uint32_t i = 0; i < engine.workers(); ++i) {
    buffers_.push_back(std::make_unique<LossBuffer>(kRestAt, engine.wants_rest()));
  }
  record_into(true);
}

// Records name nodes and ports as the fabric numbers them.
void LossRecording::record_into(bool on) {
  const auto buffer_of = [&](uint32_t worker) { return on ? buffers_[worker].get() : nullptr; };
  const dataplane::Engine& engine = nodes_.engine();
  nodes_.for_each_switch([&](uint32_t n, pipelines::Switch& node) {
    node.egress().record_losses(buffer_of(engine.worker_of(node.id())), n);
  });
  nodes_.for_each_host(
      [&](uint32_t n, RoceHost& host) { host.record_losses(buffer_of(engine.worker_of(host.id())), n); });
  nodes_.for_each_port([&](control::LinkEnd end, dataplane::Transmitter& sender) {
    sender.record_losses(buffer_of(*nodes_.worker_at(end)), end.node, end.port);
  });
  nodes_.for_each_end_elsewhere([&](control::LinkEnd end, dataplane::Transmitter& sender) {
    sender.record_losses(buffer_of(0), end.node, end.port);
  });
}

std::vector<LossRecord> LossRecording::take_before(dataplane::Instant now) {
  std::vector<LossRecord> lost;
  for (const auto& buffer : buffers_) {
    buffer->take([&](const LossRecord& record) { lost.push_back(record); });
  }
  for (const auto& each : nodes_.ranks().gather(lost)) waiting_.insert(waiting_.end(), each.begin(), each.end());
  std::ranges::stable_sort(waiting_, {}, [](const LossRecord& r) { return std::tuple{r.at, r.node}; });
  const auto end = std::ranges::lower_bound(waiting_, now, {}, &LossRecord::at);
  std::vector<LossRecord> out(waiting_.begin(), end);
  waiting_.erase(waiting_.begin(), end);
  return out;
}

}  // namespace softspine::testbeds
