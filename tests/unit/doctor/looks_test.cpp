// SPDX-License-Identifier: Apache-2.0
#include "testbeds/doctor/looks.hpp"

#include <gmock/gmock.h>
#include <linux/capability.h>

#include "testbeds/doctor/pci_device.hpp"
#include "tests/unit/doctor/invented_machine.hpp"

namespace softspine::testbeds {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

constexpr const char* kTap = "edge: {tap: {name: t0}}";
constexpr const char* kPacket = "edge: {af_packet: {interface: eth1}}";
constexpr const char* kXdp = "edge: {dpdk: \"net_af_xdp0,iface=eth1\"}";
constexpr const char* kPci = "edge: {dpdk: \"3b:00.0\"}";
constexpr const char* kSpace = "namespace: {run: \"true\"}";
constexpr const char* kVerbs = "verbs: {run: \"true\"}";
constexpr const char* kUml = "guest: {kind: uml, run: \"true\"}";

uint64_t without(int capability) {
  return ~(1ULL << capability);
}

InterfaceHere good_interface() {
  return {.up = true, .carrier = true, .mtu = 1500, .driver = "veth", .peer = {}, .peer_mtu = 0};
}

TEST(Doctor, FindsAFabricOfBuiltInHostsReadyAndAsksLittle) {
  const InventedMachine it;
  const Findings all = findings_of(it, testbed_with("address: 10.0.1.11", "duration: 1ms"));
  EXPECT_TRUE(is_ready(all));
  size_t asked = 0;
  for (const Finding& each : all) asked += each.state != State::kNotNeeded ? 1 : 0;
  EXPECT_EQ(asked, 3U) << "instruction sets, processors, memory";
  EXPECT_EQ(finding(all, "CAP_NET_RAW").fact, "for AF_PACKET edges, AF_XDP edges, net_pcap on an interface");
}

TEST(Doctor, FindsEachKindOfHostReadyOnAMachineThatHasAll) {
  InventedMachine it;
  it.hugepages(2048, 300, 300);
  it.nic("0000:3b:00.0", "vfio-pci");
  it.link("sys/bus/pci/devices/0000:3b:00.0/iommu_group", "../../../../kernel/iommu_groups/7");
  it.write("sys/kernel/iommu_groups/7/type", "DMA\n");
  it.write("dev/vfio/7", "");
  it.calls.interface = [](const std::string& name) {
    return name == "eth1" ? std::optional(good_interface()) : std::nullopt;
  };
  for (const char* host : {kTap, kPacket, kXdp, kPci, kSpace, kVerbs, kUml, "guest: {kind: qemu, run: \"true\"}"}) {
    const Findings all = findings_of(it, testbed_with(host));
    for (const Finding& each : all) {
      EXPECT_TRUE(each.state == State::kOk || each.state == State::kNotNeeded)
          << host << ": " << each.what << ": " << each.fact;
      EXPECT_EQ(each.mend, "") << each.what;
    }
  }
}

// Each right that is taken away, and who cannot do without it: as the kernel has it (tests/wire/command/doctor.py).
TEST(Doctor, MissesEachRightForThoseWhoAskForIt) {
  const std::vector<std::tuple<int, std::string, std::vector<const char*>>> rights = {
      {CAP_NET_ADMIN, "CAP_NET_ADMIN", {kTap, kPacket, kXdp, kSpace}},
      {CAP_NET_RAW, "CAP_NET_RAW", {kPacket, kXdp}},
      {CAP_SYS_ADMIN, "CAP_SYS_ADMIN", {kXdp, kSpace}},
  };
  InventedMachine it;
  it.calls.interface = [](const std::string& name) {
    return name == "eth1" ? std::optional(good_interface()) : std::nullopt;
  };
  for (const auto& [number, name, who] : rights) {
    it.write("proc/self/status", InventedMachine::status(without(number), ~0ULL));
    for (const char* host : {kTap, kPacket, kXdp, kSpace, kUml}) {
      const bool misses = std::ranges::find(who, host) != who.end();
      const Findings all = findings_of(it, testbed_with(host));
      EXPECT_EQ(is_ready(all), !misses) << name << ", " << host;
      EXPECT_EQ(finding(all, name).state, misses ? State::kMissing : finding(all, name).state) << host;
    }
  }
}

TEST(Doctor, SaysWhoCanGiveARight) {
  InventedMachine it;
  it.write("proc/self/status", InventedMachine::status(without(CAP_NET_ADMIN), ~0ULL));
  EXPECT_EQ(finding(findings_of(it, testbed_with(kTap)), "CAP_NET_ADMIN").mend, "sudo softspine run it.yaml");
  EXPECT_EQ(finding(findings_of(it, testbed_with(kSpace)), "CAP_NET_ADMIN").mend, "unshare -r softspine run it.yaml");
  it.write("proc/self/status", InventedMachine::status(without(CAP_NET_ADMIN), without(CAP_NET_ADMIN)));
  EXPECT_THAT(finding(findings_of(it, testbed_with(kTap)), "CAP_NET_ADMIN").mend, HasSubstr("--cap-add NET_ADMIN"));
}

TEST(Doctor, CountsRightsOnlyWhereTheyCount) {
  InventedMachine it;
  it.calls.owns_network = [] { return false; };
  it.calls.interface = [](const std::string& name) {
    return name == "eth1" ? std::optional(good_interface()) : std::nullopt;
  };
  EXPECT_EQ(finding(findings_of(it, testbed_with(kTap)), "CAP_NET_ADMIN").state, State::kMissing);
  EXPECT_TRUE(is_ready(findings_of(it, testbed_with(kSpace)))) << "its network is its own";
  it.calls.owns_network = [] { return true; };
  it.write("proc/self/uid_map", "         0       1000          1\n");
  EXPECT_EQ(finding(findings_of(it, testbed_with(kXdp)), "CAP_SYS_ADMIN").state, State::kMissing);
  EXPECT_EQ(finding(findings_of(it, testbed_with(kXdp)), "locked memory").state, State::kMissing);
  EXPECT_EQ(finding(findings_of(it, testbed_with(kPacket)), "locked memory").state, State::kOk) << "8 MiB of 8";
  it.write("proc/self/limits", InventedMachine::limits("unlimited", "8388607"));
  EXPECT_EQ(finding(findings_of(it, testbed_with(kPacket)), "locked memory").state, State::kMissing);
}

TEST(Doctor, SeesWhatTheProcessorLacks) {
  const InventedMachine it;
  it.write("proc/cpuinfo",
           "flags\t\t: cx16 lahf_lm popcnt pni ssse3 sse4_1 sse4_2 avx bmi1 bmi2 f16c fma xsave pclmulqdq\n");
  const Finding found = finding(findings_of(it, testbed_with(kTap)), "instruction sets");
  EXPECT_EQ(found.state, State::kMissing);
  EXPECT_EQ(found.fact, "this processor lacks avx2");
}

// 0-2,6 are four.
TEST(Doctor, ComparesWorkersWithProcessors) {
  const InventedMachine it;
  const auto state = [&](const std::string& run) {
    return finding(findings_of(it, testbed_with(kTap, run)), "processors");
  };
  EXPECT_EQ(state("clock: wall, duration: 1s, workers: 4").state, State::kOk);
  EXPECT_EQ(state("clock: wall, duration: 1s, workers: 5").state, State::kShort);
  EXPECT_EQ(state("clock: wall, duration: 1s, workers: 5").mend, "--workers 4");
  it.write("sys/fs/cgroup/cpu.max", "150000 100000\n");
  EXPECT_EQ(state("clock: wall, duration: 1s, workers: 1").state, State::kOk);
  EXPECT_EQ(state("clock: wall, duration: 1s, workers: 2").mend, "--workers 1");
  it.write("sys/fs/cgroup/cpu.max", "max 100000\n");
  it.write("proc/loadavg", "3.80 3 3 1/100 4242\n");
  EXPECT_EQ(state("clock: wall, duration: 1s, workers: 1").state, State::kShort) << "others have them";
}

TEST(Doctor, ComparesMemoryWithWhatPacketsMayNeed) {
  const InventedMachine it;
  EXPECT_EQ(finding(findings_of(it, testbed_with(kTap)), "memory").state, State::kOk);
  it.write("proc/meminfo", "MemAvailable:   65536 kB\n");
  const Finding found = finding(findings_of(it, testbed_with(kTap)), "memory");
  EXPECT_EQ(found.state, State::kShort);
  EXPECT_THAT(found.fact, StartsWith("64 MiB available; packets may take 56 MiB of it"));
  std::filesystem::remove(it.root / "proc/meminfo");
  EXPECT_EQ(finding(findings_of(it, testbed_with(kTap)), "memory").state, State::kUnknown);
  EXPECT_FALSE(is_ready(findings_of(it, testbed_with(kTap))));
}

TEST(Doctor, SaysThatAProcessMayNotHaveEnoughAddressSpace) {
  const InventedMachine it;
  const auto with = [&](const std::string& bytes) {
    it.write("proc/self/limits", InventedMachine::limits(bytes, "8388608"));
    return finding(findings_of(it, testbed_with(kTap)), "memory");
  };
  EXPECT_EQ(with("unlimited").state, State::kOk);
  EXPECT_EQ(with("1099511627776").state, State::kOk);
  const Finding found = with("1048576");
  EXPECT_EQ(found.state, State::kShort);
  EXPECT_THAT(found.fact, HasSubstr("a process may have 1 MiB of address space"));
  EXPECT_EQ(found.mend, "ulimit -v unlimited");
}

TEST(Doctor, LooksAtTheTunDeviceAndTheNamesOfTaps) {
  InventedMachine it;
  std::filesystem::remove(it.root / "dev/net/tun");
  EXPECT_THAT(finding(findings_of(it, testbed_with(kTap)), "/dev/net/tun").mend, HasSubstr("mknod"));
  EXPECT_FALSE(is_ready(findings_of(it, testbed_with(kSpace))));
  it.calls.interface = [](const std::string&) { return std::optional(good_interface()); };
  EXPECT_EQ(finding(findings_of(it, testbed_with(kTap)), "interface t0").mend, "as root: ip link delete t0");
}

TEST(Doctor, LooksAtEachInterface) {
  InventedMachine it;
  const auto found = [&](const std::optional<InterfaceHere>& here) {
    it.calls.interface = [here](const std::string&) { return here; };
    return finding(findings_of(it, testbed_with(kPacket)), "interface eth1");
  };
  EXPECT_EQ(found(std::nullopt).state, State::kMissing);
  EXPECT_EQ(found(good_interface()).state, State::kOk);
  EXPECT_EQ(found(good_interface()).fact, "h1: veth, MTU 1500");
  InterfaceHere here = good_interface();
  here.mtu = 1499;
  EXPECT_EQ(found(here).mend, "as root: ip link set dev eth1 mtu 1500");
  here = good_interface();
  here.carrier = false;
  EXPECT_THAT(found(here).fact, HasSubstr("no carrier"));
  here.up = false;
  EXPECT_EQ(found(here).mend, "as root: ip link set dev eth1 up");
  EXPECT_EQ(found(here).state, State::kShort);
}

// Both ends of a veth that a kernel (6.18) was asked about: 3,506 was taken, 3,507 was not.
TEST(Doctor, KnowsHowLongAFrameOfXdpMayBe) {
  InventedMachine it;
  InterfaceHere here = good_interface();
  here.peer = "dv1";
  const auto found = [&](uint32_t peer_mtu) {
    here.peer_mtu = peer_mtu;
    it.calls.interface = [here](const std::string&) { return here; };
    return finding(findings_of(it, testbed_with(kXdp)), "interface eth1");
  };
  EXPECT_EQ(found(3506).state, State::kOk);
  EXPECT_EQ(found(3507).state, State::kMissing);
  EXPECT_EQ(found(3507).mend, "as root: ip link set dev dv1 mtu 3506");
}

TEST(Doctor, SaysWhatGuestsAreMadeOf) {
  InventedMachine it;
  it.calls.uml_kernel = [] { return PartHere(""); };
  EXPECT_EQ(finding(findings_of(it, testbed_with(kUml)), "user-mode Linux").state, State::kShort);
  EXPECT_THAT(finding(findings_of(it, testbed_with(kUml)), "user-mode Linux").mend, HasSubstr("guests/kernel/build"));
  it.calls.uml_kernel = [] { return PartHere(std::unexpected("kernel: linux-source-6.1 is not installed")); };
  EXPECT_EQ(finding(findings_of(it, testbed_with(kUml)), "user-mode Linux").mend, "tools/install guests");
  EXPECT_FALSE(is_ready(findings_of(it, testbed_with(kUml))));
}

TEST(Doctor, AsksForQemuWhereUserModeLinuxCannotRun) {
  InventedMachine it;
  EXPECT_EQ(finding(findings_of(it, testbed_with(kUml)), "QEMU").state, State::kNotNeeded);
  it.calls.uml_obstacle = [](const std::string&, const std::string&) {
    return std::string("no process can be traced");
  };
  it.calls.qemu = [] { return PartHere(std::unexpected("qemu: no qemu-system-x86_64")); };
  const Findings all = findings_of(it, testbed_with(kUml));
  EXPECT_EQ(finding(all, "user-mode Linux").state, State::kShort);
  EXPECT_EQ(finding(all, "QEMU").state, State::kMissing);
  EXPECT_EQ(finding(all, "QEMU").mend, "tools/install qemu");
  std::filesystem::remove(it.root / "dev/kvm");
  EXPECT_EQ(finding(findings_of(it, testbed_with(kUml)), "KVM").state, State::kShort);
}

TEST(Doctor, AsksVerbsHostsForTheirLibraryAndTheirMemory) {
  InventedMachine it;
  const auto testbed = testbed_with(kVerbs);
  EXPECT_TRUE(is_ready(findings_of(it, testbed)));
  std::filesystem::remove(it.root / names_library().relative_path());
  EXPECT_EQ(finding(findings_of(it, testbed), "verbs library").fact, names_library().string() + " is not there");
  EXPECT_FALSE(is_ready(findings_of(it, testbed)));

  it.calls.why_no_foreign_memory = [] { return std::string("Operation not permitted"); };
  Finding memory = finding(findings_of(it, testbed), "programs' memory");
  EXPECT_EQ(memory.state, State::kMissing);
  EXPECT_EQ(memory.mend, "a container that is started with --cap-add SYS_PTRACE");
  it.write("proc/sys/kernel/yama/ptrace_scope", "2\n");
  memory = finding(findings_of(it, testbed), "programs' memory");
  EXPECT_EQ(memory.mend, "as root: sysctl kernel.yama.ptrace_scope=1");
  EXPECT_THAT(memory.fact, HasSubstr("ptrace_scope 2"));
  EXPECT_EQ(finding(findings_of(it, testbed_with(kSpace)), "programs' memory").state, State::kNotNeeded);
}

TEST(Doctor, CopiesAChildsMemoryToKnowWhetherItMay) {
  EXPECT_EQ(calls_of_this_machine().why_no_foreign_memory(), "");
}

TEST(Doctor, AsksNamespacesForModulesThatTheyUse) {
  const InventedMachine it;
  EXPECT_EQ(finding(findings_of(it, testbed_with(kSpace)), "8021q").state, State::kNotNeeded);
  const control::Testbed tagged = testbed_with("namespace: {}, vlan: {id: 100}");
  EXPECT_EQ(finding(findings_of(it, tagged), "8021q").mend,
            "boot a kernel that has it, such as Debian's: as root: apt-get install linux-image-amd64");
  it.write("proc/net/vlan/config", "");
  EXPECT_EQ(finding(findings_of(it, tagged), "8021q").state, State::kOk);
}

// 406 MiB: DeviceNeed.IsTheSumOfItsParts.
TEST(Doctor, CountsHugepagesOfAllSizes) {
  const InventedMachine it;
  const auto found = [&] { return finding(findings_of(it, testbed_with(kPci)), "hugepages"); };
  EXPECT_EQ(found().state, State::kMissing) << "the kernel has none";
  it.hugepages(2048, 202, 202);
  EXPECT_EQ(found().mend, "as root: echo 203 >/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages");
  it.hugepages(2048, 203, 203);
  EXPECT_EQ(found().state, State::kOk);
  it.hugepages(2048, 203, 0);
  it.hugepages(1'048'576, 1, 1);
  EXPECT_EQ(found().state, State::kOk);
  EXPECT_THAT(found().fact, HasSubstr("0 of 203 of 2 MiB are free; 1 of 1 of 1024 MiB are free"));
}

// The devices are on node 1, of two; what other nodes have free is of no use.
TEST(Doctor, CountsHugepagesOfTheDevicesNode) {
  const InventedMachine it;
  it.nic("0000:3b:00.0", "vfio-pci");
  it.write("sys/devices/system/node/node1/cpulist", "4-7\n");
  it.hugepages(2048, 500, 500);
  const std::string folder = "sys/devices/system/node/node1/hugepages/hugepages-2048kB/";
  it.write(folder + "nr_hugepages", "10\n");
  it.write(folder + "free_hugepages", "3\n");
  const auto found = [&] { return finding(findings_of(it, testbed_with(kPci)), "hugepages"); };
  EXPECT_THAT(found().fact, HasSubstr("406 MiB of hugepages on its NUMA node 1, and 6 MiB of them are free"));
  EXPECT_EQ(found().mend, "as root: echo 210 >/" + folder + "nr_hugepages");
  it.write("sys/devices/system/node/node1/cpulist", "\n");
  EXPECT_EQ(found().state, State::kOk) << "DPDK takes no memory of a node without processor";
}

class PciDeviceFound : public testing::Test {
 protected:
  Finding found() const { return finding(findings_of(it, testbed_with(kPci)), "0000:3b:00.0"); }
  InventedMachine it;
};

TEST_F(PciDeviceFound, IsThereOrAnotherIs) {
  it.nic("0000:3b:00.1", "ixgbe");
  EXPECT_EQ(found().state, State::kMissing);
  EXPECT_EQ(found().fact, "h1: no such PCI device; there are: 0000:3b:00.1 (ixgbe)");
}

TEST_F(PciDeviceFound, IsANetworkDevice) {
  it.nic("0000:3b:00.0", "vfio-pci");
  it.write("sys/bus/pci/devices/0000:3b:00.0/class", "0x010802\n");
  EXPECT_EQ(found().fact, "h1: is no network device");
}

TEST_F(PciDeviceFound, HasToBeLeftByTheKernelsDriver) {
  it.nic("0000:3b:00.0", "ixgbe");
  EXPECT_EQ(found().state, State::kMissing);
  EXPECT_EQ(found().fact, "h1: driver ixgbe, NUMA node 1");
  EXPECT_EQ(
      found().mend,
      "as root: modprobe uio_pci_generic; echo uio_pci_generic >/sys/bus/pci/devices/0000:3b:00.0/driver_override; "
      "echo "
      "0000:3b:00.0 >/sys/bus/pci/devices/0000:3b:00.0/driver/unbind; echo 0000:3b:00.0 >/sys/bus/pci/drivers_probe");
  it.write("sys/kernel/iommu_groups/7/type", "DMA\n");
  EXPECT_THAT(found().mend, HasSubstr("modprobe vfio-pci; echo vfio-pci >"));
}

TEST_F(PciDeviceFound, IsReachedThroughItsGroup) {
  it.nic("0000:3b:00.0", "vfio-pci");
  it.link("sys/bus/pci/devices/0000:3b:00.0/iommu_group", "../../../../kernel/iommu_groups/7");
  EXPECT_EQ(found().fact, "h1: driver vfio-pci, NUMA node 1, /dev/vfio/7: No such file or directory");
  it.write("dev/vfio/7", "");
  EXPECT_EQ(found().state, State::kOk);
}

// As runs on the four kinds of device in tests/wire/nics/cures.py.
TEST_F(PciDeviceFound, UnderUioAsksForPhysicalAddresses) {
  it.nic("0000:3b:00.0", "uio_pci_generic");
  it.write("sys/bus/pci/devices/0000:3b:00.0/uio/uio3/name", "uio_pci_generic\n");
  EXPECT_EQ(found().state, State::kMissing) << "/dev/uio3 is not there";
  it.write("dev/uio3", "");
  EXPECT_EQ(found().state, State::kOk);
  it.write("proc/self/status", InventedMachine::status(without(CAP_SYS_ADMIN), ~0ULL));
  EXPECT_EQ(finding(findings_of(it, testbed_with(kPci)), "CAP_SYS_ADMIN").state, State::kMissing);
  EXPECT_EQ(finding(findings_of(it, testbed_with(kPci)), "locked memory").state, State::kNotNeeded);
}

TEST(PciDrivers, ThatLeaveDevicesToProgramsAreTwoOfUioAndVfio) {
  EXPECT_TRUE(is_uio("uio_pci_generic"));
  EXPECT_TRUE(is_uio("igb_uio"));
  EXPECT_FALSE(is_uio("igb"));
  EXPECT_FALSE(is_uio("vfio-pci"));
  for (const char* driver : {"mlx4_core", "mlx5_core", "mana"}) EXPECT_TRUE(is_bifurcated(driver)) << driver;
  EXPECT_FALSE(is_bifurcated("ixgbe"));
}

TEST_F(PciDeviceFound, UnderVfioAsksForLockedMemory) {
  it.nic("0000:3b:00.0", "vfio-pci");
  it.write("proc/self/status", InventedMachine::status(without(CAP_IPC_LOCK), ~0ULL));
  const Finding locked = finding(findings_of(it, testbed_with(kPci)), "locked memory");
  EXPECT_EQ(locked.state, State::kMissing);
  EXPECT_EQ(locked.fact, "415744 KiB asked, 8192 KiB allowed, and we have no CAP_IPC_LOCK on this machine");
  EXPECT_EQ(finding(findings_of(it, testbed_with(kPci)), "CAP_SYS_ADMIN").state, State::kNotNeeded);
}

TEST_F(PciDeviceFound, OfMellanoxStaysWithTheKernel) {
  it.nic("0000:3b:00.0", "mlx5_core");
  EXPECT_EQ(found().state, State::kOk);
}

TEST(Doctor, WithoutATestbedLooksAtAllOfIt) {
  InventedMachine it;
  it.nic("0000:00:03.0", "virtio-pci");
  const Findings all = examine(it.machine(), all_of_it());
  EXPECT_EQ(finding(all, "NICs").fact, "there are: 0000:00:03.0 (virtio-pci)");
  for (const Finding& each : all) {
    EXPECT_NE(each.state, State::kNotNeeded) << each.what;
    EXPECT_TRUE(each.state != State::kMissing || !each.mend.empty()) << each.what;
  }
}

}  // namespace
}  // namespace softspine::testbeds
