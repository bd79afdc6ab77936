// SPDX-License-Identifier: Apache-2.0
// A part of a run: a piece of the control over a running fabric, with a life of its own.
//
//   start()      before the first window: the part asks the engine for what it needs (actions, looks)
//   begin()      right before the first window; an error, a sentence for a person, and the run does not begin
//   end_soon()   the run is to end: who waits for somebody outside gives up. Any thread, and a signal handler
//   finish()     after the last window, before results are read
//   snapshot()   its section of the fabric's snapshot, while the workers stand still or after the run
//   notes()      differences from the testbed that did not stop the run, a sentence each. At any time
//   let_go()     before the nodes are drained: no thread of the part speaks to them any more
//
// parts_of_run.cpp lists them. All are made before the first is started, so a part may register with others when it is
// made. Requests to a running fabric go to the part that offers it.
#pragma once

#include <expected>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "control/telemetry/snapshot.hpp"
#include "dataplane/units/check.hpp"
#include "dataplane/units/time.hpp"

namespace softspine::testbeds {

class RunPart {
 public:
  RunPart() = default;
  virtual ~RunPart() = default;
  RunPart(const RunPart&) = delete;
  RunPart& operator=(const RunPart&) = delete;

  virtual void start() {}
  virtual std::expected<void, std::string> begin() { return {}; }
  virtual void end_soon() noexcept {}
  virtual void finish(dataplane::Instant now) { static_cast<void>(now); }
  virtual void snapshot(control::FabricSnapshot& out) { static_cast<void>(out); }
  virtual std::vector<std::string> notes() const { return {}; }
  virtual void let_go() {}
};

// In the order in which they were added; they end in the opposite one.
class RunParts {
 public:
  RunParts() = default;
  ~RunParts() {
    while (!all_.empty()) all_.pop_back();
  }
  RunParts(const RunParts&) = delete;
  RunParts& operator=(const RunParts&) = delete;

  template <typename T, typename... Arguments>
  T& add(Arguments&&... arguments) {
    auto made = std::make_unique<T>(std::forward<Arguments>(arguments)...);
    T& out = *made;
    all_.push_back(std::move(made));
    return out;
  }

  // By its type; it must be there.
  template <typename T>
  T& get() const {
    T* found = nullptr;
    for (const auto& each : all_) {
      if (found == nullptr) found = dynamic_cast<T*>(each.get());
    }
    SOFTSPINE_CHECK(found != nullptr, all_.size(), 0);
    return *found;
  }

  void start() {
    for (const auto& each : all_) each->start();
  }
  std::expected<void, std::string> begin() {
    for (const auto& each : all_) {
      if (auto begun = each->begin(); !begun) return begun;
    }
    return {};
  }
  void end_soon() noexcept {
    for (const auto& each : all_) each->end_soon();
  }
  void finish(dataplane::Instant now) {
    for (const auto& each : all_) each->finish(now);
  }
  void snapshot(control::FabricSnapshot& out) const {
    for (const auto& each : all_) each->snapshot(out);
  }
  std::vector<std::string> notes() const {
    std::vector<std::string> out;
    for (const auto& each : all_) {
      for (std::string& note : each->notes()) out.push_back(std::move(note));
    }
    return out;
  }
  void let_go() {
    for (const auto& each : all_) each->let_go();
  }

 private:
  std::vector<std::unique_ptr<RunPart>> all_;
};

}  // namespace softspine::testbeds
