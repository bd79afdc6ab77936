// SPDX-License-Identifier: Apache-2.0
// The congestion control of one sending queue pair: one of algorithms.hpp, or none, held by value.
//
//   rate = what may leave, on the wire       window = payload that may be under way       either: kNoLimit
//
// congestion_algorithm.hpp describes the events and the answers. An event is a branch by kind, no virtual call; the
// answers are kept from the last event, so that asking for them costs a load. Without an algorithm nothing is
// limited, and an event is a compare.
#pragma once

#include <cstdint>
#include <optional>
#include <type_traits>
#include <variant>

#include "dataplane/congestion/algorithms.hpp"

namespace softspine::dataplane {

class CongestionControl {
 public:
  static constexpr uint64_t kNoLimit = CongestionAlgorithm::kNoLimit;

  CongestionControl(const CongestionParameters& parameters, Rate line)
      : uses_cnps_(dataplane::uses_cnps(parameters)), uses_acks_(dataplane::uses_acks(parameters)) {
    CongestionAlgorithms::for_each([&]<typename Algorithm>() {
      const auto* own = std::get_if<typename Algorithm::Parameters>(&parameters);
      if (own != nullptr) algorithm_.emplace<Algorithm>(*own, line);
    });
    notify([](auto&) {});
  }

  bool is_on() const { return algorithm_.index() != 0; }
  bool uses_cnps() const { return uses_cnps_; }
  bool uses_acks() const { return uses_acks_; }

  uint64_t rate_bps() const { return rate_bps_; }
  uint64_t window_bytes() const { return window_bytes_; }
  Instant next_change() const { return next_change_; }

  void on_sent(Instant now, uint32_t bytes) noexcept {
    if (is_on()) notify([=](auto& it) { it.on_sent(now, bytes); });
  }
  void on_ack(Instant now, uint64_t bytes, std::optional<Duration> rtt, bool ecn) noexcept {
    notify([=](auto& it) { it.on_ack(now, bytes, rtt, ecn); });
  }
  void on_cnp(Instant now) noexcept {
    notify([=](auto& it) { it.on_cnp(now); });
  }
  void on_timeout(Instant now) noexcept {
    notify([=](auto& it) { it.on_timeout(now); });
  }
  void advance(Instant now) noexcept {
    notify([=](auto& it) { it.advance(now); });
  }

 private:
  template <typename Event>
  void notify(Event&& event) noexcept {
    std::visit(
        [&](auto& it) {
          if constexpr (!std::is_same_v<decltype(it), std::monostate&>) {
            event(it);
            rate_bps_ = it.rate_bps();
            window_bytes_ = it.window_bytes();
            next_change_ = it.next_change();
          }
        },
        algorithm_);
  }

  CongestionAlgorithms::Any algorithm_;
  uint64_t rate_bps_ = kNoLimit;
  uint64_t window_bytes_ = kNoLimit;
  Instant next_change_ = Instant::never();
  bool uses_cnps_;
  bool uses_acks_;
};

}  // namespace softspine::dataplane
