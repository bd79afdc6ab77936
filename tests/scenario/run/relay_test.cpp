// SPDX-License-Identifier: Apache-2.0
// What `nic: {relay_pfc: true}` in a testbed means: the switch's pauses reach what is behind an edge.
#include "tests/scenario/edge/nic_frames.hpp"
#include "tests/scenario/edge/reference_capture.hpp"
#include "tests/scenario/run/running_testbed.hpp"

namespace softspine::testbeds {
namespace {

// h2's port pauses without end, so what h1 sends waits in tor1, whose priority group has room for little.
TEST(RelayedPauses, LeaveTheFabricIfTheTestbedSaysSo) {
  dataplane::TemporaryFiles files;
  std::vector<dataplane::CapturedFrame> frames;
  for (uint16_t i = 0; i < 100; ++i) {
    const auto bytes = dataplane::numbered_ip_frame(3, i);
    frames.push_back({1'000 + i, {bytes.begin(), bytes.end()}, static_cast<uint32_t>(bytes.size())});
  }
  const std::string in = files.with(dataplane::pcap_bytes(frames));
  const std::string outgoing = files.path();
  for (const bool relays : {true, false}) {
    const Outcome out = run_text(
        "name: relay\n"
        "run: {duration: 1ms}\n"
        "fabric: {kind: leaf-spine, tors: 1, spines: 1, hosts_per_tor: 2, host_link: {rate: 100Gbps}, "
        "fabric_link: {rate: 100Gbps}}\n"
        "profiles: {small: {base: lossless, BUFFER_POOL: {ingress_lossless_pool: {size: 200KiB}}}}\n"
        "roles: {tor: small}\n"
        "faults: [{at: 0s, node: h2, set: storm, priorities: [3]}]\n"
        "topology: {nodes: {h1: {edge: {pcap: {in: \"" +
        in + "\", out: \"" + outgoing + "\"}}, nic: {relay_pfc: " + (relays ? "true" : "false") + "}}}}\n");
    if (HasFailure()) return;
    EXPECT_GE(out.report["switches"]["tor1"]["pfc_tx_packets"], 1) << "to h1";
    uint64_t pauses = 0;
    for (const dataplane::CapturedFrame& frame : dataplane::parse_pcap(dataplane::TemporaryFiles::content(outgoing))) {
      pauses += dataplane::is_pause({frame.bytes.begin(), frame.bytes.end()}) ? 1 : 0;
    }
    EXPECT_EQ(pauses, relays ? out.report["switches"]["tor1"]["pfc_tx_packets"].get<uint64_t>() : 0u);
  }
}

}  // namespace
}  // namespace softspine::testbeds
