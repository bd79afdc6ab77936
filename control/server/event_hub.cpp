// SPDX-License-Identifier: Apache-2.0
#include "control/server/event_hub.hpp"

#include "control/record/event_text.hpp"

namespace softspine::control {

void EventSubscription::wake_if_asleep() {
  if (!asleep_) return;
  asleep_ = false;
  wake_();
}

void EventSubscription::offer(std::string_view object) {
  const std::lock_guard guard{lock_};
  if (lost_since_ > 0 || waiting_.size() + object.size() > kMostBytes) {
    ++lost_since_;
    ++lost_;
  } else {
    waiting_ += ',';
    waiting_ += object;
  }
  wake_if_asleep();
}

void EventSubscription::end() {
  const std::lock_guard guard{lock_};
  ended_ = true;
  wake_if_asleep();
}

std::optional<std::string> EventSubscription::take() {
  const std::lock_guard guard{lock_};
  if (waiting_.empty() && lost_since_ == 0) {
    asleep_ = true;
    return std::nullopt;
  }
  if (lost_since_ > 0) waiting_ += ",{\"lost\":" + std::to_string(std::exchange(lost_since_, 0)) + "}";
  std::string out = std::exchange(waiting_, {});
  out.front() = '[';
  out += ']';
  return out;
}

bool EventSubscription::is_over() {
  const std::lock_guard guard{lock_};
  return ended_ && waiting_.empty() && lost_since_ == 0;
}

uint64_t EventSubscription::lost() {
  const std::lock_guard guard{lock_};
  return lost_;
}

// The text of an event is made once for all readers, and not at all without one.
class EventHub::Sink : public EventSink {
 public:
  explicit Sink(std::shared_ptr<EventHub> hub) : hub_(std::move(hub)) {}

  void begin(const std::string& testbed) override {
    const std::lock_guard guard{hub_->lock_};
    hub_->head_ = event_head(testbed);
  }
  void event(const dataplane::Event& event, std::string_view port) override {
    ++lines_;
    if (hub_->has_readers()) put([&] { add_event(text_, event, port); });
  }
  void event(const ControlNote& note) override {
    ++lines_;
    if (hub_->has_readers()) put([&] { add_event(text_, note); });
  }
  void end(dataplane::Instant now) override {
    put([&] { text_ += event_end(now, lines_); });
    const std::lock_guard guard{hub_->lock_};
    hub_->ended_ = true;
    for (const auto& weak : hub_->subscriptions_) {
      if (const auto each = weak.lock()) each->end();
    }
  }
  std::string take_error() override { return {}; }

 private:
  template <typename Write>
  void put(Write&& write) {
    text_.clear();
    write();
    hub_->put(text_);
  }

  std::shared_ptr<EventHub> hub_;
  std::string text_;
  uint64_t lines_ = 0;
};

std::unique_ptr<EventSink> EventHub::sink() {
  return std::make_unique<Sink>(shared_from_this());
}

std::shared_ptr<EventSubscription> EventHub::subscribe(std::function<void()> wake) {
  auto made = std::make_shared<EventSubscription>(std::move(wake));
  const std::lock_guard guard{lock_};
  std::erase_if(subscriptions_, [](const auto& weak) { return weak.expired(); });
  if (!head_.empty()) made->offer(head_);
  if (ended_) made->end();
  subscriptions_.push_back(made);
  readers_.store(subscriptions_.size(), std::memory_order_relaxed);
  return made;
}

void EventHub::put(std::string_view object) {
  const std::lock_guard guard{lock_};
  size_t readers = 0;
  for (const auto& weak : subscriptions_) {
    const auto each = weak.lock();
    if (each == nullptr) continue;
    ++readers;
    each->offer(object);
  }
  readers_.store(readers, std::memory_order_relaxed);
}

}  // namespace softspine::control
