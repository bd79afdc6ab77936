// SPDX-License-Identifier: Apache-2.0
// Faults that overlap on one port, detections of two speeds, and stalls after a repair: by arithmetic, since a packet
// is sent each microsecond.
#include <fmt/format.h>

#include "tests/scenario/run/paced_flow.hpp"

namespace softspine::testbeds {
namespace {

using control::Json;

constexpr double kPsOfMicrosecond = 1e6;

std::string port_of_flow() {
  return fmt::format("\"tor1:Ethernet{}\"", 4 * used_spine());
}
Outcome run_with_faults(const std::string& faults, const std::string& more = "") {
  return run_text(paced("faults: [" + faults + "]\n" + more));
}
const Json& loss_window_of(const Outcome& out, size_t fault) {
  return out.report["faults"][fault]["loss_window"];
}
double instant_of_detection(const Json& window) {
  return window["detected_ps"].get<double>() / kPsOfMicrosecond;
}

// Whichever is first: hellos are missed after interval × multiplier, a signal after its own time.
TEST(Detection, IsByTheFasterOfSignalAndHellos) {
  const std::string fault = "{at: 100us, link: " + port_of_flow() + ", set: down}";
  const auto detected = [&](const char* signal, const char* bfd) {
    const Outcome out = run_with_faults(fault, fmt::format("detection: {{{}{}}}\n", signal, bfd));
    EXPECT_NEAR(loss_window_of(out, 0)["lost_packets"].get<double>(),
                instant_of_detection(loss_window_of(out, 0)) - 100, 2);
    return instant_of_detection(loss_window_of(out, 0)) - 100;
  };
  EXPECT_EQ(detected("loss_of_signal: 90us, ", "bfd: {interval: 10us, multiplier: 3}"), 30) << "hellos";
  EXPECT_EQ(detected("loss_of_signal: 20us, ", "bfd: {interval: 10us, multiplier: 3}"), 20) << "the signal";
  EXPECT_EQ(detected("", "bfd: {interval: 15us, multiplier: 4}"), 60) << "hellos alone";
}

// Each kills the port from its own instant to its own end: frames vanish while one of them is there.
TEST(Deaths, OfOnePortLastUntilTheLastOfThemEnds) {
  const auto death = [port = port_of_flow()](int at, int until) {
    return fmt::format("{{at: {}us, until: {}us, link: {}, set: one_way, direction: out}}", at, until, port);
  };
  struct Case {
    int first_end;
    int second_end;
    int lost;  // the first begins at 100 us, the second at 200 us
  };
  for (const Case& it : {Case{300, 500, 400}, Case{500, 300, 400}, Case{150, 250, 50 + 50}}) {
    const Outcome out = run_with_faults(death(100, it.first_end) + ", " + death(200, it.second_end));
    EXPECT_NEAR(static_cast<double>(out.snapshot.flows[0].missing()), it.lost, 2)
        << it.first_end << " " << it.second_end;
    EXPECT_EQ(out.report["totals"]["vanished_on_links"], out.snapshot.flows[0].missing());
  }
}

// The link is repaired 5 us before the receiver goes, so the flow's stall is the receiver's.
TEST(Stalls, ThatBeginAfterTheRepairAreNotTheRepairedFaults) {
  const std::string link = port_of_flow();
  const Outcome out = run_with_faults("{at: 100us, link: " + link + ", set: down}, {at: 110us, link: " + link +
                                      ", set: up}, {at: 115us, node: h2, set: down}, {at: 300us, node: h2, set: up}");
  EXPECT_EQ(loss_window_of(out, 0)["flows_stalled"], 0);
  EXPECT_EQ(loss_window_of(out, 0)["recovered_ps"], 110 * kPsOfMicrosecond);
  EXPECT_EQ(loss_window_of(out, 2)["flows_stalled"], 1);
  EXPECT_NEAR(loss_window_of(out, 2)["longest_stall_ps"].get<double>(), 185 * kPsOfMicrosecond, 13 * kPsOfMicrosecond);
}

}  // namespace
}  // namespace softspine::testbeds
