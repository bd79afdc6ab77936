// SPDX-License-Identifier: Apache-2.0
#include "tests/scenario/random/random_testbed.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "control/load/load.hpp"
#include "dataplane/units/rng.hpp"

namespace softspine::tests {

namespace {

constexpr int64_t kUs = 1'000'000;  // ps

class Draw {
 public:
  explicit Draw(uint64_t seed)
      : rng_(seed, 0), arrivals_(seed, 1), duration_ps_(static_cast<int64_t>(40 + below(80)) * kUs) {}

  RandomTestbed operator()() {
    by_credit_ = one_in(6);
    const std::string fabric = fabric_text();
    read_names(fabric);
    const std::string profiles = profiles_text();
    const std::string workloads = workloads_text();
    const std::string faults = faults_text();
    std::string text = fmt::format("name: drawn\nrun: {{duration: {}ps, seed: {}}}\n{}{}{}{}", duration_ps_,
                                   below(1000), fabric, profiles, workloads, faults);
    if (one_in(2)) text += fmt::format("convergence: {}ps\n", below(30 * kUs));
    return {std::move(text), keeps_lossless_};
  }

 private:
  uint64_t below(uint64_t n) { return rng_.below(n); }
  uint64_t from_to(uint64_t least, uint64_t most) { return least + below(most - least + 1); }
  bool one_in(uint64_t n) { return below(n) == 0; }
  template <typename T>
  const T& one_of(const std::vector<T>& all) {
    return all[below(all.size())];
  }
  std::string word(const std::vector<std::string>& all) { return one_of(all); }
  int64_t instant() { return static_cast<int64_t>(below(static_cast<uint64_t>(duration_ps_))); }

  std::string link() {
    return fmt::format("{{rate: {}Gbps, length: {}{}}}", word({"10", "25", "40", "100", "100", "200", "400"}),
                       word({"1m", "3m", "7m", "40m", "300m"}), by_credit_ ? ", flow_control: credit" : "");
  }

  std::string fabric_text() {
    const std::string links = fmt::format("host_link: {}, fabric_link: {}", link(), link());
    switch (below(4)) {
      case 0:
        return fmt::format(
            "fabric: {{kind: leaf-spine, tors: {}, spines: {}, hosts_per_tor: {}, links_per_spine: {}, {}}}\n",
            from_to(1, 4), from_to(1, 3), from_to(1, 4), from_to(1, 2), links);
      case 1:
        return fmt::format("fabric: {{kind: fat-tree, k: {}, hosts_per_tor: {}, {}, core_link: {}}}\n",
                           2 * from_to(1, 2), from_to(1, 2), links, link());
      case 2: return hpn_text(links);
      default:
        return fmt::format(
            "fabric: {{kind: ai-zone, zones: {}, racks: {}, servers_per_rack: {}, nics_per_server: {}, "
            "ctsws: {}, links_per_ctsw: {}, atsws: {}, {}, zone_link: {}}}\n",
            from_to(1, 2), from_to(1, 2), from_to(1, 2), from_to(1, 2), from_to(1, 2), from_to(1, 2), from_to(1, 2),
            links, link());
    }
  }

  std::string hpn_text(const std::string& links) {
    const auto planes = from_to(1, 2);
    const auto cores = planes * below(3);
    return fmt::format(
        "fabric: {{kind: hpn, segments: {}, servers_per_segment: {}, rails: {}, planes: {}, aggregations_per_plane: "
        "{}, "
        "cores: {}, {}{}, core_link: {}}}\n",
        from_to(1, 2), from_to(1, 3), from_to(1, 2), planes, from_to(1, 2), cores,
        planes == 2 && below(2) == 0 ? "planes_meet: core, " : "", links, link());
  }

  void read_names(const std::string& fabric) {
    const auto testbed = control::parse_testbed("name: names\n" + fabric, "names.yaml", {});
    if (!testbed) {
      for (const auto& error : testbed.error()) ADD_FAILURE() << to_string(error) << "\n" << fabric;
      return;
    }
    for (const control::FabricNode& node : testbed->fabric.nodes) {
      (node.kind == control::NodeKind::kHost ? hosts_ : switches_).push_back(node.name);
      for (const control::FabricPort& port : node.ports) ports_.push_back(node.name + ":" + port.name);
    }
  }

  std::string groups() {
    const std::string mode = word({"hash", "hash", "pinned", "in_port", "flowlet", "spray"});
    std::string out = "groups: {mode: " + mode;
    if ((mode == "hash" || mode == "in_port") && one_in(2)) out += ", kind: resilient, buckets: 16";
    if (mode == "flowlet") out += ", gap: " + word({"300ns", "5us"});
    return out + "}";
  }

  std::string profiles_text() {
    is_lossless_ = by_credit_ || !one_in(3);
    if (!is_lossless_) {
      return fmt::format("profiles: {{default: {{queue_limit: {}, {}}}}}\n", word({"4KiB", "32KiB", "1MiB"}), groups());
    }
    keeps_lossless_ = one_in(2);
    std::string out = "base: lossless, " + groups();
    if (!keeps_lossless_)
      out += ", BUFFER_POOL: {ingress_lossless_pool: {type: ingress, size: " + word({"96KiB", "512KiB", "4MiB"}) + "}}";
    if (one_in(3)) {
      out +=
          ", WRED_PROFILE: {AZURE_LOSSLESS: {ecn: ecn_all, wred_green_enable: false, ecn_green_min_threshold: 5000B, "
          "ecn_green_max_threshold: 60000B, ecn_green_mark_probability: 20%}}";
    }
    if (one_in(2)) out += ", in_band_telemetry: true";
    if (!by_credit_ && one_in(4)) {
      keeps_lossless_ = false;  // what it drops or lets through is what it is for
      out += fmt::format(
          ", PFC_WD: {{GLOBAL: {{action: {}, detection_time: {}us, restoration_time: {}us, POLL_INTERVAL: 2us}}}}",
          word({"drop", "forward"}), from_to(6, 20), from_to(6, 20));
    }
    const auto threshold = [&](const std::string& value) {
      return ", BUFFER_PROFILE: {pg_lossless_auto_profile: {dynamic_th: " + value + "}}";
    };
    const std::string tight = threshold(word({"-7", "-6", "-3", "0"}));
    return "profiles:\n  default: {" + out + tight + "}\n  other: {" + out + threshold(word({"-5", "-1", "1"})) + "}\n";
  }

  std::string pattern() {
    if (hosts_.size() < 2) return "";
    switch (below(5)) {
      case 0: return "permutation";
      case 1: return "ring";
      case 2: return hosts_.size() <= 8 ? "all_to_all" : "ring";
      case 3: {
        std::string from;
        for (size_t i = 1; i < hosts_.size(); ++i) from += (from.empty() ? "" : ", ") + hosts_[i];
        return "incast, from: [" + from + "], to: " + hosts_[0];
      }
      default: {
        const size_t a = below(hosts_.size());
        const size_t b = (a + 1 + below(hosts_.size() - 1)) % hosts_.size();
        return fmt::format("pairs, from: [{}, {}], to: [{}, {}]", hosts_[a], hosts_[b], hosts_[b], hosts_[a]);
      }
    }
  }

  std::string congestion_control() {
    return word({"dcqcn_connectx, cnp_interval: 4us", "dcqcn_paper, cnp_interval: 4us",
                 "{kind: dcqcn_paper, g: 1/16, time_reset: 5us, byte_reset: 20KB, nic_delay: 3us}, cnp_interval: 4us",
                 "{kind: timely, t_low: 5us, t_high: 20us, min_rate: 1Gbps}", "{kind: bdp_fc, rtt: 4us}"});
  }
  // Every packet of theirs asks for an acknowledgement.
  std::string asking_control() {
    return word({"{kind: dctcp, rtt: 6us, min_rate: 1Gbps}", "{kind: hpcc, rtt: 6us, min_rate: 1Gbps}",
                 "{kind: hpcc, rtt: 6us, multi_rate: true, max_stage: 0, min_rate: 1Gbps}",
                 "{kind: swift, base_target: 6us, hop_scale: 1us, fs_range: 10us, min_cwnd: 1/2}"});
  }

  std::string reliable() {
    if (one_in(2)) return "";
    const uint64_t window = one_of(std::vector<uint64_t>{1, 7, 64, 1024});
    const bool asks_always = one_in(3);
    std::string out =
        fmt::format(", transport: rc, window: {}, ack_every: {}, ack_timeout: {}, retries: {}", window,
                    asks_always ? 1 : from_to(1, std::min<uint64_t>(window, 16)), from_to(0, 3), from_to(0, 7));
    if (asks_always) return out + ", congestion_control: " + asking_control();
    if (one_in(2)) out += ", congestion_control: " + congestion_control();
    return out;
  }

  std::string workload(uint64_t number, const std::string& who) {
    const uint64_t qps = from_to(1, 4);
    std::string out = fmt::format("{{name: w{}, pattern: {}, mtu: {}, dscp: {}, qps: {}", number, who,
                                  word({"256", "1024", "4096"}), word({"3", "3", "3", "4", "26", "46", "0"}), qps);
    out += fmt::format(", message: {}B, messages: {}", word({"4", "700", "4096", "30000", "65536"}), from_to(qps, 6));
    if (one_in(2)) out += fmt::format(", start: {}ps", below(20 * kUs));
    if (one_in(3)) out += ", rate: 7Gbps";
    if (one_in(3)) out += ", scaling: " + word({"split", "round_robin"});
    return out + reliable() + "}";
  }

  // Two hosts at 10 Gb/s have a flow of 2.9 KB each 2.9 µs at 80 %: the fourth comes long before the run ends.
  std::string arrivals() {
    const std::vector<std::string> kinds{", transport: rc", ", transport: rc, congestion_control: dcqcn_connectx", ""};
    return fmt::format("  - {{name: arrivals, pattern: poisson, load: {}%, sizes: googlerpc, flows: {}, dscp: {}{}}}\n",
                       80 + arrivals_.below(21), 1 + arrivals_.below(4), 3 + arrivals_.below(2),
                       kinds[arrivals_.below(kinds.size())]);
  }

  std::string workloads_text() {
    const std::string first = pattern();
    if (first.empty()) return "";
    std::string out = "workload:\n";
    for (uint64_t i = 0, n = from_to(1, 3); i < n; ++i) {
      out += "  - " + workload(i, i == 0 ? first : pattern()) + "\n";
    }
    return out + (arrivals_.below(3) == 0 ? arrivals() : "");
  }

  std::string faults_text() {
    if (one_in(4)) return "";
    std::string out = "faults:\n";
    for (uint64_t i = 0, n = from_to(1, 6); i < n; ++i) out += "  - {" + fault() + "}\n";
    return out;
  }

  std::string fault() {
    const int64_t at = instant();
    const std::string when = fmt::format("at: {}ps, ", at);
    const std::string until =
        one_in(2) ? fmt::format(", until: {}ps", at + 1 + static_cast<int64_t>(below(30 * kUs))) : "";
    const std::string place = one_in(2) ? "link: \"" + one_of(ports_) + "\"" : "node: " + one_of(switches_);
    switch (below(9)) {
      case 0: return breaks(when + place + ", set: down");
      case 1: {  // and up again, in an entry of its own
        const int64_t later = std::min(at + static_cast<int64_t>(below(20 * kUs)), duration_ps_ - 1);
        return breaks(when + place + fmt::format(", set: down}}\n  - {{at: {}ps, {}, set: up", later, place));
      }
      case 2:
        return when + "node: " + one_of(hosts_) + ", set: storm, priorities: [" + word({"3", "3, 4", "1"}) + "]" +
               until;
      case 3:
        return when + "node: " + one_of(hosts_) + ", set: slow_receiver, drain: " + word({"1Gbps", "5Gbps", "30Gbps"}) +
               until;
      case 4:
        return breaks(when + place + ", set: lossy, drop: " + word({"1%", "20%", "97%"}) +
                      ", corrupt: 3%, direction: " + word({"both", "in", "out"}) + until);
      case 5: return breaks(when + place + ", set: deaf" + until);
      case 6: return when + place + ", set: clear";
      case 7:
        if (is_lossless_)
          return breaks(when + "node: " + one_of(switches_) + ", profile: " + word({"other", "default"}));
        [[fallthrough]];
      default: return breaks(when + "node: " + one_of(switches_) + ", set: " + word({"down", "up"}));
    }
  }
  std::string breaks(std::string fault) {
    keeps_lossless_ = false;
    return fault;
  }

  dataplane::Rng rng_;
  dataplane::Rng arrivals_;  // so that all else is drawn as without it
  int64_t duration_ps_;
  bool by_credit_ = false;
  bool is_lossless_ = false;
  bool keeps_lossless_ = false;
  std::vector<std::string> hosts_;
  std::vector<std::string> switches_;
  std::vector<std::string> ports_;
};

}  // namespace

RandomTestbed random_testbed(uint64_t seed) {
  return Draw(seed)();
}

}  // namespace softspine::tests
