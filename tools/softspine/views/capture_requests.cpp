// SPDX-License-Identifier: Apache-2.0
#include "tools/softspine/views/capture_requests.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <string_view>
#include <utility>

#include "control/telemetry/json.hpp"
#include "control/telemetry/text_table.hpp"

namespace softspine::tools {

using control::Json;
using testbeds::CaptureRequest;
using testbeds::Captures;
using testbeds::Watched;

namespace {

constexpr uint32_t kMaxSnaplen = 65'535;
constexpr size_t kMaxPatterns = 1'000;

// A number that is there, whole, not negative and no larger than that; `out` stays if it is not there.
template <typename T>
bool read_number(const Json& arguments, const char* key, uint64_t most, T& out) {
  const auto found = arguments.find(key);
  if (found == arguments.end()) return true;
  if (!found->is_number_unsigned() || found->get<uint64_t>() > most) return false;
  out = static_cast<T>(found->get<uint64_t>());
  return true;
}
bool read_text(const Json& arguments, const char* key, std::string& out) {
  const auto found = arguments.find(key);
  if (found == arguments.end()) return true;
  if (!found->is_string()) return false;
  out = found->get<std::string>();
  return true;
}
bool read_ports(const Json& arguments, std::vector<std::string>& out) {
  const auto found = arguments.find("ports");
  if (found == arguments.end()) return true;
  if (!found->is_array() || found->size() > kMaxPatterns) return false;
  for (const Json& each : *found) {
    if (!each.is_string()) return false;
    out.push_back(each.get<std::string>());
  }
  return true;
}

bool read_flag(const Json& arguments, const char* key, bool& out) {
  const auto found = arguments.find(key);
  if (found == arguments.end()) return true;
  if (!found->is_boolean()) return false;
  out = found->get<bool>();
  return true;
}

using DirectionWord = std::pair<std::string_view, Watched>;
constexpr DirectionWord kDirections[] = {
    {"both", Watched::kBoth}, {"sent", Watched::kSent}, {"received", Watched::kReceived}};

bool read_direction(const Json& arguments, Watched& out) {
  std::string word{kDirections[0].first};
  if (!read_text(arguments, "direction", word)) return false;
  const auto found = direction_of(word);
  if (found) out = *found;
  return found.has_value();
}
std::string_view word_of(Watched watched) {
  return std::ranges::find(kDirections, watched, &DirectionWord::second)->first;
}

const char* state_of(const Captures::Row& row) {
  if (!row.failure.empty()) return "failed";
  return row.running ? "running" : "over";
}

}  // namespace

std::optional<Watched> direction_of(std::string_view word) {
  const auto found = std::ranges::find(kDirections, word, &DirectionWord::first);
  return found == std::end(kDirections) ? std::nullopt : std::optional(found->second);
}

Json json_of(const CaptureRequest& request) {
  return {{"path", request.path},
          {"ports", request.ports},
          {"snaplen", request.snaplen},
          {"full", request.full},
          {"limit_bytes", request.max_bytes},
          {"filter", request.filter},
          {"rotate_bytes", request.rotation.bytes},
          {"rotate_ps", static_cast<uint64_t>(request.rotation.every.count_ps())},
          {"keep", request.rotation.keep},
          {"duration_ps", static_cast<uint64_t>(request.lasts.count_ps())},
          {"direction", word_of(request.watched)},
          {"for_reader", request.for_reader}};
}

std::expected<CaptureRequest, std::string> capture_request(const Json& arguments) {
  constexpr uint64_t kMaxNumber = std::numeric_limits<int64_t>::max();
  CaptureRequest out;
  int64_t rotate_ps = 0;
  int64_t lasts_ps = 0;
  if (!arguments.is_object() || !read_text(arguments, "path", out.path) || out.path.empty()) {
    return std::unexpected("path: the file to write");
  }
  if (!read_ports(arguments, out.ports)) return std::unexpected("ports: a list of patterns such as tor1:*");
  if (!read_text(arguments, "filter", out.filter)) return std::unexpected("filter: an expression");
  if (!read_number(arguments, "snaplen", kMaxSnaplen, out.snaplen) || out.snaplen == 0) {
    return std::unexpected("snaplen: 1 to 65535");
  }
  if (!read_flag(arguments, "full", out.full)) return std::unexpected("full: true or false");
  if (!read_flag(arguments, "for_reader", out.for_reader)) return std::unexpected("for_reader: true or false");
  if (!read_direction(arguments, out.watched)) return std::unexpected("direction: both, sent or received");
  const bool good = read_number(arguments, "limit_bytes", kMaxNumber, out.max_bytes) &&
                    read_number(arguments, "rotate_bytes", kMaxNumber, out.rotation.bytes) &&
                    read_number(arguments, "rotate_ps", kMaxNumber, rotate_ps) &&
                    read_number(arguments, "keep", 1'000'000, out.rotation.keep) &&
                    read_number(arguments, "duration_ps", kMaxNumber, lasts_ps);
  if (!good) return std::unexpected("limits: whole numbers, not negative");
  out.rotation.every = dataplane::Duration::ps(rotate_ps);
  out.lasts = dataplane::Duration::ps(lasts_ps);
  return out;
}

Json captures_json(const std::vector<Captures::Row>& rows) {
  Json out = Json::object();
  for (const Captures::Row& row : rows) {
    out[row.name] = {{"file", row.file},
                     {"filter", row.filter},
                     {"ports", row.ports},
                     {"running", row.running},
                     {"state", state_of(row)},
                     {"failure", row.failure.empty() ? Json{} : Json(row.failure)},
                     {"frames", row.so_far.frames},
                     {"bytes", row.so_far.bytes},
                     {"files", row.so_far.files}};
  }
  return out;
}

std::string captures_table(const std::vector<Captures::Row>& rows) {
  if (rows.empty()) return "nothing is captured\n";
  control::TextTable table{{"<NAME", "<STATE", "PORTS", "FRAMES", "BYTES", "FILES", "<FILE", "<FILTER"}};
  for (const Captures::Row& row : rows) {
    table.add({row.name, state_of(row), std::to_string(row.ports), control::grouped(row.so_far.frames),
               control::grouped(row.so_far.bytes), std::to_string(row.so_far.files), row.file, row.filter});
  }
  std::string out = table.text();
  for (const Captures::Row& row : rows) {
    if (!row.failure.empty()) out += fmt::format("{} failed: {}\n", row.name, row.failure);
  }
  return out;
}

std::expected<Json, std::string> closed_capture(Captures::Ended& ended, bool json) {
  const auto totals = ended.close();
  if (!totals) return std::unexpected(totals.error());
  const std::string& file = ended.capture->capture().name();
  if (json) {
    return Json{{"name", ended.name},       {"file", file},
                {"frames", totals->frames}, {"bytes", totals->bytes},
                {"missed", totals->missed}, {"omitted", totals->omitted},
                {"files", totals->files}};
  }
  const bool lacks = totals->missed + totals->omitted != 0;
  return Json(
      fmt::format("capture {}: {} frames in {}{}", ended.name, totals->frames, file,
                  lacks ? fmt::format("; {} missed, {} beyond its limit", totals->missed, totals->omitted) : ""));
}

}  // namespace softspine::tools
