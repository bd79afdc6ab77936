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
  dataplane::Engine& engine = *assembly_.engine;
  for (uint32_t i = 0; i < engine.workers(); ++i) {
    buffers_.push_back(std::make_unique<LossBuffer>(kRestAt, engine.wants_rest()));
  }
  record_into(true);
}

// Records name nodes and ports as the fabric numbers them.
void LossRecording::record_into(bool on) {
  for (uint32_t n = 0; n < fabric_.nodes.size(); ++n) {
    LossBuffer* const own = on ? buffers_[assembly_.worker_of[n]].get() : nullptr;
    if (assembly_.switches[n] != nullptr) assembly_.switches[n]->egress().record_losses(own, n);
    if (assembly_.hosts[n] != nullptr) assembly_.hosts[n]->record_losses(own, n);
    for (uint16_t p = 0; p < fabric_.nodes[n].ports.size(); ++p) {
      const control::LinkEnd end{n, p};
      const dataplane::PortRef ref = assembly_.port_ref(end);
      LossBuffer* const of_port = on ? buffers_[assembly_.worker_at(end)].get() : nullptr;
      assembly_.engine->node(ref.node).transmitter(ref.port).record_losses(of_port, n, p);
    }
  }
}

std::vector<LossRecord> LossRecording::take_before(dataplane::Instant now) {
  for (const auto& buffer : buffers_) {
    buffer->take([this](const LossRecord& record) { waiting_.push_back(record); });
  }
  std::ranges::stable_sort(waiting_, {}, [](const LossRecord& r) { return std::tuple{r.at, r.node}; });
  const auto end = std::ranges::lower_bound(waiting_, now, {}, &LossRecord::at);
  std::vector<LossRecord> out(waiting_.begin(), end);
  waiting_.erase(waiting_.begin(), end);
  return out;
}

}  // namespace softspine::testbeds
