// SPDX-License-Identifier: Apache-2.0
// A guest is killed while others talk, and comes back: nobody else notices, and its port works again.
#include <gtest/gtest.h>

#include "testbeds/guests/guest.hpp"
#include "testbeds/guests/installation.hpp"
#include "tests/wire/outside/wall_testbed.hpp"
#include "tests/wire/process/scratch_folder.hpp"

namespace softspine::testbeds {
namespace {

// h1 is a guest of the test's own behind a bare vhost-user edge: 10.0.1.2. h2 is 10.0.1.3, h3 10.0.1.4.
std::string testbed_with(const std::string& socket, const std::string& h2, const std::string& h3) {
  const auto host = [](const std::string& name, const std::string& run) {
    return "    " + name + ": {kind: host, guest: {kind: uml, memory: 128MiB, timeout: 150s, run: \"" + run + "\"}}\n";
  };
  return "name: it\nrun: {clock: wall}\ntopology:\n  nodes:\n    tor1: {kind: switch, role: tor}\n"
         "    h1: {kind: host, mac: \"02:00:00:00:aa:01\", edge: {vhost_user: {socket: " +
         socket + "}}}\n" + host("h2", h2) + host("h3", h3) +
         "  links:\n    - {endpoints: [tor1, h1], rate: 1Gbps}\n    - {endpoints: [tor1, h2], rate: 1Gbps}\n"
         "    - {endpoints: [tor1, h3], rate: 1Gbps}\n";
}

// Two lives of h1, as h2 sees them; h2 and h3 lose nothing meanwhile.
constexpr const char* kWatch =
    "reach() { until ping -n -c 1 -W 1 10.0.1.2 >/dev/null; do :; done; softspine-guest signal reached.$1; }; "
    "reach first; softspine-guest await killed 60 && ! ping -n -c 2 -W 1 10.0.1.2 && softspine-guest signal missed && "
    "softspine-guest await restarted 60 && reach again";
constexpr const char* kTalk =
    "softspine-guest await reached.first 100 && "
    "until ping -q -n -c 20 -i 0.05 -W 5 10.0.1.3 >>all; [ -e /board/reached.again ]; do :; done; "
    "! grep packets all | grep -v ' 0% packet loss'";

TEST(KilledGuest, CostsNobodyElseAFrameAndFindsItsPortWhenItComesBack) {
  const ScratchFolder folder;
  const auto installation = prepare_installation({GuestKind::kUml});
  ASSERT_TRUE(installation) << installation.error().message;
  const std::string socket = folder.path() / "h1.sock";
  const GuestSpec spec{
      {.name = "h1",
       .nics = {{.vhost_socket = socket, .mac = "02:00:00:00:aa:01", .addresses = {"10.0.1.2/24"}, .gateways = {}}},
       .run = "while :; do read -t 1 x <>/run/never; done"},
      GuestKind::kUml,
      128};
  WallTestbed testbed(testbed_with(socket, kWatch, kTalk), folder.path());
  testbed.start();
  const auto happens = [&](const char* what) {
    return testbed.run_until([&] { return std::filesystem::exists(folder.path() / "board" / what); }, 100);
  };
  const auto tell = [&](const char* what) { std::ofstream(folder.path() / "board" / what) << "\n"; };

  auto h1 = start_guest(as_it_can_run(spec, *installation), *installation, folder.path());
  ASSERT_TRUE(h1) << h1.error().front().message;
  ASSERT_TRUE(happens("reached.first"));
  h1->kill();
  tell("killed");
  ASSERT_TRUE(happens("missed"));
  ASSERT_TRUE(h1->restart());
  tell("restarted");
  EXPECT_TRUE(happens("reached.again"));

  EXPECT_TRUE(testbed.run(100));
  h1->kill();
  testbed.hosts().stop(std::chrono::seconds{5});
  for (const auto& outcome : testbed.hosts().outcomes()) {
    EXPECT_TRUE(outcome.succeeded()) << outcome.host << text_of(outcome.stdout_path) << text_of(outcome.stderr_path);
  }
  EXPECT_GT(testbed.edge_counters(0).out_drops[static_cast<size_t>(dataplane::DropReason::kLinkDown)], 0U)
      << "what was sent while it was away";
}

}  // namespace
}  // namespace softspine::testbeds
