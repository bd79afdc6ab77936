// SPDX-License-Identifier: Apache-2.0
// RoCEv1 (ethertype 0x8915): across a star, which is one layer 2, and not across a router.
#include <fmt/format.h>

#include <algorithm>
#include <fstream>

#include "tests/scenario/run/running_testbed.hpp"

namespace softspine::testbeds {
namespace {

// From h1 to h2 by the planned addresses, after the Ethernet header nothing that any switch knows.
std::string roce1_frame(const control::Fabric& fabric) {
  std::string out;
  for (const char* name : {"h2", "h1"}) {
    const auto node = std::ranges::find(fabric.nodes, name, &control::FabricNode::name);
    out.append(node->ports[0].mac.bytes.begin(), node->ports[0].mac.bytes.end());
  }
  out += std::string("\x89\x15", 2);
  for (char i = 0; i < 60; ++i) out += i;
  return out;
}

// A nanosecond pcap file with this frame at 1 us.
std::string pcap_of(const std::string& frame) {
  const auto size = static_cast<uint32_t>(frame.size());
  const uint32_t words[] = {0xa1b23c4d, 2 | 4U << 16, 0, 0, 65'535, 1, 0, 1'000, size, size};
  return std::string(reinterpret_cast<const char*>(words), sizeof words) + frame;
}

class Roce1 : public testing::Test {
 protected:
  // What comes out at h2, and how often.
  uint64_t across(const std::string& fabric) {
    const auto folder = std::filesystem::path(testing::TempDir()) / fmt::format("softspine-star-{}", getpid());
    std::filesystem::create_directories(folder);
    const std::string text = fmt::format(
        "name: star\nrun: {{duration: 1ms}}\nfabric: {{{}, host_link: {{rate: 100Gbps}}}}\ntopology: {{nodes: {{h1: "
        "{{edge: "
        "{{pcap: {{in: '{}/in.pcap'}}}}}}, h2: {{edge: {{pcap: {{out: '{}/out.pcap'}}}}}}}}}}\n",
        fabric, folder.string(), folder.string());
    const control::Testbed testbed = testbed_of(text);
    const std::string frame = roce1_frame(testbed.fabric);
    std::ofstream(folder / "in.pcap", std::ios::binary) << pcap_of(frame);
    const Outcome out = run_whole(testbed);
    EXPECT_EQ(out.report["edges"]["h1"]["in_packets"], 1);
    const auto arrived = out.report["edges"]["h2"]["out_packets"].get<uint64_t>();
    EXPECT_EQ(bytes_of(folder / "out.pcap").find(frame) != std::string::npos, arrived != 0) << "as it was sent";
    std::filesystem::remove_all(folder);
    return arrived;
  }
};

TEST_F(Roce1, CrossesAStar) {
  EXPECT_EQ(across("kind: star, hosts: 3"), 1U);
}

TEST_F(Roce1, CrossesNoRouter) {
  EXPECT_EQ(across("kind: leaf-spine, tors: 2, spines: 1, hosts_per_tor: 1, fabric_link: {rate: 100Gbps}"), 0U);
}

}  // namespace
}  // namespace softspine::testbeds
