// SPDX-License-Identifier: Apache-2.0
#include "testbeds/outside/edges.hpp"

#include <algorithm>
#include <atomic>
#include <optional>
#include <utility>

#include "dataplane/dpdk/device_edge.hpp"
#include "dataplane/dpdk/vhost_device.hpp"
#include "dataplane/edge/tap_edge.hpp"
#include "testbeds/outside/interface_use.hpp"
#include "testbeds/outside/packet_offload.hpp"

namespace softspine::testbeds {
namespace {

using dataplane::Device;
using dataplane::DeviceEdge;
using dataplane::EdgeError;

Error error_from(const EdgeError& error) {
  return {error.where, error.message};
}

template <typename Edge>
std::expected<OpenedEdge, Error> opened(std::expected<std::unique_ptr<Edge>, EdgeError> edge) {
  if (!edge) return std::unexpected(error_from(edge.error()));
  return OpenedEdge{std::move(*edge), ""};
}

std::expected<OpenedEdge, Error> over(std::expected<std::unique_ptr<Device>, EdgeError> device,
                                      const EdgeSetting& setting,
                                      std::optional<dataplane::KernelInterface> interface = std::nullopt) {
  if (!device) return std::unexpected(error_from(device.error()));
  DeviceEdge::Config config = setting.nic;
  // A guest's second is a wall second, and emulated time is dilated.
  config.hold_time = dataplane::Duration::ps(config.hold_time.count_ps() / setting.dilation);
  return opened<DeviceEdge>(
      std::make_unique<DeviceEdge>(setting.name, std::move(*device), setting.pool, config, std::move(interface)));
}

dataplane::TapConfig tap_of(const std::string& interface, const EdgeSetting& setting) {
  dataplane::TapConfig config;
  config.interface = interface;
  config.mtu = static_cast<uint16_t>(setting.mtu);
  config.patience.gap = dataplane::Duration::ps(config.patience.gap.count_ps() / setting.dilation);
  config.patience.longest = dataplane::Duration::ps(config.patience.longest.count_ps() / setting.dilation);
  return config;
}

std::string beside(const std::string& file, const std::filesystem::path& folder) {
  return file.empty() ? file : (folder / file).string();  // an absolute one stays as it is
}

std::expected<OpenedEdge, Error> open_one(const control::VhostUserEdge& edge, const std::filesystem::path&,
                                          const EdgeSetting& setting) {
  return over(dataplane::open_vhost_device(edge.socket, setting.pool, setting.speed_mbps), setting);
}

std::expected<OpenedEdge, Error> open_one(const control::TapEdge& edge, const std::filesystem::path&,
                                          const EdgeSetting& setting) {
  return opened(dataplane::TapEdge::open(setting.name, tap_of(edge.name, setting), setting.pool, setting.nic));
}

std::expected<OpenedEdge, Error> open_one(const control::AfPacketEdge& edge, const std::filesystem::path&,
                                          const EdgeSetting& setting) {
  static std::atomic<uint32_t> serial{0};
  if (setting.mtu > kMaxPacketMtu) {
    return std::unexpected(Error{edge.interface, "an af_packet edge has an MTU of at most " +
                                                     std::to_string(kMaxPacketMtu) + ", not " +
                                                     std::to_string(setting.mtu)});
  }
  if (auto missing = missing_interface(edge.interface)) return std::unexpected(std::move(*missing));
  dataplane::DeviceConfig config;
  config.devargs = "net_af_packet" + std::to_string(serial.fetch_add(1)) + ",iface=" + edge.interface +
                   packet_ring(setting.mtu).arguments();
  auto device = Device::open(config, setting.pool);
  if (!device) return std::unexpected(Error{edge.interface, device.error().message});
  auto interface = dataplane::KernelInterface::open(edge.interface);
  if (!interface) return std::unexpected(error_from(interface.error()));
  auto offload = std::make_shared<PacketOffload>(edge.interface);
  std::string note = offload->problem();
  (*device)->keep(std::move(offload));
  auto made = over(std::move(device), setting, std::move(*interface));
  if (made && !note.empty()) made->note = edge.interface + ": " + note;
  return made;
}

std::expected<OpenedEdge, Error> open_one(const control::DpdkEdge& edge, const std::filesystem::path&,
                                          const EdgeSetting& setting) {
  std::optional<dataplane::KernelInterface> watched;
  if (const std::string interface = interface_in(edge.device); !interface.empty()) {
    if (auto missing = missing_interface(interface)) return std::unexpected(std::move(*missing));
    auto opened_interface = dataplane::KernelInterface::open(interface);
    if (!opened_interface) return std::unexpected(error_from(opened_interface.error()));
    watched = std::move(*opened_interface);
  }
  dataplane::DeviceConfig config;
  config.devargs = edge.device;
  auto made = over(Device::open(config, setting.pool), setting, std::move(watched));
  if (!made) return made;
  const uint16_t mtu = static_cast<const DeviceEdge&>(*made->node).device().mtu();
  if (mtu < setting.mtu)
    made->note = edge.device + ": the device takes an MTU of " + std::to_string(mtu) + ", the link's is " +
                 std::to_string(setting.mtu) + ": longer frames do not get through";
  return made;
}

std::expected<OpenedEdge, Error> open_one(const control::PcapEdge& edge, const std::filesystem::path& testbed_folder,
                                          const EdgeSetting& setting) {
  dataplane::PcapEdge::Config config;
  config.read_path = beside(edge.in, testbed_folder);
  config.write_path = beside(edge.out, testbed_folder);
  config.offset = edge.offset;
  if (edge.zero == control::PcapZero::kRecorded) config.zero_ns = 0;
  auto made = dataplane::PcapEdge::open(setting.name, config, setting.pool, setting.nic);
  dataplane::PcapEdge* const node = made && edge.zero == control::PcapZero::kTogether ? made->get() : nullptr;
  auto out = opened(std::move(made));
  if (out) out->recording = node;
  return out;
}

}  // namespace

std::expected<OpenedEdge, Error> open_edge(const control::Edge& edge, const std::filesystem::path& testbed_folder,
                                           const EdgeSetting& setting) {
  return std::visit([&](const auto& kind) { return open_one(kind, testbed_folder, setting); }, edge);
}

std::optional<int64_t> first_recorded_ns(std::span<dataplane::PcapEdge* const> recordings) {
  std::optional<int64_t> zero_ns;
  for (const dataplane::PcapEdge* each : recordings) {
    const auto first = each->first_recorded_ns();
    if (first) zero_ns = std::min(*first, zero_ns.value_or(*first));
  }
  return zero_ns;
}

std::expected<OpenedEdge, Error> open_nic(const std::string& interface, const EdgeSetting& setting) {
  auto config = tap_of(interface, setting);
  config.up = false;
  return opened(dataplane::TapEdge::open(setting.name, config, setting.pool, setting.nic));
}

}  // namespace softspine::testbeds
