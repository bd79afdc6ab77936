// SPDX-License-Identifier: Apache-2.0
// The parameters of DCQCN: reaction_point.hpp has their meanings, keys and limits. They have the names
// that ConnectX adapters use, not the paper's letters.
#pragma once

#include <cstdint>

#include "dataplane/units/byte_count.hpp"
#include "dataplane/units/fraction.hpp"
#include "dataplane/units/rate.hpp"
#include "dataplane/units/time.hpp"

namespace softspine::dataplane {

struct ReactionParameters {
  static constexpr uint32_t kAlphaOne = 1U << 20;

  Fraction g{1, 256};
  Fraction initial_alpha{1, 1};
  Duration alpha_timer = Duration::us(55);
  Duration time_reset = Duration::us(55);
  ByteCount byte_reset{10'000'000};
  uint32_t threshold = 5;
  Rate ai_rate = Rate::mbps(40);
  Rate hai_rate = Rate::mbps(400);
  bool hai_scales = true;
  Rate min_rate = Rate::mbps(1);
  Fraction min_dec_fac{1, 1};
  Duration rate_reduce_monitor_period;
  bool clamp_tgt_rate = true;
  bool clamp_tgt_rate_after_time_inc = true;
  // Used not by the reaction point but by its receiver (notification_point.hpp).
  Duration cnp_interval = Duration::us(50);
  Duration nic_delay;

  friend bool operator==(const ReactionParameters&, const ReactionParameters&) = default;
  static constexpr ReactionParameters paper() { return {}; }
  // RPG_TIME_RESET 300 µs, RPG_BYTE_RESET 32767 × 64 B, RPG_THRESHOLD 1, RPG_AI_RATE 5, RPG_HAI_RATE 50 (Mb/s),
  // RPG_GD 11 (the cut is α/2), RPG_MIN_DEC_FAC 50, RPG_MIN_RATE 1, DCE_TCP_G 1019/1024, DCE_TCP_RTT 1 µs,
  // RATE_REDUCE_MONITOR_PERIOD 4 µs, INITIAL_ALPHA 1023, CLAMP_TGT_RATE 0, CLAMP_TGT_RATE_AFTER_TIME_INC 1,
  // MIN_TIME_BETWEEN_CNPS 4 µs.
  static constexpr ReactionParameters connectx() {
    return {.g = {5, 1024},
            .initial_alpha = {1023, 1024},
            .alpha_timer = Duration::us(1),
            .time_reset = Duration::us(300),
            .byte_reset = {uint64_t{32'767} * 64},
            .threshold = 1,
            .ai_rate = Rate::mbps(5),
            .hai_rate = Rate::mbps(50),
            .min_rate = Rate::mbps(1),
            .min_dec_fac = {1, 2},
            .rate_reduce_monitor_period = Duration::us(4),
            .clamp_tgt_rate = false,
            .clamp_tgt_rate_after_time_inc = true,
            .cnp_interval = Duration::us(4)};
  }
};

}  // namespace softspine::dataplane
