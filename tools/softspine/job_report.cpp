// SPDX-License-Identifier: Apache-2.0
#include "tools/softspine/job_report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "control/rows/row_formats.hpp"
#include "tools/softspine/summary/summary_words.hpp"

namespace softspine::tools {

using control::Job;
using control::Json;
using control::TierCrossing;

namespace {

std::string_view word_of(control::Placement placement) {
  for (const auto& [word, value] : control::Words<control::Placement>::all) {
    if (value == placement) return word;
  }
  return "as listed";
}

// As many as a line takes; the rest is in the JSON.
std::string names_of(const std::vector<std::string>& servers) {
  constexpr size_t kMaxNames = 8;
  const size_t shown = servers.size() <= kMaxNames ? servers.size() : kMaxNames - 1;
  std::string out = fmt::format("{}", fmt::join(servers.begin(), servers.begin() + static_cast<ptrdiff_t>(shown), " "));
  if (shown < servers.size()) out += fmt::format(" … {}", servers.back());
  return out;
}

std::string tier_text(const TierCrossing& tier, double all) {
  return fmt::format("{:.1f} % over {} ({:.3g}:1, {} of its parts)", 100 * tier.share_of(all),
                     control::name_of(tier.role), tier.oversubscription, tier.islands);
}

}  // namespace

Json jobs_json(const std::vector<Job>& jobs) {
  Json out = Json::array();
  for (const Job& job : jobs) {
    Json tiers = Json::array();
    for (const TierCrossing& tier : job.tiers) {
      tiers.push_back({{"tier", control::name_of(tier.role)},
                       {"parts", tier.islands},
                       {"oversubscription", tier.oversubscription},
                       {"crossing_bytes", tier.bytes},
                       {"crossing_share", tier.share_of(job.bytes)}});
    }
    out.push_back({{"name", job.name},
                   {"placement", word_of(job.placement)},
                   {"servers", job.servers},
                   {"bytes", job.bytes},
                   {"tiers", std::move(tiers)}});
  }
  return out;
}

std::string jobs_text(const std::vector<Job>& jobs) {
  std::string out;
  for (const Job& job : jobs) {
    out += fmt::format("job {}: {} server{}, {}: {}\n", job.name, job.servers.size(),
                       job.servers.size() == 1 ? "" : "s", word_of(job.placement), names_of(job.servers));
    if (job.bytes <= 0 || job.tiers.empty()) continue;
    out += fmt::format("  of {} between its servers", short_number(job.bytes, "B"));
    const char* between = ": ";
    for (const TierCrossing& tier : job.tiers) {
      out += between + tier_text(tier, job.bytes);
      between = ", ";
    }
    out += "\n";
  }
  return out;
}

}  // namespace softspine::tools
