// SPDX-License-Identifier: Apache-2.0
#include "control/imports/containerlab.hpp"

#include <algorithm>
#include <charconv>
#include <initializer_list>
#include <unordered_map>

#include "control/document/words.hpp"
#include "control/format/link_limits.hpp"
#include "control/generators/generators.hpp"
#include "control/imports/entries.hpp"

namespace softspine::control {
namespace {

constexpr int kMaxInheritance = 8;

struct KindRow {
  std::string_view kind;  // or what it begins with, if it ends in '*'
  NodeUse use;
};

// The first that fits. A kind that is neither here nor in a rule is left out.
constexpr std::array kKinds{KindRow{"linux", NodeUse::kByLinks},
                            KindRow{"ext-container", NodeUse::kByLinks},
                            KindRow{"generic_vm", NodeUse::kByLinks},
                            KindRow{"openbsd", NodeUse::kByLinks},
                            KindRow{"freebsd", NodeUse::kByLinks},
                            KindRow{"keysight_ixia-c-one", NodeUse::kHost},
                            KindRow{"bridge", NodeUse::kSwitch},
                            KindRow{"ovs-bridge", NodeUse::kSwitch},
                            KindRow{"6wind_*", NodeUse::kSwitch},
                            KindRow{"arista_*", NodeUse::kSwitch},
                            KindRow{"arrcus_*", NodeUse::kSwitch},
                            KindRow{"aruba_*", NodeUse::kSwitch},
                            KindRow{"ceos", NodeUse::kSwitch},
                            KindRow{"cisco_*", NodeUse::kSwitch},
                            KindRow{"crpd", NodeUse::kSwitch},
                            KindRow{"cumulus_*", NodeUse::kSwitch},
                            KindRow{"cvx", NodeUse::kSwitch},
                            KindRow{"dell_*", NodeUse::kSwitch},
                            KindRow{"fdio_vpp", NodeUse::kSwitch},
                            KindRow{"huawei_*", NodeUse::kSwitch},
                            KindRow{"ipinfusion_*", NodeUse::kSwitch},
                            KindRow{"juniper_*", NodeUse::kSwitch},
                            KindRow{"mikrotik_*", NodeUse::kSwitch},
                            KindRow{"nokia_*", NodeUse::kSwitch},
                            KindRow{"rare", NodeUse::kSwitch},
                            KindRow{"sonic-*", NodeUse::kSwitch},
                            KindRow{"srl", NodeUse::kSwitch},
                            KindRow{"vr-*", NodeUse::kSwitch},
                            KindRow{"vyosnetworks_*", NodeUse::kSwitch},
                            KindRow{"xrd", NodeUse::kSwitch}};

// In place of a node's name in an endpoint: ways out of the lab.
constexpr std::array<std::string_view, 6> kOutside{"host", "mgmt-net", "macvlan", "vxlan", "vxlan-stitch", "dummy"};

std::optional<NodeUse> use_of(std::string_view kind) {
  for (const KindRow& row : kKinds) {
    const bool begins = row.kind.ends_with('*') && kind.starts_with(row.kind.substr(0, row.kind.size() - 1));
    if (begins || kind == row.kind) return row.use;
  }
  return std::nullopt;
}

// A key of the map, or of what it takes over by YAML's merge key.
std::optional<Value> inherited(Value map, std::string_view key, int depth = 0) {
  if (const auto own = entry(map, key)) return own;
  const auto merged = entry(map, "<<");
  if (!merged || depth >= kMaxInheritance) return std::nullopt;
  for (const Value from : merged->each()) {
    if (const auto found = inherited(from, key, depth + 1)) return found;
  }
  return std::nullopt;
}

class ContainerlabReader {
 public:
  ContainerlabReader(Reader& reader, const ImportFile& file, const ImportOptions& options, ForeignTopology& out)
      : reader_(reader), file_(file), options_(options), out_(out) {}

  bool run() {
    const uint64_t before = reader_.log().count();
    const Value root = reader_.open(file_.text, file_.path);
    if (root.file().empty()) return false;
    const auto topology = entry(root, "topology");
    if (!is_map(topology)) return reader_.fail(root, "is no containerlab topology: a map with 'topology' is expected");
    note_others(root, {"name", "topology"});
    note_others(*topology, {"nodes", "links", "groups", "defaults"});
    read_nodes(*topology);
    read_links(*topology);
    return reader_.log().count() == before;
  }

 private:
  void note(Value at, std::string message) { out_.notes.push_back(error_at(place_of(at), std::move(message))); }

  // Keys that do not describe the fabric.
  void note_others(Value map, std::initializer_list<std::string_view> known, std::string_view of = "") {
    std::string listed;
    std::optional<Value> first;
    for_each_entry(map, [&](Value key, Value) {
      if (key.kind() != ValueKind::kScalar || key.text() == "<<") return;
      if (std::ranges::find(known, key.text()) != known.end()) return;
      listed += (listed.empty() ? "" : ", ") + shown(key.text());
      if (!first) first = key;
    });
    if (first) note(*first, (of.empty() ? "" : std::string(of) + ": ") + listed + " not mapped");
  }
  void read_nodes(Value topology) {
    const auto nodes = entry(topology, "nodes");
    if (!is_map(nodes)) {
      reader_.fail(nodes.value_or(topology), "'nodes' must be a map of names");
      return;
    }
    if (nodes->size() > kMaxNodes) {
      reader_.fail(*nodes, "more than " + std::to_string(kMaxNodes) + " nodes");
      return;
    }
    for_each_entry(*nodes, [&](Value key, Value node) {
      if (key.kind() != ValueKind::kScalar) return;
      add_node(topology, key, node);
    });
    for (const auto& [name, index] : by_name_) names_.push_back(name);
    std::ranges::sort(names_);
  }

  void add_node(Value topology, Value key, Value node) {
    const bool known = node.kind() == ValueKind::kMap;
    if (!known && node.kind() != ValueKind::kNull) {
      reader_.wrong_type(node, "a map");
      return;
    }
    if (known) note_others(node, {"kind", "group"}, shown(key.text()));
    ForeignNode out{.name = std::string(key.text()), .place = place_of(key)};
    by_name_.emplace(key.text(), static_cast<uint32_t>(out_.nodes.size()));
    const auto kind = kind_of(topology, node);
    if (!kind) {
      reader_.fail(key, "the node has no kind, and neither its group nor 'defaults' has one");
    } else {
      out.kind = kind->text();
      const auto use = use_of(out.kind);
      if (!use && !has_rule(out)) note(key, shown(out.name) + " is left out: no rule maps its kind " + shown(out.kind));
      out.use = use.value_or(NodeUse::kNothing);
    }
    out_.nodes.push_back(std::move(out));
  }

  bool has_rule(const ForeignNode& node) const {
    return std::ranges::any_of(options_.rules, [&](const NodeRule& rule) {
      return fits_rule(rule.pattern, node.name) || fits_rule(rule.pattern, node.kind);
    });
  }

  static std::optional<Value> kind_of(Value topology, Value node) {
    if (const auto own = scalar(inherited(node, "kind"))) return own;
    const auto groups = entry(topology, "groups");
    const auto name = scalar(inherited(node, "group"));
    if (name && is_map(groups)) {
      const auto group = entry(*groups, name->text());
      if (is_map(group)) {
        if (const auto found = scalar(inherited(*group, "kind"))) return found;
      }
    }
    const auto defaults = entry(topology, "defaults");
    return is_map(defaults) ? scalar(inherited(*defaults, "kind")) : std::nullopt;
  }

  void read_links(Value topology) {
    const auto links = entry(topology, "links");
    if (!links || links->kind() == ValueKind::kNull) return;
    if (links->kind() != ValueKind::kSequence) {
      reader_.wrong_type(*links, "a list of links");
      return;
    }
    for (const Value link : links->items()) add_link(link);
    if (out_.links.empty()) return;
    note(*links, "the file has no rates and lengths: " +
                     print_quantity(static_cast<int64_t>(options_.rate.count_bps()), kRateQuantity) + " and " +
                     print_quantity(static_cast<int64_t>(options_.length.micrometres), kLengthQuantity));
  }

  void add_link(Value link) {
    if (link.kind() != ValueKind::kMap) {
      reader_.wrong_type(link, "a map with 'endpoints'");
      return;
    }
    const auto type = scalar(entry(link, "type"));
    if (type && type->text() != "veth") {
      leave_out(link, "links of the type " + shown(type->text()) + " lead out of the lab");
      return;
    }
    const auto ends = entry(link, "endpoints");
    if (!ends || ends->kind() != ValueKind::kSequence || ends->size() != 2) {
      reader_.fail(ends.value_or(link), "a link has two 'endpoints'");
      return;
    }
    note_others(link, {"type", "endpoints", "mtu"}, "link");
    ForeignLink out{.rate = options_.rate, .length = options_.length, .place = place_of(*ends)};
    const std::vector<Value> two = ends->each();
    std::optional<std::string_view> outside;
    const bool a = read_end(two[0], out.a, outside);
    const bool b = read_end(two[1], out.b, outside);
    if (outside) {
      leave_out(link, shown(*outside) + " leads out of the lab");
    } else if (a && b && out.a.node == out.b.node) {
      reader_.fail(*ends, "joins " + shown(out_.nodes[out.a.node].name) + " to itself");
    } else if (a && b) {
      read_mtu(link, out);
      out_.links.push_back(std::move(out));
    }
  }

  void leave_out(Value link, const std::string& why) {
    ++out_.links_left_out;
    note(link, why + ": left out");
  }

  // "NODE:INTERFACE", or {node: NODE, interface: INTERFACE}.
  bool read_end(Value value, ForeignEnd& out, std::optional<std::string_view>& outside) {
    std::string_view node;
    Value at = value;
    if (value.kind() == ValueKind::kMap) {
      const auto name = scalar(entry(value, "node"));
      const auto port = scalar(entry(value, "interface"));
      if (!name || !port) return reader_.fail(value, "an endpoint has 'node' and 'interface'");
      node = name->text();
      out.port = port->text();
      at = *name;
    } else {
      const size_t colon = value.kind() == ValueKind::kScalar ? value.text().find(':') : std::string_view::npos;
      if (colon == std::string_view::npos || colon + 1 == value.text().size())
        return reader_.wrong_type(value, "NODE:INTERFACE");
      node = value.text().substr(0, colon);
      out.port = value.text().substr(colon + 1);
    }
    const auto found = by_name_.find(node);
    if (found != by_name_.end()) {
      out.node = found->second;
      return true;
    }
    if (std::ranges::find(kOutside, node) != kOutside.end()) {
      outside = node;
      return false;
    }
    return reader_.fail(at, "there is no node " + shown(node) + reader_.guess(node, names_));
  }

  void read_mtu(Value link, ForeignLink& out) {
    const auto value = entry(link, "mtu");
    if (!value) return;
    uint32_t mtu = 0;
    const std::string_view text = value->kind() == ValueKind::kScalar ? value->text() : "";
    const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), mtu);
    if (error != std::errc{} || stop != text.data() + text.size()) {
      reader_.wrong_type(*value, "a number of bytes");
    } else if (mtu < kLeastLinkMtu || mtu > kMaxLinkMtu) {
      note(*value, "mtu " + std::to_string(mtu) + " is not taken: links have " + std::to_string(kLeastLinkMtu) +
                       " to " + std::to_string(kMaxLinkMtu));
    } else {
      out.mtu = mtu;
    }
  }

  Reader& reader_;
  const ImportFile& file_;
  const ImportOptions& options_;
  ForeignTopology& out_;
  std::unordered_map<std::string_view, uint32_t> by_name_;
  std::vector<std::string_view> names_;
};

}  // namespace

bool read_containerlab(Reader& reader, const ImportFile& file, const ImportOptions& options, ForeignTopology& out) {
  return ContainerlabReader(reader, file, options, out).run();
}

}  // namespace softspine::control
