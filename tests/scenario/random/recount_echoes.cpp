// SPDX-License-Identifier: Apache-2.0
#include "tests/scenario/random/recount_echoes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <utility>

namespace softspine::tests {
namespace {

using control::FlowSnapshot;
using control::LinkEnd;

constexpr uint32_t kPsnMask = 0xffffff;
constexpr size_t kHops = 5;

uint64_t count_in(const std::string& telemetry) {
  return big(telemetry, kHops * 8, 2);
}

// What one sender has to count of the acknowledgements that reached it.
struct Answers {
  std::optional<uint32_t> una;  // the first PSN that is not acknowledged; none: nothing was sent
  uint64_t echoes = 0;
  uint64_t with_telemetry = 0;

  void take(const CapturedAck& ack) {
    if (!una) return;
    const uint32_t ahead = (ack.psn - *una) & kPsnMask;
    if (ahead > kPsnMask / 2) return;  // known already
    una = ack.is_negative ? ack.psn : (ack.psn + 1) & kPsnMask;
    if (ack.is_negative) return;
    echoes += ack.echoes_mark ? 1 : 0;
    with_telemetry += count_in(ack.telemetry) > 0 ? 1 : 0;
  }
};

class EchoRecounting {
 public:
  EchoRecounting(const CapturedRun& run, Recount& out) : run_(run), out_(out) {}

  void operator()() {
    hold_records();
    for (const CapturedFrame& frame : run_.captured.frames) by_arrival_.push_back(&frame);
    std::ranges::stable_sort(by_arrival_, {}, [&](const CapturedFrame* each) { return run_.arrival_of(*each); });
    see_arrivals();
    for (const FlowSnapshot& flow : run_.snapshot.flows) {
      if (flow.open_loop || flow.foreign != 0) continue;
      if (flow.reliable.retransmitted_packets == 0) hold_echoes(flow);
      if (takes_all_that_arrives() && flow.reliable.retry_exceeded_err == 0) hold_counters(flow);
    }
  }

 private:
  template <typename... Args>
  void find(fmt::format_string<Args...> text, Args&&... args) {
    out_.findings.push_back(fmt::format(text, std::forward<Args>(args)...));
  }
  // The sender's address, the receiver's, and the receiver's queue pair; of answers: the sender's.
  using Key = CapturedRun::FlowKey;
  struct Packet {
    bool is_marked;
    std::string telemetry;
  };
  bool takes_all_that_arrives() const {
    return run_.testbed.faults.empty() && run_.testbed.host_faults.empty() && run_.testbed.port_faults.empty();
  }
  void hold_records();
  void hold_record(const CapturedFrame& frame, uint64_t bytes_before, uint64_t code);
  void see_arrivals();
  void hold_echoes(const FlowSnapshot& flow);
  void hold_counters(const FlowSnapshot& flow);
  Key key_of_answers(const FlowSnapshot& flow) const {
    const auto [source, destination, qp] = run_.key_of(flow);
    return {source, destination, flow.source_qp};
  }

  const CapturedRun& run_;
  Recount& out_;
  std::vector<const CapturedFrame*> by_arrival_;
  std::map<Key, uint32_t> first_psn_;                        // that a flow sent
  std::map<Key, std::map<uint32_t, Packet>> arrived_;        // by PSN
  std::map<Key, std::vector<const CapturedAck*>> answered_;  // as they left the receiver
  std::map<Key, std::vector<const CapturedAck*>> heard_;     // as they reached the sender
};

// Of HPCC's header: 25, 50, 100, 200, 400 Gb/s; then ours.
std::optional<uint64_t> code_of(dataplane::Rate rate) {
  constexpr std::array<uint64_t, 8> kGbps{25, 50, 100, 200, 400, 10, 40, 800};
  for (uint64_t i = 0; i < kGbps.size(); ++i) {
    if (rate.count_bps() == kGbps[i] * 1'000'000'000) return i;
  }
  return std::nullopt;
}

// At a switch that writes: the rate of its link, when the frame began, and what the port had sent before.
void EchoRecounting::hold_records() {
  constexpr uint64_t kOnTheWire = 24;  // preamble, FCS and gap
  std::map<uint32_t, uint64_t> sent;   // by interface
  for (const CapturedFrame& frame : run_.captured.frames) {
    const LinkEnd from = run_.sender_of(frame);
    const auto& node = run_.testbed.fabric.nodes[from.node];
    uint64_t& bytes = sent[frame.interface];
    if (frame.roce && !frame.roce->telemetry.empty()) {
      const auto code = code_of(run_.link_of(from).rate);
      if (run_.is_host(from)) {
        ++out_.compared["telemetry"];
        if (frame.roce->telemetry.find_first_not_of('\0') != std::string::npos)
          find("telemetry: a packet left {} with some", node.name);
      } else if (run_.testbed.profiles[node.profile].in_band_telemetry && code) {
        hold_record(frame, bytes, *code);
      }
    }
    bytes += frame.bytes + kOnTheWire;
  }
}

void EchoRecounting::hold_record(const CapturedFrame& frame, uint64_t bytes_before, uint64_t code) {
  const std::string& field = frame.roce->telemetry;
  const std::string& port = run_.captured.interfaces[frame.interface];
  const uint64_t count = count_in(field);
  ++out_.compared["telemetry"];
  if (count == 0) return find("telemetry: {} wrote nothing into a packet that left at {} ps", port, frame.at_ps);
  const uint64_t word = big(field, (count - 1) % kHops * 8, 8);
  const uint64_t bytes = word >> 17 & 0xfffff;
  const uint64_t ns = word >> 37 & 0xffffff;
  const auto began = static_cast<uint64_t>(run_.start_of(frame) / 1000) & 0xffffff;
  const uint64_t apart = std::min((ns - began) & 0xffffff, (began - ns) & 0xffffff);
  if (word >> 61 != code || apart > 1 || bytes != (bytes_before / 128 & 0xfffff))
    find("telemetry: {} wrote rate {}, {} ns, {} x 128 bytes; of the packet that began at {} ps the capture has {}, {}",
         port, word >> 61, ns, bytes, run_.start_of(frame), code, bytes_before);
}

void EchoRecounting::see_arrivals() {
  for (const CapturedFrame& frame : run_.captured.frames) {
    const LinkEnd from = run_.sender_of(frame);
    if (!run_.is_host(from)) continue;
    const uint32_t own = run_.testbed.fabric.nodes[from.node].ipv4.value;
    if (frame.roce && frame.roce->source == own)
      first_psn_.try_emplace({own, frame.roce->destination, frame.roce->qp}, frame.roce->psn);
    if (frame.ack && frame.ack->source == own)
      answered_[{frame.ack->destination, own, frame.ack->qp}].push_back(&*frame.ack);
  }
  for (const CapturedFrame* frame : by_arrival_) {
    const LinkEnd to = run_.testbed.fabric.peer_of(run_.sender_of(*frame));
    if (!run_.is_host(to) || run_.arrival_of(*frame) > run_.end_ps) continue;
    const uint32_t own = run_.testbed.fabric.nodes[to.node].ipv4.value;
    if (frame->roce && frame->roce->destination == own)
      arrived_[{frame->roce->source, own, frame->roce->qp}][frame->roce->psn] = {frame->roce->is_marked,
                                                                                 frame->roce->telemetry};
    if (frame->ack && frame->ack->destination == own)
      heard_[{own, frame->ack->source, frame->ack->qp}].push_back(&*frame->ack);
  }
}

// A positive acknowledgement says of the packet that it names what that packet came with.
void EchoRecounting::hold_echoes(const FlowSnapshot& flow) {
  const auto& packets = arrived_[run_.key_of(flow)];
  const auto& workloads = run_.testbed.workloads;
  const auto workload = std::ranges::find(workloads, flow.workload, &control::Workload::name);
  const bool uses_marks = workload != workloads.end() && std::holds_alternative<dataplane::DctcpParameters>(
                                                             workload->transport.reliable.congestion_control);
  for (const CapturedAck* ack : answered_[key_of_answers(flow)]) {
    const auto named = packets.find(ack->psn);
    if (ack->is_negative || named == packets.end()) continue;
    const auto& [is_marked, telemetry] = named->second;
    ++out_.compared["echoes"];
    if (ack->telemetry != telemetry)
      find("echoes: {} acknowledged PSN {} of {} with other telemetry than it had", flow.destination, ack->psn,
           flow.workload);
    if (ack->echoes_mark != (uses_marks && is_marked))
      find("echoes: {} acknowledged PSN {} of {}{} marked", flow.destination, ack->psn, flow.workload,
           ack->echoes_mark ? " as" : ", which was, not as");
  }
}

void EchoRecounting::hold_counters(const FlowSnapshot& flow) {
  Answers answers;
  const auto first = first_psn_.find(run_.key_of(flow));
  if (first != first_psn_.end()) answers.una = first->second;
  for (const CapturedAck* ack : heard_[key_of_answers(flow)]) answers.take(*ack);
  ++out_.compared["echo counters"];
  const auto& counted = flow.reliable;
  if (counted.ce_echoes != answers.echoes || counted.telemetry_acks != answers.with_telemetry)
    find("echoes: {} of {} counted {} marks and {} with telemetry; the capture has {} and {}", flow.source,
         flow.workload, counted.ce_echoes, counted.telemetry_acks, answers.echoes, answers.with_telemetry);
}

}  // namespace

void recount_echoes(const CapturedRun& run, Recount& out) {
  EchoRecounting(run, out)();
}

}  // namespace softspine::tests
