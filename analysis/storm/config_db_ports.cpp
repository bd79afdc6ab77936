// SPDX-License-Identifier: Apache-2.0
#include "analysis/storm/config_db_ports.hpp"

#include <filesystem>

#include "analysis/storm/port_list.hpp"
#include "control/telemetry/json.hpp"
#include "control/telemetry/printable.hpp"

namespace softspine::analysis::storm {

using control::Json;

namespace {

constexpr size_t kMaxBytes = 128;  // names go to terminals and pictures

// Empty where a key is missing, or the value is of another kind.
const Json& at(const Json& json, const char* key) {
  static const Json kNothing;
  const auto it = json.is_object() ? json.find(key) : json.end();
  return json.is_object() && it != json.end() ? *it : kNothing;
}

std::string text_of(const Json& json, const char* key) {
  const Json& found = at(json, key);
  return found.is_string() ? control::printable(found.get<std::string>(), kMaxBytes) : "";
}

}  // namespace

std::expected<void, std::string> read_config_db(const std::string& path, const std::string& text, KnownFabric& known) {
  const Json root = Json::parse(text, nullptr, false);
  if (root.is_discarded()) return std::unexpected(path + ": begins with {, but is no JSON");
  const Json& localhost = at(at(root, "DEVICE_METADATA"), "localhost");
  const Json& ports = at(root, "PORT");
  if (!localhost.is_object() && !ports.is_object()) {
    return std::unexpected(path +
                           ": has neither DEVICE_METADATA|localhost nor PORT: a config_db.json or a list is needed");
  }
  std::string node = text_of(localhost, "hostname");
  if (node.empty()) node = std::filesystem::path(path).stem().string();
  if (const std::string mac = text_of(localhost, "mac"); !mac.empty()) {
    const auto number = mac_of(mac);
    if (!number) return std::unexpected(path + ": DEVICE_METADATA|localhost|mac: '" + mac + "' is no MAC address");
    known.node_of_mac.insert_or_assign(*number, node);
  }
  if (!ports.is_object()) return {};
  for (const auto& [key, port] : ports.items()) {
    const std::string alias = text_of(port, "alias");
    const std::string name = control::printable(key, kMaxBytes);
    if (!alias.empty() && alias != name)
      known.port_of_interface.insert_or_assign(node + ":" + alias, node + ":" + name);
  }
  return {};
}

}  // namespace softspine::analysis::storm
