// SPDX-License-Identifier: Apache-2.0
// rdma_rxe guests across a fabric: their own tools say that data arrived, their own counters that none was lost.
#include <gtest/gtest.h>

#include <cstdlib>
#include <string_view>

#include "tests/wire/outside/wall_testbed.hpp"
#include "tests/wire/process/scratch_folder.hpp"

namespace softspine::testbeds {
namespace {

std::string testbed_of(const std::string& kind, const std::string& run) {
  return "name: it\nrun: {clock: wall}\n"
         "fabric: {kind: leaf-spine, tors: 2, spines: 2, hosts_per_tor: 1, host_link: {rate: 10Gbps}, "
         "fabric_link: {rate: 10Gbps}}\n"
         "topology:\n  nodes:\n    h1: &guest {guest: {kind: " +
         kind + ", memory: 256MiB, timeout: 240s, run: \"" + run + "\"}}\n    h2: *guest\n";
}

struct Case {
  const char* kind;
  const char* run;
};

class RxeGuests : public testing::TestWithParam<Case> {};

TEST_P(RxeGuests, WriteSendAndPingAcrossTheFabricWithoutLoss) {
  if (GetParam().kind == std::string_view{"qemu"} && std::system("command -v qemu-system-x86_64 >/dev/null") != 0) {
    GTEST_SKIP() << "no qemu-system-x86_64: tools/install qemu";
  }
  const ScratchFolder folder;
  WallTestbed testbed(testbed_of(GetParam().kind, GetParam().run), folder.path());
  testbed.start();
  EXPECT_TRUE(testbed.run(250));
  testbed.hosts().stop(std::chrono::seconds{5});
  for (const auto& outcome : testbed.hosts().outcomes()) {
    EXPECT_TRUE(outcome.succeeded()) << outcome.host << text_of(outcome.stderr_path) << text_of(outcome.console_path);
    const auto out_of_order = outcome.counters.find("rxe0 out_of_seq_request");
    ASSERT_NE(out_of_order, outcome.counters.end());
    EXPECT_EQ(out_of_order->second, 0U) << outcome.host;
  }
  for (const auto* node : testbed.switches()) {
    for (const auto& port : node->counters()) {
      const uint64_t answered = port.drops[static_cast<size_t>(dataplane::DropReason::kConsumed)];
      EXPECT_EQ(port.dropped_packets(), answered) << node->name();
    }
  }
}

// QEMU without KVM is a hundred times slower.
INSTANTIATE_TEST_SUITE_P(ByKind, RxeGuests,
                         testing::Values(Case{"uml", "pairs --at-once --messages 40 write_bw send_lat rping"},
                                         Case{"qemu", "pairs --one-by-one --messages 10 --size 4096 write_bw"}),
                         [](const auto& it) { return std::string(it.param.kind); });

}  // namespace
}  // namespace softspine::testbeds
