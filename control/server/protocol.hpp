// SPDX-License-Identifier: Apache-2.0
// The control socket's protocol: one JSON object a line, in both directions.
//
//   → {"id": 1, "command": "show pfc counters", "arguments": {"switch": "tor1"}}
//   ← {"id": 1, "ok": true, "result": …}      or      {"id": 1, "ok": false, "error": "…"}
//
// A text too large for one line (show prometheus) comes as several responses, each with a page of whole lines; the last
// has no `more`:
//
//   ← {"id": 1, "ok": true, "more": true, "result": "…"}
//
// `id` (number, string or absent) comes back as it was. Requests of one connection are answered in
// their order, one at a time. A line is at most kMaxRequestBytes long, nests at most kMaxRequestDepth deep and has
// at most kMaxKeys keys (an ordered object compares a new key with all before it).
#pragma once

#include <cstddef>
#include <expected>
#include <string>
#include <string_view>

#include "control/telemetry/json.hpp"

namespace softspine::control {

inline constexpr size_t kMaxRequestBytes = 64 << 10;
inline constexpr int kMaxRequestDepth = 32;
inline constexpr int kMaxKeys = 1024;

// The outcome of a command: a value, or why there is none, in words for a person.
using Result = std::expected<Json, std::string>;

struct Request {
  Json id;  // null if absent
  std::string command;
  Json arguments = Json::object();
};

// Never throws, whatever the line from outside holds.
std::expected<Request, std::string> parse_request(std::string_view line);
// The arguments alone, within the same limits. Never throws either.
std::expected<Json, std::string> parse_arguments(std::string_view text);
// A value's text, whatever bytes are in it.
std::string json_text_of(const Json& json);
// The line, with its newline.
std::string format_request(const Request& request);
std::string format_response(const Json& id, const Result& result);
std::string format_page(const Json& id, const std::string& page);

struct Response {
  Json id;  // null if absent, or not softspine's
  Result result;
  bool more = false;  // it is a page, and others follow
};
// The client's side: parses a line from the server. Never throws, whatever the line holds.
Response parse_response(std::string_view line);

}  // namespace softspine::control
