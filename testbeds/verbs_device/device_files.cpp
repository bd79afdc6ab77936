// SPDX-License-Identifier: Apache-2.0
#include "testbeds/verbs_device/device_files.hpp"

#include <fmt/format.h>
#include <infiniband/verbs.h>

#include <numeric>

namespace softspine::testbeds {

namespace {

using dataplane::DropCounters;

uint64_t sum(const DropCounters& drops) {
  return std::accumulate(drops.begin(), drops.end(), uint64_t{0});
}

bool is_active(const DeviceState& state) {
  return state.port.state == IBV_PORT_ACTIVE;
}

using Text = std::string (*)(const DeviceState&);
struct File {
  const char* path;
  Text text;
};

std::string guid(const DeviceState& state) {
  const uint8_t* const mac = state.port.mac;
  return fmt::format("{:02x}{:02x}:{:02x}ff:fe{:02x}:{:02x}{:02x}", mac[0] ^ 2, mac[1], mac[2], mac[3], mac[4], mac[5]);
}

template <uint32_t Index>
std::string gid(const DeviceState& state) {
  const uint8_t* const at = state.port.gids[Index];
  std::string text;
  for (uint32_t i = 0; i < 16; i += 2) text += fmt::format("{}{:02x}{:02x}", i == 0 ? "" : ":", at[i], at[i + 1]);
  return text;
}

std::string product(const DeviceState&) {
  return "softspine";
}
std::string zero_lid(const DeviceState&) {
  return "0x0";
}
std::string version_two(const DeviceState&) {
  return "RoCE v2";
}
std::string loopback(const DeviceState&) {
  return "lo";
}

constexpr File kFiles[] = {
    {"node_type", [](const DeviceState&) -> std::string { return "1: CA"; }},
    {"node_desc", product},
    {"board_id", product},
    {"hca_type", product},
    {"fw_ver", [](const DeviceState&) -> std::string { return SOFTSPINE_VERSION; }},
    {"node_guid", guid},
    {"sys_image_guid", guid},
    {"device/numa_node", [](const DeviceState&) -> std::string { return "-1"; }},
    {"ports/1/link_layer", [](const DeviceState&) -> std::string { return "Ethernet"; }},
    {"ports/1/state", [](const DeviceState& s) -> std::string { return is_active(s) ? "4: ACTIVE" : "1: DOWN"; }},
    {"ports/1/phys_state",
     [](const DeviceState& s) -> std::string { return is_active(s) ? "5: LinkUp" : "3: Disabled"; }},
    {"ports/1/rate", [](const DeviceState& s) { return fmt::format("{} Gb/sec", s.port.speed_mbps / 1000); }},
    {"ports/1/lid", zero_lid},
    {"ports/1/sm_lid", zero_lid},
    {"ports/1/pkeys/0", [](const DeviceState&) -> std::string { return "0xffff"; }},
    {"ports/1/gids/0", gid<0>},
    {"ports/1/gids/1", gid<1>},
    {"ports/1/gid_attrs/types/0", version_two},
    {"ports/1/gid_attrs/types/1", version_two},
    {"ports/1/gid_attrs/ndevs/0", loopback},
    {"ports/1/gid_attrs/ndevs/1", loopback},
};

constexpr std::string_view kCounters = "ports/1/counters/";
constexpr std::string_view kHardware = "ports/1/hw_counters/";

struct PortCounter {
  const char* name;
  uint64_t (*value)(const DeviceState&);
};
constexpr PortCounter kPortCounters[] = {
    {"port_xmit_packets", [](const DeviceState& s) { return s.passed.in_packets; }},
    {"port_xmit_data", [](const DeviceState& s) { return s.passed.in_bytes / 4; }},
    {"port_xmit_discards", [](const DeviceState& s) { return sum(s.passed.in_drops); }},
    {"port_rcv_packets", [](const DeviceState& s) { return s.passed.out_packets; }},
    {"port_rcv_data", [](const DeviceState& s) { return s.passed.out_bytes / 4; }},
    {"port_rcv_errors", [](const DeviceState& s) { return sum(s.passed.out_drops); }},
    {"link_downed", [](const DeviceState& s) { return s.rnic.link_downed; }},
};

std::optional<uint64_t> counter(std::string_view path, const DeviceState& state) {
  if (path.starts_with(kHardware)) {
    for (const NamedRnicCounter& each : kRnicCounters) {
      if (path.substr(kHardware.size()) == each.name) return state.rnic.*each.value;
    }
  }
  if (path.starts_with(kCounters)) {
    for (const PortCounter& each : kPortCounters) {
      if (path.substr(kCounters.size()) == each.name) return each.value(state);
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> device_file(std::string_view path, const DeviceState& state) {
  if (const auto value = counter(path, state)) return fmt::format("{}\n", *value);
  for (const File& each : kFiles) {
    if (path == each.path) return each.text(state) + "\n";
  }
  return std::nullopt;
}

std::vector<std::string> device_file_paths() {
  std::vector<std::string> all;
  for (const File& each : kFiles) all.emplace_back(each.path);
  for (const NamedRnicCounter& each : kRnicCounters) all.push_back(std::string(kHardware) + each.name);
  for (const PortCounter& each : kPortCounters) all.push_back(std::string(kCounters) + each.name);
  return all;
}

}  // namespace softspine::testbeds
