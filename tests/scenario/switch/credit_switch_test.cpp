// SPDX-License-Identifier: Apache-2.0
// A switch's port on a link that goes by credit, with a station that keeps the books.
#include "dataplane/packet/credit.hpp"
#include "tests/scenario/switch/bench.hpp"

namespace softspine::tests {
namespace {

using namespace dataplane;

constexpr uint16_t kRoom = 500;  // cells of 256 bytes

// Priority 0 of port 6, which is also what a frame without a priority of its own would be counted to.
ForwardingState by_credit() {
  std::array<uint32_t, 8> limits{};
  limits.fill(BufferPlan::kUnlimitedCells);
  QosPlan plan = QosPlan::plain(kBenchPorts, limits);
  plan.buffer.cell = CellSize{256};
  plan.buffer.ports[6].groups[0] = {.lossless = true, .headroom_cells = kRoom, .credited = true};
  plan.ports[6].link.flow_control = LinkMode::kCredit;
  plan.ports[6].credit_enabled = 1;
  plan.ports[6].largest_frame = 1'518;
  ForwardingState state = bench_state();
  state.plan = std::make_shared<QosPlan>(std::move(plan));
  return state;
}

Bytes credit_frame(bool asks, uint16_t sent) {
  CreditFrame frame{.priorities = 1, .asks = asks, .cell_bytes = 256};
  frame.limit[0] = 1'000;
  frame.sent[0] = sent;
  Bytes bytes(mac_control::kFrameBytes);
  write_credit(bytes.data(), {2, 0, 0, 0, 0, 6}, frame);
  return bytes;
}

std::vector<uint16_t> limits_told(const Bench<pipelines::Core>& bench) {
  std::vector<uint16_t> told;
  for (const auto& arrival : bench.arrivals(6)) {
    const auto credit = read_credit(arrival.bytes.data(), static_cast<uint32_t>(arrival.bytes.size()));
    if (credit) told.push_back(credit->limit[0]);
  }
  return told;
}

TEST(SwitchByCredit, CountsNoCreditFrameAgainstTheRoom) {
  Bench<pipelines::Core> bench{by_credit()};
  bench.run_for(Duration::us(5));
  ASSERT_EQ(limits_told(bench), std::vector<uint16_t>{kRoom}) << "as the link comes up";
  for (int i = 0; i < 3; ++i) {
    bench.send(6, credit_frame(true, 0));
    bench.run_for(Duration::us(2));
  }
  EXPECT_EQ(limits_told(bench), (std::vector<uint16_t>{kRoom, kRoom, kRoom, kRoom}));
}

// What a cable took: the station has sent 7 cells, of which none came; none is held, so the limit is 7 more.
TEST(SwitchByCredit, TakesWhatWasSentForReceived) {
  Bench<pipelines::Core> bench{by_credit()};
  bench.run_for(Duration::us(5));
  bench.send(6, credit_frame(true, 7));
  bench.run_for(Duration::us(2));
  EXPECT_EQ(limits_told(bench).back(), kRoom + 7);
}

}  // namespace
}  // namespace softspine::tests
