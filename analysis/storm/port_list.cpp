// SPDX-License-Identifier: Apache-2.0
#include "analysis/storm/port_list.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>

#include "analysis/storm/config_db_ports.hpp"
#include "analysis/storm/text_lines.hpp"

namespace softspine::analysis::storm {

namespace {

constexpr size_t kMacDigits = 12;
constexpr size_t kShownLines = 5;
constexpr std::string_view kBlanks = " \t\r\v\f";

std::string_view trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(kBlanks);
  return begin == text.npos ? std::string_view{} : text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
}

int digit_of(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

// Groups of `digits` digits, with `between` between them, twelve in all.
std::optional<uint64_t> mac_in_groups(std::string_view text, size_t digits, char between) {
  if (text.size() != kMacDigits + kMacDigits / digits - 1) return std::nullopt;
  uint64_t mac = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (i % (digits + 1) == digits) {
      if (text[i] != between) return std::nullopt;
      continue;
    }
    const int digit = digit_of(text[i]);
    if (digit < 0) return std::nullopt;
    mac = mac << 4 | static_cast<uint64_t>(digit);
  }
  return mac;
}

class PortListReading {
 public:
  explicit PortListReading(KnownFabric& known) : known_(known) {}

  // Returns the error of a line; empty: none.
  std::string take(int number, const std::string& line) {
    const std::string_view text = trimmed(std::string_view{line}.substr(0, line.find('#')));
    if (text.empty()) return "";
    const size_t blank = text.find_last_of(kBlanks);
    if (blank == text.npos) return fmt::format("'{}': a name or MAC address and a port are needed", text);
    const std::string what{trimmed(text.substr(0, blank))};
    const std::string port{text.substr(blank + 1)};
    const auto mac = mac_of(what);
    const size_t colon = port.find(':');
    const bool is_node = mac && colon == std::string::npos;
    if (!is_node && (colon == 0 || colon == std::string::npos || colon + 1 == port.size())) {
      return "'" + port + "' is no port: write NODE:PORT, such as tor1:Ethernet4";
    }
    if (!seen_.insert(mac ? mac_text(*mac) : what).second) return "'" + what + "' stands there twice";
    if (is_node) {
      known_.node_of_mac.insert_or_assign(*mac, port);
    } else if (mac) {
      known_.port_of_mac.insert_or_assign(*mac, port);
    } else {
      known_.port_of_interface.insert_or_assign(what, port);
    }
    known_.listed.push_back({.line = number, .what = what, .mac = mac.value_or(0)});
    return "";
  }

 private:
  KnownFabric& known_;
  std::set<std::string> seen_;
};

}  // namespace

std::optional<uint64_t> mac_of(std::string_view text) {
  for (const auto& [digits, between] : {std::pair{size_t{2}, ':'}, {size_t{2}, '-'}, {size_t{4}, '.'}}) {
    if (const auto mac = mac_in_groups(text, digits, between)) return mac;
  }
  return std::nullopt;
}

std::expected<void, std::string> read_port_list(const std::string& path, KnownFabric& known) {
  constexpr uint64_t kMaxListBytes = 16 << 20;
  auto lines = TextLines::open(path, "a list", kMaxListBytes);
  if (!lines) return std::unexpected(lines.error());
  PortListReading reading{known};
  std::string line;
  std::string json;
  while (lines->next(line)) {
    if (!json.empty() || (lines->number() == 1 && trimmed(line).starts_with('{'))) {
      json += line + '\n';
      continue;
    }
    if (const std::string wrong = reading.take(lines->number(), line); !wrong.empty()) {
      return std::unexpected(fmt::format("{}:{}: {}", path, lines->number(), wrong));
    }
  }
  if (!lines->error().empty()) return std::unexpected(lines->error());
  return json.empty() ? std::expected<void, std::string>{} : read_config_db(path, json, known);
}

std::string unmatched_lines(const KnownFabric& known, const PauseRecorder& recorded) {
  std::set<std::string> names;
  std::set<uint64_t> macs;
  for (const RecordedPort& port : recorded.ports()) {
    names.insert(port.name);
    macs.insert(port.mac);
  }
  for (const Sender& sender : recorded.senders()) macs.insert(sender.mac);
  std::string out;
  size_t count = 0;
  for (const ListedName& it : known.listed) {
    if (it.mac != 0 ? macs.contains(it.mac) : names.contains(it.what)) continue;
    if (++count <= kShownLines) out += fmt::format("{}{} ({})", count == 1 ? "" : ", ", it.line, it.what);
  }
  return count <= kShownLines ? out : out + fmt::format(", and {} more", count - kShownLines);
}

}  // namespace softspine::analysis::storm
