// SPDX-License-Identifier: Apache-2.0
#include "tests/scenario/failures/lacp_judge.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "dataplane/packet/wire.hpp"

namespace softspine::tests {

using dataplane::Duration;
using dataplane::Instant;

namespace {

constexpr Duration kSlowPeriod = Duration::s(32);  // in which an end sends, whatever its state
constexpr Duration kUnderWay = Duration::ms(100);  // a packet, at the most

bool sends_data(const WireEnd& end, Instant from, Instant until) {
  const auto first = std::ranges::lower_bound(end.data(), from, {}, &SentData::at);
  return first != end.data().end() && first->at < until;
}

}  // namespace

LacpJudge::LacpJudge(const control::Testbed& testbed, const LacpWire& wire, const LacpSequence& sequence)
    : testbed_(testbed), wire_(wire), sequence_(sequence) {
  for (const WireLink& link : wire.links()) {
    if (!link.runs_lacp) continue;
    pairs_.push_back({&link, LacpEndView{testbed, link, false}, LacpEndView{testbed, link, true}});
  }
}

void LacpJudge::complain(const LacpEndView& end, Instant at, const std::string& what) {
  complaints_.push_back(fmt::format("{} at {:.6f} s: {}", testbed_.fabric.name_of(end.wire().end()),
                                    static_cast<double>(at.count_ps()) * 1e-12, what));
}

std::vector<std::string> LacpJudge::complaints(const std::vector<testbeds::PlannedFlow>& flows) {
  for (const Pair& pair : pairs_) {
    for (const LacpEndView* end : {&pair.a, &pair.b}) {
      judge_use(pair, *end, end == &pair.a ? pair.b : pair.a);
      const auto wrong = end->wrong_pdus(sequence_.end);
      if (!wrong.empty()) complain(*end, {}, wrong.front());
    }
    judge_agreement(pair);
  }
  for (uint32_t i = 0; i < flows.size(); ++i) judge_flow(i, flows[i].source, flows[i].destination);
  return complaints_;
}

bool LacpJudge::has_min_links(const control::Lag& lag, Instant t) const {
  const auto is_there = [&](const Pair& pair) {
    return testbed_.fabric.lag_of(pair.a.wire().end()) == &lag && pair.a.has_carrier(t) && pair.a.why_not(t).empty() &&
           pair.b.why_not(t).empty();
  };
  return std::ranges::count_if(pairs_, is_there) >= lag.min_links;
}

std::string LacpJudge::why_not(const Pair& pair, const LacpEndView& end, const LacpEndView& partner,
                               const SentData& packet) const {
  if (!packet.has_carrier) return "has no carrier";
  if (std::string why = end.why_not(packet.at); !why.empty()) return why;
  if (!end.says(packet.at)) return "does not say so";
  const uint32_t number = testbed_.fabric.links[pair.link->link].lag;
  if (number == control::kNone) return {};
  if (std::string why = partner.why_not(packet.at); !why.empty()) return "its partner " + why;
  return has_min_links(testbed_.fabric.lags[number], packet.at) ? "" : "its LAG has fewer links than min_links";
}

void LacpJudge::judge_use(const Pair& pair, const LacpEndView& end, const LacpEndView& partner) {
  for (const SentData& packet : end.wire().data()) {
    const std::string why = why_not(pair, end, partner, packet);
    if (!why.empty()) return complain(end, packet.at, "is used, and " + why);
  }
}

void LacpJudge::judge_agreement(const Pair& pair) {
  const auto is_out = [&](Instant from, Instant until) {
    return std::ranges::any_of(pair.link->outages,
                               [&](const WireLink::Outage& each) { return each.from <= until && from <= each.until; });
  };
  const Instant from = sequence_.quiet - kSlowPeriod;
  const Instant until = sequence_.repaired - kCarrierLooks;
  const bool works = !is_out(from, until) && pair.a.is_heard(from, until) && pair.b.is_heard(from, until);
  for (const LacpEndView* end : {&pair.a, &pair.b}) {
    if (works && !end->uses(until)) complain(*end, until, "the link works, and is not used");
    if (!works && sends_data(end->wire(), sequence_.quiet, until))
      complain(*end, sequence_.quiet, "the link does not work, and is used");
    if (!end->uses(sequence_.end) || is_out(sequence_.healed, sequence_.end))
      complain(*end, sequence_.end, "is repaired, and not used");
    if (!end->is_heard(sequence_.end - kSlowPeriod, sequence_.end)) complain(*end, sequence_.end, "is not heard");
  }
}

void LacpJudge::judge_flow(uint32_t flow, uint32_t source, uint32_t destination) {
  std::vector<SentData> sent;
  std::vector<SentData> arrived;
  for (const WireLink& link : wire_.links()) {
    for (const bool second : {false, true}) {
      const uint32_t from = link.at(second).end().node;
      const uint32_t to = link.at(!second).end().node;
      for (const SentData& packet : link.at(second).data()) {
        if (packet.flow != flow) continue;
        if (from == source) sent.push_back(packet);
        if (to == destination && packet.arrives) arrived.push_back(packet);
      }
    }
  }
  const std::string name = fmt::format("flow {} of {}: ", flow, testbed_.fabric.nodes[source].name);
  std::ranges::sort(arrived, {}, &SentData::at);
  std::set<uint32_t> numbers;
  for (const SentData& packet : arrived) {
    if (!numbers.insert(packet.psn).second) return complaints_.push_back(name + "a packet arrives twice");
  }
  const auto is_later = [](const SentData& a, const SentData& b) {
    return ((b.psn - a.psn) & dataplane::bth::kMask24) - 1 >= dataplane::bth::kMask24 / 2;
  };
  if (std::ranges::adjacent_find(arrived, is_later) != arrived.end())
    complaints_.push_back(name + "packets change their order");
  const Instant first_fault = sequence_.begin + Duration::s(5);
  const auto is_lost = [&](const SentData& packet) {
    const bool nothing_fails =
        packet.at < first_fault - kUnderWay || (packet.at > sequence_.healed && packet.at < sequence_.end - kUnderWay);
    return nothing_fails && !numbers.contains(packet.psn);
  };
  if (const auto lost = std::ranges::find_if(sent, is_lost); lost != sent.end())
    complaints_.push_back(name + fmt::format("a packet of {} ps is lost while nothing fails", lost->at.count_ps()));
  if (sent.empty()) complaints_.push_back(name + "nothing is sent");
}

}  // namespace softspine::tests
