// SPDX-License-Identifier: Apache-2.0
#include "control/imports/ns3_traffic.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <set>
#include <unordered_map>
#include <utility>

#include "control/document/words.hpp"
#include "control/imports/field_lines.hpp"
#include "control/imports/flow_list.hpp"
#include "control/imports/ns3_units.hpp"

namespace softspine::control {
namespace {

constexpr double kMaxSeconds = 1e6;  // beyond, a stop time means that there is none
constexpr std::array<uint32_t, 5> kRoceMtus{256, 512, 1'024, 2'048, 4'096};

template <typename T>
std::optional<T> ns3_number(std::string_view text) {
  T out{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc{} && end == text.data() + text.size() ? std::optional(out) : std::nullopt;
}

class Ns3FlowReader {
 public:
  Ns3FlowReader(const ForeignTopology& topology, const ImportFile& file, ForeignTraffic& out)
      : errors_(file.path), file_(file.path), topology_(topology), text_(file.text), out_(out) {
    for (uint32_t n = 0; n < topology.nodes.size(); ++n) {
      if (topology.nodes[n].number) place_of_number_.emplace(*topology.nodes[n].number, n);
    }
  }

  bool run(ErrorLog& log) {
    read();
    const bool good = !errors_.any();
    errors_.put_into(log);
    if (good) begin_at_the_first();
    return good;
  }

 private:
  void read() {
    const auto more = read_flow_list(text_, FlowListFormat::kHpcc, errors_, [this](const FlowLine& line) {
      ForeignFlow flow{.place = {file_, "", line.from.line, 1}};
      const bool from = host(line.from, flow.from);
      if (!host(line.to, flow.to) || !from) return;
      flow.priority = *line.priority;
      flow.bytes = line.bytes;
      flow.start_ps = line.start_ps;
      out_.flows.push_back(std::move(flow));
    });
    if (!more) return;
    const std::string count = std::to_string(out_.flows.size());
    out_.notes.push_back(
        {file_, "", more->line, 1, "what stands after the declared " + count + " flows is not read, as ns-3 does not"});
  }
  bool host(const Field& field, uint32_t& out) {
    const auto node = ns3_number<uint32_t>(field.text);
    const auto found = node ? place_of_number_.find(*node) : place_of_number_.end();
    if (found == place_of_number_.end())
      return errors_.fail("node", field, "there is no node " + shown(field.text) + " in the topology");
    if (topology_.nodes[found->second].use != NodeUse::kHost)
      return errors_.fail("host", field,
                          "the node " + shown(field.text) + " is a switch: a flow leads from host to host");
    out = found->second;
    return true;
  }

  void begin_at_the_first() {
    if (out_.flows.empty()) return;
    const int64_t first = std::ranges::min_element(out_.flows, {}, &ForeignFlow::start_ps)->start_ps;
    out_.first_ps = first;
    for (ForeignFlow& flow : out_.flows) flow.start_ps -= first;
    if (out_.stop_ps) *out_.stop_ps -= first;
    if (first > 0)
      out_.notes.push_back(
          {file_, "", 1, 1,
           "the first flow begins at " + print_quantity(first, kDurationQuantity) + ": the run begins then"});
  }

  ErrorsByKind errors_;
  std::string file_;
  const ForeignTopology& topology_;
  std::string_view text_;
  ForeignTraffic& out_;
  std::unordered_map<uint32_t, uint32_t> place_of_number_;
};

class Ns3ConfigReader {
 public:
  Ns3ConfigReader(const ImportFile& file, ForeignTraffic& out)
      : errors_(file.path), file_(file.path), lines_(file.text), out_(out) {}

  bool run(ErrorLog& log) {
    for (std::vector<Field> fields = lines_.next(); !fields.empty(); fields = lines_.next()) {
      if (fields.size() > 1) rows_.insert_or_assign(std::string(fields[0].text), std::move(fields));
    }
    read_times_and_sizes();
    read_control();
    read_marks();
    note_the_rest();
    const bool good = !errors_.any();
    errors_.put_into(log);
    return good;
  }

 private:
  using Row = std::vector<Field>;

  // The row of a key that is taken; null: the file does not have it.
  const Row* row(std::string_view key) {
    const auto found = rows_.find(key);
    if (found == rows_.end()) return nullptr;
    taken_.emplace(key);
    return &found->second;
  }
  void note(const Field& at, std::string message) {
    out_.notes.push_back({file_, "", at.line, at.column, std::move(message)});
  }
  std::optional<double> value(std::string_view key, double most) {
    const Row* found = row(key);
    if (found == nullptr) return std::nullopt;
    const auto given = ns3_number<double>((*found)[1].text);
    if (given && *given >= 0 && *given <= most) return given;
    errors_.fail(key, (*found)[1], std::string(key) + ": " + shown((*found)[1].text) + " is no number of its kind");
    return std::nullopt;
  }
  bool says(std::string_view key) { return value(key, 1).value_or(1) > 0; }

  void read_times_and_sizes() {
    if (const auto payload = value("PACKET_PAYLOAD_SIZE", 65'535)) {
      const auto away = [&](uint32_t mtu) { return std::abs(static_cast<double>(mtu) - *payload); };
      out_.mtu = *std::ranges::min_element(kRoceMtus, {}, away);
      if (away(out_.mtu) > 0)
        note((*row("PACKET_PAYLOAD_SIZE"))[1], "a payload of " + std::string((*row("PACKET_PAYLOAD_SIZE"))[1].text) +
                                                   " bytes is none of RoCE's MTUs: " + std::to_string(out_.mtu));
    }
    if (const auto stop = value("SIMULATOR_STOP_TIME", 1e30); stop && *stop <= kMaxSeconds)
      out_.stop_ps = std::llround(*stop * 1e12);
    if (const auto mebibytes = value("BUFFER_SIZE", 65'536); mebibytes && *mebibytes > 0)
      out_.buffer_bytes = static_cast<uint64_t>(*mebibytes * 1'048'576);
    out_.marks = says("ENABLE_QCN");
  }

  void read_control() {
    const auto mode = value("CC_MODE", 1'000);
    if (!mode || *mode == 0) return;
    if (*mode == 1) return read_dcqcn();
    if (*mode == 7) {
      out_.congestion_control = "timely";
      return;
    }
    const char* name = *mode == 3 ? " (HPCC)" : *mode == 8 ? " (DCTCP)" : *mode == 10 ? " (HPCC-PINT)" : "";
    note((*row("CC_MODE"))[1], "CC_MODE " + std::string((*row("CC_MODE"))[1].text) + name +
                                   " is not taken over: flows have no congestion control");
  }
  void read_dcqcn() {
    out_.congestion_control = "{kind: dcqcn_connectx";
    for (const auto& [key, ours] :
         {std::pair("RATE_AI", "ai_rate"), {"RATE_HAI", "hai_rate"}, {"MIN_RATE", "min_rate"}}) {
      const Row* found = row(key);
      const auto bps = found == nullptr ? std::nullopt : ns3_rate((*found)[1].text);
      if (found != nullptr && !bps)
        errors_.fail(key, (*found)[1], shown((*found)[1].text) + " is no rate such as 50Mb/s");
      if (bps) add(ours, std::to_string(*bps) + "bps");
    }
    for (const auto& [key, ours] : {std::pair("RP_TIMER", "time_reset"),
                                    {"ALPHA_RESUME_INTERVAL", "alpha_timer"},
                                    {"RATE_DECREASE_INTERVAL", "rate_reduce_monitor_period"}}) {
      if (const auto us = value(key, 1e6)) add(ours, std::to_string(std::llround(*us * 1e6)) + "ps");
    }
    if (const auto gain = value("EWMA_GAIN", 1)) add("g", std::to_string(std::llround(*gain * 1e9)) + "/1000000000");
    if (const auto times = value("FAST_RECOVERY_TIMES", 1e6)) add("threshold", std::to_string(std::llround(*times)));
    if (const auto clamp = value("CLAMP_TARGET_RATE", 1)) add("clamp_tgt_rate", *clamp > 0 ? "true" : "false");
    out_.congestion_control += "}";
  }
  void add(const std::string& key, const std::string& text) { out_.congestion_control += ", " + key + ": " + text; }

  // KEY N RATE VALUE RATE VALUE …
  void read_marks() {
    for (const auto& [key, put] :
         {std::pair<std::string_view, void (*)(ForeignMarks&, double)>{
              "KMIN_MAP",
              [](ForeignMarks& marks, double kb) { marks.least_bytes = static_cast<uint64_t>(kb * 1'000); }},
          {"KMAX_MAP", [](ForeignMarks& marks, double kb) { marks.most_bytes = static_cast<uint64_t>(kb * 1'000); }},
          {"PMAX_MAP", [](ForeignMarks& marks, double share) { marks.probability = share; }}}) {
      const Row* found = row(key);
      if (found == nullptr) continue;
      const auto count = ns3_number<size_t>((*found)[1].text);
      if (!count || found->size() < 2 || *count > found->size() || found->size() != 2 + 2 * *count) {
        errors_.fail(key, (*found)[1], std::string(key) + " must be a number N, and then N times a rate and a value");
        continue;
      }
      for (size_t i = 2; i < found->size(); i += 2) {
        const auto rate = ns3_rate((*found)[i].text);
        const auto given = ns3_number<double>((*found)[i + 1].text);
        if (rate && given && *given >= 0 && *given < 1e9) {
          put(out_.marks_by_bps[*rate], *given);
        } else {
          errors_.fail(key, (*found)[i], std::string(key) + " must have numbers");
        }
      }
    }
  }

  void note_the_rest() {
    std::string names;
    const Row* first = nullptr;
    for (const auto& [key, fields] : rows_) {
      if (taken_.contains(key)) continue;
      names += (names.empty() ? "" : ", ") + key;
      if (first == nullptr || fields[0].line < (*first)[0].line) first = &fields;
    }
    if (first != nullptr) note((*first)[0], "not read: " + names);
  }

  ErrorsByKind errors_;
  std::string file_;
  FieldLines lines_;
  ForeignTraffic& out_;
  std::map<std::string, Row, std::less<>> rows_;
  std::set<std::string, std::less<>> taken_;
};

}  // namespace

std::optional<ForeignTraffic> read_ns3_traffic(Reader& reader, const ForeignTopology& topology, const ImportFile& flows,
                                               const ImportFile* config) {
  ForeignTraffic out;
  bool good = config == nullptr || Ns3ConfigReader(*config, out).run(reader.log());
  good = Ns3FlowReader(topology, flows, out).run(reader.log()) && good;
  if (!good) return std::nullopt;
  sort_by_place(out.notes);
  return out;
}

}  // namespace softspine::control
