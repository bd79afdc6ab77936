// SPDX-License-Identifier: Apache-2.0
#include "tests/scenario/random/random_bonds.hpp"

#include <fmt/format.h>

#include <vector>

#include "dataplane/units/rng.hpp"

namespace softspine::tests {

namespace {

constexpr uint64_t kPsPerUs = 1'000'000;
constexpr uint64_t kRepaired = 400 * kPsPerUs;

class BondsDraw {
 public:
  explicit BondsDraw(uint64_t seed) : rng_(seed, 1) {}

  std::string operator()() {
    segments_ = from_to(1, 2);
    servers_ = from_to(1, 3);
    if (segments_ * servers_ < 2) servers_ = 2;
    rails_ = from_to(1, 2);
    planes_ = from_to(1, 2);
    aggregations_ = from_to(1, 3);
    const std::string head = fmt::format("name: bonds\nrun: {{duration: 60ms, seed: {}}}\n", below(1000));
    const std::string fabric = fabric_text();
    return head + fabric + "profiles: {default: {base: lossless}}\n" + workloads_text() + faults_text() +
           fmt::format("convergence: {}ps\n", one_in(3) ? 0 : below(30 * kPsPerUs));
  }

 private:
  uint64_t below(uint64_t n) { return rng_.below(n); }
  uint64_t from_to(uint64_t least, uint64_t most) { return least + below(most - least + 1); }
  bool one_in(uint64_t n) { return below(n) == 0; }
  std::string word(const std::vector<std::string>& all) { return all[below(all.size())]; }

  std::string bond() {
    const uint64_t every = from_to(1, 20);
    return fmt::format(
        "{{mode: {}, xmit_hash_policy: {}, miimon: {}us, downdelay: {}us, updelay: {}us, remote_failover: {}, "
        "path_change_after: {}}}",
        word({"lacp", "active-backup", "balance-xor"}), word({"qp", "layer2", "layer2+3", "layer3+4"}), every,
        every * below(2), every * below(4), word({"both", "both", "route", "transport", "none"}), from_to(1, 2));
  }

  std::string fabric_text() {
    const std::string credit = one_in(5) ? ", flow_control: credit" : "";
    return fmt::format(
        "fabric: {{kind: hpn, segments: {}, servers_per_segment: {}, rails: {}, planes: {}, "
        "aggregations_per_plane: {}, host_link: {{rate: {}Gbps, length: {}{}}}, fabric_link: {{rate: 100Gbps{}}}, "
        "bond: {}}}\n",
        segments_, servers_, rails_, planes_, aggregations_, word({"25", "40", "100"}), word({"1m", "40m"}), credit,
        credit, bond());
  }

  std::string host(uint64_t number) {
    const uint64_t server = number / rails_;
    return fmt::format("s{}-h{}-nic{}", server / servers_ + 1, server % servers_ + 1, number % rails_ + 1);
  }
  uint64_t hosts() const { return segments_ * servers_ * rails_; }

  std::string workloads_text() {
    std::string out = "workload:\n";
    for (uint64_t i = 0, n = from_to(1, 2); i < n; ++i) {
      const uint64_t a = below(hosts());
      const uint64_t b = (a + 1 + below(hosts() - 1)) % hosts();
      const uint64_t window = one_in(2) ? 1024 : from_to(1, 64);
      out += fmt::format(
          "  - {{name: w{}, pattern: pairs, from: [{}, {}], to: [{}, {}], qps: {}, message: {}B, messages: {}, mtu: "
          "{}, dscp: 3, transport: rc, window: {}, ack_every: {}, ack_timeout: 5, retries: 7}}\n",
          i, host(a), host(b), host(b), host(a), from_to(1, 4), word({"700", "30000", "65536"}), from_to(4, 20),
          word({"1024", "4096"}), window, from_to(1, std::min<uint64_t>(window, 16)));
    }
    return out;
  }

  std::string link() {
    if (one_in(3)) {
      const std::string tor = fmt::format("s{}-r{}-tor{}", from_to(1, segments_), from_to(1, rails_), from_to(1, 2));
      return one_in(3) ? "node: " + tor
                       : fmt::format("link: {}:Ethernet{}", tor, 4 * (servers_ + below(aggregations_)));
    }
    return fmt::format("link: {}:eth{}", host(below(hosts())), below(2));
  }

  // Cut and repaired, once or again; what is cut twice is repaired by the first repair.
  std::string faults_text() {
    std::string out = "faults:\n";
    for (uint64_t i = 0, n = from_to(1, 6); i < n; ++i) {
      const std::string place = link();
      const uint64_t at = below(200 * kPsPerUs);
      out += fmt::format("  - {{at: {}ps, {}, set: down}}\n", at, place);
      out += fmt::format("  - {{at: {}ps, {}, set: up}}\n", at + 1 + below(kRepaired - at - 1), place);
      // A node's fault may have cut the same link later, so everything is repaired at the end.
      out += fmt::format("  - {{at: {}ps, {}, set: up}}\n", kRepaired, place);
    }
    return out;
  }

  dataplane::Rng rng_;
  uint64_t segments_ = 1;
  uint64_t servers_ = 1;
  uint64_t rails_ = 1;
  uint64_t planes_ = 1;
  uint64_t aggregations_ = 1;
};

}  // namespace

std::string random_bonds(uint64_t seed) {
  return BondsDraw(seed)();
}

}  // namespace softspine::tests
