// SPDX-License-Identifier: Apache-2.0
// A request's target, and what it means: /metrics, /events, a file that is built in, or a command:
//
//   GET  /api/show/pfc/counters?node=tor1      show pfc counters, {"node": "tor1", "format": "json"}
//   POST /api/link   {"link": "tor1:Ethernet0", "state": "down"}
//
// Names are looked up in tables; no target ever becomes the path of a file.
#pragma once

#include <cstddef>
#include <expected>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "control/server/commands.hpp"
#include "control/server/web_gate.hpp"

namespace softspine::control {

inline constexpr size_t kMaxTargetBytes = 2048;
inline constexpr size_t kMaxTargetParts = 32;  // words of its path, and arguments

struct WebTarget {
  std::vector<std::string> words;                              // of the path
  std::vector<std::pair<std::string, std::string>> arguments;  // of the query
};

// Never throws, whatever the text holds.
std::expected<WebTarget, WebRefusal> parse_target(std::string_view text);

// A file that is built into the program.
struct WebFile {
  std::string_view path;  // /page.js
  std::string_view type;  // text/javascript
  std::string_view text;
};

struct ToFile {
  const WebFile* file;
};
struct ToEvents {};
struct ToDescription {};  // openapi.hpp's
struct ToCommand {
  const CommandFacts* facts;
  Json arguments;
};
using WebRoute = std::variant<ToFile, ToEvents, ToDescription, ToCommand>;

// `method`: of the request; a HEAD goes where a GET does.
std::expected<WebRoute, WebRefusal> route_of(const WebTarget& target, std::string_view method, const Commands& commands,
                                             const std::vector<WebFile>& files);
// The arguments of a POST's body.
std::expected<Json, WebRefusal> body_arguments(std::string_view body, const CommandFacts& facts);
// The path of a command: /api/show/pfc/counters.
std::string path_of(const CommandFacts& facts);

}  // namespace softspine::control
