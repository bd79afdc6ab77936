// SPDX-License-Identifier: Apache-2.0
// One port of any DPDK device, by its devargs or PCI address, with one receive and one transmit queue:
//
//   "net_memif0,socket=/run/m.sock"    "net_pcap0,rx_pcap=in.pcap,infinite_rx=1"    "0000:3b:00.0"
//
// A virtual device is created and removed by this class. A PCI device must be named when EAL starts (EalConfig::pci)
// and is left as it was found. The port is promiscuous, takes jumbo frames as far as the device does, and uses no
// offload. Control opens and closes it; its queues belong to the one worker that owns the edge.
//
// A PCI device reads packets by itself: it is given only such as have an IO address (PacketPool::has_io_address). A
// thread polls its link, in place of an interrupt: not every driver's interrupt works under every kernel module,
// and DPDK polls no driver that is configured to use its interrupt.
//
// A PCI device can be taken out of the machine. Its owner sees is_gone(), leaves its queues alone from then on, and
// calls let_go(). Under vfio the kernel asks for the device and waits: the thread that asks for the link ends it, since
// no worker waits for a driver. Under uio and kernel drivers it is lost: the bus no longer knows it, and its registers
// read as zeros or ones. Its driver is not called again (e1000e's waits half a minute for such registers), and what
// lies in its rings never comes back.
//
// Invariant: after close() the pool has back every packet the device held, unless it is lost.
#pragma once

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <expected>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>

#include "dataplane/dpdk/device_facts.hpp"
#include "dataplane/edge/edge_counters.hpp"
#include "dataplane/packet/pool.hpp"

namespace softspine::dataplane {

using EtherAddress = std::array<uint8_t, 6>;

struct DeviceConfig {
  std::string devargs;
  std::optional<uint16_t> mtu;  // none: up to 9216, whatever the device and the pool's room allow
  std::optional<EtherAddress> address;
  uint16_t rx_descriptors = 1024;  // both are clamped to the device's limits
  uint16_t tx_descriptors = 1024;
  // Called when the device is configured and not yet started, for settings that only one kind of device needs.
  std::function<std::optional<std::string>()> before_start;
};

class Device {
 public:
  // Received frames come from `pool`, which must outlive the device.
  static std::expected<std::unique_ptr<Device>, EdgeError> open(const DeviceConfig& config, PacketPool& pool);
  ~Device();
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  // Whether the machine has lost the PCI device, or its kernel wants it back. Any thread; it stays so.
  bool is_gone() const noexcept { return is_gone_.load(std::memory_order_acquire); }
  // For devices that are gone: whether it is so already, with the packets in its rings. Any thread.
  bool is_lost() const noexcept { return is_lost_.load(std::memory_order_acquire); }
  // A PCI device: looks whether the bus still has it. Any thread; slow.
  void look_whether_gone() noexcept;
  // For a device that is gone: nobody uses its queues any more.
  void let_go() noexcept;

  // Ends what runs in the device: its rings give their packets back, its counters are gone. The destructor does it,
  // too.
  void close() noexcept;

  // Keeps a companion object, which ends just before the device does. `count` adds the companion's counters to the
  // statistics; any thread may call it.
  using Count = std::function<void(std::map<std::string, uint64_t>& out)>;
  // `complain` returns what has gone wrong since the last call; one thread.
  using Complain = std::function<std::string()>;
  void keep(std::shared_ptr<void> companion, Count count = {}, Complain complain = {}) {
    companion_ = std::move(companion);
    count_ = std::move(count);
    complain_ = std::move(complain);
  }
  // A sentence; empty: nothing new.
  std::string trouble() const { return complain_ ? complain_() : ""; }

  // Shows a peer that the link is up or down: a companion's function, for a driver that cannot do it.
  using TellLink = std::function<void(bool up)>;
  void tell_link_by(TellLink tell) { tell_link_ = std::move(tell); }
  // Takes the device's link up or down, as far as driver or companion can. Any one thread beside the worker's.
  void set_link(bool up) noexcept;
  // Whether up() is the state of a cable, and not whether a peer has been started.
  bool has_cable() const { return tells_link_ && !tell_link_; }

  // Hands frames over; how many it took. Those that it took may be gone.
  uint32_t send(rte_mbuf** frames, uint32_t count) noexcept;
  // Longer ones are not for send(): AF_XDP's driver would write behind its own.
  uint32_t largest_frame() const { return largest_frame_; }
  // Whether frames without an IO address would leave as other bytes.
  bool needs_io_addresses() const { return is_pci_; }

  const DeviceFacts& facts() const { return facts_; }
  // As the driver has it now. Any thread but the worker's, which waits for nobody; while the device is open.
  DeviceLink link();

  uint16_t port() const { return port_; }
  const std::string& name() const { return name_; }
  uint16_t mtu() const { return mtu_; }
  EtherAddress address() const;
  // The counters of the driver and the companion, by their own names.
  std::map<std::string, uint64_t> statistics() const;
  // Frames from outside that the device or its driver has dropped, and counts: its ring was full, or it takes no such
  // frame. For a device that is gone: the last value read. One thread.
  uint64_t lost() const noexcept;

  // Whether a peer is there to take frames; always true for a driver that does not report it. Any thread.
  bool up() const noexcept { return up_.load(std::memory_order_acquire); }
  // How often a peer has connected (2 for a guest that was killed and restarted). Any thread.
  uint64_t arrivals() const noexcept { return arrivals_.load(std::memory_order_relaxed); }

 private:
  struct Limits;
  struct Listener;  // gives DPDK's callbacks their right type
  Device(std::string name, uint16_t port, bool made_here)
      : name_(std::move(name)), port_(port), made_here_(made_here) {}
  std::optional<std::string> set_up(const DeviceConfig& config, PacketPool& pool);
  std::optional<std::string> configure(const DeviceConfig& config, const PacketPool& pool, Limits& limits);
  std::optional<std::string> make_queues(const DeviceConfig& config, PacketPool& pool, const Limits& limits);
  void learn_facts(const DeviceConfig& config);
  void watch_link();
  void look_at_link() noexcept;
  void poll_link(const std::stop_token& stop);
  void end() noexcept;

  std::string name_;
  uint16_t port_;
  DeviceFacts facts_;
  uint16_t mtu_ = 0;
  uint32_t largest_frame_ = kMaxFrameBytes;
  bool made_here_;
  bool is_open_ = true;
  bool is_pci_ = false;
  bool is_let_go_ = false;
  std::string bus_name_;     // a PCI device's address in full
  std::string bus_entry_;    // its folder, while the bus has it
  bool tells_link_ = false;  // a PCI device when it is asked, another by a callback
  std::shared_ptr<void> companion_;
  Count count_;
  Complain complain_;
  TellLink tell_link_;
  mutable uint64_t lost_ = 0;
  std::atomic<bool> up_{true};
  std::atomic<bool> is_gone_{false};
  std::atomic<bool> is_lost_{false};
  std::atomic<uint64_t> arrivals_{0};
  std::mutex closing_;  // one of poller and link() at a time: drivers ask their hardware without a lock
  std::condition_variable_any closed_;
  std::jthread poller_;  // last: it ends before what it uses
};

}  // namespace softspine::dataplane
