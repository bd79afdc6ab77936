// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "analysis/page/html_pieces.hpp"
#include "analysis/page/page_sections.hpp"

namespace softspine::analysis::page {

using control::Statement;

namespace {

constexpr int64_t kMostExpectations = 200;

std::string fact(Database& recording, const char* key) {
  Statement query{recording, "SELECT value FROM run WHERE key = ?1"};
  query.add(key);
  return query.next() ? query.text(0) : "";
}

int64_t count_of(Database& recording, const std::string& what) {
  Statement query{recording, "SELECT count(*) FROM " + what};
  return query.next() ? query.number(0) : 0;
}

std::string facts(Database& recording) {
  const std::string end = fact(recording, "end_ps");
  std::string out = fmt::format("{}, {} clock, seed {}, softspine {}. ", escaped(fact(recording, "testbed")),
                                escaped(fact(recording, "clock")), escaped(fact(recording, "seed")),
                                escaped(fact(recording, "program_version")));
  out += fmt::format("{} switches, {} hosts, {} links, {} flows. ",
                     count_words(count_of(recording, "nodes WHERE kind = 'switch'")),
                     count_words(count_of(recording, "nodes WHERE kind = 'host'")),
                     count_words(count_of(recording, "links")), count_words(count_of(recording, "flows")));
  if (end.empty()) return out + "<strong>The recording was cut off: it has no results.</strong>";
  return out + "Emulated time: " + time_value({"duration_ps"}, std::strtoll(end.c_str(), nullptr, 10)) + "." +
         (fact(recording, "interrupted") == "1" ? " <strong>The run was interrupted.</strong>" : "");
}

std::string verdict(Database& recording) {
  const int64_t all = count_of(recording, "expectations");
  const int64_t held = count_of(recording, "expectations WHERE held");
  if (all == 0) return paragraph("The testbed expects nothing in particular.");
  std::string out = fmt::format("<p class=\"{}\">{} of {} expectations held.</p>\n<ul class=\"verdict\">\n",
                                held == all ? "good" : "bad", held, all);
  Statement query{recording, "SELECT held, text FROM expectations ORDER BY held, rowid LIMIT ?1"};
  query.add(kMostExpectations);
  while (query.next()) {
    out += fmt::format("<li class=\"{0}\"><b>{1}</b> {2}</li>\n", query.number(0) != 0 ? "good" : "bad",
                       query.number(0) != 0 ? "held" : "FAILED", escaped(query.text(1)));
  }
  return out + "</ul>\n" + left_out(all, kMostExpectations);
}

std::string totals(Database& recording) {
  std::string rows;
  const auto add = [&](const char* words, const char* key) {
    Statement query{recording, "SELECT value FROM totals WHERE key = ?1"};
    query.add(key);
    if (query.next()) rows += table_row({words, count_value({"totals", key}, query.number(0))});
  };
  add("flows", "flows");
  add("of these complete", "completed");
  add("packets sent", "sent_packets");
  add("packets received", "received_packets");
  add("packets missing", "missing_packets");
  add("packets dropped, consumed control frames included", "dropped_packets");
  add("flows that stalled", "stalled_flows");
  add("deadlocks", "deadlocks");
  add("errors", "errors");
  return rows.empty() ? rows : table({"total", ""}, rows);
}

std::string warnings(Database& recording) {
  std::string out;
  Statement deadlock{recording, "SELECT found_ps, circle FROM deadlocks LIMIT 20"};
  while (deadlock.next()) {
    out += fmt::format("<li>Deadlock at {}: {}</li>\n", time_words(deadlock.number(0)), escaped(deadlock.text(1)));
  }
  Statement stalled{recording, "SELECT workload, source, destination, flows, why FROM stalled LIMIT 20"};
  while (stalled.next()) {
    out +=
        fmt::format("<li>{} flows of {} from {} to {} stalled: {}</li>\n", stalled.number(3), escaped(stalled.text(0)),
                    escaped(stalled.text(1)), escaped(stalled.text(2)), escaped(stalled.text(4)));
  }
  Statement notices{recording,
                    "SELECT each.value FROM report, json_each(report.json) AS each WHERE section = 'notices' LIMIT 20"};
  while (notices.next()) out += "<li>" + escaped(notices.text(0)) + "</li>\n";
  return out.empty() ? out : "<ul class=\"bad\">\n" + out + "</ul>\n";
}

std::string testbed_text(Database& recording) {
  Statement query{recording, "SELECT file, text FROM testbed"};
  if (!query.next()) return {};
  return fmt::format("<details><summary>The testbed: {}</summary><pre>{}</pre></details>\n", escaped(query.text(0)),
                     escaped(query.text(1)));
}

}  // namespace

std::string overview_section(Database& recording) {
  return section("run", "What was run",
                 paragraph(facts(recording)) + verdict(recording) + warnings(recording) + totals(recording) +
                     testbed_text(recording));
}

}  // namespace softspine::analysis::page
