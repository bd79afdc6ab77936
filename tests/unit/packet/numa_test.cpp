// SPDX-License-Identifier: Apache-2.0
#include "dataplane/packet/numa.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <string>

#include "dataplane/packet/memory_shortage.hpp"

namespace softspine::dataplane {
namespace {

class NumaNodeOf : public testing::Test {
 protected:
  NumaNodeOf() {
    std::string made = "/tmp/softspine-numa-XXXXXX";
    root_ = mkdtemp(made.data());
    for (const char* node : {"0", "1"}) set_processors(node, "0-3");
  }
  ~NumaNodeOf() override { std::filesystem::remove_all(root_); }

  void write(const std::filesystem::path& path, const std::string& text) const {
    std::filesystem::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text << "\n";
  }
  void set_processors(const std::string& node, const std::string& list) const {
    write("sys/devices/system/node/node" + node + "/cpulist", list);
  }
  void set_device(const std::string& address, const std::string& node) const {
    write("sys/bus/pci/devices/" + address + "/numa_node", node);
  }

  std::filesystem::path root_;
};

TEST_F(NumaNodeOf, IsThatOfMostDevicesAndOfEqualsTheLowest) {
  set_device("a", "1");
  set_device("b", "0");
  set_device("c", "1");
  EXPECT_EQ(numa_node_of({"a", "b", "c"}, root_), 1);
  EXPECT_EQ(numa_node_of({"a", "b"}, root_), 0);
  EXPECT_EQ(numa_node_of({"b"}, root_), 0);
}

TEST_F(NumaNodeOf, IsNoneWhereNoDeviceHasOne) {
  set_device("a", "-1");
  EXPECT_EQ(numa_node_of({"a", "not-there"}, root_), kNoNumaNode);
  EXPECT_EQ(numa_node_of({}, root_), kNoNumaNode);
}

TEST_F(NumaNodeOf, IsNoneWithoutProcessors) {
  set_device("a", "1");
  set_processors("1", "");
  EXPECT_EQ(numa_node_of({"a"}, root_), kNoNumaNode);
}

TEST_F(NumaNodeOf, IsNoneOnAMachineOfOneNode) {
  set_device("a", "0");
  std::filesystem::remove_all(root_ / "sys/devices/system/node/node1");
  EXPECT_EQ(numa_node_of({"a"}, root_), kNoNumaNode);
}

}  // namespace
}  // namespace softspine::dataplane
