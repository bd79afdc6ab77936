// SPDX-License-Identifier: Apache-2.0
#include "tests/scenario/random/random_fabric.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "control/load/load.hpp"
#include "dataplane/units/rng.hpp"

namespace softspine::tests {

namespace {

constexpr uint64_t kMicrosecond = 1'000'000;  // ps

class FabricDraw {
 public:
  explicit FabricDraw(uint64_t seed) : rng_(seed, 2), duration_ps_(from_to(60, 240) * (kMicrosecond + 3)) {}

  std::string operator()() {
    std::string head = fmt::format("name: drawn\nrun: {{duration: {}ps, seed: {}}}\n", duration_ps_, below(1000));
    head += fabric_text() + profiles_text();
    read_names(head);
    if (hosts_.empty()) return head;
    return head + jobs_text() + workloads_text() + faults_text() +
           fmt::format("convergence: {}ps\n", below(30 * kMicrosecond));
  }

 private:
  uint64_t below(uint64_t n) { return rng_.below(n); }
  uint64_t from_to(uint64_t least, uint64_t most) { return least + below(most - least + 1); }
  bool one_in(uint64_t n) { return below(n) == 0; }
  std::string word(const std::vector<std::string>& all) { return all[below(all.size())]; }

  std::string link() {
    return fmt::format("{{rate: {}Gbps, length: {}}}", word({"25", "100", "100", "400"}), word({"1m", "3m", "300m"}));
  }

  std::string fabric_text() {
    const std::string host = "host_link: " + link();
    const std::string links = host + ", fabric_link: " + link();
    switch (below(9)) {
      case 0:
        has_servers_ = true;
        return fmt::format(
            "fabric: {{kind: dcn-plus, segments: 2, servers_per_segment: 2, nics_per_server: 1, aggregations: 2, "
            "links_per_aggregation: 1, cores: 2, core_uplinks: 2, pods: {}, {}}}\n",
            from_to(1, 2), links);
      case 1:
        return fmt::format(
            "fabric: {{kind: front-end, segments: 2, servers_per_segment: 2, aggregations: 2, links_per_aggregation: "
            "{}, {}}}\n",
            from_to(1, 2), links);
      case 2: return fmt::format("fabric: {{kind: star, hosts: {}, {}}}\n", from_to(2, 6), host);
      case 3: return fmt::format("fabric: {{kind: 2-ary-fat-tree, levels: {}, {}}}\n", from_to(1, 3), links);
      case 4:
        has_ends_ = true;
        return fmt::format("fabric: {{kind: clos, m: {}, n: 2, r: 2, {}}}\n", from_to(1, 3), links);
      case 5: has_ends_ = true; return fmt::format("fabric: {{kind: crossbar, inputs: 3, outputs: 3, {}}}\n", host);
      case 6: return lags_text(links);
      case 7: return stack_text(links);
      default:
        has_servers_ = true;
        return fmt::format(
            "fabric: {{kind: ai-zone, zones: 2, racks: 2, servers_per_rack: 2, nics_per_server: {}, ctsws: 2, "
            "links_per_ctsw: 1, atsws: 2, {}, zone_link: {}}}\n",
            from_to(1, 2), links, link());
    }
  }

  std::string lags_text(const std::string& links) {
    return fmt::format(
        "fabric: {{kind: leaf-spine, tors: 3, spines: 2, hosts_per_tor: 2, links_per_spine: 3, {}}}\n"
        "topology:\n  lags:\n    - {{name: any, between: [tor1, spine1]}}\n"
        "    - {{name: two, between: [tor1, spine2], min_links: 2{}}}\n"
        "    - {{name: all, between: [tor2, spine1], min_links: 3}}\n",
        links, one_in(2) ? ", mode: lacp, agreed: true" : "");
  }

  std::string stack_text(const std::string& links) {
    has_servers_ = true;
    const std::string bond = one_in(2) ? "" : ", bond: {mode: lacp, miimon: 10us}";
    return fmt::format(
        "fabric: {{kind: hpn, segments: 2, servers_per_segment: 2, rails: 1, planes: 1, aggregations_per_plane: 2, "
        "{}{}}}\n"
        "topology:\n  links: [{{endpoints: [s1-r1-tor1, s1-r1-tor2], rate: 100Gbps}}]\n"
        "  stacks: {{rack: {{switches: [s1-r1-tor1, s1-r1-tor2], keepalive_interval: 10us, keepalive_timeout: 50us, "
        "hold_timeout: 30us, delay_restore: {}us}}}}\n",
        links, bond, from_to(20, 200));
  }

  std::string profiles_text() {
    return "profiles: {default: {" +
           word({"base: lossless", "queue_limit: 32KiB",
                 "base: lossless, BUFFER_PROFILE: {pg_lossless_auto_profile: {dynamic_th: -6}}",
                 "base: lossless, BUFFER_POOL: {ingress_lossless_pool: {type: ingress, size: 96KiB}}"}) +
           "}}\n";
  }

  void read_names(const std::string& head) {
    const auto testbed = control::parse_testbed(head, "names.yaml", {});
    if (!testbed) {
      for (const auto& error : testbed.error()) ADD_FAILURE() << to_string(error) << "\n" << head;
      return;
    }
    for (const control::FabricNode& node : testbed->fabric.nodes) {
      const bool is_host = node.kind == control::NodeKind::kHost;
      (is_host ? hosts_ : switches_).push_back(node.name);
      for (const control::FabricPort& port : node.ports) {
        ports_.push_back(node.name + ":" + port.name);
        if (!is_host) switch_ports_.push_back(ports_.back());
      }
    }
  }

  std::string jobs_text() {
    has_job_ = has_servers_ && one_in(2);
    if (!has_job_) return "";
    return fmt::format("jobs: [{{name: train, servers: 3, placement: {}}}]\n", word({"packed", "random", "min-cut"}));
  }

  static std::string list(const std::vector<std::string>& names) { return fmt::format("[{}]", fmt::join(names, ", ")); }

  // A classic Clos network and a crossbar have hosts that send and others that receive.
  std::string pattern() {
    if (has_ends_) {
      std::vector<std::string> from;
      std::vector<std::string> to;
      for (const std::string& host : hosts_) (host.find("in") == std::string::npos ? to : from).push_back(host);
      return "pairs, from: " + list(from) + ", to: " + list(to);
    }
    if (has_job_ && one_in(2)) return "ring, hosts: [job train 0..2]";
    if (hosts_.size() < 3 || one_in(2)) return "permutation";
    return "incast, from: " + list({hosts_.begin() + 1, hosts_.end()}) + ", to: " + hosts_.front();
  }

  std::string workloads_text() {
    std::string out = "workload:\n";
    for (uint64_t i = 0, n = from_to(1, 2); i < n; ++i) {
      out +=
          fmt::format("  - {{name: w{}, pattern: {}, mtu: {}, message: {}B, messages: {}, qps: {}{}}}\n", i, pattern(),
                      word({"1024", "4096"}), word({"700", "30000", "65536"}), from_to(4, 16), from_to(1, 3),
                      word({"", ", transport: rc, ack_timeout: 1",
                            ", transport: rc, congestion_control: dcqcn_connectx, cnp_interval: 4us"}));
    }
    return out;
  }

  std::string fault() {
    const std::string until = fmt::format(", until: {}ps", at_ + 1 + below(100 * kMicrosecond));
    const std::string port = "link: \"" + word(ports_) + "\"";
    const std::string node = "node: " + word(switches_);
    const std::string place = one_in(2) ? port : node;
    const std::string carrier = ", carrier: " + word({"stays", "goes"});
    switch (below(10)) {
      case 0: return port + ", set: one_way, direction: " + word({"in", "out"}) + carrier + until;
      case 1: return place + ", set: dead" + carrier + until;
      case 2: return place + fmt::format(", set: drained, links_after: {}ps", below(20 * kMicrosecond));
      case 3: return port + fmt::format(", set: down, flap: {{period: 20us, jitter: 5us, count: {}}}", from_to(1, 5));
      case 4: return "link: \"" + word(switch_ports_) + "\", set: tx_disabled" + until;
      case 5: return node + ", set: down";
      case 6: return node + ", set: up";
      case 7: return port + ", set: deaf" + until;
      case 8: return "node: " + word(hosts_) + ", set: storm, priorities: [3]" + until;
      default: return "node: " + word(hosts_) + ", set: slow_receiver, drain: 2Gbps" + until;
    }
  }

  std::string faults_text() {
    std::string out = "faults:\n";
    for (uint64_t i = 0, n = from_to(1, 6); i < n; ++i) {
      at_ = below(duration_ps_);
      out += fmt::format("  - {{at: {}ps, {}}}\n", at_, fault());
    }
    return out;
  }

  dataplane::Rng rng_;
  uint64_t duration_ps_;
  uint64_t at_ = 0;  // of the fault that is drawn
  bool has_servers_ = false;
  bool has_job_ = false;
  bool has_ends_ = false;
  std::vector<std::string> hosts_;
  std::vector<std::string> switches_;
  std::vector<std::string> ports_;
  std::vector<std::string> switch_ports_;
};

}  // namespace

std::string random_fabric(uint64_t seed) {
  return FabricDraw(seed)();
}

}  // namespace softspine::tests
