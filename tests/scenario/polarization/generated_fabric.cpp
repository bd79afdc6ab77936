// SPDX-License-Identifier: Apache-2.0
#include "tests/scenario/polarization/generated_fabric.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <set>
#include <utility>

#include "analysis/explain/probe.hpp"

namespace softspine::tests {

using control::Fabric;
using control::Role;

namespace {

struct Algorithm {
  const char* word;
  uint32_t width;
};
constexpr std::array kAlgorithms{Algorithm{"CRC", 32},
                                 Algorithm{"XOR", 16},
                                 Algorithm{"CRC_32LO", 16},
                                 Algorithm{"CRC_32HI", 16},
                                 Algorithm{"CRC_CCITT", 16},
                                 Algorithm{"CRC_XOR", 16},
                                 Algorithm{"TOEPLITZ", 32},
                                 Algorithm{"XXH3", 32},
                                 Algorithm{"JENKINS_LO", 16},
                                 Algorithm{"JENKINS_HI", 16},
                                 Algorithm{"CRC_ETHERNET_LO", 16},
                                 Algorithm{"CRC_ETHERNET_HI", 16}};
constexpr std::array kRtag7Algorithms{Algorithm{"CRC", 16},
                                      Algorithm{"XOR", 16},
                                      Algorithm{"CRC_32LO", 16},
                                      Algorithm{"CRC_32HI", 16},
                                      Algorithm{"CRC_CCITT", 16},
                                      Algorithm{"CRC_XOR", 16},
                                      Algorithm{"CRC_XOR4", 16},
                                      Algorithm{"CRC_XOR2", 16},
                                      Algorithm{"CRC_XOR1", 16},
                                      Algorithm{"CRC_ETHERNET_LO", 16},
                                      Algorithm{"CRC_ETHERNET_HI", 16},
                                      Algorithm{"CRC_KOOPMAN_LO", 16},
                                      Algorithm{"CRC_KOOPMAN_HI", 16}};
constexpr std::array kOvsAlgorithms{"L4", "SYM_L4", "L4_CRC32C", "SYM_L4_CRC32C"};
constexpr std::array kFewFields{"DST_IP", "SRC_IP, DST_IP", "L4_SRC_PORT, L4_DST_PORT", "SRC_IP, L4_SRC_PORT"};

class Drawing {
 public:
  explicit Drawing(uint64_t seed) : rng_(seed, 90) {}

  GeneratedFabric draw() {
    GeneratedFabric out;
    out.difference = static_cast<Difference>(below(7));
    out.demand = below(3);
    out.flows = static_cast<uint32_t>(100 * std::pow(10.0, 3 * std::pow(rng_.unit(), 6)));
    out.has_few_fields = out.difference != Difference::kFewKeys && below(5) == 0;
    is_rtag7_ = below(6) == 0;
    if (!is_rtag7_ && below(6) == 0) {
      draw_hosts(out);
    } else {
      draw_hashes(out);
    }
    const std::string fields = out.has_few_fields ? fmt::format(", fields: [{}]", kFewFields[below(4)]) : "";
    out.text = "name: drawn\n" + fabric() + "profiles:\n";
    const auto hash_of = [&](const RoleHash& hash) {
      if (hash.algorithm == "LINUX")
        return fmt::format("hash: {{model: LINUX, policy: {}, seed: {}{}}}", out.has_few_fields ? 3 : 1, hash.seed,
                           fields);
      if (is_ovs_) return fmt::format("hash: {{model: OVS, algorithm: {}, seed: {}}}", hash.algorithm, hash.seed);
      return fmt::format("hash: {{{}algorithm: {}, seed: {}, offset: {}{}}}", is_rtag7_ ? "model: RTAG7, " : "",
                         hash.algorithm, hash.seed, hash.offset, fields);
    };
    std::string roles = "roles:\n";
    for (const auto& [role, hash] : out.hashes) {
      const std::string word = control::name_of(role);
      out.text += fmt::format("  of-{}: {{{}{}}}\n", word, hash_of(hash), role == Role::kTor ? weights() : "");
      roles += fmt::format("  {}: of-{}\n", word, word);
    }
    // A switch that somebody forgot, or that came from elsewhere.
    out.has_odd_switch = !odd_.empty() && below(3) == 0;
    if (out.has_odd_switch) {
      out.text += fmt::format("  odd: {{{}}}\n", hash_of(out.hashes.at(odd_hash_)));
      roles += fmt::format("topology: {{nodes: {{{}: {{profile: odd}}}}}}\n", odd_);
    }
    out.text += roles;
    return out;
  }

 private:
  uint32_t below(uint32_t n) { return static_cast<uint32_t>(rng_.below(n)); }
  uint32_t between(uint32_t least, uint32_t most) { return least + below(most - least + 1); }
  std::string links() const { return "host_link: {rate: 100Gbps}, fabric_link: {rate: 100Gbps}"; }

  std::string weights() { return weighted_ ? fmt::format(", groups: {{weights: {{spine1: {}}}}}", between(2, 5)) : ""; }
  std::string fabric() {
    switch (below(4)) {
      case 0:
        odd_ = "tor1";
        odd_hash_ = Role::kAggregation;
        weighted_ = below(4) == 0;
        return fmt::format(
            "fabric: {{kind: leaf-spine, tors: {}, spines: {}, hosts_per_tor: 2, links_per_spine: {}, {}}}\n",
            between(2, 6), between(2, 16), between(1, 4), links());
      case 1:
        odd_ = "p1-agg1";
        odd_hash_ = Role::kTor;
        return fmt::format("fabric: {{kind: fat-tree, k: {}, hosts_per_tor: 1, {}}}\n", 2 * between(2, 5), links());
      case 2:
        return fmt::format(
            "fabric: {{kind: hpn, segments: 2, servers_per_segment: 4, rails: {}, planes: {}, "
            "aggregations_per_plane: {}, cores: {}, core_uplinks: {}, {}}}\n",
            between(1, 2), between(1, 2), between(2, 64), 16, between(1, 8), links());
      default:
        return fmt::format(
            "fabric: {{kind: ai-zone, zones: {}, racks: {}, servers_per_rack: 1, nics_per_server: 4, ctsws: "
            "{}, links_per_ctsw: {}, atsws: {}, {}, zone_link: {{rate: 100Gbps}}}}\n",
            between(2, 3), between(2, 4), between(2, 8), between(1, 4), between(2, 12), links());
    }
  }

  Algorithm any_algorithm() {
    return is_rtag7_ ? kRtag7Algorithms[below(kRtag7Algorithms.size())] : kAlgorithms[below(kAlgorithms.size())];
  }
  void draw_hashes(GeneratedFabric& out) {
    const auto [algorithm, width] = any_algorithm();
    RoleHash hash{algorithm, width, below(100), below(width)};
    const bool mixes = out.difference == Difference::kMixing || out.difference == Difference::kFewKeys;
    if (mixes) is_rtag7_ = false;
    if (mixes) hash = {"XXH3", 32, 0, 0};
    for (const Role role : {Role::kTor, Role::kAggregation, Role::kCore}) {
      out.hashes[role] = hash;
      const bool new_seed = out.difference == Difference::kSeed || out.difference == Difference::kSeedAndOffset;
      if (mixes) hash.seed += between(1, 1'000);
      if (new_seed) hash.seed += between(1, 1'000'000);
      if (out.difference == Difference::kOffset || out.difference == Difference::kSeedAndOffset)
        hash.offset = (hash.offset + between(1, hash.width - 1)) % hash.width;
      if (out.difference != Difference::kAlgorithm) continue;
      const auto [other, bits] = any_algorithm();
      hash = {other, bits, hash.seed, 0};
    }
  }

  // Linux routers or Open vSwitches: alike, or each tier with a seed of its own. A symmetric Open vSwitch takes the
  // sums of the addresses, and no ports of UDP.
  void draw_hosts(GeneratedFabric& out) {
    is_ovs_ = below(2) == 0;
    RoleHash hash{is_ovs_ ? kOvsAlgorithms[below(kOvsAlgorithms.size())] : "LINUX", 32, between(1, 100), 0};
    if (is_ovs_) out.has_few_fields = hash.algorithm.starts_with("SYM");
    const bool are_alike = out.difference != Difference::kFewKeys && below(2) == 0;
    if (out.difference != Difference::kFewKeys) out.difference = are_alike ? Difference::kNone : Difference::kMixing;
    for (const Role role : {Role::kTor, Role::kAggregation, Role::kCore}) {
      out.hashes[role] = hash;
      if (!are_alike) hash.seed += between(1, 1'000);
    }
  }

  dataplane::Rng rng_;
  bool is_rtag7_ = false;
  bool is_ovs_ = false;
  bool weighted_ = false;
  std::string odd_;             // a switch's name
  Role odd_hash_ = Role::kTor;  // whose hash it then has
};

}  // namespace

GeneratedFabric generated_fabric(uint64_t seed) {
  return Drawing(seed).draw();
}

std::vector<analysis::FlowProbe> generated_flows(analysis::Walker& walker, const GeneratedFabric& drawn,
                                                 uint64_t seed) {
  const Fabric& fabric = walker.testbed().fabric;
  std::vector<uint32_t> hosts;
  for (uint32_t n = 0; n < fabric.nodes.size(); ++n) {
    if (fabric.nodes[n].kind == control::NodeKind::kHost) hosts.push_back(n);
  }
  dataplane::Rng rng{seed, 91};
  std::vector<analysis::FlowProbe> out;
  const uint64_t turn = 1 + rng.below(hosts.size() - 1);
  while (out.size() < drawn.flows) {
    const uint64_t from = rng.below(hosts.size());
    const uint64_t to = drawn.demand == 0   ? rng.below(hosts.size())
                        : drawn.demand == 1 ? (from + turn) % hosts.size()
                                            : 0;
    if (from == to) continue;
    analysis::Probe probe{.from = hosts[from], .to = hosts[to]};
    probe.port = static_cast<uint16_t>(rng.below(fabric.nodes[probe.from].ports.size()));
    probe.source_port = drawn.difference == Difference::kFewKeys ? 49'152 : static_cast<uint16_t>(rng.next());
    probe.qp = static_cast<uint32_t>(rng.next() & 0xffffff);
    const control::LinkEnd sender{probe.from, probe.port};
    out.push_back({frame_of(fabric, probe, walker.router_mac(fabric.peer_of(sender).node)), sender});
  }
  return out;
}

control::Testbed parsed(const std::string& text) {
  const auto testbed = control::parse_testbed(text, "test.yaml");
  if (testbed) return *testbed;
  ADD_FAILURE() << to_string(testbed.error().front()) << "\n" << text;
  return {};
}

analysis::Walker walker_of(const control::Testbed& testbed) {
  return {testbed, std::vector<bool>(testbed.fabric.links.size(), true)};
}

}  // namespace softspine::tests
