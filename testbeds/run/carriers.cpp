// SPDX-License-Identifier: Apache-2.0
#include "testbeds/run/carriers.hpp"

#include <string>

namespace softspine::testbeds {

Carriers::Carriers(const control::Testbed& testbed, const Assembly& assembly, control::ErrorChannel& errors)
    : testbed_(testbed),
      assembly_(assembly),
      errors_(errors),
      shown_(assembly.edges.size(), true),
      refused_(assembly.edges.size(), false) {}

void Carriers::start() {
  if (assembly_.edges.empty() || !assembly_.engine->is_wall()) return;
  for (const EdgePort& edge : assembly_.edges) edge.nic->set_carrier_bell(bell_);
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
    for (size_t edge = 0; edge < shown_.size(); ++edge) show(edge);
  }
}

void Carriers::show(size_t edge) {
  dataplane::Nic& nic = *assembly_.edges[edge].nic;
  const bool carrier = nic.should_give_carrier();
  if (shown_[edge] == carrier) return;
  shown_[edge] = carrier;
  const auto done = nic.give_carrier(carrier);
  if (done || refused_[edge]) return;
  refused_[edge] = true;
  errors_.report(testbed_.fabric.name_of(assembly_.edges[edge].end),
                 "the outside cannot be shown that the link is " + std::string(carrier ? "up" : "down") + ": " +
                     done.error().where + ": " + done.error().message);
}

}  // namespace softspine::testbeds
