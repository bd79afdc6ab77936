// SPDX-License-Identifier: Apache-2.0
#include "dataplane/dpdk/device.hpp"

#include <rte_bus.h>
#include <rte_dev.h>
#include <rte_errno.h>
#include <rte_ethdev.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

#include "dataplane/units/check.hpp"

namespace softspine::dataplane {

namespace {

constexpr uint32_t kJumboMtu = 9216;
constexpr uint32_t kMtuOverheadBytes = 18;  // Ethernet and one tag: DPDK's default where a driver has none
constexpr uint32_t kMaxOverheadBytes = 26;  // and a second tag, and FCS
constexpr auto kPollLinkEvery = std::chrono::milliseconds(10);
constexpr std::string_view kTapDriver = "net_tap";
constexpr std::string_view kXdpDriver = "net_af_xdp";
constexpr std::string_view kPciBus = "pci";
constexpr const char* kPciFolder = "/sys/bus/pci/devices/";

std::string failed(const char* call, int error) {
  return std::string{call} + ": " + rte_strerror(error < 0 ? -error : error);
}

std::string name_in(const std::string& devargs) {
  std::string name = devargs.substr(0, devargs.find(','));
  for (const std::string_view bus : {"vdev:", "pci:"}) {
    if (name.starts_with(bus)) name.erase(0, bus.size());
  }
  return name;
}

// By the driver's capabilities; the largest MTU follows from it as in DPDK's own check.
uint32_t largest_mtu(const rte_eth_dev_info& info, const PacketPool& pool) {
  const bool is_known = info.max_mtu != UINT16_MAX && info.max_rx_pktlen > info.max_mtu;
  const uint32_t overhead = is_known ? info.max_rx_pktlen - info.max_mtu : kMtuOverheadBytes;
  uint32_t mtu = std::min<uint32_t>(kJumboMtu, info.max_mtu);
  if (info.max_rx_pktlen > overhead) mtu = std::min(mtu, info.max_rx_pktlen - overhead);
  // vmxnet3's two maxima have nothing to do with each other.
  return std::min(mtu, pool.room_bytes() - std::min(overhead, kMaxOverheadBytes));
}

}  // namespace

struct Device::Limits {
  rte_eth_dev_info info{};
};

struct Device::Listener {
  static int on_event(uint16_t, rte_eth_event_type, void* device, void*) {
    static_cast<Device*>(device)->look_at_link();
    return 0;
  }
  // vfio's, on DPDK's own thread.
  static void on_request(const char*, rte_dev_event_type event, void* device) {
    if (event == RTE_DEV_EVENT_REMOVE) static_cast<Device*>(device)->is_gone_.store(true, std::memory_order_release);
  }
};

std::expected<std::unique_ptr<Device>, EdgeError> Device::open(const DeviceConfig& config, PacketPool& pool) {
  const std::string name = name_in(config.devargs);
  uint16_t port = 0;
  const bool there = rte_eth_dev_get_port_by_name(name.c_str(), &port) == 0;
  if (!there) {
    if (const int rc = rte_dev_probe(config.devargs.c_str()); rc != 0) {
      return std::unexpected(EdgeError{config.devargs, failed("rte_dev_probe", rc)});
    }
    if (const int rc = rte_eth_dev_get_port_by_name(name.c_str(), &port); rc != 0) {
      return std::unexpected(EdgeError{config.devargs, "the device was probed but has no Ethernet port"});
    }
  }
  std::unique_ptr<Device> device{new Device{name, port, !there}};
  if (auto problem = device->set_up(config, pool))
    return std::unexpected(EdgeError{config.devargs, std::move(*problem)});
  return device;
}

std::optional<std::string> Device::set_up(const DeviceConfig& config, PacketPool& pool) {
  Limits limits;
  if (auto problem = configure(config, pool, limits)) return problem;
  if (config.before_start) {
    if (auto problem = config.before_start()) return problem;
  }
  if (auto problem = make_queues(config, pool, limits)) return problem;
  if (config.address) {
    rte_ether_addr address;
    std::memcpy(address.addr_bytes, config.address->data(), sizeof address.addr_bytes);
    if (const int rc = rte_eth_dev_default_mac_addr_set(port_, &address); rc != 0) {
      return failed("rte_eth_dev_default_mac_addr_set", rc);
    }
  }
  watch_link();
  if (const int rc = rte_eth_dev_start(port_); rc != 0) return failed("rte_eth_dev_start", rc);
  if (const int rc = rte_eth_promiscuous_enable(port_); rc != 0 && rc != -ENOTSUP) {
    return failed("rte_eth_promiscuous_enable", rc);
  }
  learn_facts(config);
  look_at_link();  // it may have come up before anyone listened
  if (is_pci_) poller_ = std::jthread{[this](const std::stop_token& stop) { poll_link(stop); }};
  return std::nullopt;
}

std::optional<std::string> Device::configure(const DeviceConfig& config, const PacketPool& pool, Limits& limits) {
  rte_eth_dev_info& info = limits.info;
  if (const int rc = rte_eth_dev_info_get(port_, &info); rc != 0) return failed("rte_eth_dev_info_get", rc);
  const uint32_t largest = largest_mtu(info, pool);
  if (config.mtu && *config.mtu > largest) {
    return "an MTU of " + std::to_string(*config.mtu) + " is more than " + std::to_string(largest) +
           ", the most that the device and a packet's room allow";
  }
  mtu_ = static_cast<uint16_t>(config.mtu.value_or(static_cast<uint16_t>(largest)));
  rte_eth_conf conf{};
  conf.rxmode.mtu = mtu_;
  if (info.driver_name == kXdpDriver) largest_frame_ = mtu_ + kMtuOverheadBytes;
  is_pci_ = rte_bus_name(rte_dev_bus(info.device)) == kPciBus;
  bus_name_ = rte_dev_name(info.device);
  bus_entry_ = kPciFolder + bus_name_;
  // net_tap would look its interface up by name, which fails once it has moved to another network namespace.
  const bool calls_back = (*info.dev_flags & RTE_ETH_DEV_INTR_LSC) != 0 && info.driver_name != kTapDriver;
  tells_link_ = calls_back || is_pci_;
  conf.intr_conf.lsc = calls_back && !is_pci_;
  if (const int rc = rte_eth_dev_configure(port_, 1, 1, &conf); rc != 0) return failed("rte_eth_dev_configure", rc);
  if (!config.mtu) return std::nullopt;
  const int rc = rte_eth_dev_set_mtu(port_, mtu_);
  if (rc != 0 && rc != -ENOTSUP) return failed("rte_eth_dev_set_mtu", rc);
  return std::nullopt;
}

std::optional<std::string> Device::make_queues(const DeviceConfig& config, PacketPool& pool, const Limits& limits) {
  uint16_t rx = config.rx_descriptors;
  uint16_t tx = config.tx_descriptors;
  if (const int rc = rte_eth_dev_adjust_nb_rx_tx_desc(port_, &rx, &tx); rc != 0) {
    return failed("rte_eth_dev_adjust_nb_rx_tx_desc", rc);
  }
  facts_.rx_descriptors = rx;
  facts_.tx_descriptors = tx;
  const int socket = rte_eth_dev_socket_id(port_);
  const auto on = static_cast<unsigned>(socket < 0 ? SOCKET_ID_ANY : socket);
  if (const int rc = rte_eth_rx_queue_setup(port_, 0, rx, on, &limits.info.default_rxconf, pool.raw()); rc != 0) {
    return failed("rte_eth_rx_queue_setup", rc);
  }
  if (const int rc = rte_eth_tx_queue_setup(port_, 0, tx, on, &limits.info.default_txconf); rc != 0) {
    return failed("rte_eth_tx_queue_setup", rc);
  }
  return std::nullopt;
}

// Where the driver does not report its rings, the sizes that were asked for are taken.
void Device::learn_facts(const DeviceConfig& config) {
  const uint16_t rx = facts_.rx_descriptors;
  const uint16_t tx = facts_.tx_descriptors;
  facts_ = read_device_facts(port_);
  facts_.name = name_;
  facts_.arguments = config.devargs;
  if (facts_.rx_descriptors == 0) facts_.rx_descriptors = rx;
  if (facts_.tx_descriptors == 0) facts_.tx_descriptors = tx;
}

DeviceLink Device::link() {
  const std::lock_guard alone{closing_};
  DeviceLink out{.up = up()};
  rte_eth_link link{};
  if (!is_open_ || rte_eth_link_get_nowait(port_, &link) != 0) return out;
  if (link.link_speed != RTE_ETH_SPEED_NUM_UNKNOWN) out.speed_mbps = link.link_speed;
  out.full_duplex = link.link_duplex == RTE_ETH_LINK_FULL_DUPLEX;
  out.autonegotiated = link.link_autoneg == RTE_ETH_LINK_AUTONEG;
  return out;
}

void Device::watch_link() {
  if (!tells_link_) return;
  up_.store(false, std::memory_order_release);
  if (is_pci_) {
    rte_dev_event_callback_register(bus_name_.c_str(), &Listener::on_request, this);
  } else {
    rte_eth_dev_callback_register(port_, RTE_ETH_EVENT_INTR_LSC, &Listener::on_event, this);
  }
}

void Device::poll_link(const std::stop_token& stop) {
  std::unique_lock guard{closing_};
  while (!closed_.wait_for(guard, stop, kPollLinkEvery, [&] { return stop.stop_requested() || is_let_go_; })) {
    look_at_link();
  }
  if (is_let_go_) end();
}

void Device::look_whether_gone() noexcept {
  if (!is_pci_ || is_gone() || access(bus_entry_.c_str(), F_OK) == 0) return;
  is_lost_.store(true, std::memory_order_release);
  is_gone_.store(true, std::memory_order_release);
}

void Device::let_go() noexcept {
  const std::lock_guard guard{closing_};
  is_let_go_ = true;
  closed_.notify_one();
}

// Called from the driver's own thread, or the poller's.
void Device::look_at_link() noexcept {
  if (!tells_link_) return;
  look_whether_gone();
  if (is_gone()) return up_.store(false, std::memory_order_release);
  rte_eth_link link{};
  if (rte_eth_link_get_nowait(port_, &link) != 0) return;
  const bool now_up = link.link_status == RTE_ETH_LINK_UP;
  if (up_.exchange(now_up, std::memory_order_acq_rel) != now_up && now_up)
    arrivals_.fetch_add(1, std::memory_order_relaxed);
}

// Drivers without a cable have nothing to take down: then the link's own state is all there is.
void Device::set_link(bool up) noexcept {
  if (tell_link_) return tell_link_(up);
  if (is_gone()) return;
  const std::lock_guard guard{closing_};
  if (is_gone()) return;
  up ? rte_eth_dev_set_link_up(port_) : rte_eth_dev_set_link_down(port_);
}

uint32_t Device::send(rte_mbuf** frames, uint32_t count) noexcept {
  if (is_pci_) {
    for (uint32_t i = 0; i < count; ++i) SOFTSPINE_CHECK(PacketPool::has_io_address(frames[i]), port_, i);
  }
  return rte_eth_tx_burst(port_, 0, frames, static_cast<uint16_t>(count));
}

Device::~Device() {
  close();
}

void Device::close() noexcept {
  if (poller_.joinable()) {
    poller_.request_stop();
    poller_.join();
  }
  end();
}

// One that vfio's kernel wants is taken off DPDK's bus as well, which is what that waits for.
void Device::end() noexcept {
  if (!std::exchange(is_open_, false)) return;
  companion_.reset();
  rte_device* backing = nullptr;
  if (rte_eth_dev_info info{}; rte_eth_dev_info_get(port_, &info) == 0) backing = info.device;
  if (is_pci_) {
    while (rte_dev_event_callback_unregister(bus_name_.c_str(), &Listener::on_request, this) == -EAGAIN) continue;
  } else if (tells_link_) {
    rte_eth_dev_callback_unregister(port_, RTE_ETH_EVENT_INTR_LSC, &Listener::on_event, this);
  }
  if (is_lost()) return;
  rte_eth_dev_stop(port_);
  rte_eth_dev_close(port_);
  if ((made_here_ || is_gone()) && backing != nullptr) rte_dev_remove(backing);
}

uint64_t Device::lost() const noexcept {
  rte_eth_stats counted{};
  if (is_gone() || !is_open_ || rte_eth_stats_get(port_, &counted) != 0) return lost_;
  lost_ = counted.imissed + counted.ierrors;
  return lost_;
}

EtherAddress Device::address() const {
  EtherAddress address{};
  rte_ether_addr raw;
  if (rte_eth_macaddr_get(port_, &raw) == 0) std::memcpy(address.data(), raw.addr_bytes, address.size());
  return address;
}

namespace {

void add_driver_statistics(uint16_t port, std::map<std::string, uint64_t>& out) {
  const int count = rte_eth_xstats_get(port, nullptr, 0);
  if (count <= 0) return;
  std::vector<rte_eth_xstat> values(static_cast<size_t>(count));
  std::vector<rte_eth_xstat_name> names(values.size());
  if (rte_eth_xstats_get(port, values.data(), static_cast<unsigned>(count)) != count) return;
  if (rte_eth_xstats_get_names(port, names.data(), static_cast<unsigned>(count)) != count) return;
  for (size_t i = 0; i < values.size(); ++i) out.emplace(names[i].name, values[i].value);
}

}  // namespace

std::map<std::string, uint64_t> Device::statistics() const {
  std::map<std::string, uint64_t> out;
  if (is_gone() || !is_open_) return out;
  add_driver_statistics(port_, out);
  if (count_) count_(out);
  return out;
}

}  // namespace softspine::dataplane
