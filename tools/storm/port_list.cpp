// SPDX-License-Identifier: Apache-2.0
#include "tools/storm/port_list.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <optional>
#include <sstream>

namespace softspine::tools::storm {

namespace {

constexpr int kMacBytes = 6;

std::optional<uint64_t> mac_of(const std::string& text) {
  unsigned bytes[kMacBytes];
  int end = 0;
  const int found = std::sscanf(text.c_str(), "%2x:%2x:%2x:%2x:%2x:%2x%n", &bytes[0], &bytes[1], &bytes[2], &bytes[3],
                                &bytes[4], &bytes[5], &end);
  if (found != kMacBytes || static_cast<size_t>(end) != text.size()) return std::nullopt;
  uint64_t mac = 0;
  for (const unsigned byte : bytes) mac = mac << 8 | byte;
  return mac;
}

// What is wrong with a line, if anything is.
std::string take_line(const std::string& line, KnownFabric& known) {
  std::istringstream words{line.substr(0, line.find('#'))};
  std::string what;
  std::string port;
  std::string more;
  if (!(words >> what)) return "";
  if (!(words >> port) || words >> more) return "'" + line + "': a name or MAC address and a port are needed";
  const size_t colon = port.find(':');
  if (colon == 0 || colon == std::string::npos || colon + 1 == port.size()) {
    return "'" + port + "' is no port: write NODE:PORT, such as tor1:Ethernet4";
  }
  const auto mac = mac_of(what);
  const bool is_new = mac ? known.port_of_mac.insert_or_assign(*mac, port).second
                          : known.port_of_interface.try_emplace(what, port).second;
  return is_new || mac ? "" : "'" + what + "' stands there twice";
}

}  // namespace

std::expected<void, std::string> read_port_list(const std::string& path, KnownFabric& known) {
  std::ifstream file{path};
  if (!file) return std::unexpected(path + ": " + std::strerror(errno));
  std::string line;
  for (int number = 1; std::getline(file, line); ++number) {
    if (const std::string wrong = take_line(line, known); !wrong.empty()) {
      return std::unexpected(fmt::format("{}:{}: {}", path, number, wrong));
    }
  }
  return {};
}

}  // namespace softspine::tools::storm
