// SPDX-License-Identifier: Apache-2.0
// Namespace hosts across three switches, on the wall clock: what a kernel makes of our fabric.
#include <gtest/gtest.h>

#include "tests/wire/outside/wall_testbed.hpp"
#include "tests/wire/process/scratch_folder.hpp"

namespace softspine::testbeds {
namespace {

using testing::Test;

// h1 and h2 on tor1, h3 behind a spine.
std::string testbed_with(const std::string& h1, const std::string& h2, const std::string& h3,
                         const std::string& timeout = "30s") {
  const auto host = [&](const std::string& name, const std::string& run) {
    std::string lines = "    " + name + ":\n      kind: host\n      namespace:\n        timeout: " + timeout +
                        "\n        run: |\n          ";
    for (const char c : run) lines += c == '\n' ? std::string("\n          ") : std::string(1, c);
    return lines + "\n";
  };
  return "name: it\nrun: {clock: wall}\ntopology:\n  nodes:\n"
         "    tor1: {kind: switch, role: tor}\n    tor2: {kind: switch, role: tor}\n"
         "    spine1: {kind: switch, role: aggregation}\n" +
         host("h1", h1) + host("h2", h2) + host("h3", h3) +
         "  links:\n    - {endpoints: [tor1, h1], rate: 10Gbps}\n    - {endpoints: [tor1, h2], rate: 10Gbps}\n"
         "    - {endpoints: [tor2, h3], rate: 10Gbps}\n    - {endpoints: [tor1, spine1], rate: 10Gbps}\n"
         "    - {endpoints: [tor2, spine1], rate: 10Gbps}\n";
}

class NamespaceHosts : public Test {
 protected:
  // Runs all three to their end.
  std::vector<OutsideOutcome> outcomes_of(const std::string& yaml, int seconds = 40) {
    WallTestbed testbed(yaml, folder_.path());
    testbed.start();
    EXPECT_TRUE(testbed.run(seconds));
    testbed.hosts().stop(std::chrono::seconds{3});
    return testbed.hosts().outcomes();
  }
  static std::string said(const OutsideOutcome& outcome) {
    return text_of(outcome.stdout_path) + text_of(outcome.stderr_path) + text_of(outcome.console_path);
  }
  ScratchFolder folder_;
};

TEST_F(NamespaceHosts, ReachGatewaysAndEachOtherBridgedAndRoutedOverBothProtocols) {
  const auto outcomes = outcomes_of(
      testbed_with("set -e\nfor a in 10.0.1.1 fd00:0:0:1::1 10.0.1.3 fd00:0:0:1::3 10.0.2.2 fd00:0:0:2::2; do\n"
                   "  ping -n -c 3 -i 0.05 -W 5 $a\ndone",
                   "ping -6 -n -c 1 -W 5 h3", "ping -4 -n -c 1 -W 5 h1"));
  for (const auto& outcome : outcomes) EXPECT_TRUE(outcome.succeeded()) << outcome.host << said(outcome);
}

TEST_F(NamespaceHosts, CarryJumboFramesWholeAndRefuseWhatIsLonger) {
  const auto outcomes = outcomes_of(testbed_with("ping -4 -n -c 3 -i 0.05 -W 5 -M do -s 9072 h3",
                                                 "ping -6 -n -c 3 -i 0.05 -W 5 -M do -s 9052 h3",
                                                 "! ping -4 -n -c 1 -W 1 -M do -s 9073 h1"));
  for (const auto& outcome : outcomes) EXPECT_TRUE(outcome.succeeded()) << outcome.host << said(outcome);
}

TEST_F(NamespaceHosts, SeeEverySwitchOnTheWay) {
  const auto outcomes =
      outcomes_of(testbed_with("traceroute -n -q 1 -w 3 h3 -4", "traceroute -n -q 1 -w 3 h3 -6", "true"));
  EXPECT_NE(said(outcomes[0]).find("\n 4  10.0.2.2 "), std::string::npos) << said(outcomes[0]);
  EXPECT_NE(said(outcomes[0]).find("\n 2  10.255."), std::string::npos) << said(outcomes[0]);
  EXPECT_NE(said(outcomes[1]).find("\n 4  fd00:0:0:2::2 "), std::string::npos) << said(outcomes[1]);
}

// The kernel counts a segment with a wrong checksum in InCsumErrors, the last column of /proc/net/snmp's Tcp line.
TEST_F(NamespaceHosts, TransferByTcpUnharmedAndWithRightChecksums) {
  const std::string send =
      "softspine-guest await serving 20\nhead -c 20000000 /dev/urandom >sent\n"
      "python3 - <<'END'\nimport socket\ns = socket.create_connection((\"h3\", 5000))\n"
      "s.sendall(open(\"sent\", \"rb\").read())\ns.shutdown(socket.SHUT_WR)\nassert s.recv(9) == b\"done\"\nEND\n"
      "[ $? = 0 ] && cmp sent ../h3/received && awk '/^Tcp: [0-9]/ { exit $NF != 0 }' /proc/net/snmp";
  const std::string receive =
      "python3 - <<'END'\nimport os, socket\nl = socket.create_server((\"\", 5000))\n"
      "os.system(\"softspine-guest signal serving\")\nc, _ = l.accept()\nout = open(\"received\", \"wb\")\n"
      "while data := c.recv(1 << 16):\n    out.write(data)\nout.close()\nc.sendall(b\"done\")\nEND\n"
      "awk '/^Tcp: [0-9]/ { exit $NF != 0 }' /proc/net/snmp";
  const auto outcomes = outcomes_of(testbed_with(send, "true", receive));
  for (const auto& outcome : outcomes) EXPECT_TRUE(outcome.succeeded()) << outcome.host << said(outcome);
}

TEST_F(NamespaceHosts, TellTheExitStatusOfTheirCommandsAndWhatTheySaid) {
  const auto outcomes = outcomes_of(testbed_with("echo said; exit 7", "echo wrong >&2; kill -9 $$", "hostname"));
  ASSERT_EQ(outcomes.size(), 3U);
  EXPECT_EQ(outcomes[0].exit_status, 7);
  EXPECT_EQ(text_of(outcomes[0].stdout_path), "said\n");
  EXPECT_EQ(outcomes[1].exit_status, 128 + 9);
  EXPECT_EQ(text_of(outcomes[1].stderr_path), "wrong\n");
  EXPECT_EQ(text_of(outcomes[2].stdout_path), "h3\n");
  EXPECT_FALSE(outcomes[2].timed_out);
}

TEST_F(NamespaceHosts, AreEndedWhenOutOfTime) {
  const auto outcomes = outcomes_of(testbed_with("trap 'exit 4' TERM\nwhile :; do sleep 0.1; done",
                                                 "trap '' TERM HUP INT\nwhile :; do sleep 1; done", "true", "1s"));
  EXPECT_TRUE(outcomes[0].timed_out);
  EXPECT_EQ(outcomes[0].exit_status, 4);
  EXPECT_TRUE(outcomes[1].timed_out);
  EXPECT_FALSE(outcomes[1].succeeded());
  EXPECT_LT(outcomes[1].seconds, 10);
  EXPECT_TRUE(outcomes[2].succeeded());
}

// Longer than a host has to end once it is asked to.
TEST_F(NamespaceHosts, StayUntilTheyAreStoppedWhereTheyHaveNoCommand) {
  std::string yaml = testbed_with("sleep 7; ping -n -c 1 -W 5 h2", "left out", "true");
  const size_t command = yaml.find("        run: |\n          left out\n");
  ASSERT_NE(command, std::string::npos);
  yaml.erase(command, yaml.find('\n', yaml.find("left out")) + 1 - command);
  const auto outcomes = outcomes_of(yaml);
  ASSERT_EQ(outcomes.size(), 2U);
  EXPECT_TRUE(outcomes[0].succeeded()) << said(outcomes[0]);
}

TEST_F(NamespaceHosts, AreRefusedTogetherWhenTheirNamesCannotBe) {
  OutsideSpec bad;
  bad.name = "board";
  bad.attachment = control::NamespaceHost{};
  bad.mac = "nonsense";
  const auto hosts = OutsideHosts::make({bad, bad}, {folder_.path(), folder_.path()});
  ASSERT_FALSE(hosts);
  EXPECT_EQ(hosts.error().size(), 4U);
}

}  // namespace
}  // namespace softspine::testbeds
