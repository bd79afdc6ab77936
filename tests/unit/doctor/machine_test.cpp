// SPDX-License-Identifier: Apache-2.0
#include "testbeds/doctor/machine.hpp"

#include <gmock/gmock.h>
#include <linux/capability.h>

#include "tests/unit/doctor/invented_machine.hpp"

namespace softspine::testbeds {
namespace {

TEST(Machine, ReadsRightsByTheirNumbers) {
  InventedMachine it;
  it.write("proc/self/status", InventedMachine::status(1ULL << CAP_NET_ADMIN | 1ULL << CAP_BPF, 1ULL << CAP_NET_RAW));
  EXPECT_TRUE(it.machine().holds(CAP_NET_ADMIN));
  EXPECT_TRUE(it.machine().holds(CAP_BPF));
  EXPECT_FALSE(it.machine().holds(CAP_NET_RAW));
  EXPECT_TRUE(it.machine().could_hold(CAP_NET_RAW));
  EXPECT_FALSE(it.machine().could_hold(CAP_NET_ADMIN));
}

TEST(Machine, KnowsTheFirstUserNamespaceByItsMap) {
  InventedMachine it;
  EXPECT_TRUE(it.machine().is_in_first_user_namespace());
  it.write("proc/self/uid_map", "         0       1000          1\n");
  EXPECT_FALSE(it.machine().is_in_first_user_namespace());
  it.write("proc/self/uid_map", "         0          0          1\n");
  EXPECT_FALSE(it.machine().is_in_first_user_namespace()) << "root's own unshare -r";
}

TEST(Machine, ReadsLimitsAndTheirAbsence) {
  InventedMachine it;
  EXPECT_EQ(it.machine().limit("Max locked memory"), 8'388'608U);
  EXPECT_EQ(it.machine().limit("Max address space"), std::nullopt);
}

TEST(Machine, FindsModulesThatAreLoadedBuiltInOrOnlyThere) {
  InventedMachine it;
  EXPECT_FALSE(it.machine().has_module("bonding"));
  std::filesystem::create_directories(it.root / "sys/module/bonding");
  EXPECT_TRUE(it.machine().has_module("bonding"));
  it.write("lib/modules/6.1.0-test/modules.builtin", "kernel/net/8021q/8021q.ko\n");
  EXPECT_TRUE(it.machine().has_module("8021q"));
  it.write("lib/modules/6.1.0-test/modules.dep",
           "kernel/drivers/vfio/pci/vfio-pci.ko.xz: kernel/drivers/vfio/vfio.ko.xz\n");
  EXPECT_TRUE(it.machine().has_module("vfio-pci"));
  EXPECT_FALSE(it.machine().has_module("vfio")) << "it is only needed there";
}

TEST(Machine, SaysWhyAFileCannotBeOpened) {
  InventedMachine it;
  EXPECT_EQ(it.machine().why_not_open("dev/net/tun"), "");
  EXPECT_EQ(it.machine().why_not_open("dev/vfio/7"), "No such file or directory");
}

}  // namespace
}  // namespace softspine::testbeds
