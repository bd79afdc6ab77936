// SPDX-License-Identifier: Apache-2.0
#include "testbeds/run/run_flows.hpp"

#include <algorithm>

namespace softspine::testbeds {

namespace {

// The queue pairs of one rank, in the order of the flows.
struct SharedPairs {
  std::vector<SourceElsewhere> sources;
  std::vector<SinkElsewhere> sinks;
};

// A flow that its host's bond does not send by the first port.
struct SecondPort {
  uint32_t flow = 0;
  uint16_t port = 0;
};

}  // namespace

SenderState SenderState::of(const RoceHost& host, uint32_t number) {
  SenderState out{.port = host.port_of(number)};
  out.leaves_port = host.will_leave(out.port);
  const ReliableSender* const sender = host.sender(number);
  out.is_open_loop = sender == nullptr;
  if (sender == nullptr) return out;
  out.has_failed = sender->has_failed();
  out.timeouts_in_a_row = sender->timeouts_in_a_row();
  out.waits_for_ever = sender->under_way() > 0 && sender->deadline().is_never();
  return out;
}

void RunFlows::add_elsewhere() {
  if (is_alone()) return;
  sources_elsewhere_ = std::make_shared<std::vector<SourceElsewhere>>(size());
  sinks_shared_ = std::make_shared<std::vector<SinkElsewhere>>(size());
  for (size_t i = 0; i < size(); ++i) {
    if (!sources_[i]) sources_[i] = FlowSource{.elsewhere = &(*sources_elsewhere_)[i]};
    if (!sinks_[i]) sinks_[i].emplace();
    sinks_[i]->shared = &(*sinks_shared_)[i];
  }
}

std::vector<uint16_t> RunFlows::host_ports() const {
  std::vector<SecondPort> mine;
  for (uint32_t i = 0; i < size(); ++i) {
    if (!sources_[i] || sources_[i]->host == nullptr) continue;
    const uint16_t port = sources_[i]->port().value();
    if (port != 0) mine.push_back({i, port});
  }
  std::vector<uint16_t> out(size());
  const auto put = [&out](const std::vector<SecondPort>& ports) {
    for (const SecondPort& each : ports) out[each.flow] = each.port;
  };
  if (is_alone()) {
    put(mine);
  } else {
    std::ranges::for_each(ranks_->collect(mine), put);
  }
  return out;
}

void RunFlows::share(bool gaps) const {
  if (is_alone()) return;
  SharedPairs mine;
  for (size_t i = 0; i < size(); ++i) {
    if (sources_[i]->host != nullptr) mine.sources.push_back({sources_[i]->sent(), sources_[i]->state()});
    const FlowSink& sink = *sinks_[i];
    if (sink.host == nullptr) continue;
    const ArrivalGap gap = gaps ? sink.host->sinks().take_gap(sink.number) : ArrivalGap{};
    mine.sinks.push_back({sink.received(), sink.expected_psn(), gap});
  }
  const std::vector<SharedPairs> all = ranks_->gather(mine);
  std::vector<size_t> next_source(all.size());
  std::vector<size_t> next_sink(all.size());
  for (size_t i = 0; i < size(); ++i) {
    const uint32_t source = ranks_->rank_of(plans_[i].source);
    const uint32_t sink = ranks_->rank_of(plans_[i].destination);
    (*sources_elsewhere_)[i] = all[source].sources[next_source[source]++];
    SinkElsewhere& into = (*sinks_shared_)[i];
    const ArrivalGap before = into.gap;
    into = all[sink].sinks[next_sink[sink]++];
    if (!gaps) into.gap = before;
  }
}

}  // namespace softspine::testbeds
