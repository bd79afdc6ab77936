// SPDX-License-Identifier: Apache-2.0
// A fabric's process that is killed leaves nothing behind: no process, no TAP, no namespace. A host whose processes
// are killed takes nobody with it.
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <fstream>
#include <vector>

#include "dataplane/edge/owned_fd.hpp"
#include "testbeds/process/kept_process.hpp"
#include "tests/wire/edge/child.hpp"
#include "tests/wire/outside/runner_path.hpp"
#include "tests/wire/outside/wall_testbed.hpp"
#include "tests/wire/process/scratch_folder.hpp"

namespace softspine::testbeds {

using dataplane::OwnedFd;

namespace {

constexpr const char* kTestbed = R"(name: it
run: {clock: wall}
topology:
  nodes:
    tor1: {kind: switch, role: tor}
    h1:
      kind: host
      namespace:
        run: "exec 7>../witness; setsid cat /dev/zero >/dev/null & readlink /proc/self/ns/net; echo up >&7; wait"
  links:
    - {endpoints: [tor1, h1], rate: 10Gbps}
)";

// The processes in a network namespace, as far as /proc tells.
std::vector<pid_t> inhabitants(const std::string& space) {
  std::vector<pid_t> found;
  std::error_code gone;
  for (const auto& process : std::filesystem::directory_iterator("/proc", gone)) {
    const auto at = std::filesystem::read_symlink(process.path() / "ns" / "net", gone);
    if (!gone && at == space) found.push_back(std::atoi(process.path().filename().c_str()));
  }
  return found;
}
bool is_inhabited(const std::string& space) {
  return !inhabitants(space).empty();
}

TEST(KilledFabric, LeavesNothingBehind) {
  const ScratchFolder folder;
  const auto file = folder.path() / "testbed.yaml";
  std::ofstream(file) << kTestbed;
  const auto run_folder = folder.path() / "run";
  std::filesystem::create_directories(run_folder);
  const auto fifo = run_folder / "witness";
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  const OwnedFd witness(open(fifo.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  dataplane::Child runner({OUTSIDE_RUNNER, file, run_folder, "60"});

  pollfd polled{witness.get(), POLLIN, 0};
  char word[3] = {};
  ASSERT_EQ(poll(&polled, 1, 20000), 1);
  ASSERT_EQ(read(witness.get(), word, 3), 3);
  std::string space = text_of(run_folder / "h1" / "stdout");
  space.pop_back();
  ASSERT_TRUE(is_inhabited(space)) << space;

  runner.kill();
  // The fifo ends for us when the last of the command's processes, each of which holds it, is gone.
  ASSERT_EQ(poll(&polled, 1, 20000), 1);
  EXPECT_EQ(read(witness.get(), word, 1), 0);
  for (int tries = 0; tries < 200 && is_inhabited(space); ++tries) usleep(10'000);  // its keeper goes last
  EXPECT_FALSE(is_inhabited(space)) << space;
}

TEST(KilledHost, CostsNobodyElseAFrame) {
  const ScratchFolder folder;
  const auto host = [](const std::string& name, const std::string& run) {
    return "    " + name + ": {kind: host, namespace: {timeout: 60s, run: \"" + run + "\"}}\n";
  };
  WallTestbed testbed(
      "name: it\nrun: {clock: wall}\ntopology:\n  nodes:\n    tor1: {kind: switch, role: tor}\n" +
          host("h1", "readlink /proc/self/ns/net; softspine-guest signal up; while :; do sleep 1; done") +
          host("h2",
               "softspine-guest await up 20 && ping -q -n -c 40 -i 0.05 -W 5 10.0.1.4 | tee all; "
               "grep -q ' 0% packet loss' all") +
          host("h3", "softspine-guest await up 20 && ping -q -n -c 20 -i 0.1 -W 1 10.0.1.2") +
          "  links:\n    - {endpoints: [tor1, h1], rate: 1Gbps}\n    - {endpoints: [tor1, h2], rate: 1Gbps}\n"
          "    - {endpoints: [tor1, h3], rate: 1Gbps}\n",
      folder.path());
  testbed.start();
  // Its kernel answers h3 for as long as the namespace is there: only its processes die.
  ASSERT_TRUE(testbed.run_until([&] { return testbed.edge_counters(2).in_packets > 10; }, 30));
  std::string space = text_of(folder.path() / "h1" / "stdout");
  ASSERT_FALSE(space.empty());
  space.pop_back();
  ASSERT_NE(space, std::filesystem::read_symlink("/proc/self/ns/net")) << "all of this machine would be killed";
  const auto victims = inhabitants(space);
  ASSERT_FALSE(victims.empty());
  for (const pid_t victim : victims) ::kill(victim, SIGKILL);

  EXPECT_TRUE(testbed.run(60));
  testbed.hosts().stop(std::chrono::seconds{3});
  const auto outcomes = testbed.hosts().outcomes();
  ASSERT_EQ(outcomes.size(), 3U);
  EXPECT_FALSE(outcomes[0].succeeded());
  EXPECT_FALSE(outcomes[0].timed_out);
  EXPECT_LT(outcomes[0].seconds, 30) << "its end was not seen";
  for (const size_t other : {1, 2}) {
    EXPECT_TRUE(outcomes[other].succeeded())
        << text_of(outcomes[other].stdout_path) << text_of(outcomes[other].stderr_path);
  }
}

}  // namespace
}  // namespace softspine::testbeds
