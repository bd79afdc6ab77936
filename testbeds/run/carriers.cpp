// SPDX-License-Identifier: Apache-2.0
#include "testbeds/run/carriers.hpp"

#include <string>

namespace softspine::testbeds {

Carriers::Carriers(const control::Testbed& testbed, const LocalNodes& nodes, control::ErrorChannel& errors)
    : testbed_(testbed), nodes_(nodes), errors_(errors) {
  nodes.for_each_edge(
      [this](control::LinkEnd end, dataplane::Nic& nic) { edges_.push_back({.end = end, .nic = nic}); });
}

void Carriers::start() {
  if (edges_.empty() || !nodes_.engine().is_wall()) return;
  for (const Shown& edge : edges_) edge.nic.set_carrier_bell(bell_);
  thread_ = std::thread{[this] { serve(); }};
}

void Carriers::end() {
  if (!thread_.joinable()) return;
  ends_.store(true, std::memory_order_release);
  bell_.fetch_add(1, std::memory_order_release);
  bell_.notify_one();
  thread_.join();
}

void Carriers::serve() {
  for (uint32_t heard = 0;;) {
    bell_.wait(heard, std::memory_order_acquire);
    heard = bell_.load(std::memory_order_acquire);
    if (ends_.load(std::memory_order_acquire)) return;
    for (Shown& edge : edges_) show(edge);
  }
}

void Carriers::show(Shown& edge) {
  const bool carrier = edge.nic.should_give_carrier();
  if (edge.carrier == carrier) return;
  edge.carrier = carrier;
  const auto done = edge.nic.give_carrier(carrier);
  if (done || edge.is_refused) return;
  edge.is_refused = true;
  errors_.report(testbed_.fabric.name_of(edge.end), "the outside cannot be shown that the link is " +
                                                        std::string(carrier ? "up" : "down") + ": " +
                                                        done.error().where + ": " + done.error().message);
}

}  // namespace softspine::testbeds
