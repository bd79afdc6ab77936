// SPDX-License-Identifier: Apache-2.0
// Whom a host tells of its work, when it wakes them, and what it has beside the fabric to do it with.
//
// All that listen hear of all messages, and leave alone what is not theirs. Each is woken at its own instant.
#pragma once

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "dataplane/units/check.hpp"
#include "dataplane/units/time.hpp"
#include "testbeds/hosts/scale_up_port.hpp"
#include "testbeds/hosts/work_queue.hpp"

namespace softspine::testbeds {

class HostWork final : public WorkEvents {
 public:
  // `due_of_host`: its earliest instant, which this makes earlier.
  explicit HostWork(dataplane::Instant& due_of_host) : due_of_host_(due_of_host) {}

  void add(WorkEvents& listener) { listeners_.push_back({&listener, dataplane::Instant::never()}); }
  // Once, and no longer at an instant that this one asked for before; never(): not at all.
  void wake_at(const WorkEvents& listener, dataplane::Instant at) noexcept {
    const auto found = std::ranges::find(listeners_, &listener, &Listener::events);
    SOFTSPINE_CHECK(found != listeners_.end(), listeners_.size(), at.count_ps());
    found->due = at;
    due_of_host_ = std::min(due_of_host_, at);
  }

  // Null: the host is a server by itself.
  ScaleUpPort* scale_up() const noexcept { return scale_up_.get(); }
  void join(std::unique_ptr<ScaleUpPort> port) { scale_up_ = std::move(port); }
  // To a flow of the scale-up port; a notice that has come there.
  void post(uint32_t flow, uint64_t bytes, uint64_t tag, dataplane::Instant now) noexcept {
    scale_up_->post(flow, bytes, tag, now);
    due_of_host_ = std::min(due_of_host_, scale_up_->next());
  }
  void take(dataplane::Packet notice) noexcept {
    scale_up_->take(std::move(notice));
    due_of_host_ = std::min(due_of_host_, scale_up_->next());
  }

  dataplane::Instant due() const noexcept {
    dataplane::Instant first = scale_up_ ? scale_up_->next() : dataplane::Instant::never();
    for (const Listener& each : listeners_) first = std::min(first, each.due);
    return first;
  }
  void act(dataplane::Instant now) noexcept {
    if (scale_up_) scale_up_->act(now, *this);
    for (Listener& each : listeners_) {
      if (each.due > now) continue;
      each.due = dataplane::Instant::never();
      each.events->woken(now);
    }
  }

  void completed(uint32_t flow, uint64_t tag, dataplane::Instant now) noexcept override {
    for (const Listener& each : listeners_) each.events->completed(flow, tag, now);
  }
  void received(uint32_t sink, uint64_t number, dataplane::Instant now) noexcept override {
    for (const Listener& each : listeners_) each.events->received(sink, number, now);
  }
  void failed(uint32_t flow, dataplane::Instant now) noexcept override {
    for (const Listener& each : listeners_) each.events->failed(flow, now);
  }

 private:
  struct Listener {
    WorkEvents* events = nullptr;
    dataplane::Instant due;
  };

  dataplane::Instant& due_of_host_;
  std::vector<Listener> listeners_;
  std::unique_ptr<ScaleUpPort> scale_up_;
};

}  // namespace softspine::testbeds
