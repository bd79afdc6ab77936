// SPDX-License-Identifier: Apache-2.0
#include "analysis/playback/recorded_ranks.hpp"

#include <algorithm>
#include <set>
#include <tuple>

#include "control/report/step_text.hpp"
#include "control/steps/step_spans.hpp"
#include "control/telemetry/json.hpp"

namespace softspine::analysis {

using control::CauseOfWaits;
using control::JobSteps;
using control::Json;
using control::RankSteps;
using control::Statement;
using control::StepKind;
using control::StepsSnapshot;
using dataplane::Duration;
using dataplane::Instant;

namespace {

// Other words than these are of another program: unknown.
template <typename Kind, size_t N>
Kind kind_named(const std::array<std::string_view, N>& words, const std::string& word, Kind otherwise) {
  const auto found = std::ranges::find(words, word);
  return found == words.end() ? otherwise : static_cast<Kind>(found - words.begin());
}

control::WaitCause cause_named(const std::string& word) {
  return kind_named(control::kWaitCauseWords, word, control::WaitCause::kUnknown);
}

// Ranks are in their order.
RankSteps* find(JobSteps& job, int64_t rank) {
  const auto found =
      std::ranges::lower_bound(job.ranks, rank, {}, [](const RankSteps& it) { return int64_t{it.rank}; });
  return found == job.ranks.end() || found->rank != rank ? nullptr : &*found;
}

// Of causes that took equally long, those come first that a running fabric has first: by the kind, then by the place.
// A node comes behind its ports, and no place last.
constexpr const char* kCauses =
    "WITH found AS (SELECT cause, cause_at, cause_by, sum(t_ps - from_ps) AS waited_ps, count(*) AS waits "
    "FROM rank_waits WHERE job_id = ?1 AND t_ps <= ?2 GROUP BY cause, cause_at, cause_by), "
    "places AS (SELECT name, node_id, port_id FROM ports UNION ALL SELECT name, node_id, 1 << 40 FROM nodes) "
    "SELECT cause, cause_at, cause_by, waited_ps, waits, here.node_id, here.port_id, "
    "coalesce(root.node_id, 1 << 40), coalesce(root.port_id, 1 << 40) "
    "FROM found LEFT JOIN places AS here ON here.name = cause_at LEFT JOIN places AS root ON root.name = cause_by";

}  // namespace

const std::vector<RecordedRanks::Job>& RecordedRanks::jobs() {
  if (has_jobs_) return jobs_;
  has_jobs_ = true;
  Statement job{recording_, "SELECT job_id, name, kind = 'training', explained FROM jobs ORDER BY job_id"};
  while (job.next()) {
    jobs_.push_back({job.number(0), job.text(1), job.number(2) != 0, job.number(3) != 0, {}, {}});
    Statement host{recording_, "SELECT name FROM job_ranks JOIN nodes USING(node_id) WHERE job_id = ?1 ORDER BY rank"};
    host.add(jobs_.back().id);
    while (host.next()) jobs_.back().hosts.push_back(host.text(0));
    jobs_.back().first_ps.resize(jobs_.back().hosts.size());
  }
  read_first_steps();
  return jobs_;
}

void RecordedRanks::read_first_steps() {
  Statement step{recording_, "SELECT job_id, rank, min(t_ps) FROM rank_steps GROUP BY job_id, rank"};
  while (step.next()) {
    const auto job = std::ranges::find(jobs_, step.number(0), &Job::id);
    const auto rank = static_cast<size_t>(step.number(1));
    if (job != jobs_.end() && rank < job->first_ps.size()) job->first_ps[rank] = step.number(2);
  }
}

JobSteps RecordedRanks::begin(const Job& job, int64_t at_ps) {
  JobSteps out{.name = job.name, .is_training = job.is_training, .ranks = {}, .causes = {}};
  for (uint32_t r = 0; r < job.hosts.size(); ++r) {
    if (!job.first_ps[r] || *job.first_ps[r] > at_ps) continue;
    RankSteps& rank = out.ranks.emplace_back();
    rank.rank = r;
    rank.host = job.hosts[r];
  }
  return out;
}

Json RecordedRanks::waits(int64_t at_ps) {
  StepsSnapshot out;
  for (const Job& job : jobs()) {
    if (!job.is_explained) return nullptr;
    out.jobs.push_back(begin(job, at_ps));
    add_waits(job, at_ps, out.jobs.back());
    add_causes(job, at_ps, out.jobs.back());
  }
  return out.jobs.empty() ? Json() : control::waits_json(out);
}

void RecordedRanks::add_waits(const Job& job, int64_t at_ps, JobSteps& out) {
  Statement sums{recording_,
                 "SELECT rank, count(*), sum(t_ps - from_ps) FROM rank_waits WHERE job_id = ?1 AND t_ps <= ?2 "
                 "GROUP BY rank"};
  sums.add(job.id).add(at_ps);
  while (sums.next()) {
    RankSteps* const rank = find(out, sums.number(0));
    if (rank == nullptr) continue;
    rank->waits = static_cast<uint64_t>(sums.number(1));
    rank->waited = Duration::ps(sums.number(2));
  }
  Statement longest{recording_,
                    "SELECT rank, max(wait_id), from_ps, t_ps, peer, cause, reason FROM rank_waits "
                    "WHERE job_id = ?1 AND t_ps <= ?2 AND reason IS NOT NULL GROUP BY rank"};
  longest.add(job.id).add(at_ps);
  while (longest.next()) {
    RankSteps* const rank = find(out, longest.number(0));
    const auto peer = static_cast<size_t>(longest.number(4));
    if (rank == nullptr || peer >= job.hosts.size()) continue;
    control::StepWait& wait = rank->longest.emplace_back();
    wait.from = Instant::at_ps(longest.number(2));
    wait.to = Instant::at_ps(longest.number(3));
    wait.peer = static_cast<uint32_t>(peer);
    wait.peer_host = job.hosts[peer];
    wait.reason.cause = cause_named(longest.text(5));
    wait.reason.words = longest.text(6);
  }
}

void RecordedRanks::add_causes(const Job& job, int64_t at_ps, JobSteps& out) {
  using Order = std::tuple<int64_t, control::WaitCause, int64_t, int64_t, int64_t, int64_t>;
  std::vector<std::pair<Order, CauseOfWaits>> found;
  Statement query{recording_, kCauses};
  query.add(job.id).add(at_ps);
  while (query.next()) {
    const control::WaitCause cause = cause_named(query.text(0));
    found.push_back(
        {{-query.number(3), cause, query.number(5), query.number(6), query.number(7), query.number(8)},
         {cause, query.text(1), query.text(2), Duration::ps(query.number(3)), static_cast<uint64_t>(query.number(4))}});
  }
  std::ranges::sort(found, {}, [](const auto& it) { return it.first; });
  for (auto& [order, cause] : found) out.causes.push_back(std::move(cause));
}

Json RecordedRanks::spans(int64_t at_ps) {
  StepsSnapshot out;
  for (const Job& job : jobs()) {
    JobSteps& steps = out.jobs.emplace_back(begin(job, at_ps));
    if (steps.ranks.size() > control::kRanksWithSpans) add_longest(job, at_ps, steps);
    std::set<uint32_t> drawn;
    for (const RankSteps* rank : control::ranks_to_draw(steps, control::kRanksWithSpans)) drawn.insert(rank->rank);
    for (RankSteps& rank : steps.ranks) {
      if (drawn.contains(rank.rank)) add_spans(job, at_ps, rank);
    }
  }
  return out.jobs.empty() ? Json() : control::spans_json(out);
}

void RecordedRanks::add_longest(const Job& job, int64_t at_ps, JobSteps& out) {
  Statement query{recording_,
                  "SELECT rank, max(waited_ps) FROM rank_steps WHERE job_id = ?1 AND t_ps <= ?2 AND waited_ps > 0 "
                  "GROUP BY rank"};
  query.add(job.id).add(at_ps);
  while (query.next()) {
    RankSteps* const rank = find(out, query.number(0));
    if (rank != nullptr) rank->longest.emplace_back().to = Instant::at_ps(query.number(1));
  }
}

void RecordedRanks::add_spans(const Job& job, int64_t at_ps, RankSteps& out) {
  std::array<control::StepSpans, control::kStepWords.size()> spans;
  Statement query{recording_,
                  "SELECT from_ps, t_ps, name, waited_ps FROM rank_steps JOIN step_kinds USING(kind_id) "
                  "WHERE job_id = ?1 AND rank = ?2 AND t_ps <= ?3 ORDER BY rank_steps.rowid"};
  query.add(job.id).add(out.rank).add(at_ps);
  while (query.next()) {
    const Instant to = Instant::at_ps(query.number(1));
    const StepKind kind = kind_named(control::kStepWords, query.text(2), StepKind::kWait);
    const Instant from = kind == StepKind::kWait ? to - Duration::ps(query.number(3)) : Instant::at_ps(query.number(0));
    spans[static_cast<size_t>(kind)].add(from, to);
  }
  for (size_t kind = 0; kind < spans.size(); ++kind) out.spans[kind] = spans[kind].all();
}

}  // namespace softspine::analysis
