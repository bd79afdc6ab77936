// SPDX-License-Identifier: Apache-2.0
// Edges that join the fabric to interfaces of the kernel: a TAP by its name, and one end of a veth, in a namespace of
// the test's own so that nothing here meets the machine's network.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <memory>

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

std::string output_of(const std::string& command) {
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe{popen(command.c_str(), "r"), pclose};
  std::string text;
  for (int c = 0; (c = std::fgetc(pipe.get())) != EOF;) text += static_cast<char>(c);
  return text;
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

// TCP needs what the kernel leaves undone between the two ends of a veth: checksums, and segments that fit the MTU.
constexpr const char* kFetch =
    "python3 -c 'import socket; s = socket.create_connection((\\\"10.0.1.2\\\", 5000), 10); "
    "assert sum(iter(lambda: len(s.recv(65536)), 0)) == 5000000'";
constexpr const char* kServe =
    "timeout 30 python3 -c 'import socket; l = socket.create_server((\"\", 5000)); c = l.accept()[0]; "
    "c.sendall(bytes(5000000)); c.close()' &";

// The features of v1 that matter here, as ethtool prints them: "on" and "off", three lines.
std::string offload_of_v1() {
  return output_of(
      "ethtool -k v1 | grep -E '^(tx-checksumming|tcp-segmentation-offload|generic-segmentation-offload):'");
}

TEST_F(KernelEdges, JoinOneEndOfAVethAndCarryTcpFromTheOther) {
  inside([&] {
    ASSERT_EQ(shell("ip link add v0 mtu 9000 type veth peer name v1 mtu 9000 && ip link set v0 up && ip link set v1 up "
                    "&& ip addr add 10.0.1.2/24 dev v1"),
              0);
    const std::string before = offload_of_v1();
    {
      WallTestbed testbed(testbed_with("{af_packet: {interface: v0}}", std::string(kPings) + " && " + kFetch),
                          folder_.path());
      EXPECT_NE(offload_of_v1(), before) << "what it leaves to the receiver by itself makes no test";
      ASSERT_EQ(shell(kServe), 0);
      testbed.start();
      EXPECT_TRUE(testbed.run(30));
      const auto outcome = testbed.hosts().outcomes().front();
      EXPECT_TRUE(outcome.succeeded()) << text_of(outcome.stdout_path) << text_of(outcome.stderr_path);
      EXPECT_THAT(testbed.hosts().notes(), testing::IsEmpty());
    }
    EXPECT_EQ(offload_of_v1(), before) << "not put back";
  });
}

TEST_F(KernelEdges, CarryTcpFromTheOtherEndOfAVethInAnotherNamespace) {
  auto other = NetworkNamespace::make();
  ASSERT_TRUE(other);
  // A process stands in it, as in any container: that is how it can be found.
  pid_t resident = 0;
  ASSERT_TRUE(other->within([&] {
    resident = fork();
    if (resident == 0) {
      pause();
      _exit(0);
    }
  }));
  const auto there = [&](const std::string& command) {
    int status = -1;
    EXPECT_TRUE(other->within([&] { status = shell(command); }));
    return status;
  };
  std::string before;
  inside([&] {
    ASSERT_EQ(
        shell("ip link add v0 mtu 9000 type veth peer name v1 mtu 9000 && ip link set v0 up && ip link set v1 netns " +
              std::to_string(resident)),
        0);
    ASSERT_EQ(there("ip link set v1 up && ip addr add 10.0.1.2/24 dev v1"), 0);
    ASSERT_TRUE(other->within([&] { before = offload_of_v1(); }));
    WallTestbed testbed(testbed_with("{af_packet: {interface: v0}}", std::string(kPings) + " && " + kFetch),
                        folder_.path());
    ASSERT_EQ(there(kServe), 0);
    testbed.start();
    EXPECT_TRUE(testbed.run(30));
    const auto outcome = testbed.hosts().outcomes().front();
    EXPECT_TRUE(outcome.succeeded()) << text_of(outcome.stdout_path) << text_of(outcome.stderr_path);
    EXPECT_THAT(testbed.hosts().notes(), testing::IsEmpty());
  });
  std::string after;
  ASSERT_TRUE(other->within([&] { after = offload_of_v1(); }));
  EXPECT_EQ(after, before) << "not put back";
  kill(resident, SIGKILL);
  waitpid(resident, nullptr, 0);
}

// Nobody stands in the peer's namespace, and it has no name: only this test holds it.
TEST_F(KernelEdges, SayWhatToRunWhereTheOtherEndOfAVethIsOutOfReach) {
  auto other = NetworkNamespace::make();
  ASSERT_TRUE(other);
  inside([&] {
    ASSERT_EQ(
        shell("ip link add v0 mtu 9000 type veth peer name v1 mtu 9000 && ip link set v0 up && ip link set v1 netns "
              "/proc/" +
              std::to_string(getpid()) + "/fd/" + std::to_string(other->descriptor())),
        0);
    WallTestbed testbed(testbed_with("{af_packet: {interface: v0}}", "true"), folder_.path());
    EXPECT_THAT(testbed.hosts().notes(),
                testing::ElementsAre(testing::AllOf(testing::HasSubstr("h1: v0: "), testing::HasSubstr("out of reach"),
                                                    testing::HasSubstr("ethtool -K INTERFACE tx off"))));
  });
}

}  // namespace
}  // namespace softspine::testbeds
