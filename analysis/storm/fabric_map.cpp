// SPDX-License-Identifier: Apache-2.0
// The upper part of the picture: nodes by tier, links, and who pauses whom.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <iterator>
#include <optional>
#include <set>
#include <tuple>

#include "analysis/storm/picture.hpp"
#include "control/model/role.hpp"

namespace softspine::analysis::storm {

namespace {

constexpr double kLeft = 150;
constexpr double kRowHeight = 128;
constexpr double kBoxHeight = 42;
constexpr double kMaxBoxWidth = 112;
constexpr double kCharacterWidth = 0.61;  // of its size
constexpr double kLeastName = 7.5;        // size of its letters
constexpr double kSecondLine = 10;        // below the first
constexpr double kBoxGap = 12;
constexpr size_t kMaxArrows = 80;  // that a reader can distinguish
constexpr std::string_view kFaintArrow = "#efc9bd";
constexpr double kTwoWays = 6;  // between the arrows of a link that is paused both ways
// Nodes without a box of their own.
constexpr double kSquare = 9;
constexpr double kSquareStep = 11;
constexpr size_t kSquaresPerLine = 99;
constexpr double kBelowBoxes = 16;

// Numbers in names count as numbers: tor2 stands before tor10.
bool comes_before(const std::string& a, const std::string& b) {
  size_t i = 0;
  size_t j = 0;
  const auto digit = [](const std::string& text, size_t at) {
    return at < text.size() && std::isdigit(static_cast<unsigned char>(text[at])) != 0;
  };
  const auto number = [&digit](const std::string& text, size_t& at) {
    std::string digits;
    for (; digit(text, at); ++at) digits += text[at];
    digits.erase(0, std::min(digits.find_first_not_of('0'), digits.size()));
    return std::pair{digits.size(), digits};
  };
  while (i < a.size() && j < b.size()) {
    if (digit(a, i) && digit(b, j)) {
      const auto first = number(a, i);
      const auto second = number(b, j);
      if (first != second) return first < second;
    } else if (a[i] != b[j]) {
      return a[i] < b[j];
    } else {
      ++i;
      ++j;
    }
  }
  return a.size() - i < b.size() - j;
}

std::string_view tier_name(int tier) {
  if (tier == control::kHostTier) return "hosts";
  const auto row = std::ranges::find(control::kSwitchRoles, tier, &control::RoleRow::tier);
  return row == control::kSwitchRoles.end() ? "" : row->label;
}

// In a box of this width: whole, on two lines where one is too narrow for it (its end tells it from its neighbours), or
// else shortened.
std::vector<std::string> name_lines(const std::string& name, double width) {
  const auto most = static_cast<size_t>(std::max(3.0, (width - 3) / (kLeastName * kCharacterWidth)));
  if (name.size() <= most) return {name};
  for (size_t at = name.rfind('-'); at != std::string::npos && at > 0; at = name.rfind('-', at - 1)) {
    if (at + 1 <= most && name.size() - at - 1 <= most) return {name.substr(0, at + 1), name.substr(at + 1)};
  }
  return {shortened_name(name, most)};
}

// For a narrow box: three digits, no space.
std::string brief_time(dataplane::Duration duration) {
  std::string text = time_text(duration);
  const size_t space = text.find(' ');
  if (space == std::string::npos) return text;
  return fmt::format("{:.3g}{}", std::stod(text.substr(0, space)), text.substr(space + 1));
}

class Map {
 public:
  Map(const PauseLog& log, const Analysis& analysis)
      : log_(log),
        analysis_(analysis),
        parts_(parts_of(log, analysis)),
        arrows_(arrows_of(log, analysis)),
        importance_(log.nodes.size(), 0),
        places_(log.nodes.size()) {
    for (const Arrow& arrow : arrows_) {
      importance_[log.node_of(arrow.from)] += arrow.percent;
      importance_[log.node_of(arrow.to)] += arrow.percent;
    }
    for (const Storm& storm : analysis.storms) {
      importance_[storm.root] += 1e9;
      importance_[log.node_of(storm.to)] += 1e8;  // whatever others are paused by, it leads to the rest
    }
    for (const Cycle& cycle : analysis.deadlocks) {
      for (const uint32_t port : cycle.members) importance_[log.node_of(port)] += 1e9;
    }
    fill_rows();
  }

  double height() const {
    double height = rows_.empty() ? kRowHeight : 0;
    for (const Row& row : rows_) height += row.height();
    return height;
  }

  void draw(Svg& svg, double top) {
    place(top);
    draw_rows(svg, top);
    draw_quiet_links(svg);
    draw_arrows(svg, top);
    for (uint32_t node = 0; node < log_.nodes.size(); ++node) {
      if (places_[node]) draw_node(svg, node);
    }
  }

 private:
  struct Place {
    Point centre;
    double width = 0;
  };
  struct Row {
    int tier = 0;
    std::vector<uint32_t> nodes;    // boxes with names
    std::vector<uint32_t> squares;  // for which there is no room
    size_t left_out = 0;            // for which there is none at all
    size_t victims_left_out = 0;

    double height() const {
      const auto lines = static_cast<double>((squares.size() + kSquaresPerLine - 1) / kSquaresPerLine);
      return kRowHeight + lines * kSquareStep;
    }
  };

  void fill_rows();
  void order_hosts();
  std::set<std::pair<uint32_t, uint32_t>> leading() const;
  bool is_drawn(const Arrow& arrow) const {
    return places_[log_.node_of(arrow.from)].has_value() && places_[log_.node_of(arrow.to)].has_value();
  }
  void place(double top);
  void keep_the_most_important(Row& row) const;
  void in_natural_order(std::vector<uint32_t>& nodes) const;
  void draw_rows(Svg& svg, double top) const;
  void draw_squares(Svg& svg, const Row& row, double top) const;
  static std::pair<Point, Point> edges_between(const Place& from, const Place& to);
  void draw_quiet_links(Svg& svg) const;
  void draw_arrows(Svg& svg, double top) const;
  void draw_arrow(Svg& svg, const Arrow& arrow) const;
  void draw_node(Svg& svg, uint32_t node) const;
  std::pair<std::string_view, std::string_view> fill_and_edge(uint32_t node) const;
  std::string remark_on(uint32_t node) const;
  bool is_paused_both_ways(const Arrow& arrow) const {
    return std::ranges::any_of(arrows_, [&](const Arrow& it) { return it.from == arrow.to && it.to == arrow.from; });
  }

  const PauseLog& log_;
  const Analysis& analysis_;
  std::vector<Part> parts_;
  std::vector<Arrow> arrows_;
  std::vector<double> importance_;
  std::vector<std::optional<Place>> places_;
  std::vector<Row> rows_;  // from the top
};

void Map::fill_rows() {
  std::map<int, Row, std::greater<>> by_tier;
  for (uint32_t node = 0; node < log_.nodes.size(); ++node) {
    Row& row = by_tier[log_.nodes[node].tier];
    row.tier = log_.nodes[node].tier;
    row.nodes.push_back(node);
  }
  for (auto& [tier, row] : by_tier) {
    keep_the_most_important(row);
    in_natural_order(row.nodes);
    in_natural_order(row.squares);
    rows_.push_back(std::move(row));
  }
  order_hosts();
}

void Map::keep_the_most_important(Row& row) const {
  if (row.nodes.size() <= kMaxNodesPerTier) return;
  std::ranges::stable_sort(row.nodes, std::greater{}, [this](uint32_t node) { return importance_[node]; });
  const auto boxes = row.nodes.begin() + kMaxNodesPerTier;
  const auto squares =
      row.nodes.begin() + static_cast<ptrdiff_t>(std::min(row.nodes.size(), kMaxNodesPerTier + kMaxSquaresPerTier));
  row.squares.assign(boxes, squares);
  row.left_out = static_cast<size_t>(row.nodes.end() - squares);
  row.victims_left_out = static_cast<size_t>(
      std::count_if(squares, row.nodes.end(), [this](uint32_t node) { return parts_[node] == Part::kVictim; }));
  row.nodes.erase(boxes, row.nodes.end());
}

void Map::in_natural_order(std::vector<uint32_t>& nodes) const {
  std::ranges::stable_sort(
      nodes, [this](uint32_t a, uint32_t b) { return comes_before(log_.nodes[a].name, log_.nodes[b].name); });
}

// Under their switches, so that links do not cross.
void Map::order_hosts() {
  for (size_t i = 1; i < rows_.size(); ++i) {
    if (rows_[i].tier != 0) continue;
    const std::vector<uint32_t>& above = rows_[i - 1].nodes;
    std::ranges::stable_sort(rows_[i].nodes, {}, [&](uint32_t node) {
      auto at = above.end() - above.begin();
      for (const uint32_t port : log_.nodes[node].ports) {
        const uint32_t peer = log_.ports[port].peer;
        if (peer != kNone) at = std::min(at, std::ranges::find(above, log_.node_of(peer)) - above.begin());
      }
      return at;
    });
  }
}

void Map::place(double top) {
  double y = top + kRowHeight / 2;
  for (const Row& row : rows_) {
    const double step = (kPictureWidth - kLeft - kMargin) / static_cast<double>(row.nodes.size());
    double x = kLeft + step / 2;
    for (const uint32_t node : row.nodes) {
      places_[node] = Place{{x, y}, std::min(kMaxBoxWidth, step - kBoxGap)};
      x += step;
    }
    y += row.height();
  }
}

void Map::draw_rows(Svg& svg, double top) const {
  double y = top + kRowHeight / 2;
  for (const Row& row : rows_) {
    const bool is_known = std::ranges::any_of(row.nodes, [this](uint32_t n) { return log_.nodes[n].is_tier_known; });
    svg.text({kMargin, y + 4}, is_known ? tier_name(row.tier) : "", {.size = 13, .colour = colours::kFaint});
    if (!row.squares.empty()) {
      svg.text({kMargin, y + 21}, fmt::format("+{} as squares", row.squares.size()),
               {.size = 11, .colour = colours::kFaint});
      draw_squares(svg, row, y + kBoxHeight / 2 + kBelowBoxes);
    }
    if (row.left_out > 0) {
      svg.text({kMargin, y + 36}, fmt::format("{} not drawn", row.left_out), {.size = 11, .colour = colours::kFaint});
    }
    if (row.victims_left_out > 0) {
      svg.text({kMargin, y + 51}, fmt::format("{} of them victims", row.victims_left_out),
               {.size = 11, .colour = colours::kVictimEdge});
    }
    y += row.height();
  }
}

void Map::draw_squares(Svg& svg, const Row& row, double top) const {
  for (size_t i = 0; i < row.squares.size(); ++i) {
    const auto [fill, edge] = fill_and_edge(row.squares[i]);
    const Point corner{kLeft + static_cast<double>(i % kSquaresPerLine) * kSquareStep,
                       top + static_cast<double>(i / kSquaresPerLine) * kSquareStep};
    svg.box(corner, kSquare, kSquare, fill, edge, 1, 1, log_.nodes[row.squares[i]].name);
  }
}

// A link's ends: on the boxes' edges, leaning to the other box the more the farther that is, so that no two links of a
// box end at one point. Links and arrows have the same.
std::pair<Point, Point> Map::edges_between(const Place& from, const Place& to) {
  Point a = from.centre;
  Point b = to.centre;
  const double aside = b.x - a.x;
  const double lean = std::min(from.width, to.width) * 0.48 * aside / (std::abs(aside) + 2 * kRowHeight);
  const double side = b.y > a.y ? 1 : b.y < a.y ? -1 : 0;
  a.x += lean;
  b.x -= lean;
  a.y += side * kBoxHeight / 2;
  b.y -= side * kBoxHeight / 2;
  return {a, b};
}

void Map::draw_quiet_links(Svg& svg) const {
  for (uint32_t port = 0; port < log_.ports.size(); ++port) {
    const uint32_t peer = log_.ports[port].peer;
    if (peer == kNone || peer < port) continue;
    const auto& a = places_[log_.node_of(port)];
    const auto& b = places_[log_.node_of(peer)];
    if (!a || !b) continue;
    const auto [from, to] = edges_between(*a, *b);
    svg.line(from, to, "#d5dbe0", 1.2);
  }
}

// Those that brought a storm to a node first, and those of cycles: by their ports.
std::set<std::pair<uint32_t, uint32_t>> Map::leading() const {
  std::set<std::pair<uint32_t, uint32_t>> out;
  for (const Storm& storm : analysis_.storms) {
    std::set<uint32_t> reached{storm.root};
    for (const Share& share : storm.spread) {
      if (reached.insert(log_.node_of(share.to)).second) out.emplace(share.from, share.to);
    }
  }
  for (const Cycle& cycle : analysis_.deadlocks) {
    for (const uint32_t port : cycle.members) out.emplace(port, log_.ports[port].peer);
  }
  return out;
}

// Where they are too many to be distinguished, all but the leading ones are faint lines below these; with none that
// leads, all but the longest.
void Map::draw_arrows(Svg& svg, double top) const {
  std::vector<Arrow> drawn;
  std::ranges::copy_if(arrows_, std::back_inserter(drawn), [this](const Arrow& it) { return is_drawn(it); });
  const auto leading = this->leading();
  const auto leads = [&](size_t i) {
    if (drawn.size() <= kMaxArrows) return true;
    return leading.empty() ? i + kMaxArrows >= drawn.size() : leading.contains({drawn[i].from, drawn[i].to});
  };
  size_t faint = 0;
  for (size_t i = 0; i < drawn.size(); ++i) {
    if (leads(i)) continue;
    const auto [a, b] = edges_between(*places_[log_.node_of(drawn[i].from)], *places_[log_.node_of(drawn[i].to)]);
    svg.line(a, b, kFaintArrow, 0.8);
    ++faint;
  }
  for (size_t i = 0; i < drawn.size(); ++i) {
    if (leads(i)) draw_arrow(svg, drawn[i]);
  }
  if (faint == 0) return;
  svg.text({kLeft, top + 14},
           fmt::format("faint: {} {}pause{}{}", faint, leading.empty() ? "shorter " : "", faint == 1 ? "" : "s",
                       leading.empty() ? "" : " of nodes that another one had reached before"),
           {.size = 11, .colour = colours::kFaint});
}

void Map::draw_arrow(Svg& svg, const Arrow& arrow) const {
  const auto& from = places_[log_.node_of(arrow.from)];
  const auto& to = places_[log_.node_of(arrow.to)];
  if (log_.node_of(arrow.from) == log_.node_of(arrow.to)) return;
  const std::string tip = fmt::format("{} pauses {}, {}: {:.1f} % of the time", log_.name(arrow.from),
                                      log_.name(arrow.to), priorities_text(arrow.priorities), arrow.percent);
  const double width = 1.6 + arrow.percent / 50;
  const std::string colour = colours::heat(arrow.percent);
  Point a = from->centre;
  Point b = to->centre;
  if (std::abs(a.y - b.y) < 1) {  // one tier: over the boxes to the right, under them to the left
    const double side = b.x > a.x ? -1 : 1;
    a.y += side * kBoxHeight / 2;
    b.y += side * kBoxHeight / 2;
    return svg.arrow(a, b, colour, width, std::min(48.0, 14 + std::abs(b.x - a.x) / 12), tip);
  }
  const double side = b.y > a.y ? 1 : -1;
  std::tie(a, b) = edges_between(*from, *to);
  b.y -= side * 2;
  if (is_paused_both_ways(arrow)) {
    a.x += side * kTwoWays;
    b.x += side * kTwoWays;
  }
  svg.arrow(a, b, colour, width, 0, tip);
}

// The second line in a node's box.
std::string Map::remark_on(uint32_t node) const {
  if (parts_[node] == Part::kRoot) return "ROOT";
  if (parts_[node] == Part::kSuspect) return "ROOT?";
  if (parts_[node] == Part::kLocked) return "LOCKED";
  if (parts_[node] == Part::kVictim) {
    for (const Storm& storm : analysis_.storms) {
      for (const Share& share : storm.spread) {
        if (log_.node_of(share.to) == node) return "+" + brief_time(share.first - storm.begin);
      }
    }
  }
  double most = 0;
  for (const Arrow& arrow : arrows_) {
    if (log_.node_of(arrow.to) == node) most = std::max(most, arrow.percent);
  }
  return most > 0 ? fmt::format("{:.2g} %", most) : "";
}

std::pair<std::string_view, std::string_view> Map::fill_and_edge(uint32_t node) const {
  switch (parts_[node]) {
    case Part::kCongested: return {colours::kQuiet, colours::kCongestion};
    case Part::kVictim: return {colours::kVictim, colours::kVictimEdge};
    case Part::kLocked: return {colours::kLocked, colours::kLockedEdge};
    case Part::kRoot: return {colours::kRoot, colours::kRoot};
    case Part::kSuspect: return {colours::kVictim, colours::kRoot};
    case Part::kQuiet: break;
  }
  return {colours::kQuiet, colours::kQuietEdge};
}

void Map::draw_node(Svg& svg, uint32_t node) const {
  const auto& [centre, width] = *places_[node];
  const auto [fill, edge] = fill_and_edge(node);
  const Part part = parts_[node];
  const std::string_view words = part == Part::kRoot ? "#ffffff" : colours::kWords;
  const std::string& name = log_.nodes[node].name;
  const std::string remark = remark_on(node);
  const double size = width > 80 ? 13 : 10.5;
  const double corner = log_.nodes[node].tier == 0 ? 12 : 3;
  svg.box({centre.x - width / 2, centre.y - kBoxHeight / 2}, width, kBoxHeight, fill, edge, 1.6, corner, name);
  const std::vector<std::string> lines = name_lines(name, width);
  double y = centre.y + (remark.empty() ? 4.5 : -2) - (lines.size() > 1 ? kSecondLine / 2 : 0);
  for (const std::string& line : lines) {
    const double fits = (width - 3) / (static_cast<double>(line.size()) * kCharacterWidth);
    svg.text({centre.x, y}, line,
             {.size = std::clamp(fits, kLeastName, lines.size() > 1 ? kSecondLine : size),
              .colour = words,
              .is_bold = true,
              .anchor = "middle"});
    y += kSecondLine;
  }
  svg.text({centre.x, centre.y + (lines.size() > 1 ? 15 : 13)}, remark,
           {.size = size * 0.82, .colour = words, .anchor = "middle"});
}

}  // namespace

double map_height(const PauseLog& log, const Analysis& analysis) {
  return Map{log, analysis}.height();
}

double draw_map(Svg& svg, double top, const PauseLog& log, const Analysis& analysis) {
  Map map{log, analysis};
  map.draw(svg, top);
  return top + map.height();
}

}  // namespace softspine::analysis::storm
