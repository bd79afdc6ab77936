// SPDX-License-Identifier: Apache-2.0
#include "tests/scenario/polarization/generated_fabric.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <set>
#include <utility>

#include "control/explain/probe.hpp"

namespace softspine::tests {

using control::Fabric;
using control::Role;

namespace {

constexpr std::array<std::pair<const char*, uint32_t>, 8> kAlgorithms{{{"CRC", 32},
                                                                       {"XOR", 16},
                                                                       {"CRC_32LO", 16},
                                                                       {"CRC_32HI", 16},
                                                                       {"CRC_CCITT", 16},
                                                                       {"CRC_XOR", 16},
                                                                       {"TOEPLITZ", 32},
                                                                       {"XXH3", 32}}};

class Drawing {
 public:
  explicit Drawing(uint64_t seed) : rng_(seed, 90) {}

  GeneratedFabric draw() {
    GeneratedFabric out;
    out.difference = static_cast<Difference>(below(7));
    out.demand = below(3);
    out.flows = static_cast<uint32_t>(100 * std::pow(10.0, 3 * std::pow(rng_.unit(), 6)));
    draw_hashes(out);
    out.text = "name: drawn\n" + fabric() + "profiles:\n";
    std::string roles = "roles:\n";
    for (const auto& [role, hash] : out.hashes) {
      const std::string word = control::name_of(role);
      out.text += fmt::format("  of-{}: {{hash: {{algorithm: {}, seed: {}, offset: {}}}}}\n", word, hash.algorithm,
                              hash.seed, hash.offset);
      roles += fmt::format("  {}: of-{}\n", word, word);
    }
    out.text += roles;
    return out;
  }

 private:
  uint32_t below(uint32_t n) { return static_cast<uint32_t>(rng_.below(n)); }
  uint32_t between(uint32_t least, uint32_t most) { return least + below(most - least + 1); }
  std::string links() const { return "host_link: {rate: 100Gbps}, fabric_link: {rate: 100Gbps}"; }

  std::string fabric() {
    switch (below(4)) {
      case 0:
        return fmt::format(
            "fabric: {{kind: leaf-spine, tors: {}, spines: {}, hosts_per_tor: 2, links_per_spine: {}, {}}}\n",
            between(2, 6), between(2, 16), between(1, 4), links());
      case 1:
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

  void draw_hashes(GeneratedFabric& out) {
    const auto& [algorithm, width] = kAlgorithms[below(kAlgorithms.size())];
    RoleHash hash{algorithm, width, below(100), below(width)};
    const bool mixes = out.difference == Difference::kMixing || out.difference == Difference::kFewKeys;
    if (mixes) hash = {"XXH3", 32, 0, 0};
    for (const Role role : {Role::kTor, Role::kAggregation, Role::kCore}) {
      out.hashes[role] = hash;
      const bool new_seed = out.difference == Difference::kSeed || out.difference == Difference::kSeedAndOffset;
      if (mixes) hash.seed += between(1, 1'000);
      if (new_seed) hash.seed += between(1, 1'000'000);
      if (out.difference == Difference::kOffset || out.difference == Difference::kSeedAndOffset)
        hash.offset = (hash.offset + between(1, hash.width - 1)) % hash.width;
      if (out.difference != Difference::kAlgorithm) continue;
      const auto& [other, bits] = kAlgorithms[below(kAlgorithms.size())];
      hash = {other, bits, hash.seed, 0};
    }
  }

  dataplane::Rng rng_;
};

}  // namespace

GeneratedFabric generated_fabric(uint64_t seed) {
  return Drawing(seed).draw();
}

std::vector<control::FlowProbe> generated_flows(control::Walker& walker, const GeneratedFabric& drawn, uint64_t seed) {
  const Fabric& fabric = walker.testbed().fabric;
  std::vector<uint32_t> hosts;
  for (uint32_t n = 0; n < fabric.nodes.size(); ++n) {
    if (fabric.nodes[n].kind == control::NodeKind::kHost) hosts.push_back(n);
  }
  dataplane::Rng rng{seed, 91};
  std::vector<control::FlowProbe> out;
  const uint64_t turn = 1 + rng.below(hosts.size() - 1);
  while (out.size() < drawn.flows) {
    const uint64_t from = rng.below(hosts.size());
    const uint64_t to = drawn.demand == 0   ? rng.below(hosts.size())
                        : drawn.demand == 1 ? (from + turn) % hosts.size()
                                            : 0;
    if (from == to) continue;
    control::Probe probe{.from = hosts[from], .to = hosts[to]};
    probe.port = static_cast<uint16_t>(rng.below(fabric.nodes[probe.from].ports.size()));
    probe.source_port = drawn.difference == Difference::kFewKeys ? 49'152 : static_cast<uint16_t>(rng.next());
    probe.qp = static_cast<uint32_t>(rng.next() & 0xffffff);
    const control::LinkEnd sender{probe.from, probe.port};
    out.push_back({frame_of(fabric, probe, walker.router_mac(fabric.peer_of(sender).node)), sender});
  }
  return out;
}

}  // namespace softspine::tests
