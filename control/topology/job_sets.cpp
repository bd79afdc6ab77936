// SPDX-License-Identifier: Apache-2.0
#include "control/topology/job_sets.hpp"

#include <algorithm>
#include <charconv>
#include <optional>

#include "control/document/words.hpp"

namespace softspine::control {
namespace {

constexpr std::string_view kJob = "job ";
constexpr std::string_view kShapes = ": job NAME, job NAME 3, job NAME 0..7, each also with 'rail 2' behind it";

std::optional<uint32_t> number_of(std::string_view digits) {
  uint32_t out = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), out);
  const bool whole = !digits.empty() && error == std::errc{} && end == digits.data() + digits.size();
  return whole ? std::optional(out) : std::nullopt;
}

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> out;
  while (!text.empty()) {
    const size_t end = std::min(text.find(' '), text.size());
    if (end > 0) out.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

struct WantedRanks {
  uint32_t first = 0;
  uint32_t last = 0;
  std::optional<uint32_t> rail;
};

// The words behind the job's name.
std::optional<WantedRanks> wanted_of(std::span<const std::string_view> words, size_t ranks) {
  WantedRanks out{.first = 0, .last = static_cast<uint32_t>(ranks) - 1, .rail = {}};
  if (words.size() >= 2 && words[words.size() - 2] == "rail") {
    out.rail = number_of(words.back());
    if (!out.rail) return std::nullopt;
    words = words.first(words.size() - 2);
  }
  if (words.size() > 1) return std::nullopt;
  if (words.empty()) return out;
  const size_t dots = words[0].find("..");
  const auto first = number_of(words[0].substr(0, dots));
  const auto last = dots == std::string_view::npos ? first : number_of(words[0].substr(dots + 2));
  if (!first || !last) return std::nullopt;
  out.first = *first;
  out.last = *last;
  return out;
}

}  // namespace

bool is_job_set(std::string_view text) {
  return text.starts_with(kJob);
}

JobMembers find_in_jobs(std::string_view text, std::span<const Job> jobs, const Fabric& fabric) {
  JobMembers out;
  const std::vector<std::string_view> words = words_of(text.substr(kJob.size()));
  const auto job = std::ranges::find(jobs, words.empty() ? std::string_view{} : words[0], &Job::name);
  if (job == jobs.end()) {
    out.unknown = words.empty() ? "" : std::string(words[0]);
    out.wrong = "there is no job " + shown(out.unknown);
    return out;
  }
  out.job = &*job;
  if (job->nics.empty()) return out;
  const auto wanted = wanted_of(std::span(words).subspan(1), job->nics.size());
  if (!wanted) {
    out.wrong = shown(text) + " is no set of a job's NICs" + std::string(kShapes);
    return out;
  }
  if (std::max(wanted->first, wanted->last) >= job->nics.size()) {
    out.wrong = "the ranks of job " + job->name + " are 0 to " + std::to_string(job->nics.size() - 1);
    return out;
  }
  const uint32_t steps = std::max(wanted->first, wanted->last) - std::min(wanted->first, wanted->last);
  for (uint32_t i = 0; i <= steps; ++i) {
    const uint32_t rank = wanted->first <= wanted->last ? wanted->first + i : wanted->first - i;
    for (const uint32_t nic : job->nics[rank]) {
      if (wanted->rail && fabric.nodes[nic].rail != *wanted->rail) continue;
      out.nodes.push_back(nic);
      out.ranks.push_back(rank);
    }
  }
  if (out.nodes.empty())
    out.wrong = "the servers of job " + job->name + " have no rail " + std::to_string(*wanted->rail);
  return out;
}

}  // namespace softspine::control
