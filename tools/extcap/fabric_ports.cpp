// SPDX-License-Identifier: Apache-2.0
#include "tools/extcap/fabric_ports.hpp"

#include <algorithm>

#include "control/server/client.hpp"
#include "control/server/socket_path.hpp"
#include "control/telemetry/json.hpp"

namespace softspine::tools {

using control::Client;
using control::Json;

namespace {

constexpr std::string_view kPrefix = "softspine:";
constexpr std::chrono::milliseconds kPatience{1'000};
constexpr uint32_t kHostTier = 0;

// Braces end a value of extcap's sentences, lines the sentence.
bool can_be_said(const std::string& name) {
  return std::ranges::none_of(name, [](unsigned char each) { return each < ' ' || each == '{' || each == '}'; });
}

// As `show map` has it (control/report/fabric_map.hpp).
void read_map(const Json& map, ListedFabric& out) {
  std::vector<std::string> names;
  for (const Json& node : map.at("nodes")) {
    for (const Json& port : node.at(2)) {
      names.push_back(node.at(0).get<std::string>() + ":" + port.at(0).get<std::string>());
    }
  }
  const auto is_switch = [](const Json& node) { return node.at(1).get<uint32_t>() != kHostTier; };
  const bool has_switches = std::ranges::any_of(map.at("nodes"), is_switch);
  size_t number = 0;
  for (const Json& node : map.at("nodes")) {
    const bool is_listed = is_switch(node) || !has_switches;
    for (const Json& port : node.at(2)) {
      const std::string& name = names.at(number++);
      if (is_listed && can_be_said(name)) out.ports.push_back({name, names.at(port.at(1).get<size_t>())});
    }
  }
  if (out.ports.size() > kMostPorts) out.ports.clear();
}

std::optional<ListedFabric> running_fabric(const std::string& name) {
  const auto path = control::socket_path(name);
  if (!path) return std::nullopt;
  auto client = Client::connect(*path);
  if (!client) return std::nullopt;
  ListedFabric out{.name = name};
  const control::Result map = client->call("show map", {{"format", "json"}}, {}, kPatience);
  try {
    if (map) read_map(*map, out);
  } catch (const Json::exception&) {  // a fabric of another release: its name will do
    return ListedFabric{.name = name};
  } catch (const std::out_of_range&) {
    return ListedFabric{.name = name};
  }
  return out;
}

}  // namespace

std::vector<ListedFabric> running_fabrics() {
  std::vector<ListedFabric> out;
  for (const std::string& name : control::fabrics_in_folder()) {
    if (auto fabric = running_fabric(name)) out.push_back(std::move(*fabric));
  }
  return out;
}

std::string text_of(const InterfaceName& name) {
  return std::string{kPrefix} + name.fabric + (name.port.empty() ? "" : ":") + name.port;
}

std::optional<InterfaceName> interface_name(const std::string& text) {
  if (!text.starts_with(kPrefix)) return std::nullopt;
  const std::string rest = text.substr(kPrefix.size());
  const size_t colon = rest.find(':');
  if (colon == std::string::npos) return InterfaceName{rest, ""};
  return InterfaceName{rest.substr(0, colon), rest.substr(colon + 1)};
}

}  // namespace softspine::tools
