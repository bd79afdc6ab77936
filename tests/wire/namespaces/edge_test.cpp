// SPDX-License-Identifier: Apache-2.0
// Edges that join the fabric to interfaces of the kernel: a TAP by its name, and one end of a veth, in a namespace of
// the test's own so that nothing here meets the machine's network.
#include <gtest/gtest.h>
#include <sched.h>

#include <cstdlib>

#include "testbeds/namespaces/network_namespace.hpp"
#include "tests/wire/outside/wall_testbed.hpp"
#include "tests/wire/process/scratch_folder.hpp"

namespace softspine::testbeds {
namespace {

std::string testbed_with(const std::string& edge, const std::string& run) {
  return "name: it\nrun: {clock: wall}\ntopology:\n  nodes:\n    tor1: {kind: switch, role: tor}\n"
         "    h1: {kind: host, mac: \"02:00:00:00:aa:01\", edge: " +
         edge +
         "}\n"
         "    h2: {kind: host, namespace: {timeout: 20s, run: \"" +
         run +
         "\"}}\n"
         "  links:\n    - {endpoints: [tor1, h1], rate: 10Gbps, mtu: 9000}\n"
         "    - {endpoints: [tor1, h2], rate: 10Gbps, mtu: 9000}\n";
}

int shell(const std::string& command) {
  return std::system(command.c_str());
}

class KernelEdges : public testing::Test {
 protected:
  void SetUp() override {
    auto made = NetworkNamespace::make();
    ASSERT_TRUE(made) << made.error().message;
    space_.emplace(std::move(*made));
  }
  void inside(const std::function<void()>& action) { ASSERT_TRUE(space_->within(action)); }

  std::optional<NetworkNamespace> space_;
  ScratchFolder folder_;
};

constexpr const char* kPings = "ping -n -c 3 -i 0.05 -W 5 10.0.1.2 && ping -n -c 2 -i 0.05 -M do -s 8972 -W 5 10.0.1.2";

TEST_F(KernelEdges, JoinATapByItsName) {
  inside([&] {
    WallTestbed testbed(testbed_with("{tap: {name: fabric0}}", kPings), folder_.path());
    ASSERT_EQ(shell("ip addr add 10.0.1.2/24 dev fabric0"), 0);
    testbed.start();
    EXPECT_TRUE(testbed.run(30));
    const auto outcome = testbed.hosts().outcomes().front();
    EXPECT_TRUE(outcome.succeeded()) << text_of(outcome.stdout_path) << text_of(outcome.stderr_path);
    EXPECT_GE(testbed.edge_counters(0).out_packets, 5U);
  });
  inside([] { EXPECT_NE(shell("ip link show fabric0 2>/dev/null"), 0) << "outlived its edge"; });
}

TEST_F(KernelEdges, JoinOneEndOfAVeth) {
  inside([&] {
    ASSERT_EQ(shell("ip link add v0 mtu 9000 type veth peer name v1 mtu 9000 && ip link set v0 up && ip link set v1 up "
                    "&& ip addr add 10.0.1.2/24 dev v1 && ethtool -K v1 tx off >/dev/null"),
              0);
    const std::string tcp =
        "python3 -c 'import socket; s = socket.create_connection((\\\"10.0.1.2\\\", 5000), 10); "
        "assert sum(iter(lambda: len(s.recv(65536)), 0)) == 5000000'";
    WallTestbed testbed(testbed_with("{af_packet: {interface: v0}}", std::string(kPings) + " && " + tcp),
                        folder_.path());
    ASSERT_EQ(shell("timeout 30 python3 -c 'import socket; l = socket.create_server((\"\", 5000)); c = l.accept()[0]; "
                    "c.sendall(bytes(5000000)); c.close()' &"),
              0);
    testbed.start();
    EXPECT_TRUE(testbed.run(30));
    const auto outcome = testbed.hosts().outcomes().front();
    EXPECT_TRUE(outcome.succeeded()) << text_of(outcome.stdout_path) << text_of(outcome.stderr_path);
  });
}

}  // namespace
}  // namespace softspine::testbeds
