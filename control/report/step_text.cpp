// SPDX-License-Identifier: Apache-2.0
#include "control/report/step_text.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "control/telemetry/json.hpp"
#include "control/telemetry/text_table.hpp"

namespace softspine::control {

using dataplane::Duration;

namespace {

constexpr size_t kRowsOfTable = 16;

Json span_json(const StepSpan& span) {
  return {{"from_ps", span.from.count_ps()}, {"to_ps", span.to.count_ps()}, {"busy_ps", span.busy.count_ps()}};
}

Json message_json(const WaitReason& reason) {
  if (reason.to_host.empty()) return {};
  return {{"to_rank", reason.to_rank},
          {"to_host", reason.to_host},
          {"channel", reason.channel},
          {"bytes", reason.bytes},
          {"started_ps", reason.started.count_ps()},
          {"posted_ps", reason.posted.count_ps()},
          {"arrived_ps", reason.arrived.is_never() ? Json() : Json(reason.arrived.count_ps())},
          {"retransmitted_packets", reason.retransmitted_packets},
          {"naks", reason.naks},
          {"timeouts", reason.timeouts},
          {"cnps", reason.cnps},
          {"lost_behind", reason.lost_behind},
          {"lost_packets", reason.lost_packets}};
}

Json port_json(const WaitReason& reason) {
  if (reason.port.empty()) return {};
  return {{"port", reason.port},
          {"queue", reason.queue},
          {"longest_stay_ps", reason.longest_stay.count_ps()},
          {"paused_ps", reason.paused.count_ps()},
          {"paused_by", reason.paused_by},
          {"congested_port", reason.congested_port},
          {"congested_stay_ps", reason.congested_stay.count_ps()}};
}

Json reason_json(const WaitReason& reason) {
  return {{"cause", kWaitCauseWords[static_cast<size_t>(reason.cause)]},
          {"time_ps", reason.time.count_ps()},
          {"rank", reason.rank},
          {"host", reason.host},
          {"ranks_back", reason.ranks_back},
          {"message", message_json(reason)},
          {"at", port_json(reason)},
          {"text", reason_text(reason)}};
}

Json wait_json(const StepWait& wait) {
  return {{"from_ps", wait.from.count_ps()},   {"to_ps", wait.to.count_ps()}, {"peer", wait.peer},
          {"peer_host", wait.peer_host},       {"channel", wait.channel},     {"bytes", wait.bytes},
          {"reason", reason_json(wait.reason)}};
}

Json rank_json(const RankSteps& rank) {
  Json spans = Json::object();
  for (size_t kind = 0; kind < kStepWords.size(); ++kind) {
    Json all = Json::array();
    for (const StepSpan& span : rank.spans[kind]) all.push_back(span_json(span));
    add_key(spans, std::string(kStepWords[kind]), std::move(all));
  }
  Json longest = Json::array();
  for (const StepWait& wait : rank.longest) longest.push_back(wait_json(wait));
  return {{"rank", rank.rank},   {"host", rank.host},         {"waited_ps", rank.waited.count_ps()},
          {"waits", rank.waits}, {"spans", std::move(spans)}, {"longest_waits", std::move(longest)}};
}

Json causes_json(const JobSteps& job) {
  Json out = Json::array();
  for (const CauseOfWaits& it : job.causes) {
    out.push_back({{"cause", kWaitCauseWords[static_cast<size_t>(it.cause)]},
                   {"at", it.what},
                   {"by", it.root},
                   {"waited_ps", it.waited.count_ps()},
                   {"waits", it.waits}});
  }
  return out;
}

Json job_json(const JobSteps& job) {
  Json ranks = Json::array();
  for (const RankSteps& rank : job.ranks) ranks.push_back(rank_json(rank));
  return {{"name", job.name},
          {"kind", job.is_training ? "training" : "collective"},
          {"causes", causes_json(job)},
          {"ranks", std::move(ranks)}};
}

Duration longest_wait_of(const RankSteps& rank) {
  return rank.longest.empty() ? Duration{} : rank.longest[0].to - rank.longest[0].from;
}

// Those with a wait, that with the longest first.
std::vector<const RankSteps*> ranks_that_waited(const JobSteps& job, size_t most) {
  std::vector<const RankSteps*> out;
  for (const RankSteps& rank : job.ranks) {
    if (!rank.longest.empty()) out.push_back(&rank);
  }
  std::ranges::stable_sort(out, std::greater{}, [](const RankSteps* it) { return longest_wait_of(*it); });
  out.resize(std::min(out.size(), most));
  return out;
}

// Of some of its ranks.
Json job_rows(const JobSteps& job, Json rows) {
  return {{"name", job.name},
          {"kind", job.is_training ? "training" : "collective"},
          {"ranks", job.ranks.size()},
          {"rows", std::move(rows)}};
}

Json spans_row(const RankSteps& rank) {
  Json kinds = Json::object();
  for (size_t kind = 0; kind < kStepWords.size(); ++kind) {
    Json all = Json::array();
    for (const StepSpan& span : rank.spans[kind])
      all.push_back({span.from.count_ps(), span.to.count_ps(), span.busy.count_ps()});
    add_key(kinds, std::string(kStepWords[kind]), std::move(all));
  }
  return {{"rank", rank.rank}, {"host", rank.host}, {"spans", std::move(kinds)}};
}

Json wait_row(const RankSteps& rank) {
  const StepWait& wait = rank.longest[0];
  return {{"rank", rank.rank},
          {"host", rank.host},
          {"waits", rank.waits},
          {"waited_ps", rank.waited.count_ps()},
          {"longest_ps", (wait.to - wait.from).count_ps()},
          {"from_ps", wait.from.count_ps()},
          {"peer", wait.peer},
          {"peer_host", wait.peer_host},
          {"cause", kWaitCauseWords[static_cast<size_t>(wait.reason.cause)]},
          {"text", reason_text(wait.reason)}};
}

std::string micros(Duration time) {
  return fmt::format("{:.2f}", static_cast<double>(time.count_ps()) / 1e6);
}

std::string waits_table(const StepsSnapshot& steps) {
  TextTable table{{"<JOB", "<RANK", "WAITED_US", "LONGEST_US", "<FOR", "<REASON"}};
  for (const JobSteps& job : steps.jobs) {
    for (const RankSteps* rank : ranks_that_waited(job, kRowsOfTable)) {
      const StepWait& wait = rank->longest[0];
      table.add({job.name, fmt::format("{} ({})", rank->rank, rank->host), micros(rank->waited),
                 micros(wait.to - wait.from), fmt::format("{} ({})", wait.peer, wait.peer_host),
                 reason_text(wait.reason)});
    }
  }
  return table.text();
}

std::string causes_table(const StepsSnapshot& steps) {
  TextTable table{{"<JOB", "<CAUSE", "<AT", "<BY", "WAITS", "WAITED_US"}};
  for (const JobSteps& job : steps.jobs) {
    for (size_t i = 0; i < std::min(job.causes.size(), kRowsOfTable); ++i) {
      const CauseOfWaits& it = job.causes[i];
      table.add({job.name, std::string(kWaitCauseWords[static_cast<size_t>(it.cause)]), it.what,
                 it.root.empty() ? "-" : it.root, grouped(it.waits), micros(it.waited)});
    }
  }
  return table.text();
}

}  // namespace

Json steps_json(const StepsSnapshot& steps, const std::string& testbed) {
  Json jobs = Json::array();
  for (const JobSteps& job : steps.jobs) jobs.push_back(job_json(job));
  return {{"steps", 1}, {"testbed", testbed}, {"jobs", std::move(jobs)}};
}

Json waits_json(const StepsSnapshot& steps) {
  constexpr size_t kRanks = 64;
  Json out = Json::array();
  for (const JobSteps& job : steps.jobs) {
    Json rows = Json::array();
    for (const RankSteps* rank : ranks_that_waited(job, kRanks)) rows.push_back(wait_row(*rank));
    Json causes = causes_json(job);
    if (causes.size() > kRanks) causes.erase(causes.begin() + kRanks, causes.end());
    out.push_back(job_rows(job, std::move(rows)));
    add_key(out.back(), "causes", std::move(causes));
  }
  return out;
}

std::vector<const RankSteps*> ranks_to_draw(const JobSteps& job, size_t most) {
  std::vector<const RankSteps*> out;
  for (const RankSteps& rank : job.ranks) out.push_back(&rank);
  if (out.size() <= most) return out;
  std::ranges::stable_sort(out, std::greater{}, [](const RankSteps* it) { return longest_wait_of(*it); });
  out.resize(most);
  return out;
}

Json spans_json(const StepsSnapshot& steps) {
  Json out = Json::array();
  for (const JobSteps& job : steps.jobs) {
    Json rows = Json::array();
    for (const RankSteps* rank : ranks_to_draw(job, kRanksWithSpans)) rows.push_back(spans_row(*rank));
    out.push_back(job_rows(job, std::move(rows)));
  }
  return out;
}

std::string steps_table(const StepsSnapshot& steps) {
  return waits_table(steps) + "\n" + causes_table(steps);
}

}  // namespace softspine::control
