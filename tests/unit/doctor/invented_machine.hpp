// SPDX-License-Identifier: Apache-2.0
// A machine that is not this one: a folder with the files of /proc, /sys and /dev that a test writes, and answers that
// it gives. As it begins it has all that softspine can use, but for PCI devices.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <string>

#include "control/load/load.hpp"
#include "testbeds/doctor/looks.hpp"
#include "testbeds/verbs_device/verbs_libraries_here.hpp"

namespace softspine::testbeds {

class InventedMachine {
 public:
  InventedMachine() {
    std::string made = "/tmp/softspine-machine-XXXXXX";
    if (mkdtemp(made.data()) == nullptr) throw std::runtime_error("no folder");
    root = made;
    write("proc/cpuinfo",
          "processor\t: 0\nflags\t\t: fpu cx16 lahf_lm popcnt pni ssse3 sse4_1 sse4_2 avx avx2 bmi1 bmi2 f16c fma "
          "xsave "
          "pclmulqdq\n");
    write("proc/self/status", status(~0ULL, ~0ULL));
    for (const auto& file : {verbs_library_folder() / "libibverbs.so.1", names_library()})
      write(file.relative_path(), "");
    write("proc/self/uid_map", "         0          0 4294967295\n");
    write("proc/self/limits", limits("unlimited", "8388608"));
    write("proc/loadavg", "0.20 0.10 0.05 1/100 4242\n");
    write("proc/meminfo", "MemTotal: 33554432 kB\nMemAvailable:   16777216 kB\n");
    write("proc/sys/kernel/osrelease", "6.1.0-test\n");
    for (const char* device : {"dev/net/tun", "dev/kvm"}) write(device, "");
    calls = {.owns_network = [] { return true; },
             .interface = [](const std::string&) { return std::optional<InterfaceHere>{}; },
             .why_no_namespace = [] { return std::string(); },
             .why_no_xdp = [] { return std::string(); },
             .has_program = [](const std::string&) { return true; },
             .why_no_foreign_memory = [] { return std::string(); },
             .uml_kernel = [] { return PartHere("/cache/linux"); },
             .guest_root = [] { return PartHere("/cache/root"); },
             .qemu = [] { return PartHere("/cache/initramfs"); },
             .uml_obstacle = [](const std::string&, const std::string&) { return std::string(); }};
  }
  ~InventedMachine() { std::filesystem::remove_all(root); }
  InventedMachine(const InventedMachine&) = delete;
  InventedMachine& operator=(const InventedMachine&) = delete;

  static std::string status(uint64_t effective, uint64_t bounding) {
    char text[160];
    std::snprintf(text, sizeof text, "Name:\tit\nCapEff:\t%016llx\nCapBnd:\t%016llx\nCpus_allowed_list:\t0-2,6\n",
                  static_cast<unsigned long long>(effective), static_cast<unsigned long long>(bounding));
    return text;
  }
  static std::string limits(const std::string& space, const std::string& locked) {
    return "Limit                     Soft Limit           Hard Limit           Units\nMax locked memory         " +
           locked + "              8388608              bytes\nMax address space         " + space +
           "            unlimited            bytes\n";
  }
  void write(const std::string& path, const std::string& text) const {
    std::filesystem::create_directories((root / path).parent_path());
    std::ofstream(root / path) << text;
  }
  void link(const std::string& path, const std::string& to) const {
    std::filesystem::create_directories((root / path).parent_path());
    std::filesystem::create_symlink(to, root / path);
  }
  void hugepages(uint64_t kibibytes, uint64_t total, uint64_t free) const {
    const std::string folder = "sys/kernel/mm/hugepages/hugepages-" + std::to_string(kibibytes) + "kB/";
    write(folder + "nr_hugepages", std::to_string(total));
    write(folder + "free_hugepages", std::to_string(free));
  }
  // An Ethernet device on NUMA node 1.
  void nic(const std::string& address, const std::string& driver) const {
    const std::string folder = "sys/bus/pci/devices/" + address + "/";
    write(folder + "class", "0x020000\n");
    write(folder + "numa_node", "1\n");
    if (!driver.empty()) link(folder + "driver", "../../../../bus/pci/drivers/" + driver);
  }

  Machine machine() const { return Machine(root, calls); }

  std::filesystem::path root;
  MachineCalls calls;
};

// A ToR with built-in h2, and h1 as `host` says; links of MTU 1500.
inline control::Testbed testbed_with(const std::string& host, const std::string& run = "clock: wall, duration: 1s") {
  auto testbed = control::parse_testbed("name: it\nrun: {" + run +
                                            "}\ntopology:\n  nodes:\n    tor1: {kind: switch, role: tor}\n"
                                            "    tor2: {kind: switch, role: tor}\n    h1: {kind: host, " +
                                            host +
                                            "}\n    h2: {kind: host}\n  links:\n"
                                            "    - {endpoints: [tor1, h1], rate: 10Gbps, mtu: 1500}\n"
                                            "    - {endpoints: [tor1, h2], rate: 10Gbps, mtu: 1500}\n"
                                            "    - {endpoints: [tor2, h2], rate: 10Gbps, mtu: 1500}\n",
                                        "it.yaml");
  if (!testbed) throw std::runtime_error(control::to_string(testbed.error().front()));
  return std::move(*testbed);
}

inline Findings findings_of(const InventedMachine& it, const control::Testbed& testbed) {
  return examine(it.machine(), asked_by(testbed));
}

inline Finding finding(const Findings& all, const std::string& what) {
  for (const Finding& each : all) {
    if (each.what == what) return each;
  }
  ADD_FAILURE() << "nothing is said of " << what;
  return {};
}

}  // namespace softspine::testbeds
