// SPDX-License-Identifier: Apache-2.0
#include "control/steps/wait_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <cmath>

#include "control/telemetry/text_table.hpp"

namespace softspine::control {

using dataplane::Duration;

namespace {

std::string message_text(const WaitReason& reason) {
  return fmt::format("the message of {} bytes from {} to {}", grouped(reason.bytes), reason.host, reason.to_host);
}

std::string pause_text(const WaitReason& reason) {
  std::string out = fmt::format("{} was paused for {} by {}", reason.port, time_in_words(reason.paused),
                                fmt::join(reason.paused_by, ", and that by "));
  if (!reason.congested_port.empty())
    out += fmt::format(", where packets stayed up to {} at {}", time_in_words(reason.congested_stay),
                       reason.congested_port);
  return out;
}

std::string stay_text(const WaitReason& reason) {
  if (reason.port.empty()) return "";
  return fmt::format("; a packet stayed {} at {}, queue {}", time_in_words(reason.longest_stay), reason.port,
                     reason.queue);
}

std::string loss_text(const WaitReason& reason) {
  std::string out = fmt::format("{} NAKs, {} timeouts, {} packets were sent again", reason.naks, reason.timeouts,
                                reason.retransmitted_packets);
  if (!reason.lost_behind.empty())
    out += fmt::format("; {} were lost behind {}", reason.lost_packets, reason.lost_behind);
  return out;
}

}  // namespace

std::string time_in_words(Duration time) {
  constexpr std::array kUnits{"ps", "ns", "us", "ms", "s"};
  auto value = static_cast<double>(time.count_ps());
  size_t unit = 0;
  while (unit + 1 < kUnits.size() && std::abs(value) >= 1000) {
    value /= 1000;
    ++unit;
  }
  return fmt::format("{:.4g} {}", value, kUnits[unit]);
}

std::string reason_text(const WaitReason& reason) {
  if (!reason.words.empty()) return reason.words;
  const std::string time = time_in_words(reason.time);
  switch (reason.cause) {
    case WaitCause::kCompute: return fmt::format("{} computed for {}", reason.host, time);
    case WaitCause::kReduce: return fmt::format("{} reduced for {}", reason.host, time);
    case WaitCause::kPost:
      return fmt::format("{} stood {} before its queue pair: for a clear-to-send, for room, or for those before it",
                         message_text(reason), time);
    case WaitCause::kQueue: return fmt::format("{} was late by {}{}", message_text(reason), time, stay_text(reason));
    case WaitCause::kPause: return fmt::format("{} was late by {}: {}", message_text(reason), time, pause_text(reason));
    case WaitCause::kRetransmission:
      return fmt::format("{} was late by {}: {}", message_text(reason), time, loss_text(reason));
    case WaitCause::kRateCut:
      return fmt::format("{} was late by {}: {} notifications of congestion cut its rate{}", message_text(reason), time,
                         reason.cnps, stay_text(reason));
    case WaitCause::kTransfer:
      return fmt::format("{} took {}: nothing in the fabric held it up", message_text(reason),
                         time_in_words(reason.arrived - reason.posted));
    case WaitCause::kUnknown: break;
  }
  return "it began before what is kept";
}

}  // namespace softspine::control
