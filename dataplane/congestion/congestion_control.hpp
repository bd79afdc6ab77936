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
#include <type_traits>
#include <utility>
#include <variant>

#include "dataplane/congestion/algorithms.hpp"

namespace softspine::dataplane {

class CongestionControl {
 public:
  static constexpr uint64_t kNoLimit = CongestionAlgorithm::kNoLimit;
  static constexpr uint32_t kUsualPacketBytes = 4096;

  // `packet_bytes`: the payload of a whole packet.
  CongestionControl(const CongestionParameters& parameters, Rate line, uint32_t packet_bytes = kUsualPacketBytes)
      : is_on_(parameters.index() != 0),
        uses_cnps_(dataplane::uses_cnps(parameters)),
        uses_acks_(dataplane::uses_acks(parameters)),
        uses_telemetry_(dataplane::uses_telemetry(parameters)),
        begins_below_window_(dataplane::begins_below_window(parameters)) {
    CongestionAlgorithms::for_each([&]<typename Algorithm>() {
      using Parameters = typename Algorithm::Parameters;
      const auto* own = std::get_if<Parameters>(&parameters);
      if (own == nullptr) return;
      if constexpr (std::is_constructible_v<Algorithm, Parameters, Rate, uint32_t>) {
        algorithm_.emplace<Algorithm>(*own, line, packet_bytes);
      } else {
        algorithm_.emplace<Algorithm>(*own, line);
      }
    });
    notify([](auto&) {});
  }

  bool is_on() const { return is_on_; }
  bool uses_cnps() const { return uses_cnps_; }
  bool uses_acks() const { return uses_acks_; }
  bool uses_telemetry() const { return uses_telemetry_; }
  bool begins_below_window() const { return begins_below_window_; }

  uint64_t rate_bps() const { return rate_bps_; }
  uint64_t window_bytes() const { return window_bytes_; }
  Instant next_change() const { return next_change_; }

  void on_sent(Instant now, uint32_t bytes) noexcept {
    notify([=](auto& it) { it.on_sent(now, bytes); });
  }
  void on_ack(Instant now, const Acknowledgement& ack) noexcept {
    notify([&](auto& it) { it.on_ack(now, ack); });
  }
  void on_nak(Instant now) noexcept {
    notify([=](auto& it) { it.on_nak(now); });
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
    if (!is_on_) return;
    [&]<size_t... Kinds>(std::index_sequence<Kinds...>) {
      (void)(notify_if_is<Kinds + 1>(event) || ...);
    }(std::make_index_sequence<std::variant_size_v<CongestionAlgorithms::Any> - 1>());
  }
  // A chain of compares in the order of the list: GCC 12 makes a call through a table of std::visit of so many kinds.
  template <size_t Kind, typename Event>
  bool notify_if_is(Event& event) noexcept {
    auto* it = std::get_if<Kind>(&algorithm_);
    if (it == nullptr) return false;
    event(*it);
    rate_bps_ = it->rate_bps();
    window_bytes_ = it->window_bytes();
    next_change_ = it->next_change();
    return true;
  }

  // Without an algorithm a packet touches these alone.
  uint64_t rate_bps_ = kNoLimit;
  uint64_t window_bytes_ = kNoLimit;
  Instant next_change_ = Instant::never();
  bool is_on_;
  bool uses_cnps_;
  bool uses_acks_;
  bool uses_telemetry_;
  bool begins_below_window_;
  CongestionAlgorithms::Any algorithm_;
};

}  // namespace softspine::dataplane
