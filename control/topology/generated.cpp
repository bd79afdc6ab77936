// SPDX-License-Identifier: Apache-2.0
#include "control/topology/generated.hpp"

#include <unordered_map>
#include <unordered_set>

namespace softspine::control {
namespace {

using Spec = Tried<FabricSpec>;

Value where_of(const Spec& spec) {
  return std::visit([](const auto& s) { return s.where; }, spec.value);
}
const std::optional<std::string>& servers_of(const Spec& spec) {
  return std::visit([](const auto& s) -> const std::optional<std::string>& { return s.servers_of; }, spec.value);
}

class GeneratedFabrics {
 public:
  GeneratedFabrics(Reader& reader, const TestbedRow& row, Draft& out) : reader_(reader), row_(row), out_(out) {}

  bool run() {
    bool good = row_.fabric.good;
    for (const auto& item : row_.fabrics.items) good = item.value.good && good;
    if (!check_alone() || !good || !check_sizes()) return false;
    if (row_.fabric.given) add(row_.fabric, "");
    for (const auto& item : row_.fabrics.items) {
      add(item.value, item.name);
      good = check_names(item) && good;
    }
    out_.prefix.clear();
    if (!good) return false;
    for (const auto& item : row_.fabrics.items) share_servers(item);
    return true;
  }

 private:
  bool check_alone() {
    if (!row_.fabric.given) return true;
    if (row_.fabric.good && servers_of(row_.fabric))
      return reader_.fail(where_of(row_.fabric).child("servers_of"), "is for one of several 'fabrics'");
    if (row_.fabrics.items.empty()) return true;
    return reader_.fail(row_.fabrics.items.front().key, "stands beside 'fabric': put that one among 'fabrics', too");
  }

  // Each by itself has been judged by its table.
  bool check_sizes() {
    double nodes = 0;
    double links = 0;
    for (const auto& item : row_.fabrics.items) {
      const Size size = std::visit([](const auto& spec) { return size_of(spec); }, item.value.value);
      nodes += size.nodes;
      links += size.links;
      if (nodes > kMaxNodes || links > kMaxLinks) {
        return reader_.fail(item.key, "too large: with the fabrics before it more than " + std::to_string(kMaxNodes) +
                                          " nodes or " + std::to_string(kMaxLinks) + " links");
      }
    }
    return true;
  }

  void add(const Spec& spec, const std::string& name) {
    out_.prefix = name.empty() ? "" : name + "-";
    const size_t staged = out_.staged.size();
    const size_t first = out_.nodes.size();
    std::visit(
        [&](const auto& s) {
          out_.vlan = s.host_vlan ? &*s.host_vlan : nullptr;
          draft(s, out_);
        },
        spec.value);
    out_.vlan = nullptr;
    if (out_.staged.size() > staged) out_.staged.back().name = name;
    ranges_[name] = {first, out_.nodes.size()};
  }

  // Node names have at most 63 characters, and no two nodes the same.
  bool check_names(const Named<Spec>::Item& item) {
    constexpr size_t kMaxName = 24;
    if (item.name.size() > kMaxName)
      return reader_.fail(item.key, "is too long to begin names of nodes: at most " + std::to_string(kMaxName));
    const auto [first, end] = ranges_.at(item.name);
    for (size_t n = first; n < end; ++n) {
      if (out_.by_name.at(out_.nodes[n].name) == n) continue;
      return reader_.fail(item.key, "has a node " + out_.nodes[n].name + ", and so has another fabric: rename one");
    }
    return true;
  }

  // The servers of a fabric, in its order.
  std::vector<std::string> servers_in(const std::string& fabric) const {
    std::vector<std::string> out;
    std::unordered_set<std::string> seen;
    const auto [first, end] = ranges_.at(fabric);
    for (size_t n = first; n < end; ++n) {
      if (out_.nodes[n].kind != NodeKind::kHost) continue;
      const std::string& server = server_of(out_.nodes[n]);
      if (seen.insert(server).second) out.push_back(server);
    }
    return out;
  }

  void share_servers(const Named<Spec>::Item& item) {
    const auto& other = servers_of(item.value);
    if (!other) return;
    const Value where = where_of(item.value).child("servers_of");
    if (!ranges_.contains(*other)) {
      std::vector<std::string_view> known;
      for (const auto& each : row_.fabrics.items) known.push_back(each.name);
      reader_.fail(where, "there is no fabric " + shown(*other) + reader_.guess(*other, known));
      return;
    }
    if (*other == item.name) {
      reader_.fail(where, "is this fabric itself");
      return;
    }
    const std::vector<std::string> ours = servers_in(item.name);
    const std::vector<std::string> theirs = servers_in(*other);
    if (ours.size() > theirs.size()) {
      reader_.fail(where, item.name + " has " + std::to_string(ours.size()) + " servers, and " + *other + " only " +
                              std::to_string(theirs.size()));
      return;
    }
    std::unordered_map<std::string, const std::string*> renamed;
    for (size_t i = 0; i < ours.size(); ++i) renamed.emplace(ours[i], &theirs[i]);
    const auto [first, end] = ranges_.at(item.name);
    for (size_t n = first; n < end; ++n) {
      if (out_.nodes[n].kind == NodeKind::kHost) out_.nodes[n].server = *renamed.at(server_of(out_.nodes[n]));
    }
  }

  static const std::string& server_of(const DraftNode& node) { return node.server.empty() ? node.name : node.server; }

  Reader& reader_;
  const TestbedRow& row_;
  Draft& out_;
  std::unordered_map<std::string, std::pair<size_t, size_t>> ranges_;  // of nodes, by fabric
};

}  // namespace

bool collect_generated(Reader& reader, const TestbedRow& row, Draft& out) {
  return GeneratedFabrics(reader, row, out).run();
}

}  // namespace softspine::control
