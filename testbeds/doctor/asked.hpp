// SPDX-License-Identifier: Apache-2.0
// The demands of a testbed on the machine that it is to run on, or, without one, all that softspine can use.
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <vector>

#include "control/model/testbed.hpp"
#include "testbeds/run/device_need.hpp"

namespace softspine::testbeds {

// The users of this machine's parts beside its processors and memory.
enum class Use : uint8_t {
  kTap,
  kAfPacket,
  kAfXdp,
  kDpdkPcap,  // net_pcap on an interface
  kPci,
  kNamespace,
  kVerbs,
  kUml,
  kQemu,
  kUio,   // PCI devices whose kernel driver is uio_pci_generic
  kVfio,  // or vfio-pci
};
inline constexpr size_t kUses = static_cast<size_t>(Use::kVfio) + 1;

// Bit n: the use of number n.
using UseSet = uint32_t;
constexpr UseSet uses(std::same_as<Use> auto... each) {
  return ((UseSet{1} << static_cast<uint32_t>(each)) | ...);
}
// "TAP edges, namespaces"
std::string words_of(UseSet uses);

struct AskedInterface {
  std::string host;
  std::string name;
  uint32_t mtu = 0;  // of its link
  Use use = Use::kTap;
};
struct AskedDevice {
  std::string host;
  std::string address;  // "0000:3b:00.0"
};

struct Asked {
  const control::Testbed* testbed = nullptr;  // none: all that softspine can use
  UseSet used = 0;
  std::vector<AskedInterface> taps;        // to be made
  std::vector<AskedInterface> interfaces;  // to be there
  std::vector<AskedDevice> devices;
  bool bonds = false;  // in namespaces
  bool vlans = false;
  DeviceNeed need;            // DPDK's memory
  uint64_t locked_bytes = 0;  // that the kernel has to keep in memory

  bool has(Use use) const { return (used & uses(use)) != 0; }
};

// The testbed must outlive it.
Asked asked_by(const control::Testbed& testbed);
Asked all_of_it();

}  // namespace softspine::testbeds
