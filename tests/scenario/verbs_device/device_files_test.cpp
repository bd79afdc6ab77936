// SPDX-License-Identifier: Apache-2.0
// What programs read below /sys/class/infiniband is what the device counts and what its port is, at that instant.
#include "testbeds/verbs_device/device_files.hpp"

#include <cerrno>
#include <set>

#include "tests/scenario/verbs_device/rnics.hpp"

namespace softspine::testbeds {
namespace {

class DeviceFiles : public Rnics {
 protected:
  static DeviceRequest request_for(std::string_view path) {
    DeviceRequest request{.call = Call::kReadFile};
    request.command_bytes = static_cast<uint32_t>(path.size());
    std::ranges::copy(path, request.command);
    return request;
  }
  static std::string read(Program& program, std::string_view path) {
    const DeviceReply reply = program.ask(request_for(path));
    if (reply.error != 0) return "error " + std::to_string(reply.error);
    return {reinterpret_cast<const char*>(reply.response), reply.response_bytes};
  }
  static uint64_t number(Program& program, const std::string& path) { return std::stoull(read(program, path)); }
};

TEST_F(DeviceFiles, HardwareCountersCountWhatTheWireCarried) {
  const auto [a, b] = it_.connect();
  uint32_t lost = 0;
  it_.set_fate([&](const Packet&) { return lost++ == 2 ? 0U : 1U; });
  it_.second.post_receive(b, 1, {theirs_.piece(0, 8'000)});
  it_.first.post(a, work(IBV_WR_SEND, 0, 0, 8'000));
  it_.run();
  ASSERT_EQ(statuses(it_.first), std::vector<uint32_t>{IBV_WC_SUCCESS});
  const std::string folder = "ports/1/hw_counters/";
  // Eight packets of 1024 bytes, of which the third is lost: it and those behind it go twice.
  EXPECT_EQ(number(it_.first, folder + "sent_pkts"), 14U);
  EXPECT_EQ(number(it_.first, folder + "retransmitted_pkts"), 6U);
  EXPECT_EQ(number(it_.first, folder + "rdma_sends"), 1U);
  EXPECT_EQ(number(it_.second, folder + "rdma_recvs"), 1U);
  EXPECT_EQ(number(it_.second, folder + "rcvd_pkts"), 13U);
  EXPECT_EQ(number(it_.second, folder + "out_of_seq_request"), 5U);
  EXPECT_EQ(number(it_.first, folder + "rcvd_seq_err"), 1U);
  const RnicCounters& counters = it_.first.rnic().ground().counters;
  for (const NamedRnicCounter& each : kRnicCounters)
    EXPECT_EQ(number(it_.first, folder + each.name), counters.*each.value) << each.name;
}

TEST_F(DeviceFiles, APortsFramesAreCountedByInfiniBandsNames) {
  const PortFacts port{};
  const RnicCounters rnic{.link_downed = 3};
  EdgeCounters passed{.in_packets = 7, .in_bytes = 4'003, .out_packets = 9, .out_bytes = 800};
  passed.in_drops[1] = passed.in_drops[4] = 2;
  passed.out_drops[2] = 5;
  const DeviceState state{.port = port, .rnic = rnic, .passed = passed};
  const std::pair<const char*, const char*> expected[] = {
      {"port_xmit_packets", "7\n"}, {"port_xmit_data", "1000\n"}, {"port_xmit_discards", "4\n"}, {"link_downed", "3\n"},
      {"port_rcv_packets", "9\n"},  {"port_rcv_data", "200\n"},   {"port_rcv_errors", "5\n"}};
  for (const auto& [name, text] : expected)
    EXPECT_EQ(device_file(std::string("ports/1/counters/") + name, state), text) << name;
}

TEST_F(DeviceFiles, AllThatAreListedAreThereAndNothingElse) {
  const std::vector<std::string> paths = device_file_paths();
  EXPECT_EQ(std::set<std::string>(paths.begin(), paths.end()).size(), paths.size());
  for (const std::string& path : paths) EXPECT_TRUE(read(it_.first, path).ends_with("\n")) << path;
  for (const char* none : {"", "ports", "ports/2/state", "ports/1/hw_counters/", "ports/1/hw_counters/sent_pkts/",
                           "../softspine0/fw_ver", "ports/1/counters/sent_pkts"})
    EXPECT_EQ(read(it_.first, none), "error " + std::to_string(ENOENT)) << none;
  DeviceRequest wrong = request_for("fw_ver");
  wrong.command_bytes = kCommandBytes + 1;
  EXPECT_EQ(it_.first.ask(wrong).error, EINVAL);
}

TEST_F(DeviceFiles, StateAndAddressesAreThePorts) {
  EXPECT_EQ(read(it_.first, "ports/1/state"), "4: ACTIVE\n");
  it_.first_device.handler.set_link(false);
  it_.first.rnic().link_changed(false);
  EXPECT_EQ(read(it_.first, "ports/1/state"), "1: DOWN\n");
  EXPECT_EQ(read(it_.first, "ports/1/counters/link_downed"), "1\n");
  PortFacts port{.speed_mbps = 400'000, .mac = {2, 0, 0, 1, 2, 3}};
  port.gids[0][10] = port.gids[0][11] = 0xff;
  store32(port.gids[0] + 12, 0x0a000102);
  const DeviceState state{.port = port, .rnic = {}, .passed = {}};
  EXPECT_EQ(device_file("ports/1/gids/0", state), "0000:0000:0000:0000:0000:ffff:0a00:0102\n");
  EXPECT_EQ(device_file("ports/1/rate", state), "400 Gb/sec\n");
  EXPECT_EQ(device_file("node_guid", state), "0000:00ff:fe01:0203\n");
}

// A program that has not opened the device reads its counters, as cat does.
TEST_F(DeviceFiles, NobodyNeedsToHaveOpenedTheDevice) {
  const auto client = it_.first_device.handler.add_client(getpid());
  ASSERT_TRUE(client);
  CallResult result;
  it_.first_device.handler.handle(*client, request_for("node_type"), result);
  EXPECT_EQ(result.reply.error, 0);
  it_.first.rnic().forget_client(*client);
}

}  // namespace
}  // namespace softspine::testbeds
