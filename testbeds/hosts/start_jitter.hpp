// SPDX-License-Identifier: Apache-2.0
// How late a built-in host's NIC starts a packet.
//
// A pacing NIC releases packets by a scheduler of limited resolution, and a NIC that sends one packet behind the other
// waits now and then for the memory that it reads from. Without either, equal senders stay in step, and of two that
// share a full queue one loses everything (clock_offset.hpp). With T, a packet's own time on the wire, and `amplitude`:
//   a packet that its pace lets go starts late by                  U[0, amplitude × T)
//   between two packets back to back there is, one time in 128,    a gap of U[0, amplitude × T)
// A packet's lateness does not delay the flow's later packets, so a paced flow keeps its mean rate. Gaps cost a sender
// at line rate amplitude / 256 of it: 0.39 % at an amplitude of 1. Pauses, acknowledgements and CNPs are never late.
// This is a model. The amplitude of 1 is what Floyd and Jacobson (1992) ask for, the service time at a bottleneck of
// the sender's own rate; 1 in 128 is our choice: on average 64 gaps among the 8,192 packets of a message of 32 MiB.
#pragma once

#include <cstdint>

#include "dataplane/units/rng.hpp"
#include "dataplane/units/time.hpp"

namespace softspine::testbeds {

class StartJitter {
 public:
  static constexpr uint64_t kPacketsPerGap = 128;  // on average

  StartJitter() = default;  // none
  // `rng`: the node's own; it outlives this.
  StartJitter(uint32_t amplitude_millionths, dataplane::Rng& rng)
      : rng_(amplitude_millionths == 0 ? nullptr : &rng), amplitude_millionths_(amplitude_millionths) {}

  dataplane::Duration of_paced(dataplane::Duration packet_time) noexcept {
    return rng_ == nullptr ? dataplane::Duration{} : draw(packet_time);
  }
  // Behind a packet of that time: mostly zero.
  dataplane::Duration gap_after(dataplane::Duration packet_time) noexcept {
    if (rng_ == nullptr || packets_to_gap_-- != 0) [[likely]]
      return {};
    packets_to_gap_ = static_cast<uint32_t>(rng_->below(2 * kPacketsPerGap - 1));
    return draw(packet_time);
  }

 private:
  dataplane::Duration draw(dataplane::Duration packet_time) noexcept {
    const auto range = static_cast<uint64_t>(packet_time.count_ps()) * amplitude_millionths_ / 1'000'000;
    return dataplane::Duration::ps(range == 0 ? 0 : static_cast<int64_t>(rng_->below(range)));
  }

  dataplane::Rng* rng_ = nullptr;  // null: every packet starts when it can
  uint32_t amplitude_millionths_ = 0;
  uint32_t packets_to_gap_ = 0;  // the first packet has a gap behind it: senders that begin together part at once
};

}  // namespace softspine::testbeds
