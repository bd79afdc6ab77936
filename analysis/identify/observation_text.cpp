// SPDX-License-Identifier: Apache-2.0
#include "analysis/identify/observation_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>

#include "control/model/address.hpp"

namespace softspine::analysis {

namespace dp = dataplane;

namespace {

constexpr size_t kMaxObservedFlows = 1'000'000;
constexpr size_t kMaxTextErrors = 20;

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r";
  const size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

std::vector<std::string_view> cells_of(std::string_view line) {
  std::vector<std::string_view> out;
  for (;;) {
    const size_t comma = line.find(',');
    out.push_back(trimmed(line.substr(0, comma)));
    if (comma == std::string_view::npos) return out;
    line.remove_prefix(comma + 1);
  }
}

// Numbers, also hexadecimal with 0x.
std::optional<uint64_t> number_of(std::string_view text) {
  const bool is_hex = text.starts_with("0x");
  if (is_hex) text.remove_prefix(2);
  uint64_t out = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out, is_hex ? 16 : 10);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return out;
}

// Lines that are neither empty nor comments, with their numbers.
class Lines {
 public:
  explicit Lines(std::string_view text) : rest_(text) {}
  bool next() {
    while (!rest_.empty()) {
      const size_t end = rest_.find('\n');
      line = trimmed(rest_.substr(0, end));
      rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end + 1);
      ++number;
      if (!line.empty() && line[0] != '#') return true;
    }
    return false;
  }
  std::string_view line;
  int number = 0;

 private:
  std::string_view rest_;
};

// A table's rows by the names of its columns.
class Rows {
 public:
  Rows(std::string_view text, std::string file) : lines_(text), file_(std::move(file)) {}

  // Reads the line that names the columns.
  bool has_columns(std::initializer_list<const char*> needed, std::initializer_list<const char*> possible) {
    if (!lines_.next()) {
      fail("is empty: expected a line that names the columns");
      return false;
    }
    columns_ = cells_of(lines_.line);
    const auto is_in = [](auto list, std::string_view name) {
      return std::ranges::any_of(list, [name](const char* it) { return name == it; });
    };
    for (size_t i = 0; i < columns_.size() && errors_.size() < kMaxTextErrors; ++i) {
      const std::string_view name = columns_[i];
      if (!is_in(needed, name) && !is_in(possible, name)) {
        fail(fmt::format("there is no column '{}'", name.substr(0, 40)));
      } else if (std::find(columns_.begin(), columns_.begin() + i, name) != columns_.begin() + i) {
        fail(fmt::format("the column '{}' stands here twice", name));
      }
    }
    for (const char* name : needed) {
      if (std::ranges::find(columns_, name) == columns_.end()) fail(fmt::format("has no column '{}'", name));
    }
    return errors_.empty();
  }
  bool next() {
    if (errors_.size() >= kMaxTextErrors) return false;
    while (lines_.next()) {
      cells_ = cells_of(lines_.line);
      if (cells_.size() == columns_.size()) return true;
      fail(fmt::format("has {} columns instead of {}", cells_.size(), columns_.size()));
      if (errors_.size() >= kMaxTextErrors) return false;
    }
    return false;
  }
  // Empty if there is no such column.
  std::string_view text(std::string_view column) const {
    const auto at = std::ranges::find(columns_, column);
    return at == columns_.end() ? std::string_view{} : cells_[static_cast<size_t>(at - columns_.begin())];
  }
  uint64_t number(std::string_view column, uint64_t most, uint64_t otherwise = 0) {
    const std::string_view cell = text(column);
    if (cell.empty()) return otherwise;
    const auto value = number_of(cell);
    if (value && *value <= most) return *value;
    fail(fmt::format("{}: expected a number from 0 to {}, not '{}'", column, most, cell.substr(0, 40)));
    return otherwise;
  }
  void fail(std::string message) { errors_.push_back({file_, {}, lines_.number, 1, std::move(message)}); }
  control::Errors& errors() { return errors_; }

 private:
  Lines lines_;
  std::string file_;
  std::vector<std::string_view> columns_;
  std::vector<std::string_view> cells_;
  control::Errors errors_;
};

constexpr auto kFlowColumns = {"proto", "sport", "dport", "dest_qp", "opcode", "flow_label", "in_port", "vlan"};

// Fields that only some packets have are taken from those only.
Flow flow_of_row(Rows& row) {
  Flow out;
  if (!set_addresses(out, row.text("src"), row.text("dst")))
    row.fail(fmt::format("src and dst: expected two addresses of one IP version, not '{}' and '{}'",
                         row.text("src").substr(0, 40), row.text("dst").substr(0, 40)));
  const std::string_view protocol = row.text("proto");
  out.protocol = protocol == "tcp"   ? dp::ip::kTcp
                 : protocol == "udp" ? dp::ip::kUdp
                                     : static_cast<uint8_t>(row.number("proto", 255, dp::ip::kUdp));
  if (out.has_ports()) {
    out.source_port = static_cast<uint16_t>(row.number("sport", 65'535));
    const uint16_t port = out.protocol == dp::ip::kUdp ? dp::udp::kRoceV2Port : uint16_t{0};
    out.destination_port = static_cast<uint16_t>(row.number("dport", 65'535, port));
  }
  if (out.is_roce()) {
    out.qp = static_cast<uint32_t>(row.number("dest_qp", 0xffffff));
    out.opcode = static_cast<uint8_t>(row.number("opcode", 255));
  }
  if (out.is_ipv6) out.flow_label = static_cast<uint32_t>(row.number("flow_label", 0xfffff));
  out.in_port = static_cast<uint16_t>(row.number("in_port", 65'535));
  out.vlan = static_cast<uint16_t>(row.number("vlan", 4'095));
  return out;
}

std::expected<void, control::Errors> read_table(std::string_view text, const std::string& file,
                                                ObservationCollector& out) {
  Rows rows{text, file};
  if (!rows.has_columns({"src", "dst", "link"}, kFlowColumns)) return std::unexpected(rows.errors());
  while (rows.next()) {
    const Flow flow = flow_of_row(rows);
    const std::string_view link = rows.text("link");
    if (link.empty()) rows.fail("link: is empty");
    if (out.flows() >= kMaxObservedFlows) rows.fail("more than a million flows");
    if (rows.errors().empty()) out.add(flow, std::string(link));
  }
  if (!rows.errors().empty()) return std::unexpected(rows.errors());
  return {};
}

// FLOW,agent,input,output,source MAC,destination MAC,type,VLANs in and out,source,destination,protocol,TOS,TTL,ports …
std::expected<void, control::Errors> read_samples(std::string_view text, const std::string& file,
                                                  ObservationCollector& out) {
  constexpr size_t kColumns = 16;
  control::Errors errors;
  Lines lines{text};
  while (lines.next() && errors.size() < kMaxTextErrors) {
    const auto cells = cells_of(lines.line);
    if (cells[0] != "FLOW") continue;
    const auto fail = [&](const char* what) { errors.push_back({file, {}, lines.number, 1, what}); };
    if (cells.size() < kColumns) {
      fail("has too few columns for a FLOW line of sflowtool -l");
      continue;
    }
    Flow flow;
    if (!set_addresses(flow, cells[9], cells[10])) continue;  // a sample without IP
    const auto protocol = number_of(cells[11]);
    const auto source_port = number_of(cells[14]);
    const auto destination_port = number_of(cells[15]);
    if (!protocol || *protocol > 255 || !source_port || *source_port > 65'535 || !destination_port ||
        *destination_port > 65'535) {
      fail("has no protocol and ports where sflowtool -l has them");
      continue;
    }
    flow.protocol = static_cast<uint8_t>(*protocol);
    if (flow.has_ports()) {
      flow.source_port = static_cast<uint16_t>(*source_port);
      flow.destination_port = static_cast<uint16_t>(*destination_port);
    }
    if (cells[3].empty()) fail("has no output interface");
    if (out.flows() >= kMaxObservedFlows) fail("more than a million flows");
    if (errors.empty()) out.add(flow, std::string(cells[3]));
  }
  if (!errors.empty()) return std::unexpected(errors);
  return {};
}

constexpr std::string_view kNfdumpsColumns = "ts,te,td,sa,da,sp,dp,pr,";

// By nfdump's word, which is the number of what it has no word for.
std::optional<uint8_t> protocol_of(std::string_view word) {
  constexpr std::pair<std::string_view, uint8_t> kWords[] = {
      {"ICMP", dp::ip::kIcmp},   {"TCP", dp::ip::kTcp}, {"UDP", dp::ip::kUdp},
      {"GRE", dp::ip::kGre},     {"ESP", 50},           {"AH", 51},
      {"ICMP6", dp::ip::kIcmp6}, {"SCTP", 132}};
  const auto known = std::ranges::find(kWords, word, [](const auto& entry) { return entry.first; });
  if (known != std::end(kWords)) return known->second;
  const auto number = number_of(word);
  return number && *number <= 255 ? std::optional(static_cast<uint8_t>(*number)) : std::nullopt;
}

// Start, end, duration, source, destination, their ports, protocol, flags … input, output … Then a summary.
std::expected<void, control::Errors> read_records(std::string_view text, const std::string& file,
                                                  ObservationCollector& out) {
  constexpr size_t kColumns = 17;
  control::Errors errors;
  Lines lines{text};
  lines.next();
  while (lines.next() && errors.size() < kMaxTextErrors && lines.line != "Summary") {
    const auto cells = cells_of(lines.line);
    const auto fail = [&](const char* what) { errors.push_back({file, {}, lines.number, 1, what}); };
    if (cells.size() < kColumns) {
      fail("has too few columns for a record of nfdump -o csv");
      continue;
    }
    Flow flow;
    const auto protocol = protocol_of(cells[7]);
    const auto output = number_of(cells[16]);
    if (!output) fail("has no output interface where nfdump -o csv has it");
    if (!set_addresses(flow, cells[3], cells[4]) || !protocol || !output || *output == 0) continue;
    flow.protocol = *protocol;
    if (flow.has_ports()) {
      const auto source_port = number_of(cells[5]);
      const auto destination_port = number_of(cells[6]);
      if (!source_port || *source_port > 65'535 || !destination_port || *destination_port > 65'535) {
        fail("has no ports where nfdump -o csv has them");
        continue;
      }
      flow.source_port = static_cast<uint16_t>(*source_port);
      flow.destination_port = static_cast<uint16_t>(*destination_port);
    }
    if (out.flows() >= kMaxObservedFlows) fail("more than a million flows");
    if (errors.empty()) out.add(flow, std::string(cells[16]));
  }
  if (!errors.empty()) return std::unexpected(errors);
  return {};
}

using Growth = std::map<std::string, uint64_t>;  // by link

std::expected<std::map<uint64_t, Growth>, control::Errors> growth_of(const TextFile& counters) {
  Rows rows{counters.text, counters.name};
  if (!rows.has_columns({"probe", "link", "before", "after"}, {})) return std::unexpected(rows.errors());
  std::map<uint64_t, Growth> out;
  while (rows.next()) {
    const uint64_t before = rows.number("before", UINT64_MAX);
    const uint64_t after = rows.number("after", UINT64_MAX);
    if (after < before) rows.fail("the counter fell: it was cleared between the two");
    if (rows.text("link").empty()) rows.fail("link: is empty");
    out[rows.number("probe", UINT64_MAX)][std::string(rows.text("link"))] += after - before;
  }
  if (!rows.errors().empty()) return std::unexpected(rows.errors());
  return out;
}

// The link whose counter grew most, if no other one grew by more than half of that.
std::optional<std::string> link_taken(const Growth& growth) {
  const auto most = std::ranges::max_element(growth, {}, [](const auto& entry) { return entry.second; });
  if (most == growth.end() || most->second == 0) return std::nullopt;
  const auto is_near = [&](const auto& entry) { return entry.second > most->second / 2; };
  if (std::ranges::count_if(growth, is_near) > 1) return std::nullopt;
  return most->first;
}

}  // namespace

std::expected<void, control::Errors> read_observations(std::string_view text, const std::string& file,
                                                       ObservationCollector& out) {
  Lines first{text};
  const bool is_there = first.next();
  const bool is_sampled = is_there && (first.line.starts_with("FLOW,") || first.line.starts_with("CNTR,"));
  if (is_there && first.line.starts_with(kNfdumpsColumns)) return read_records(text, file, out);
  return is_sampled ? read_samples(text, file, out) : read_table(text, file, out);
}

std::expected<size_t, control::Errors> read_counters(const TextFile& counters, const TextFile& probes,
                                                     ObservationCollector& out) {
  const auto growth = growth_of(counters);
  if (!growth) return std::unexpected(growth.error());
  Rows rows{probes.text, probes.name};
  if (!rows.has_columns({"probe", "src", "dst"}, kFlowColumns)) return std::unexpected(rows.errors());
  for (const auto& [probe, links] : *growth) {
    for (const auto& [link, grown] : links) out.add_link(link);
  }
  size_t unsure = 0;
  while (rows.next()) {
    const Flow flow = flow_of_row(rows);
    const auto grown = growth->find(rows.number("probe", UINT64_MAX));
    if (grown == growth->end()) continue;  // not sent yet
    if (out.flows() >= kMaxObservedFlows) rows.fail("more than a million flows");
    const auto link = link_taken(grown->second);
    unsure += link ? 0 : 1;
    if (link && rows.errors().empty()) out.add(flow, *link);
  }
  if (!rows.errors().empty()) return std::unexpected(rows.errors());
  return unsure;
}

std::string probes_csv(const std::vector<Flow>& flows) {
  std::string out = "probe,src,dst,proto,sport,dport,dest_qp,opcode,flow_label\n";
  for (size_t i = 0; i < flows.size(); ++i) {
    const Flow& flow = flows[i];
    const auto text = [&flow](const Flow::Address& address) {
      return flow.is_ipv6 ? to_string(control::Ipv6Address{address})
                          : to_string(control::Ipv4Address{dp::load32(address.data())});
    };
    out += fmt::format("{},{},{},{},{},{},{},{},{}\n", i + 1, text(flow.source), text(flow.destination), flow.protocol,
                       flow.source_port, flow.destination_port, flow.qp, flow.opcode, flow.flow_label);
  }
  return out;
}

}  // namespace softspine::analysis
