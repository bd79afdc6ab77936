// SPDX-License-Identifier: Apache-2.0
// A fabric's events on their way to readers who come and go. The fabric waits for no reader: what waits for one is
// bounded, and what does not fit is lost to it and counted.
//
//   hub->sink()             for the event log: called between windows, on a worker's thread
//   hub->subscribe(wake)    on the transports' thread; `wake` is posted to it when there is something to take
//   subscription->take()    [{"t_ps": …, "event": …, …}, …, {"lost": 17}]: `lost` stands where they were lost
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "control/record/sink.hpp"

namespace softspine::control {

class EventSubscription {
 public:
  static constexpr size_t kMostBytes = 1 << 20;

  explicit EventSubscription(std::function<void()> wake) : wake_(std::move(wake)) {}

  // A JSON object. From any thread.
  void offer(std::string_view object);
  // No event follows.
  void end();

  // What came since, as an array; nothing: `wake` will be called.
  std::optional<std::string> take();
  // Nothing is left, and nothing follows.
  bool is_over();
  uint64_t lost();

 private:
  void wake_if_asleep();

  std::function<void()> wake_;
  std::mutex lock_;
  std::string waiting_;  // objects, a comma before each
  uint64_t lost_since_ = 0;
  uint64_t lost_ = 0;
  bool asleep_ = true;  // its reader has found nothing
  bool ended_ = false;
};

class EventHub : public std::enable_shared_from_this<EventHub> {
 public:
  std::unique_ptr<EventSink> sink();
  std::shared_ptr<EventSubscription> subscribe(std::function<void()> wake);

 private:
  class Sink;
  bool has_readers() const { return readers_.load(std::memory_order_relaxed) != 0; }
  void put(std::string_view object);

  std::atomic<size_t> readers_{0};
  std::mutex lock_;
  std::vector<std::weak_ptr<EventSubscription>> subscriptions_;
  std::string head_;  // what each reader gets first; empty before the log has begun
  bool ended_ = false;
};

}  // namespace softspine::control
