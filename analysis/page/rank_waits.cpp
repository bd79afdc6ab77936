// SPDX-License-Identifier: Apache-2.0
// The section of ranks' waits: who waited longest, and what all waits were for, if the run found reasons.
#include <fmt/format.h>

#include "analysis/page/html_pieces.hpp"
#include "analysis/page/page_sections.hpp"

namespace softspine::analysis::page {

using control::Statement;

namespace {

constexpr int64_t kMostWaiting = 30;
constexpr int64_t kMostCauses = 20;

// Of waits that are equally long the first counts, as in `show rank waits`.
constexpr const char* kLongest =
    "WITH ranks AS (SELECT job_id, rank, count(*) AS waits, sum(waited_ps) AS waited_ps, max(waited_ps) AS longest_ps "
    "FROM rank_steps WHERE waited_ps > 0 GROUP BY job_id, rank), "
    "firsts AS (SELECT ranks.*, (SELECT min(rowid) FROM rank_steps AS s WHERE s.job_id = ranks.job_id "
    "AND s.rank = ranks.rank AND s.waited_ps = longest_ps) AS step FROM ranks "
    "ORDER BY longest_ps DESC, job_id, rank LIMIT ?1) "
    "SELECT jobs.name, firsts.rank, hosts.name, waits, firsts.waited_ps, longest_ps, s.t_ps - longest_ps, s.peer, "
    "(SELECT reason FROM rank_waits AS w WHERE w.job_id = firsts.job_id AND w.rank = firsts.rank "
    "AND reason IS NOT NULL ORDER BY wait_id DESC LIMIT 1) "
    "FROM firsts JOIN rank_steps AS s ON s.rowid = step JOIN jobs ON jobs.job_id = firsts.job_id "
    "JOIN job_ranks AS r ON r.job_id = firsts.job_id AND r.rank = firsts.rank JOIN nodes AS hosts USING(node_id) "
    "ORDER BY longest_ps DESC, firsts.job_id, firsts.rank";

std::string causes_table(Database& recording) {
  std::string rows;
  Statement query{recording,
                  "SELECT jobs.name, cause, cause_at, cause_by, count(*), sum(t_ps - from_ps) AS waited_ps "
                  "FROM rank_waits JOIN jobs USING(job_id) GROUP BY job_id, cause, cause_at, cause_by "
                  "ORDER BY waited_ps DESC, job_id, cause, cause_at, cause_by LIMIT ?1"};
  query.add(kMostCauses);
  while (query.next()) {
    const std::string by = query.text(3);
    rows += table_row({escaped(query.text(0) + ": " + query.text(1)), escaped(query.text(2)),
                       escaped(by.empty() ? "–" : by), count_words(query.number(4)), time_words(query.number(5))});
  }
  if (rows.empty()) return paragraph("Why they waited was not asked: <code>run --steps</code> finds the reasons.");
  return table({"waits for", "at", "paused by", "waits", "waited in all"}, rows);
}

}  // namespace

std::string waits_section(Database& recording) {
  std::string rows;
  Statement query{recording, kLongest};
  query.add(kMostWaiting);
  while (query.next()) {
    rows += table_row({escaped(fmt::format("{}: {} ({})", query.text(0), query.text(1), query.text(2))),
                       count_words(query.number(3)), time_words(query.number(4)), time_words(query.number(5)),
                       time_words(query.number(6)), query.text(7), escaped(query.text(8))});
  }
  if (rows.empty()) return {};
  return section(
      "waits", "Ranks that waited longest",
      table({"rank", "waits", "waited in all", "longest", "from", "for rank", "reason of the longest"}, rows) +
          causes_table(recording));
}

}  // namespace softspine::analysis::page
