// SPDX-License-Identifier: Apache-2.0
// The fabric by tier: a cell for each switch, coloured by its busiest link, and one for the hosts of each ToR. A tier
// of more cells than kMostCells is folded: a cell stands for several neighbours, and has the highest value of them.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <vector>

#include "analysis/page/html_pieces.hpp"
#include "analysis/page/page_sections.hpp"

namespace softspine::analysis::page {

using control::Statement;

namespace {

constexpr size_t kMostCells = 360;
constexpr size_t kMostNamed = 32;  // cells with names in them
constexpr int kBusiest = 10;       // links in the table

struct Cell {
  std::string name;
  double busiest = 0;
};
struct Tier {
  std::string words;
  std::vector<Cell> cells;
};

std::vector<Cell> folded(const std::vector<Cell>& cells) {
  const size_t each = (cells.size() + kMostCells - 1) / kMostCells;
  if (each <= 1) return cells;
  std::vector<Cell> out;
  for (size_t i = 0; i < cells.size(); i += each) {
    const auto end = cells.begin() + static_cast<ptrdiff_t>(std::min(cells.size(), i + each));
    const auto begin = cells.begin() + static_cast<ptrdiff_t>(i);
    const auto fullest = std::ranges::max_element(begin, end, {}, &Cell::busiest);
    out.push_back({begin->name + " – " + std::prev(end)->name, fullest->busiest});
  }
  return out;
}

std::string cells_html(const Tier& tier) {
  const std::vector<Cell> cells = folded(tier.cells);
  const bool named = cells.size() <= kMostNamed;
  std::string out = fmt::format("<div class=\"heat{}\">", named ? " named" : "");
  for (const Cell& cell : cells) {
    const std::string words = share_words(cell.busiest);
    out += fmt::format("<i class=\"c{}\" title=\"{}: {}\">", colour_step(cell.busiest), escaped(cell.name), words);
    if (named) out += fmt::format("{}<br>{}", escaped(cell.name), words);
    out += "</i>";
  }
  return out + "</div>\n";
}

std::string tier_html(const Tier& tier) {
  const size_t each = (tier.cells.size() + kMostCells - 1) / kMostCells;
  std::string folded_words = each > 1 ? fmt::format(", {} to a cell", each) : "";
  return fmt::format("<h3>{}: {}{}</h3>\n", escaped(tier.words), count_words(static_cast<int64_t>(tier.cells.size())),
                     folded_words) +
         cells_html(tier);
}

// Both directions of a link count for both of its nodes.
constexpr const char* kSwitches =
    "SELECT n.name, n.tier, n.role, max(max(coalesce(o.utilisation, 0), coalesce(i.utilisation, 0))) "
    "FROM nodes AS n JOIN ports AS p USING(node_id) JOIN ports AS q ON q.port_id = p.peer_port_id "
    "LEFT JOIN link_ends AS o ON o.port = p.name LEFT JOIN link_ends AS i ON i.port = q.name "
    "WHERE n.kind = 'switch' GROUP BY n.node_id ORDER BY n.node_id";
constexpr const char* kHosts =
    "SELECT 'hosts of ' || t.name, max(max(coalesce(o.utilisation, 0), coalesce(i.utilisation, 0))) "
    "FROM nodes AS n JOIN ports AS p USING(node_id) JOIN ports AS q ON q.port_id = p.peer_port_id "
    "JOIN nodes AS t ON t.node_id = q.node_id "
    "LEFT JOIN link_ends AS o ON o.port = p.name LEFT JOIN link_ends AS i ON i.port = q.name "
    "WHERE n.kind = 'host' GROUP BY t.node_id ORDER BY t.node_id";

std::string busiest_links(Database& recording) {
  std::string rows;
  Statement query{recording,
                  "SELECT port, peer, utilisation, tx_packets FROM link_ends ORDER BY utilisation DESC, port LIMIT ?1"};
  query.add(int64_t{kBusiest});
  while (query.next()) {
    const std::string port = query.text(0);
    rows += table_row({escaped(port) + " → " + escaped(query.text(1)),
                       share_value({"links", port, "utilisation"}, query.real(2)),
                       count_value({"links", port, "tx_packets"}, query.number(3))});
  }
  return rows.empty() ? rows : table({"busiest links", "used", "packets"}, rows);
}

}  // namespace

std::string heat_section(Database& recording) {
  std::map<int64_t, Tier, std::greater<>> tiers;
  Statement switches{recording, kSwitches};
  while (switches.next()) {
    Tier& tier = tiers[switches.number(1)];
    tier.words = switches.text(2) + " switches";
    tier.cells.push_back({switches.text(0), switches.real(3)});
  }
  Statement hosts{recording, kHosts};
  while (hosts.next()) {
    tiers[0].words = "groups of hosts, by switch";
    tiers[0].cells.push_back({hosts.text(0), hosts.real(1)});
  }
  std::string out =
      paragraph("How busy the busiest link of each node was, over the whole run.") + "<p class=\"scale\">0 %";
  for (int i = 0; i < 10; ++i) out += fmt::format("<i class=\"c{}\"></i>", i);
  out += "100 %</p>\n";
  for (const auto& [tier, of_it] : tiers) out += tier_html(of_it);
  return section("fabric", "The fabric", out + busiest_links(recording));
}

}  // namespace softspine::analysis::page
