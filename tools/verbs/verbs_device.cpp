// SPDX-License-Identifier: Apache-2.0
#include "tools/verbs/verbs_device.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>

namespace softspine::tools {

namespace {

constexpr std::array<uint8_t, 12> kIpv4Mapped{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

struct DeviceList {
  int count = 0;  // first: what makes the list writes it
  ibv_device** devices = nullptr;

  DeviceList() : devices(ibv_get_device_list(&count)) {}
  DeviceList(const DeviceList&) = delete;
  DeviceList& operator=(const DeviceList&) = delete;
  ~DeviceList() {
    if (devices != nullptr) ibv_free_device_list(devices);
  }
};

std::optional<uint8_t> gid_index_of(ibv_context* context, uint8_t port, int gids, const GidBytes& wanted,
                                    std::string& known) {
  std::optional<uint8_t> found;
  for (int i = 0; i < gids && i < 256; ++i) {
    ibv_gid_entry entry{};
    if (ibv_query_gid_ex(context, port, static_cast<uint32_t>(i), &entry, 0) != 0) continue;
    if (entry.gid_type != IBV_GID_TYPE_ROCE_V2) continue;
    GidBytes gid;
    std::ranges::copy(entry.gid.raw, gid.begin());
    known += (known.empty() ? "" : ", ") + address_text(gid) + " of " + ibv_get_device_name(context->device);
    if (gid == wanted && !found) found = static_cast<uint8_t>(i);
  }
  return found;
}

// The kernel's reason for a device that cannot be opened is in errno only.
std::string why() {
  return std::strerror(errno);
}

}  // namespace

std::string address_text(const GidBytes& gid) {
  char text[INET6_ADDRSTRLEN] = "";
  const bool is_ipv4 = std::equal(kIpv4Mapped.begin(), kIpv4Mapped.end(), gid.begin());
  inet_ntop(is_ipv4 ? AF_INET : AF_INET6, gid.data() + (is_ipv4 ? kIpv4Mapped.size() : 0), text, sizeof text);
  return text;
}

std::expected<RdmaPort, std::string> open_port_of(const GidBytes& address) {
  const DeviceList list;
  if (list.count == 0) {
    return std::unexpected(
        "there is no RDMA device here: ibv_devices lists them; rdma link add rxe0 type rxe netdev eth0 makes one");
  }
  std::string known;
  std::string refused;
  for (int d = 0; d < list.count; ++d) {
    DeviceContext context{ibv_open_device(list.devices[d])};
    ibv_device_attr attributes{};
    if (!context || ibv_query_device(context.get(), &attributes) != 0) {
      refused += fmt::format("; {} cannot be opened: {}", ibv_get_device_name(list.devices[d]), why());
      continue;
    }
    for (uint8_t port = 1; port <= attributes.phys_port_cnt; ++port) {
      ibv_port_attr state{};
      if (ibv_query_port(context.get(), port, &state) != 0) continue;
      const auto index = gid_index_of(context.get(), port, state.gid_tbl_len, address, known);
      if (!index) continue;
      const std::string name = ibv_get_device_name(list.devices[d]);
      if (state.state != IBV_PORT_ACTIVE) return std::unexpected(name + " has the address, but its port is not active");
      return RdmaPort{.context = std::move(context),
                      .device = name,
                      .number = port,
                      .gid_index = *index,
                      .gid = address,
                      .mtu_bytes = 128U << state.active_mtu};
    }
  }
  return std::unexpected(fmt::format("no RDMA device speaks RoCEv2 from {}; {}{}", address_text(address),
                                     known.empty() ? "there is no such address at all" : "there is " + known, refused));
}

DeviceCounters device_counters(const RdmaPort& port) {
  DeviceCounters counters;
  const auto folder = fmt::format("/sys/class/infiniband/{}/ports/{}/hw_counters", port.device, port.number);
  std::error_code none;
  for (const auto& file : std::filesystem::directory_iterator(folder, none)) {
    uint64_t value = 0;
    // Not a counter: how long the others may be old, in milliseconds.
    if (file.path().filename() == "lifespan") continue;
    if (std::ifstream{file.path()} >> value) counters[file.path().filename()] = value;
  }
  return counters;
}

DeviceCounters counted_since(const DeviceCounters& before, const DeviceCounters& now) {
  DeviceCounters counted;
  for (const auto& [name, value] : now) {
    const auto found = before.find(name);
    counted[name] = found != before.end() && found->second <= value ? value - found->second : value;
  }
  return counted;
}

}  // namespace softspine::tools
