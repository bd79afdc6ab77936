// SPDX-License-Identifier: Apache-2.0
#include "testbeds/run/step_log.hpp"

#include <algorithm>
#include <utility>

#include "testbeds/run/next_look.hpp"

namespace softspine::testbeds {

using control::HopRecord;
using control::OperationKind;
using control::RankTraffic;
using control::StepRecord;
using dataplane::Duration;
using dataplane::Instant;

namespace {

// How exactly it is known when a port was paused by whom; on the wall clock every look costs a stop of all workers.
constexpr Duration kLookEveryVirtual = Duration::us(50);
constexpr Duration kLookEveryWall = Duration::ms(100);

// Hands over what lies before `now`, in order.
template <typename Record, typename See>
void take_in_order(std::vector<Record>& records, Instant now, See&& see) {
  std::ranges::sort(records, {}, &Record::order);
  const auto end = std::ranges::lower_bound(records, now, {}, &Record::at);
  std::for_each(records.begin(), end, see);
  records.erase(records.begin(), end);
}

}  // namespace

RankRecorder::RankRecorder(uint32_t job, uint32_t rank, const RankConfig& config, const FirstFlows& flows, uint32_t mtu,
                           std::span<const std::unique_ptr<MessageTap>> taps, StepBuffer& buffer)
    : job_(job),
      rank_(rank),
      splits_(config.scaling == QueuePairScaling::kSplit),
      mtu_(mtu),
      taps_(taps),
      buffer_(buffer) {
  for (const RankConnection& each : config.connections) {
    Connection& it = connections_.emplace_back();
    it = {.peer = each.peer, .channel = each.channel};
    const auto flow = flows.find({rank, each.peer, each.channel});
    if (!each.is_scale_up && flow != flows.end()) it.first_flow = flow->second;
  }
}

StepRecord RankRecorder::record_of(const OpenOperation& operation, Instant at) noexcept {
  StepRecord out{.at = at,
                 .number = records_++,
                 .job = job_,
                 .rank = rank_,
                 .kind = operation.kind,
                 .bytes = operation.bytes,
                 .started = operation.started};
  if (operation.kind == OperationKind::kSend || operation.kind == OperationKind::kReceive) {
    out.peer = connections_[operation.connection].peer;
    out.channel = connections_[operation.connection].channel;
    out.message = operation.message;
  }
  return out;
}

void RankRecorder::posted(const OpenOperation& operation) noexcept {
  if (taps_.empty()) return;
  const Connection& connection = connections_[operation.connection];
  for (uint32_t part = 0; part < operation.parts; ++part) {
    StepRecord record = record_of(operation, operation.posted);
    record.is_posted = true;
    const uint64_t bytes = part_bytes(operation.bytes, operation.parts, part);
    if (connection.first_flow != StepRecord::kBesideFabric) {
      record.flow = connection.first_flow + (splits_ ? part : operation.queue_pair);
      record.packets = packets_of_message(bytes, mtu_);
      post(record.flow, record.packets, record.at);
    }
    buffer_.steps.push_back(record);
  }
}

void RankRecorder::post(uint32_t flow, uint32_t packets, Instant now) noexcept {
  PostedParts& parts = buffer_.posted[flow];
  if (std::exchange(parts.have_left, false)) {
    for (const auto& tap : taps_) tap->begin(flow, now);
  }
  parts.packets += packets;
}

void RankRecorder::done(const OpenOperation& operation, Instant now, Duration alone) noexcept {
  StepRecord record = record_of(operation, now);
  if (operation.kind == OperationKind::kReceive) record.alone = alone - std::exchange(alone_, alone);
  buffer_.steps.push_back(record);
}

StepLog::~StepLog() {
  for (const auto& tap : taps_) captures_.board().remove({tap->port(), false}, tap.get());
}

const RankTraffic& StepLog::traffic_of(size_t job) const {
  const size_t collectives = testbed_.collectives.size();
  return job < collectives ? testbed_.collectives[job].traffic : testbed_.trainings[job - collectives].traffic;
}

std::vector<control::StepJob> StepLog::jobs() const {
  std::vector<control::StepJob> out;
  for (const control::CollectiveRun& run : testbed_.collectives) out.push_back({run.name, false, run.traffic.hosts});
  for (const control::TrainingRun& run : testbed_.trainings) out.push_back({run.name, true, run.traffic.hosts});
  return out;
}

// A pair's flows stand one behind the other, in the order of the pairs.
std::vector<bool> StepLog::watched_flows() {
  std::vector<bool> out(flows_.size());
  first_flows_.resize(testbed_.collectives.size() + testbed_.trainings.size());
  for (size_t job = 0; job < first_flows_.size(); ++job) {
    const RankTraffic& traffic = traffic_of(job);
    uint32_t flow = 0;
    while (flow < flows_.size() && flows_.plan(flow).workload != traffic.workload) ++flow;
    const uint32_t qps = testbed_.workloads.empty() ? 1 : testbed_.workloads[traffic.workload].qps;
    for (size_t pair = 0; pair < traffic.channel.size(); ++pair, flow += qps) {
      first_flows_[job][{traffic.from_rank[pair], traffic.to_rank[pair], traffic.channel[pair]}] = flow;
      for (uint32_t qp = 0; qp < qps; ++qp) out[flow + qp] = true;
    }
  }
  return out;
}

size_t StepLog::worker_of(uint32_t node) const {
  return nodes_.worker_at({node, 0}).value_or(0);
}

void StepLog::start() {
  if (!is_on()) return;
  for (uint32_t i = 0; i < nodes_.engine().workers(); ++i) buffers_.push_back(std::make_unique<StepBuffer>());
  watched_ = watched_flows();
  if (asked_.explained) {
    if (nodes_.ranks().is_first()) {
      std::vector<uint32_t> first_psns;
      for (const PlannedFlow& plan : flows_.plans()) first_psns.push_back(plan.flow.first_psn);
      history_ = std::make_unique<control::StepHistory>(testbed_.fabric, jobs(), std::move(first_psns));
    }
    set_taps();
  }
  nodes_.engine().look_at(Instant::at(kLookEveryVirtual), [this](Instant now) { look(now); });
}

void StepLog::open(std::unique_ptr<control::StepSink> sink) {
  sink->begin(jobs());
  if (history_ && sink->takes_waits()) history_->on_wait([this](const control::FoundWait& wait) { hand_over(wait); });
  sinks_.push_back(std::move(sink));
}

void StepLog::set_taps() {
  nodes_.for_each_port([this](control::LinkEnd port, const dataplane::Transmitter& wire) {
    const pipelines::Switch* const node = nodes_.switch_at(port.node);
    const RoceHost* const host = nodes_.host_at(port.node);
    if (node == nullptr && host == nullptr) return;
    taps_.push_back(std::make_unique<MessageTap>(
        MessageTap::Place{testbed_.fabric, flows_, watched_, port, wire, node, host, *buffers_[worker_of(port.node)]}));
    captures_.board().add({port, false}, taps_.back().get());
  });
}

std::unique_ptr<RankRecorder> StepLog::recorder_of(size_t job, uint32_t rank, const RankConfig& config) {
  if (!is_on()) return nullptr;
  const RankTraffic& traffic = traffic_of(job);
  const uint32_t mtu = testbed_.workloads.empty() ? 4096 : testbed_.workloads[traffic.workload].mtu;
  const uint32_t host = traffic.hosts[rank];
  const auto taps = std::ranges::equal_range(taps_, host, {}, [](const auto& tap) { return tap->port().node; });
  return std::make_unique<RankRecorder>(static_cast<uint32_t>(job), rank, config, first_flows_[job], mtu, taps,
                                        *buffers_[worker_of(host)]);
}

void StepLog::look(Instant now) {
  take_before(now);
  dataplane::Engine& engine = nodes_.engine();
  const Duration every = engine.is_wall() ? kLookEveryWall / testbed_.run.dilation : kLookEveryVirtual;
  const Instant then = next_look(engine, now, every);
  if (!then.is_never()) engine.look_at(then, [this](Instant later) { look(later); });
}

void StepLog::add_looks(Instant known, std::span<const StepsHere> all) {
  std::vector<control::PortLook> ports(history_->looks().ports().size());
  for (const StepsHere& each : all) {
    for (const auto& [port, look] : each.looks) ports[history_->looks().ports().of(port)] = look;
  }
  history_->looks().add(known, std::move(ports));
}

void StepLog::hand_over(const StepRecord& step) {
  for (const auto& sink : sinks_) {
    if (!step.is_posted) sink->step(step);
  }
  if (history_) history_->take(step);
}

void StepLog::hand_over(const control::FoundWait& wait) {
  for (const auto& sink : sinks_) {
    if (sink->takes_waits()) sink->wait(wait);
  }
}

StepsHere StepLog::take_here(Instant known) {
  StepsHere out;
  for (const auto& tap : taps_) out.looks.push_back({tap->port(), tap->take_look(known)});
  for (const auto& buffer : buffers_) {
    out.steps.insert(out.steps.end(), buffer->steps.begin(), buffer->steps.end());
    out.hops.insert(out.hops.end(), buffer->hops.begin(), buffer->hops.end());
    buffer->steps.clear();
    buffer->hops.clear();
  }
  return out;
}

void StepLog::take_before(Instant now) {
  const Instant known = std::min(now, nodes_.engine().now());
  const std::vector<StepsHere> all = nodes_.ranks().collect(take_here(known));
  if (!nodes_.ranks().is_first()) return;
  for (const StepsHere& each : all) {
    steps_.insert(steps_.end(), each.steps.begin(), each.steps.end());
    hops_.insert(hops_.end(), each.hops.begin(), each.hops.end());
  }
  if (history_) add_looks(known, all);
  // A message is posted before it leaves, and arrives after it has left: so all of either kind up to a step.
  auto hop = hops_.begin();
  std::ranges::sort(hops_, {}, &HopRecord::order);
  take_in_order(steps_, now, [&](const StepRecord& step) {
    for (; hop != hops_.end() && hop->at < step.at; ++hop) history_->take(*hop);
    hand_over(step);
  });
  for (; hop != hops_.end() && hop->at < now; ++hop) history_->take(*hop);
  hops_.erase(hops_.begin(), hop);
  for (const auto& sink : sinks_) sink->known_before(now);
}

void StepLog::finish(Instant now) {
  static_cast<void>(now);
  if (is_on()) take_before(Instant::never());
}

void StepLog::snapshot(control::FabricSnapshot& out) {
  if (history_) out.steps = history_->snapshot();
}

}  // namespace softspine::testbeds
