// SPDX-License-Identifier: Apache-2.0
#include "tests/scenario/random/random_edges.hpp"

#include <fmt/format.h>

#include <string_view>
#include <vector>

#include "control/telemetry/json.hpp"
#include "dataplane/units/rng.hpp"
#include "tests/scenario/random/edge_files.hpp"

namespace softspine::tests {

namespace {

using control::Json;

class EdgesDraw {
 public:
  explicit EdgesDraw(uint64_t seed) : rng_(seed, 5) {}

  std::string operator()() {
    const uint64_t racks = from_to(2, 4);
    const uint64_t spines = from_to(1, 3);
    // With cables of one length the hosts' second ones may be cut between ranks.
    const std::string host_cable = word({"3m", "40m"});
    for (uint64_t s = 0; s < spines; ++s) add_switch(fmt::format("spine{}", s), "aggregation");
    for (uint64_t r = 0; r < racks; ++r) {
      const std::string tor = fmt::format("tor{}", r);
      add_switch(tor, "tor");
      for (uint64_t s = 0; s < spines; ++s) add_link(tor, fmt::format("spine{}", s), "40m");
      for (uint64_t h = 0, n = from_to(1, 3); h < n; ++h) add_host(tor, host_cable);
    }
    if (one_in(2)) {
      const std::string both = add_host("tor0", host_cable);
      add_link(fmt::format("tor{}", racks - 1), both, host_cable);
      two_ports_ = both;
    }
    const uint64_t edges = from_to(1, 3);
    for (uint64_t i = 0; i < edges; ++i) make_edge(one_in(3) && !two_ports_.empty() ? two_ports_ : host());
    out_["name"] = "drawn";
    out_["run"] = {{"duration", "120us"}, {"seed", below(1000)}};
    add_workload();
    if (one_in(2)) add_faults();
    return out_.dump(1);
  }

 private:
  uint64_t below(uint64_t n) { return rng_.below(n); }
  uint64_t from_to(uint64_t least, uint64_t most) { return least + below(most - least + 1); }
  bool one_in(uint64_t n) { return below(n) == 0; }
  std::string word(const std::vector<std::string>& all) { return all[below(all.size())]; }
  std::string host() { return word(hosts_); }

  void add_switch(const std::string& name, std::string_view role) {
    out_["topology"]["nodes"][name] = {{"kind", "switch"}, {"role", role}};
  }
  std::string add_host(const std::string& tor, const std::string& cable) {
    hosts_.push_back(fmt::format("h{}", hosts_.size()));
    out_["topology"]["nodes"][hosts_.back()] = {{"kind", "host"}};
    add_link(tor, hosts_.back(), cable);
    return hosts_.back();
  }
  void add_link(const std::string& a, const std::string& b, const std::string& length) {
    out_["topology"]["links"].push_back({{"endpoints", {a, b}}, {"rate", "100Gbps"}, {"length", length}});
  }

  Json files() {
    Json out{{"out", fmt::format("{}{}.pcap", testbeds::kEdgeOutput, written_++)}};
    if (one_in(4)) return out;
    out["in"] = testbeds::kEdgeInput;
    if (one_in(2)) out["zero"] = word({"first_frame", "together", "recorded"});
    if (one_in(3)) out["offset"] = fmt::format("{}ns", 1 + below(30'000));
    return out;
  }
  void make_edge(const std::string& name) {
    Json edges = Json::array({{{"pcap", files()}}});
    if (name == two_ports_) edges.push_back({{"pcap", files()}});
    out_["topology"]["nodes"][name]["edge"] = std::move(edges);
  }

  // Between hosts that are built in in either of the two runs: those that files stand for send by their files.
  void add_workload() {
    Json builtin = Json::array();
    for (const std::string& each : hosts_) {
      if (!out_["topology"]["nodes"][each].contains("edge")) builtin.push_back(each);
    }
    if (builtin.size() < 2) return;
    out_["workload"].push_back({{"name", "w"},
                                {"pattern", "all_to_all"},
                                {"hosts", builtin},
                                {"message", word({"4KiB", "64KiB"})},
                                {"messages", from_to(1, 20)},
                                {"rate", word({"5Gbps", "40Gbps"})}});
  }
  void add_faults() {
    const Json& link = out_["topology"]["links"][below(out_["topology"]["links"].size())];
    const std::string port = fmt::format("{}:Ethernet0", link["endpoints"][0].get<std::string>());
    const uint64_t at = from_to(1, 60);
    out_["faults"] = Json::array({{{"at", fmt::format("{}us", at)}, {"link", port}, {"set", "down"}},
                                  {{"at", fmt::format("{}us", at + from_to(1, 40))}, {"link", port}, {"set", "up"}}});
  }

  dataplane::Rng rng_;
  Json out_ = Json::object();
  std::vector<std::string> hosts_;
  std::string two_ports_;
  uint32_t written_ = 0;
};

}  // namespace

std::string random_edges(uint64_t seed) {
  return EdgesDraw(seed)();
}

}  // namespace softspine::tests
