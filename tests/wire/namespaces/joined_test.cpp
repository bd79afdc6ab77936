// SPDX-License-Identifier: Apache-2.0
// Hosts that join a network namespace that is there already: they go through the fabric, and leave it as it was.
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <memory>

#include "testbeds/namespaces/network_namespace.hpp"
#include "tests/wire/outside/wall_testbed.hpp"
#include "tests/wire/process/scratch_folder.hpp"

namespace softspine::testbeds {
namespace {

using testing::Test;

// All that a namespace has of a network, but for the counters.
constexpr const char* kLook =
    "ip -o link | sed 's/ qdisc.*//'; ip -o addr; ip route show table all; ip -6 route show table all; "
    "cat /proc/sys/net/ipv4/conf/all/arp_ignore /proc/sys/net/ipv4/conf/all/arp_announce "
    "/proc/sys/net/ipv6/conf/all/accept_ra; ip rule";

std::string said_by(const std::string& command) {
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), pclose);
  std::string out;
  std::array<char, 512> part{};
  for (size_t n = 0; (n = fread(part.data(), 1, part.size(), pipe.get())) > 0;) out.append(part.data(), n);
  return out;
}

class JoinedNamespaces : public Test {
 protected:
  JoinedNamespaces() : space_(NetworkNamespace::make()) {}
  void SetUp() override {
    ASSERT_TRUE(space_) << space_.error().message;
    // As a container has it: another network, and the way to all others by it. Without duplicate address detection,
    // which would end during the run.
    in("echo 0 > /proc/sys/net/ipv6/conf/default/accept_dad && ip link add eth0 type veth peer name peer0 && ip link "
       "set peer0 up && ip link set eth0 up && ip addr add "
       "192.0.2.2/24 dev eth0 && "
       "ip route add default via 192.0.2.1");
  }

  std::string in(const std::string& command) const {
    std::string out;
    EXPECT_TRUE(space_->within([&] { out = said_by(command); }));
    return out;
  }
  std::string file() const {
    return "/proc/" + std::to_string(getpid()) + "/fd/" + std::to_string(space_->descriptor());
  }

  // h1 joins; h2 is behind another ToR.
  std::string testbed(const std::string& join, const std::string& run) const {
    return "name: it\nrun: {clock: wall}\ntopology:\n  nodes:\n"
           "    tor1: {kind: switch, role: tor}\n    tor2: {kind: switch, role: tor}\n"
           "    spine1: {kind: switch, role: aggregation}\n"
           "    h1: {kind: host, namespace: {" +
           join + ", timeout: 20s, run: '" + run +
           "'}}\n"
           "    h2: {kind: host, namespace: {timeout: 20s, run: 'ping -n -c 2 -i 0.05 -W 5 h1'}}\n"
           "  links:\n    - {endpoints: [tor1, h1], rate: 10Gbps}\n    - {endpoints: [tor2, h2], rate: 10Gbps}\n"
           "    - {endpoints: [tor1, spine1], rate: 10Gbps}\n    - {endpoints: [tor2, spine1], rate: 10Gbps}\n";
  }

  std::vector<OutsideOutcome> outcomes_of(const std::string& yaml) {
    WallTestbed testbed(yaml, folder_.path());
    testbed.start();
    EXPECT_TRUE(testbed.run(40));
    testbed.hosts().stop(std::chrono::seconds{3});
    return testbed.hosts().outcomes();
  }
  std::string refused(const std::string& yaml) {
    try {
      WallTestbed testbed(yaml, folder_.path());
      testbed.start();
    } catch (const std::runtime_error& error) {
      return error.what();
    }
    return "";
  }
  static std::string said(const OutsideOutcome& outcome) {
    return text_of(outcome.stdout_path) + text_of(outcome.stderr_path) + text_of(outcome.console_path);
  }

  ScratchFolder folder_;
  std::expected<NetworkNamespace, Error> space_;
};

TEST_F(JoinedNamespaces, ReachTheFabricAndAreLeftAsTheyWere) {
  const std::string before = in(kLook);
  const auto outcomes = outcomes_of(testbed(
      "join: " + file(),
      "set -e; ping -n -c 2 -i 0.05 -W 5 10.0.2.2; ping -n -c 2 -i 0.05 -W 5 fd00:0:0:2::2; ip route; ip -6 route"));
  ASSERT_EQ(outcomes.size(), 2U);
  for (const auto& outcome : outcomes) EXPECT_TRUE(outcome.succeeded()) << outcome.host << said(outcome);
  const std::string routes = text_of(outcomes[0].stdout_path);
  EXPECT_NE(routes.find("\n10.0.2.0/24 via 10.0.1.1 dev fabric0"), std::string::npos) << routes;
  EXPECT_NE(routes.find("\nfd00:0:0:2::/64 via fd00:0:0:1::1 dev fabric0"), std::string::npos) << routes;
  EXPECT_NE(routes.find("default via 192.0.2.1 dev eth0"), std::string::npos) << routes;
  EXPECT_EQ(routes.find("default via 10.0.1.1"), std::string::npos) << routes;
  EXPECT_EQ(outcomes[0].counters.count("fabric0 tx_packets"), 1U);
  EXPECT_EQ(in(kLook), before);
}

TEST_F(JoinedNamespaces, MayBeNamedByAProcessAndCallThePortAsTheyWill) {
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  pid_t process = -1;
  EXPECT_TRUE(space_->within([&] {
    process = fork();
    if (process != 0) return;
    close(ready[1]);
    char none = 0;
    _exit(read(ready[0], &none, 1) == 0 ? 0 : 1);  // until the test ends
  }));
  close(ready[0]);
  const auto outcomes = outcomes_of(testbed("join: " + std::to_string(process) + ", interface: rail0",
                                            "ping -n -I rail0 -c 2 -i 0.05 -W 5 10.0.2.2"));
  for (const auto& outcome : outcomes) EXPECT_TRUE(outcome.succeeded()) << outcome.host << said(outcome);
  close(ready[1]);
}

TEST_F(JoinedNamespaces, ThatCannotBeJoinedAreRefusedWithTheirFile) {
  EXPECT_NE(refused(testbed("join: /run/netns/none-of-this-name", "true")).find("/run/netns/none-of-this-name"),
            std::string::npos);
  EXPECT_NE(refused(testbed("join: /etc/passwd", "true")).find("/etc/passwd: is not a network namespace"),
            std::string::npos);
  EXPECT_NE(refused(testbed("join: " + std::to_string(getpid()), "true")).find("softspine runs in"), std::string::npos);
  const std::string taken = refused(testbed("join: " + file() + ", interface: eth0", "true"));
  EXPECT_NE(taken.find("eth0"), std::string::npos) << taken;
}

}  // namespace
}  // namespace softspine::testbeds
