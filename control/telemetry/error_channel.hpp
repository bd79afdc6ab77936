// SPDX-License-Identifier: Apache-2.0
// The errors of a running fabric, in one place: a file that cannot be written, an interface that vanishes, a
// guest that ends unasked. Code that finds an error reports it here, and from here it is read: at once on stderr, in
// `show fabric`, in the report (`errors`), in Prometheus (softspine_errors_total); one error is enough for exit
// status 1.
//
//   errors.report("sink", "out.pcap: No space left on device");           as of the fabric's time now
//   errors.report("sink", "out.pcap: No space left on device", instant);  as of then
//
// `who`: a node, a capture, a part of the fabric, by the name that the user knows. `what`: a sentence without numbers
// that change, since a repeated error increments the count of its entry instead of adding one.
// Frames that are dropped are no errors: they have counters. The dataplane reports nothing itself: its counters and
// faults are looked at between windows (testbeds/run/edge_watch.hpp).
// Limit: kKeptLimit different errors; further ones are only counted, in an entry of their own.
// Order: by instant, then who and what, so that the same errors at the same instants read the same for any number of
// workers.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <stop_token>
#include <string>
#include <vector>

#include "control/telemetry/snapshot.hpp"

namespace softspine::control {

// The order in which errors are listed.
bool is_listed_before(const RunError& a, const RunError& b);

class ErrorChannel {
 public:
  static constexpr size_t kKeptLimit = 256;

  // `now`: the fabric's time, from any thread.
  explicit ErrorChannel(std::function<dataplane::Instant()> now) : now_(std::move(now)) {}

  // Any thread but a signal handler. Never waits for a reader.
  void report(std::string who, std::string what);
  void report(std::string who, std::string what, dataplane::Instant at);

  // Any thread.
  bool empty() const;
  std::vector<RunError> all() const;
  // The errors from the `seen`th on, in the order of their reports. Waits until there is one, or for `stop`.
  std::vector<RunError> await_more(size_t seen, const std::stop_token& stop);

 private:
  std::function<dataplane::Instant()> now_;
  mutable std::mutex lock_;
  std::condition_variable_any more_;
  std::vector<RunError> kept_;
};

}  // namespace softspine::control
