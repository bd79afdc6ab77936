// SPDX-License-Identifier: Apache-2.0
#include "control/server/web_target.hpp"

#include <algorithm>

namespace softspine::control {

namespace {

constexpr const char* kMetricsCommand = "show prometheus";
constexpr const char* kFormat = "format";

int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

bool is_control_byte(char c) {
  return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
}

// False: a percent sign is not followed by two digits, or a byte is none of a name.
bool decode(std::string_view text, bool plus_is_space, std::string& out) {
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (c == '%') {
      if (i + 2 >= text.size()) return false;
      const int high = hex_value(text[i + 1]);
      const int low = hex_value(text[i + 2]);
      if (high < 0 || low < 0) return false;
      c = static_cast<char>(high << 4 | low);
      i += 2;
    } else if (c == '+' && plus_is_space) {
      c = ' ';
    }
    if (is_control_byte(c)) return false;
    out += c;
  }
  return true;
}

WebRefusal bad(std::string why) {
  return {400, std::move(why)};
}

// Each piece between separators is given to `take`, which may refuse it.
template <typename Take>
bool each_piece(std::string_view text, char separator, Take&& take) {
  while (!text.empty()) {
    const size_t end = std::min(text.find(separator), text.size());
    if (!take(text.substr(0, end))) return false;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return true;
}

bool takes(const CommandFacts& facts, const std::string& name) {
  return facts.takes_others || std::ranges::find(facts.arguments, name, &ArgumentFacts::name) != facts.arguments.end();
}

WebRefusal no_such_argument(const CommandFacts& facts, const std::string& name) {
  std::string known;
  for (const ArgumentFacts& each : facts.arguments) known += (known.empty() ? "" : ", ") + each.name;
  return bad("'" + facts.name + "' has no argument '" + name + "'" + (known.empty() ? "" : "; it has " + known));
}

std::expected<void, WebRefusal> lacks_nothing(const CommandFacts& facts, const Json& arguments) {
  for (const ArgumentFacts& each : facts.arguments) {
    if (each.required && !arguments.contains(each.name)) {
      return std::unexpected(bad("'" + facts.name + "' needs " + each.name + ": " + each.help));
    }
  }
  return {};
}

std::expected<WebRoute, WebRefusal> command_route(const CommandFacts& facts, const WebTarget& target, bool is_post) {
  if (is_post != (facts.kind == CommandKind::kChanging)) {
    return std::unexpected(WebRefusal{405, "'" + facts.name + "' is asked by " + (is_post ? "GET" : "POST")});
  }
  if (is_post && !target.arguments.empty()) return std::unexpected(bad("arguments of a POST stand in its body"));
  ToCommand out{.facts = &facts, .arguments = Json::object()};
  for (const auto& [name, value] : target.arguments) {
    if (!takes(facts, name)) return std::unexpected(no_such_argument(facts, name));
    if (out.arguments.contains(name)) return std::unexpected(bad("'" + name + "' stands twice"));
    out.arguments[name] = value;
  }
  if (is_post) return out;
  if (const auto whole = lacks_nothing(facts, out.arguments); !whole) return std::unexpected(whole.error());
  out.arguments[kFormat] = "json";
  return out;
}

std::string joined(const std::vector<std::string>& words, size_t from, char with) {
  std::string out;
  for (size_t i = from; i < words.size(); ++i) out += (i == from ? "" : std::string(1, with)) + words[i];
  return out;
}

}  // namespace

std::expected<WebTarget, WebRefusal> parse_target(std::string_view text) {
  if (text.size() > kMaxTargetBytes) return std::unexpected(WebRefusal{414, "the target is too long"});
  if (!text.starts_with('/')) return std::unexpected(bad("the target is no path"));
  const size_t question = std::min(text.find('?'), text.size());
  const std::string_view query = text.substr(std::min(question + 1, text.size()));
  WebTarget out;
  const bool good_path = each_piece(text.substr(1, question - 1), '/', [&](std::string_view piece) {
    return out.words.size() < kMaxTargetParts && decode(piece, false, out.words.emplace_back());
  });
  const bool good_query = each_piece(query, '&', [&](std::string_view piece) {
    if (out.arguments.size() == kMaxTargetParts) return false;
    const size_t equals = std::min(piece.find('='), piece.size());
    auto& [name, value] = out.arguments.emplace_back();
    return decode(piece.substr(0, equals), true, name) &&
           decode(piece.substr(std::min(equals + 1, piece.size())), true, value);
  });
  if (!good_path || !good_query) return std::unexpected(bad("the target is not written as one"));
  return out;
}

std::expected<WebRoute, WebRefusal> route_of(const WebTarget& target, std::string_view method, const Commands& commands,
                                             const std::vector<WebFile>& files) {
  const WebRefusal nothing{404, "there is nothing of that name; /api/openapi.json lists what there is"};
  const bool is_post = method == "POST";
  if (!target.words.empty() && target.words.front() == "api" &&
      target.words != std::vector<std::string>{"api", "openapi.json"}) {
    const CommandFacts* facts = commands.facts_of(joined(target.words, 1, ' '));
    if (facts == nullptr || facts->kind == CommandKind::kLocal) return std::unexpected(nothing);
    return command_route(*facts, target, is_post);
  }
  if (is_post) return std::unexpected(WebRefusal{405, "it is asked by GET"});
  const std::string path = "/" + joined(target.words, 0, '/');
  if (path == "/events") return ToEvents{};
  if (path == "/api/openapi.json") return ToDescription{};
  if (path == "/metrics") {
    const CommandFacts* facts = commands.facts_of(kMetricsCommand);
    return facts == nullptr ? std::expected<WebRoute, WebRefusal>{std::unexpected(nothing)}
                            : command_route(*facts, target, false);
  }
  const auto file = std::ranges::find(files, path, &WebFile::path);
  if (file == files.end()) return std::unexpected(nothing);
  return ToFile{&*file};
}

std::expected<Json, WebRefusal> body_arguments(std::string_view body, const CommandFacts& facts) {
  auto arguments = parse_arguments(body);
  if (!arguments) return std::unexpected(bad(arguments.error()));
  for (const auto& [name, value] : arguments->items()) {
    if (!takes(facts, name)) return std::unexpected(no_such_argument(facts, name));
  }
  if (const auto whole = lacks_nothing(facts, *arguments); !whole) return std::unexpected(whole.error());
  if (takes(facts, kFormat)) (*arguments)[kFormat] = "json";
  return std::move(*arguments);
}

std::string path_of(const CommandFacts& facts) {
  std::string path = "/api/" + facts.name;
  std::ranges::replace(path, ' ', '/');
  return path;
}

}  // namespace softspine::control
