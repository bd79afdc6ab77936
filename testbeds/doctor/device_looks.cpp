// SPDX-License-Identifier: Apache-2.0
// NICs on the PCI bus: hugepages, an IOMMU, and each device that the testbed names.
#include <fmt/format.h>

#include <algorithm>

#include "dataplane/packet/memory_shortage.hpp"
#include "testbeds/doctor/looks.hpp"
#include "testbeds/doctor/pci_device.hpp"

namespace softspine::testbeds {

namespace {

constexpr const char* kDevices = "sys/bus/pci/devices/";
constexpr std::string_view kUioDriver = "uio_pci_generic";

bool has_iommu(const Machine& machine) {
  return !machine.names_in("sys/kernel/iommu_groups").empty();
}

void look_at_hugepages(const Examination& it, Findings& out) {
  Finding finding{.what = "hugepages", .fact = {}, .mend = {}};
  const int node = it.asked.need.numa_node(it.machine.root());
  const auto pages = dataplane::read_hugepages(it.machine.root() / dataplane::hugepage_folder(node).substr(1));
  if (const auto lack = dataplane::hugepage_lack(uint64_t{it.asked.need.eal_mebibytes} << 20, pages, node)) {
    finding.state = State::kMissing;
    finding.fact = lack->fact;
    finding.mend = lack->command.empty() ? "a kernel with hugetlbfs" : "as root: " + lack->command;
  } else {
    finding.fact = fmt::format("{} MiB asked", it.asked.need.eal_mebibytes);
  }
  for (const dataplane::HugePages& each : pages) {
    finding.fact += fmt::format("; {} of {} of {} MiB are free", each.free, each.total, each.page_bytes >> 20);
  }
  out.push_back(finding);
}

// A device that has a driver which leaves it to programs asks for nothing more.
void look_at_iommu(const Examination& it, Findings& out) {
  const bool by_uio = it.asked.has(Use::kUio);
  if (has_iommu(it.machine))
    return out.push_back({"IOMMU", State::kOk, "the kernel uses it: vfio-pci can be taken", ""});
  out.push_back({"IOMMU", by_uio ? State::kOk : State::kShort, "the kernel uses none: uio_pci_generic has to be taken",
                 by_uio ? "" : "for vfio-pci boot with intel_iommu=on or amd_iommu=on"});
}

std::string bind_commands(const Machine& machine, const PciDevice& device) {
  const std::string_view driver = has_iommu(machine) ? kVfioDriver : kUioDriver;
  const std::string folder = "/" + std::string(kDevices) + device.address;
  std::string out = fmt::format("as root: modprobe {}; echo {} >{}/driver_override", driver, driver, folder);
  if (!device.driver.empty()) out += fmt::format("; echo {} >{}/driver/unbind", device.address, folder);
  return out + fmt::format("; echo {} >/sys/bus/pci/drivers_probe", device.address);
}

// The file through which a program reaches it; empty: none.
std::string way_to(const Machine& machine, const PciDevice& device) {
  if (device.driver == kVfioDriver) return "dev/vfio/" + device.iommu_group;
  const auto numbers = machine.names_in(kDevices + device.address + "/uio");
  return numbers.empty() ? "" : "dev/" + numbers.front();
}

std::string ethernet_devices(const Machine& machine) {
  std::string out;
  for (const std::string& address : machine.names_in(kDevices)) {
    const PciDevice device = pci_device(machine, address);
    if (!device.is_network) continue;
    out +=
        fmt::format("{}{} ({})", out.empty() ? "" : ", ", address, device.driver.empty() ? "no driver" : device.driver);
  }
  return out.empty() ? "there is no network device on the PCI bus" : "there are: " + out;
}

Finding bound_device(const Machine& machine, const PciDevice& device, Finding out) {
  const std::string way = way_to(machine, device);
  const std::string obstacle = way.empty() ? "there is no file for it" : machine.why_not_open(way);
  if (obstacle.empty()) return out;
  out.state = State::kMissing;
  out.fact += fmt::format(", /{}: {}", way, obstacle);
  out.mend = "run it as root, or as root: chown USER /" + way;
  return out;
}

Finding device_found(const Examination& it, const AskedDevice& asked) {
  const PciDevice device = pci_device(it.machine, asked.address);
  Finding out{.what = asked.address, .state = State::kMissing, .fact = asked.host + ": ", .mend = {}};
  if (!device.is_there) {
    out.fact += "no such PCI device; " + ethernet_devices(it.machine);
    out.mend = "another address in " + (it.asked.testbed == nullptr ? "FILE" : it.asked.testbed->file);
    return out;
  }
  if (!device.is_network) {
    out.fact += "is no network device";
    out.mend = ethernet_devices(it.machine);
    return out;
  }
  const std::string numa = device.numa_node.starts_with("-") ? "" : ", NUMA node " + device.numa_node;
  out.fact += (device.driver.empty() ? "no driver" : "driver " + device.driver) + numa;
  const bool is_left_to_programs = device.driver == kVfioDriver || is_uio(device.driver);
  if (!is_left_to_programs && !is_bifurcated(device.driver)) {
    out.mend = bind_commands(it.machine, device);
    return out;
  }
  out.state = State::kOk;
  return is_left_to_programs ? bound_device(it.machine, device, std::move(out)) : out;
}

void look_at_devices(const Examination& it, Findings& out) {
  for (const AskedDevice& asked : it.asked.devices) out.push_back(device_found(it, asked));
  if (it.asked.testbed != nullptr) return;
  bool is_any_free = false;
  for (const std::string& address : it.machine.names_in(kDevices)) {
    const PciDevice device = pci_device(it.machine, address);
    is_any_free |=
        device.is_network && (device.driver == kVfioDriver || is_uio(device.driver) || is_bifurcated(device.driver));
  }
  out.push_back({"NICs", is_any_free ? State::kOk : State::kMissing, ethernet_devices(it.machine),
                 is_any_free ? "" : "bind one to vfio-pci or uio_pci_generic: docs/real-hosts.md"});
}

constexpr Look kDeviceLooks[] = {
    {"hugepages", uses(Use::kPci), look_at_hugepages},
    {"IOMMU", uses(Use::kPci), look_at_iommu},
    {"NICs", uses(Use::kPci), look_at_devices},
};

}  // namespace

PciDevice pci_device(const Machine& machine, const std::string& address) {
  const std::string folder = kDevices + address;
  PciDevice out{.address = address};
  out.is_there = machine.has(folder);
  out.is_network = machine.line_in(folder + "/class").value_or("").starts_with("0x02");
  out.driver = machine.link_at(folder + "/driver");
  out.iommu_group = machine.link_at(folder + "/iommu_group");
  out.numa_node = machine.line_in(folder + "/numa_node").value_or("-1");
  return out;
}

bool is_uio(std::string_view driver) {
  return driver == kUioDriver || driver == "igb_uio";
}

bool is_bifurcated(std::string_view driver) {
  return driver == "mlx4_core" || driver == "mlx5_core" || driver == "mana";
}

std::span<const Look> device_looks() {
  return kDeviceLooks;
}

}  // namespace softspine::testbeds
