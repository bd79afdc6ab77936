// SPDX-License-Identifier: Apache-2.0
#include "dataplane/flow_control/port_flow_control.hpp"

namespace softspine::dataplane {

void PortFlowControl::plan(const FlowControlPlan& plan, Instant now) noexcept {
  plan_ = plan;
  whole_link_ = is_pause() ? kWholeLink : uint8_t{0};
  credits_.plan(plan.link.flow_control == LinkMode::kCredit ? plan.credit : CreditPlan{}, now);
  credit_priorities_ = credits_.priorities();
  note_changes();
}

void PortFlowControl::ask(Instant now) noexcept {
  credits_.ask(now);
  note_changes();
}

uint8_t PortFlowControl::obeyed(const PfcFrame& frame) const noexcept {
  const bool is_of_mode = frame.is_pause || !is_pause();
  return is_of_mode ? static_cast<uint8_t>(plan_.pfc_enabled & ~deaf_) : uint8_t{0};
}

void PortFlowControl::receive(const PfcFrame& frame, Rate line, Instant now) noexcept {
  const std::optional<Duration>& response = plan_.link.pfc_response;
  const PauseTiming timing = response ? PauseTiming::with_response(line, *response) : PauseTiming::of(line);
  rx_requests_.apply(frame, now, timing.quantum);
  pause_rx_frames_ += frame.is_pause ? 1 : 0;
  PfcFrame part = frame;
  part.enable = frame.enable & obeyed(frame);
  if (part.enable != 0) pause_.receive(part, now, timing.quantum, timing.response);
  part.enable = static_cast<uint8_t>(frame.enable & ~obeyed(frame));
  if (part.enable != 0) pause_.receive(part, now, timing.quantum, Duration::max());
}

void PortFlowControl::make_deaf(uint8_t priorities, Instant now) noexcept {
  const auto hears_again = static_cast<uint8_t>(deaf_ & ~priorities);
  pause_.suspend(static_cast<uint8_t>(priorities & ~deaf_), now);
  deaf_ = priorities;
  pause_.resume(hears_again & static_cast<uint8_t>(plan_.pfc_enabled & ~deaf_), now);
}

void PortFlowControl::link_changed(bool up, Instant now) noexcept {
  pause_.clear(now);
  rx_requests_.clear(now);
  tx_requests_.clear(now);
  credits_.restart(up, now);
  pfc_.restart(up, now);
  note_changes();
}

FlowControlFrame PortFlowControl::make_frame(uint8_t* out, const MacAddress& own, Rate line, Duration propagation,
                                             Instant now) noexcept {
  if (credits_.ask_at() <= now) credits_.ask(now);
  if (pfc_.due() > now) {
    write_credit(out, own, credits_.make_frame());
    note_changes();
    return {.kind = FlowControlFrame::Kind::kCredit, .remark = Remark::kNone};
  }
  const FlowControlFrame made{.kind = FlowControlFrame::Kind::kPfc, .remark = pfc_.remark()};
  const PfcFrame frame = pfc_.make(now, pause_quantum(line));
  note_changes();
  tx_requests_.apply(frame, now + line.time_of_frame(mac_control::kFrameBytes) + propagation, pause_quantum(line));
  is_pause() ? write_pause(out, own, frame.quanta[0]) : write_pfc(out, own, frame);
  return made;
}

}  // namespace softspine::dataplane
