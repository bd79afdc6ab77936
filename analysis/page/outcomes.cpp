// SPDX-License-Identifier: Apache-2.0
// Sections that are tables: uplinks' shares, hash groups, drops, faults, collectives, trainings.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "analysis/page/html_pieces.hpp"
#include "analysis/page/page_sections.hpp"

namespace softspine::analysis::page {

using control::Statement;

namespace {

constexpr int kMostSwitches = 30;
constexpr int kMostHashGroups = 30;
constexpr int kMostLosses = 40;
constexpr int kMostFaults = 60;
constexpr int kMostSizes = 200;
constexpr int kMostTrainings = 100;

// Every byte that might mean something in a URL or in HTML is written as a number.
std::string url_escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = std::isalnum(byte) != 0 || byte == ' ' || byte == '/' || byte == '.' || byte == '-';
    out += plain ? std::string(1, c) : fmt::format("%{:02X}", byte);
  }
  return out;
}

std::string time_or_not(const Statement& row, int column) {
  return row.is_null(column) ? "not reached" : time_words(row.number(column));
}

std::string left_out_of(Database& recording, const std::string& rows, int64_t shown) {
  Statement query{recording, "SELECT count(*) FROM " + rows};
  return query.next() ? left_out(query.number(0), shown) : "";
}

std::string uplinks_of(Database& recording, int64_t node) {
  std::string out;
  Statement query{recording,
                  "SELECT e.port, e.share FROM ports AS p JOIN link_ends AS e ON e.port = p.name "
                  "WHERE p.node_id = ?1 AND e.share IS NOT NULL ORDER BY p.port_id LIMIT 64"};
  query.add(node);
  while (query.next()) {
    out += fmt::format("<i class=\"bar\" style=\"width:{:.2f}%\" title=\"{}\"></i>{} ", 30 * query.real(1),
                       escaped(query.text(0)), share_value({"links", query.text(0), "share"}, query.real(1)));
  }
  return out;
}

}  // namespace

std::string picture(Database& recording, const std::string& name, const std::string& words) {
  Statement query{recording, "SELECT svg FROM pictures WHERE name = ?1"};
  query.add(name);
  if (!query.next()) return {};
  return fmt::format("<img alt=\"{}\" src=\"data:image/svg+xml,{}\">\n", escaped(words), url_escaped(query.text(0)));
}

std::string shares_section(Database& recording) {
  std::string rows;
  Statement query{recording,
                  fmt::format("SELECT n.node_id, n.name, max(share) - min(share) AS spread, count(*) AS uplinks "
                              "FROM link_ends AS e JOIN ports AS p ON p.name = e.port JOIN nodes AS n USING(node_id) "
                              "WHERE share IS NOT NULL GROUP BY n.node_id HAVING uplinks > 1 "
                              "ORDER BY spread DESC, n.node_id LIMIT {}",
                              kMostSwitches)};
  while (query.next()) {
    rows += table_row({escaped(query.text(1)), share_words(query.real(2)), uplinks_of(recording, query.number(0))});
  }
  if (rows.empty()) return {};
  return section("shares", "Shares of uplinks",
                 paragraph("How switches spread what they sent up: those that spread least evenly first.") +
                     table({"switch", "most − least", "each uplink's share"}, rows));
}

std::string hash_section(Database& recording) {
  std::string rows;
  Statement query{recording,
                  "SELECT switch, hash_group, destinations, count(*), sum(tx_bytes) AS bytes, "
                  "member, max(share / expected) AS most FROM hash_shares GROUP BY switch, hash_group "
                  "HAVING bytes > 0 ORDER BY most DESC, switch, hash_group LIMIT ?1"};
  query.add(int64_t{kMostHashGroups});
  while (query.next()) {
    rows += table_row({escaped(query.text(0) + " " + query.text(1)), escaped(query.text(2)), query.text(3),
                       size_words(query.number(4)), fmt::format("{:.2f}", query.real(6)), escaped(query.text(5))});
  }
  if (rows.empty()) return {};
  return section("hash", "Hash groups",
                 paragraph("What members sent, as a multiple of the share that an even hash gives them: the least even "
                           "groups first. A port sends for all groups that it is in.") +
                     table({"switch, group", "to", "members", "sent", "most over its share", "by member"}, rows));
}

std::string drops_section(Database& recording) {
  std::string rows;
  Statement query{recording,
                  "SELECT rowid - 1, place, reason, packets FROM losses ORDER BY packets DESC, rowid LIMIT ?1"};
  query.add(int64_t{kMostLosses});
  while (query.next()) {
    rows += table_row({escaped(query.text(1)), escaped(query.text(2)),
                       count_value({"losses", query.text(0), "packets"}, query.number(3))});
  }
  if (rows.empty()) return section("drops", "Drops", paragraph("No packet of a flow was dropped or lost."));
  return section("drops", "Drops",
                 table({"place", "reason", "packets"}, rows) + left_out_of(recording, "losses", kMostLosses));
}

std::string faults_section(Database& recording) {
  std::string rows;
  Statement query{recording,
                  "SELECT fault_id, at_ps, what, lost_packets, window_ps, flows_stalled, longest_stall_ps,"
                  " converged_ps, recovered_ps FROM faults JOIN loss_windows USING(fault_id) "
                  "ORDER BY fault_id LIMIT ?1"};
  query.add(int64_t{kMostFaults});
  while (query.next()) {
    const std::string number = query.text(0);
    const auto of_window = [&](const char* key, int column) {
      return time_value({"faults", number, "loss_window", key}, query.number(column));
    };
    rows += table_row({escaped(query.text(2)), time_value({"faults", number, "at_ps"}, query.number(1)),
                       count_value({"faults", number, "loss_window", "lost_packets"}, query.number(3)),
                       of_window("window_ps", 4),
                       count_value({"faults", number, "loss_window", "flows_stalled"}, query.number(5)),
                       of_window("longest_stall_ps", 6), time_or_not(query, 7), time_or_not(query, 8)});
  }
  if (rows.empty()) return {};
  return section(
      "faults", "Faults",
      table({"fault", "at", "packets lost", "for", "flows stalled", "longest", "routes followed at", "recovered at"},
            rows) +
          left_out_of(recording, "loss_windows", kMostFaults) + picture(recording, "faults", "faults over time"));
}

std::string collectives_section(Database& recording) {
  std::string rows;
  Statement query{recording,
                  "SELECT s.name, c.op, c.ranks, s.bytes, s.algorithm, s.protocol, s.time_ps, s.algbw_bps,"
                  " s.busbw_bps FROM collective_sizes AS s JOIN collectives AS c USING(name) WHERE done > 0 "
                  "ORDER BY s.rowid LIMIT ?1"};
  query.add(int64_t{kMostSizes});
  while (query.next()) {
    const std::string name = query.text(0);
    const std::string bytes = query.text(3);
    rows += table_row({escaped(fmt::format("{}: {} on {} ranks", name, query.text(1), query.text(2))),
                       size_words(query.number(3)), escaped(query.text(4) + ", " + query.text(5)),
                       time_value({"collectives", name, "sizes", bytes, "time_ps"}, query.number(6)),
                       rate_value({"collectives", name, "sizes", bytes, "algbw_bps"}, query.number(7)),
                       rate_value({"collectives", name, "sizes", bytes, "busbw_bps"}, query.number(8))});
  }
  if (rows.empty()) return {};
  return section("collectives", "Collectives",
                 table({"collective", "size", "algorithm", "time", "algorithm bandwidth", "bus bandwidth"}, rows) +
                     left_out_of(recording, "collective_sizes WHERE done > 0", kMostSizes) +
                     picture(recording, "busbw", "bus bandwidth over size"));
}

std::string trainings_section(Database& recording) {
  std::string rows;
  Statement query{recording, "SELECT name, ranks, steps_done, step_ps, compute_ps, exposed_ps FROM trainings LIMIT ?1"};
  query.add(int64_t{kMostTrainings});
  while (query.next()) {
    const std::string name = query.text(0);
    const auto all = static_cast<double>(std::max<int64_t>(1, query.number(4) + query.number(5)));
    rows += table_row({escaped(name), count_value({"training", name, "ranks"}, query.number(1)),
                       count_value({"training", name, "steps_done"}, query.number(2)),
                       time_value({"training", name, "step_ps"}, query.number(3)),
                       time_value({"training", name, "mean", "compute_ps"}, query.number(4)),
                       time_value({"training", name, "mean", "exposed_ps"}, query.number(5)),
                       share_words(static_cast<double>(query.number(5)) / all)});
  }
  if (rows.empty()) return {};
  std::string groups;
  Statement group{recording, "SELECT name, kind, exposed_ps, overlapped_ps, sent_bytes FROM training_groups LIMIT ?1"};
  group.add(int64_t{kMostTrainings});
  while (group.next()) {
    const auto at = [&](const char* key, int column) {
      return time_value({"training", group.text(0), "mean", "groups", group.text(1), key}, group.number(column));
    };
    groups += table_row({escaped(group.text(0) + ", " + group.text(1)), at("exposed_ps", 2), at("overlapped_ps", 3),
                         size_words(group.number(4))});
  }
  return section("trainings", "Trainings",
                 table({"training", "ranks", "steps", "step", "compute", "exposed communication", "of all"}, rows) +
                     left_out_of(recording, "trainings", kMostTrainings) +
                     table({"mean of ranks, by group", "exposed", "overlapped", "sent"}, groups) +
                     left_out_of(recording, "training_groups", kMostTrainings));
}

}  // namespace softspine::analysis::page
