// SPDX-License-Identifier: Apache-2.0
#include "tests/scenario/failures/lacp_sequence.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string_view>

#include "control/load/load.hpp"
#include "dataplane/units/rng.hpp"
#include "tests/scenario/failures/routes_that_follow.hpp"

namespace softspine::tests {

namespace {

using dataplane::Duration;
using dataplane::Instant;

// "@bond" and "@lag" stand for keys that are drawn. LAGs have three links.
constexpr std::array<std::string_view, 6> kFabrics{
    // Non-stacked dual ToR over two planes.
    "fabric: {kind: hpn, segments: 2, servers_per_segment: 2, rails: 1, aggregations_per_plane: 2, host_link: "
    "{rate: 100Gbps}, fabric_link: {rate: 100Gbps}, bond: {@bond}}\n",
    // Over one plane.
    "fabric: {kind: hpn, segments: 2, servers_per_segment: 2, rails: 1, planes: 1, aggregations_per_plane: 2, "
    "host_link: {rate: 100Gbps}, fabric_link: {rate: 100Gbps}, bond: {@bond}}\n",
    // A stack, and two ToRs that are none.
    "fabric: {kind: hpn, segments: 2, servers_per_segment: 2, rails: 1, planes: 1, aggregations_per_plane: 2, "
    "host_link: {rate: 100Gbps}, fabric_link: {rate: 100Gbps}, bond: {@bond}}\n"
    "topology:\n"
    "  links: [{endpoints: [s1-r1-tor1, s1-r1-tor2], rate: 100Gbps}]\n"
    "  stacks: {rack: {switches: [s1-r1-tor1, s1-r1-tor2], keepalive_interval: 10ms, keepalive_timeout: 50ms, "
    "hold_timeout: 30ms, delay_restore: 200ms}}\n",
    // LAGs alone.
    "fabric: {kind: leaf-spine, tors: 3, spines: 2, hosts_per_tor: 1, links_per_spine: 3, host_link: {rate: 100Gbps}, "
    "fabric_link: {rate: 100Gbps}}\n"
    "topology:\n"
    "  lags:\n"
    "    - {name: l11, between: [tor1, spine1], @lag}\n"
    "    - {name: l12, between: [tor1, spine2], @lag}\n"
    "    - {name: l21, between: [tor2, spine1], @lag}\n"
    "    - {name: l22, between: [tor2, spine2], @lag}\n"
    "    - {name: l31, between: [tor3, spine1], @lag}\n",
    // Bonds and LAGs.
    "fabric: {kind: hpn, segments: 2, servers_per_segment: 1, rails: 1, planes: 1, aggregations_per_plane: 2, "
    "host_link: {rate: 100Gbps}, fabric_link: {rate: 100Gbps}, bond: {@bond}}\n"
    "topology:\n"
    "  links:\n"
    "    - {endpoints: [s1-r1-tor1, agg1], rate: 100Gbps}\n"
    "    - {endpoints: [s1-r1-tor1, agg1], rate: 100Gbps}\n"
    "    - {endpoints: [s2-r1-tor2, agg2], rate: 100Gbps}\n"
    "    - {endpoints: [s2-r1-tor2, agg2], rate: 100Gbps}\n"
    "  lags:\n"
    "    - {name: l1, between: [s1-r1-tor1, agg1], @lag}\n"
    "    - {name: l2, between: [s2-r1-tor2, agg2], @lag}\n",
    // Bonds of several kinds beside hosts with one port, and a LAG between two ToRs.
    "topology:\n"
    "  nodes:\n"
    "    a: {kind: switch, role: tor}\n"
    "    b: {kind: switch, role: tor}\n"
    "    c: {kind: switch, role: aggregation}\n"
    "    d: {kind: switch, role: aggregation}\n"
    "    h1: {kind: host, bond: {@bond}}\n"
    "    h2: {kind: host, bond: {@bond}}\n"
    "    h3: {kind: host}\n"
    "  links:\n"
    "    - {endpoints: [h1, a], rate: 100Gbps}\n"
    "    - {endpoints: [h1, b], rate: 100Gbps}\n"
    "    - {endpoints: [h2, a], rate: 100Gbps}\n"
    "    - {endpoints: [h2, b], rate: 100Gbps}\n"
    "    - {endpoints: [h3, b], rate: 100Gbps}\n"
    "    - {endpoints: [a, b], rate: 100Gbps}\n"
    "    - {endpoints: [a, b], rate: 100Gbps}\n"
    "    - {endpoints: [a, b], rate: 100Gbps}\n"
    "    - {endpoints: [a, c], rate: 100Gbps}\n"
    "    - {endpoints: [b, c], rate: 100Gbps}\n"
    "    - {endpoints: [b, d], rate: 100Gbps}\n"
    "    - {endpoints: [c, d], rate: 100Gbps}\n"
    "  lags:\n"
    "    - {name: ab, between: [a, b], @lag}\n"};

constexpr Duration kStart = Duration::s(5);  // LACP that has not agreed yet has by then
// Beyond three periods: forgotten after 3 s, called each 30 s, waited for for 2 s.
constexpr Duration kFurther = Duration::s(38);
constexpr uint64_t kFaults = 6;

class Draw {
 public:
  explicit Draw(uint64_t seed) : rng_(seed, 0x1ACB), is_slow_(below(3) == 0) {
    const Duration failing = Duration::s(is_slow_ ? 120 : 30);
    const Duration timers = Duration::s(is_slow_ ? 90 : 3) + kFurther;
    out_.begin = Instant::at(kStart);
    first_ = out_.begin + kStart;
    last_ = first_ + failing;
    out_.quiet = last_ + timers;
    out_.repaired = out_.quiet + Duration::s(5);
    out_.healed = out_.repaired + timers;
    out_.end = out_.healed + Duration::s(5);
    add_fabric(seed);
    add_traffic();
    out_.text += draw_following(rng_);
    add_faults();
  }
  const LacpSequence& sequence() const { return out_; }

 private:
  uint64_t below(uint64_t n) { return rng_.below(n); }
  bool one_in(uint64_t n) { return below(n) == 0; }
  bool draws_slow() { return is_slow_ && one_in(2); }

  std::string bond() {
    const uint64_t miimon = one_in(2) ? 100 : 1 + below(20);
    return fmt::format("lacp_rate: {}, fast_rate: {}, miimon: {}ms, downdelay: {}ms, updelay: {}ms{}",
                       draws_slow() ? "slow" : "fast", !draws_slow(), miimon, miimon * below(2), miimon * below(3),
                       one_in(2) ? ", xmit_hash_policy: layer3+4" : "");
  }
  std::string lag() {
    return fmt::format("mode: lacp, fast_rate: {}, agreed: {}, min_links: {}", !draws_slow(), one_in(2), 1 + below(3));
  }

  void add_fabric(uint64_t seed) {
    std::string fabric{kFabrics[seed % kFabrics.size()]};
    const auto fill = [&fabric](std::string_view place, auto&& draw) {
      for (size_t at = fabric.find(place); at != std::string::npos; at = fabric.find(place))
        fabric.replace(at, place.size(), draw());
    };
    fill("@bond", [this] { return bond(); });
    fill("@lag", [this] { return lag(); });
    out_.text = fmt::format("name: lacp\nrun: {{duration: {}ps, seed: {}, workers: 1}}\n{}", out_.end.count_ps(),
                            below(1'000), fabric);
    const auto testbed = control::parse_testbed(out_.text, "drawn.yaml");
    if (!testbed) throw std::runtime_error(to_string(testbed.error().front()));
    fabric_ = testbed->fabric;
  }

  // A packet of each queue pair every 25 or 33 ms, until the end.
  void add_traffic() {
    const Duration apart = Duration::ms(is_slow_ ? 33 : 25);
    constexpr double kBits = 3 * 4'194 * 8;  // of three packets of 4,096 B on the wire
    const int64_t messages = (out_.end - out_.begin).count_ps() / apart.count_ps() - 20;
    out_.text += fmt::format(
        "profiles: {{default: {{base: lossless}}}}\n"
        "workload: [{{name: w, pattern: permutation, qps: 3, message: 4096B, messages: {}, mtu: 4096, start: {}s, "
        "rate: "
        "{:.6f}Mbps}}]\n",
        messages, kStart.count_ps() / Duration::s(1).count_ps(), kBits * 1e6 / static_cast<double>(apart.count_ps()));
  }

  std::string node(std::string_view key = "node") {
    for (;;) {
      const control::FabricNode& node = fabric_.nodes[below(fabric_.nodes.size())];
      if (node.kind != control::NodeKind::kSwitch) continue;
      if (key == "node" || node.role == control::Role::kTor) return fmt::format("{}: {}", key, node.name);
    }
  }
  std::string link() {
    const control::FabricLink& link = fabric_.links[below(fabric_.links.size())];
    return "link: \"" + fabric_.name_of(one_in(2) ? link.a : link.b) + "\"";
  }
  std::string place() { return one_in(4) ? node() : link(); }

  // Shorter than what LACP takes to see it, or longer; never beyond the last instant.
  std::string until(Duration from) {
    const auto most = static_cast<uint64_t>((last_ - Instant::at(from)).count_ps());
    const auto wanted = static_cast<uint64_t>(Duration::ms(is_slow_ ? 60'000 : 6'000).count_ps());
    return fmt::format("until: {}ps", from.count_ps() + 1 + static_cast<int64_t>(below(std::min(most, wanted))));
  }

  std::string fault() {
    // Flaps last for 15 s.
    const auto failing = static_cast<uint64_t>((last_ - first_ - Duration::s(15)).count_ps());
    const Duration when = (first_ - Instant{}) + Duration::ps(static_cast<int64_t>(below(failing)));
    const std::string at = fmt::format("{{at: {}ps, ", when.count_ps());
    const char* const carrier = one_in(4) ? "goes" : "stays";
    const char* const way = one_in(2) ? "out" : "in";
    constexpr std::array<std::string_view, 4> kPeriods{"200us", "50ms", "900ms", "2900ms"};
    switch (below(9)) {
      case 0: return at + place() + ", set: up}";
      case 1: return at + link() + fmt::format(", set: one_way, direction: {}, carrier: {}}}", way, carrier);
      case 2: return at + link() + fmt::format(", set: one_way, direction: {}, {}}}", way, until(when));
      case 3: return at + place() + fmt::format(", set: dead, carrier: {}, {}}}", carrier, until(when));
      case 4: return at + place() + ", set: drained, links_after: 500ms}";
      case 5:
        return at + link() +
               fmt::format(", set: down, flap: {{period: {}, jitter: 50us, count: 5}}}}",
                           kPeriods[below(kPeriods.size())]);
      case 6: return at + node("rack") + ", set: down}";
      default: return at + place() + ", set: down}";
    }
  }
  void add_faults() {
    out_.text += "faults:\n";
    for (uint64_t i = 0, n = 1 + below(kFaults); i < n; ++i) out_.text += "  - " + fault() + "\n";
    for (const control::FabricNode& node : fabric_.nodes) {
      if (node.kind != control::NodeKind::kSwitch) continue;
      out_.text += fmt::format("  - {{at: {}ps, node: {}, set: up}}\n", out_.repaired.count_ps(), node.name);
    }
  }

  dataplane::Rng rng_;
  bool is_slow_;
  Instant first_;  // of the failures
  Instant last_;
  LacpSequence out_;
  control::Fabric fabric_;
};

}  // namespace

LacpSequence draw_lacp_sequence(uint64_t seed) {
  return Draw(seed).sequence();
}

}  // namespace softspine::tests
