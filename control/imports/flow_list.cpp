// SPDX-License-Identifier: Apache-2.0
#include "control/imports/flow_list.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <string>
#include <vector>

#include "control/document/words.hpp"
#include "control/format/quantity.hpp"
#include "control/imports/ns3_units.hpp"
#include "control/traffic/flow.hpp"
#include "dataplane/forwarding/azure_maps.hpp"

namespace softspine::control {
namespace {

constexpr size_t kHpccFields = 6;
constexpr uint8_t kMaxPriority = 7;
constexpr uint8_t kMaxListedDscp = 63;

template <typename T>
std::optional<T> listed_number(std::string_view text) {
  T out{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc{} && end == text.data() + text.size() ? std::optional(out) : std::nullopt;
}

std::optional<uint64_t> listed_bytes(std::string_view text) {
  if (const auto plain = listed_number<uint64_t>(text)) return plain;
  const auto found = parse_quantity(text, kBytesQuantity);
  return found ? std::optional(static_cast<uint64_t>(*found)) : std::nullopt;
}

// What both formats have.
class FlowLineReader {
 public:
  explicit FlowLineReader(ErrorsByKind& errors) : errors_(errors) {}

  bool bytes(const Field& field, uint64_t& out) {
    const auto found = listed_bytes(field.text);
    if (!found || *found == 0) return fail("bytes", field, shown(field.text) + " is no number of bytes");
    if (*found > kMaxMessageBytes) return fail("much", field, "a flow has at most 2^31 bytes");
    out = *found;
    return true;
  }
  bool start(const Field& field, FlowLine& out) {
    const auto found = ns3_time(field.text);
    if (!found || *found < 0) return fail("start", field, shown(field.text) + " is no time in seconds");
    out.start = field;
    out.start_ps = *found;
    return true;
  }
  bool small(std::string_view kind, const Field& field, uint8_t most, std::optional<uint8_t>& out) {
    const auto found = listed_number<uint8_t>(field.text);
    if (!found || *found > most)
      return fail(kind, field,
                  "a " + std::string(kind) + " is from 0 to " + std::to_string(most) + ", not " + shown(field.text));
    out = found;
    return true;
  }
  bool ends(const Field& from, const Field& to, FlowLine& out) {
    out.from = from;
    out.to = to;
    return from.text != to.text || fail("itself", to, "leads to its own source");
  }
  bool fail(std::string_view kind, const Field& at, std::string message) {
    return errors_.fail(kind, at, std::move(message));
  }

 private:
  ErrorsByKind& errors_;
};

using SeeFlow = std::function<void(const FlowLine&)>;

std::optional<Field> read_hpcc(std::string_view text, FlowLineReader& reader, const SeeFlow& see) {
  FieldLines lines(text);
  const std::vector<Field> head = lines.next();
  const auto count = head.empty() ? std::nullopt : listed_number<uint64_t>(head[0].text);
  if (!count || head.size() != 1 || *count > kMaxListedFlows) {
    reader.fail("count", head.empty() ? Field{} : head[0],
                "the first line must be the number of flows, at most " + std::to_string(kMaxListedFlows));
    return std::nullopt;
  }
  for (uint64_t i = 0; i < *count; ++i) {
    const std::vector<Field> fields = lines.next();
    if (fields.empty()) {
      reader.fail("fewer", {"", lines.line(), 1},
                  std::to_string(*count) + " flows are declared, and " + std::to_string(i) + " stand here");
      return std::nullopt;
    }
    if (fields.size() != kHpccFields) {
      reader.fail("fields", fields[0],
                  "a flow is SOURCE DESTINATION PRIORITY PORT BYTES START, and here are " +
                      std::to_string(fields.size()) + " fields");
      continue;
    }
    FlowLine line;
    bool good = reader.ends(fields[0], fields[1], line);
    good = reader.small("priority", fields[2], kMaxPriority, line.priority) && good;
    good = reader.bytes(fields[4], line.bytes) && good;
    good = reader.start(fields[5], line) && good;
    if (!good) continue;
    line.dscp = azure_dscp_of(*line.priority);
    see(line);
  }
  const std::vector<Field> more = lines.next();
  return more.empty() ? std::nullopt : std::optional(more[0]);
}

class CsvList {
 public:
  CsvList(std::string_view text, FlowLineReader& reader) : rest_(text), reader_(reader) {}

  void run(const SeeFlow& see) {
    if (!read_head()) return;
    uint64_t count = 0;
    for (std::vector<Field> fields = next(); !fields.empty(); fields = next()) {
      if (++count > kMaxListedFlows)
        return void(reader_.fail("count", fields[0],
                                 "more than " + std::to_string(kMaxListedFlows) + " flows, the most that is read"));
      read_line(fields, see);
    }
  }

 private:
  enum Column : size_t { kSource, kDestination, kBytes, kStart, kDscp, kColumns };
  static constexpr std::array<std::string_view, kColumns> kNames{"source", "destination", "bytes", "start", "dscp"};

  // The cells of the next line that is not empty.
  std::vector<Field> next() {
    std::vector<Field> out;
    while (out.empty() && !rest_.empty()) {
      ++line_;
      const size_t end = std::min(rest_.find('\n'), rest_.size());
      split(rest_.substr(0, end), out);
      rest_.remove_prefix(std::min(end + 1, rest_.size()));
    }
    return out;
  }
  void split(std::string_view line, std::vector<Field>& out) const {
    if (line.find_first_not_of(kBlank) == std::string_view::npos) return;
    for (size_t at = 0; at <= line.size();) {
      const size_t end = std::min(line.find(',', at), line.size());
      std::string_view cell = line.substr(at, end - at);
      const size_t first = std::min(cell.find_first_not_of(kBlank), cell.size());
      cell.remove_prefix(first);
      cell = cell.substr(0, cell.find_last_not_of(kBlank) + 1);
      out.push_back({cell, line_, static_cast<int>(at + first) + 1});
      at = end + 1;
    }
  }

  bool read_head() {
    const std::vector<Field> head = next();
    columns_.fill(kMissing);
    width_ = head.size();
    bool good = true;
    for (size_t i = 0; i < head.size(); ++i) {
      const auto known = std::ranges::find(kNames, head[i].text);
      const auto column = static_cast<size_t>(known - kNames.begin());
      if (known == kNames.end() || columns_[column] != kMissing) {
        good = reader_.fail("column", head[i],
                            shown(head[i].text) + (known == kNames.end() ? " is no column" : " stands here twice") +
                                ": source, destination, bytes, start and dscp are");
      } else {
        columns_[column] = i;
      }
    }
    for (size_t column = 0; good && column < kDscp; ++column) {
      if (columns_[column] == kMissing)
        good = reader_.fail("head", head.empty() ? Field{"", 1, 1} : head[0],
                            "the first line must name the columns source, destination, bytes and start: " +
                                std::string(kNames[column]) + " is missing");
    }
    return good;
  }

  void read_line(const std::vector<Field>& fields, const SeeFlow& see) {
    if (fields.size() != width_)
      return void(
          reader_.fail("cells", fields[0],
                       std::to_string(width_) + " columns are named, and here are " + std::to_string(fields.size())));
    const auto cell = [&](Column column) -> const Field& { return fields[columns_[column]]; };
    FlowLine line;
    bool good = reader_.ends(cell(kSource), cell(kDestination), line);
    good = reader_.bytes(cell(kBytes), line.bytes) && good;
    good = reader_.start(cell(kStart), line) && good;
    const bool has_dscp = columns_[kDscp] != kMissing && !cell(kDscp).text.empty();
    if (has_dscp) good = reader_.small("DSCP", cell(kDscp), kMaxListedDscp, line.dscp) && good;
    if (good) see(line);
  }

  static constexpr std::string_view kBlank = " \t\r\v\f";
  static constexpr size_t kMissing = SIZE_MAX;

  std::string_view rest_;
  FlowLineReader& reader_;
  int line_ = 0;
  size_t width_ = 0;
  std::array<size_t, kColumns> columns_{};
};

}  // namespace

uint8_t azure_dscp_of(uint8_t priority) {
  const auto& map = dataplane::kAzureDscpToTc;
  if (map[priority] == priority) return priority;
  const auto* found = std::ranges::find(map, priority);
  return found == map.end() ? uint8_t{0} : static_cast<uint8_t>(found - map.begin());
}

std::optional<Field> read_flow_list(std::string_view text, FlowListFormat format, ErrorsByKind& errors,
                                    const std::function<void(const FlowLine&)>& see) {
  FlowLineReader reader(errors);
  if (format == FlowListFormat::kHpcc) return read_hpcc(text, reader, see);
  CsvList(text, reader).run(see);
  return std::nullopt;
}

}  // namespace softspine::control
