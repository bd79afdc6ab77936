// SPDX-License-Identifier: Apache-2.0
// A fabric's process that is killed leaves nothing behind: no process, no TAP, no namespace.
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "testbeds/process/kept_process.hpp"
#include "tests/wire/edge/child.hpp"
#include "tests/wire/outside/runner_path.hpp"
#include "tests/wire/process/scratch_folder.hpp"

namespace softspine::testbeds {
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

// Whether anything, process or descriptor, still is in a network namespace, as far as /proc tells.
bool is_inhabited(const std::string& space) {
  std::error_code gone;
  for (const auto& process : std::filesystem::directory_iterator("/proc", gone)) {
    const auto at = std::filesystem::read_symlink(process.path() / "ns" / "net", gone);
    if (!gone && at == space) return true;
  }
  return false;
}

TEST(KilledFabric, LeavesNothingBehind) {
  const ScratchFolder folder;
  const auto file = folder.path() / "testbed.yaml";
  std::ofstream(file) << kTestbed;
  const auto run_folder = folder.path() / "run";
  std::filesystem::create_directories(run_folder);
  const auto fifo = run_folder / "witness";
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  const Descriptor witness(open(fifo.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  dataplane::Child runner({OUTSIDE_RUNNER, file, run_folder, "60"});

  pollfd polled{witness.number(), POLLIN, 0};
  char word[3] = {};
  ASSERT_EQ(poll(&polled, 1, 20000), 1);
  ASSERT_EQ(read(witness.number(), word, 3), 3);
  std::string space = text_of(run_folder / "h1" / "stdout");
  space.pop_back();
  ASSERT_TRUE(is_inhabited(space)) << space;

  runner.kill();
  // The fifo ends for us when the last of the command's processes, each of which holds it, is gone.
  ASSERT_EQ(poll(&polled, 1, 20000), 1);
  EXPECT_EQ(read(witness.number(), word, 1), 0);
  for (int tries = 0; tries < 200 && is_inhabited(space); ++tries) usleep(10'000);  // its keeper goes last
  EXPECT_FALSE(is_inhabited(space)) << space;
}

}  // namespace
}  // namespace softspine::testbeds
