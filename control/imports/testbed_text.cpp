// SPDX-License-Identifier: Apache-2.0
#include "control/imports/testbed_text.hpp"

#include <algorithm>
#include <filesystem>
#include <numeric>
#include <utility>

#include "control/document/words.hpp"
#include "control/format/format.hpp"
#include "control/imports/foreign_lags.hpp"
#include "control/imports/traffic_text.hpp"
#include "control/model/workload.hpp"

namespace softspine::control {
namespace {

constexpr uint64_t kShareOfLink = 4;  // the traffic takes a quarter of the slowest host's link

std::string file_name(const std::string& path) {
  return std::filesystem::path(path).filename().string();
}

class TestbedText {
 public:
  TestbedText(const ForeignTopology& topology, ImportFormat format, const std::vector<ImportFile>& files,
              const ForeignTraffic* traffic)
      : topology_(topology), format_(format), files_(files), traffic_(traffic) {}

  std::string run() {
    head();
    profiles();
    nodes();
    links();
    lags();
    faults();
    if (traffic_ == nullptr) {
      workload();
    } else {
      out_ += traffic_text(topology_, *traffic_);
    }
    return std::move(out_);
  }

 private:
  // A name that YAML would not take for a text.
  static std::string quoted(const std::string& name) {
    const bool word = name == "null" || name == "Null" || name == "NULL";
    return word ? "\"" + name + "\"" : name;
  }
  std::string origin(const Place& place) const {
    const std::string line = "line " + std::to_string(place.line);
    return files_.size() == 1 ? line : shown(file_name(place.file)) + " " + line;
  }
  std::string name_of(const ForeignEnd& end) const { return topology_.nodes[end.node].name + ":" + end.port; }
  bool is_host(uint32_t n) const { return topology_.nodes[n].use == NodeUse::kHost; }

  void head() {
    std::string names;
    for (const ImportFile& file : files_) names += (names.empty() ? "" : ", ") + shown(file_name(file.path));
    const auto hosts = std::ranges::count(topology_.nodes, NodeUse::kHost, &ForeignNode::use);
    out_ += "# From " + std::string(row_of(format_).of) + " " + names + ": " + std::to_string(hosts) + " hosts, " +
            std::to_string(topology_.nodes.size() - static_cast<size_t>(hosts)) + " switches, " +
            std::to_string(topology_.links.size()) + " links.\n";
    if (!topology_.left_out.empty())
      out_ += "# Left out, since nothing here depends on it: " + topology_.left_out + ".\n";
    if (!topology_.notes.empty()) out_ += "# Not mapped, or decided here:\n";
    for (const Error& note : topology_.notes) {
      out_ += "#   ";
      if (note.line > 0) out_ += origin({note.file, "", note.line, note.column}) + ": ";
      out_ += note.message + "\n";
    }
    if (traffic_ != nullptr && !traffic_->notes.empty()) out_ += "# Of the traffic:\n";
    for (const Error& note : traffic_ == nullptr ? Errors{} : traffic_->notes)
      out_ += "#   " + shown(file_name(note.file)) + " line " + std::to_string(note.line) + ": " + note.message + "\n";
    out_ += "name: " + testbed_name() + "\n";
  }

  std::string testbed_name() const {
    std::string name = std::filesystem::path(files_[0].path).filename().string();
    name = name.substr(0, name.find('.'));
    std::ranges::replace_if(name, [](char c) { return !is_name(std::string("a") + c); }, '-');
    return is_name(name) && name != "null" ? name : "imported";
  }

  void nodes() {
    out_ += "\ntopology:\n  nodes:\n";
    for (const ForeignNode& node : topology_.nodes) {
      out_ += "    " + quoted(node.name) + ": {kind: ";
      const auto role = role_of(node.use);
      out_ += role ? "switch, role: " + name_of_role(*role) : "host";
      if (!node.server.empty()) out_ += ", server: " + quoted(node.server);
      if (!node.config_db.empty()) out_ += ", profile: " + quoted(node.name);
      subnets(node);
      out_ += "}  # " + (node.number ? "node " + std::to_string(*node.number) : origin(node.place));
      if (!node.kind.empty()) out_ += ", " + shown(node.kind);
      out_ += "\n";
    }
  }
  void subnets(const ForeignNode& node) {
    if (!node.subnets.empty()) out_ += ", subnet: [";
    const char* between = "";
    for (const std::string& subnet : node.subnets) out_ += std::exchange(between, ", ") + ("\"" + subnet + "\"");
    if (!node.subnets.empty()) out_ += "]";
  }

  // A profile for each switch that has a file of its own.
  void profiles() {
    const auto is_configured = [](const ForeignNode& node) { return !node.config_db.empty(); };
    if (std::ranges::none_of(topology_.nodes, is_configured)) return;
    out_ += "\nprofiles:\n";
    for (const ForeignNode& node : topology_.nodes) {
      if (!is_configured(node)) continue;
      out_ += "  " + quoted(node.name) + ": {config_db: \"";
      for (const char c : node.config_db) out_ += (c == '"' || c == '\\' ? "\\" : "") + std::string(1, c);
      out_ += "\"}\n";
    }
  }

  static std::string name_of_role(Role role) { return control::name_of(role); }

  void links() {
    out_ += "  links:\n";
    for (const ForeignLink& link : topology_.links) {
      out_ += "    - {endpoints: [\"" + name_of(link.a) + "\", \"" + name_of(link.b) +
              "\"], rate: " + print_quantity(static_cast<int64_t>(link.rate.count_bps()), kRateQuantity) +
              ", length: " + print_quantity(static_cast<int64_t>(link.length.micrometres), kLengthQuantity);
      if (link.mtu) out_ += ", mtu: " + std::to_string(*link.mtu);
      out_ += "}  # " + origin(link.place) + "\n";
    }
  }

  void lags() {
    const std::vector<NamedLag> all = lags_of(topology_);
    if (!all.empty()) out_ += "  lags:\n";
    for (const NamedLag& lag : all) {
      out_ += "    - {name: " + lag.name + ", between: [" + quoted(lag.between[0]) + ", " + quoted(lag.between[1]) +
              "], members: [";
      const char* between = "";
      for (const std::string& port : lag.ports)
        out_ += std::exchange(between, ", ") + ("\"" + lag.between[0] + ":" + port + "\"");
      out_ += "], min_links: " + std::to_string(lag.min_links) + ", mode: lacp" +
              (lag.fast_rate ? ", fast_rate: true" : "") + ", agreed: true}  # " + origin(lag.place) + "\n";
    }
  }

  void faults() {
    bool any = false;
    for (const ForeignLink& link : topology_.links) {
      if (link.damaged_millionths == 0) continue;
      if (!any) out_ += "\nfaults:\n";
      any = true;
      out_ += "  - {at: 0ps, link: \"" + name_of(link.a) + "\", set: lossy, corrupt: " +
              print_quantity(static_cast<int64_t>(link.damaged_millionths), kShareQuantity) + "}  # " +
              origin(link.place) + "\n";
    }
  }

  // Traffic among all hosts, if each can reach each; light, so that nothing is lost but by the file's own settings.
  void workload() {
    dataplane::Rate slowest = dataplane::Rate::bps(UINT64_MAX);
    uint32_t mtu = UINT32_MAX;
    for (const ForeignLink& link : topology_.links) {
      mtu = std::min(mtu, link.mtu.value_or(UINT32_MAX));
      if (is_host(link.a.node) || is_host(link.b.node)) slowest = std::min(slowest, link.rate);
    }
    if (std::ranges::count(topology_.nodes, NodeUse::kHost, &ForeignNode::use) < 2) {
      out_ += "\n# No workload: traffic needs two hosts.\n";
      return;
    }
    if (!hosts_are_connected()) {
      out_ += "\n# No workload: not every host reaches every other.\n";
      return;
    }
    const uint64_t rate = std::max(slowest.count_bps() / kShareOfLink, dataplane::Rate::min().count_bps());
    out_ += "\nworkload:\n  - {name: permutation, pattern: permutation, message: 64KiB, messages: 4, mtu: " +
            std::string(mtu >= 4'096 + kWriteHeaderBytes ? "4096" : "1024") +
            ", rate: " + print_quantity(static_cast<int64_t>(rate), kRateQuantity) + "}\n";
  }

  bool hosts_are_connected() const {
    std::vector<uint32_t> root(topology_.nodes.size());
    std::iota(root.begin(), root.end(), 0U);
    const auto find = [&](uint32_t n) {
      while (root[n] != n) n = root[n] = root[root[n]];
      return n;
    };
    for (const ForeignLink& link : topology_.links) root[find(link.a.node)] = find(link.b.node);
    uint32_t first = UINT32_MAX;
    for (uint32_t n = 0; n < root.size(); ++n) {
      if (!is_host(n)) continue;
      if (first == UINT32_MAX) first = find(n);
      if (find(n) != first) return false;
    }
    return true;
  }

  const ForeignTopology& topology_;
  ImportFormat format_;
  const std::vector<ImportFile>& files_;
  const ForeignTraffic* traffic_;  // null: light traffic among all hosts
  std::string out_;
};

}  // namespace

std::string testbed_text(const ForeignTopology& topology, ImportFormat format, const std::vector<ImportFile>& files,
                         const ForeignTraffic* traffic) {
  return TestbedText(topology, format, files, traffic).run();
}

}  // namespace softspine::control
