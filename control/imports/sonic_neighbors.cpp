// SPDX-License-Identifier: Apache-2.0
#include "control/imports/sonic_neighbors.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <unordered_map>

#include "control/document/words.hpp"
#include "control/format/link_limits.hpp"
#include "control/imports/entries.hpp"
#include "control/imports/sonic_channels.hpp"
#include "control/imports/sonic_hosts.hpp"

namespace softspine::control {
namespace {

constexpr uint64_t kBitsOfSpeed = 1'000'000;  // PORT's speed is in Mb/s

struct TypeRow {
  std::string_view type;
  NodeUse use;
};
constexpr std::array kTypes{TypeRow{"ToRRouter", NodeUse::kTor},
                            TypeRow{"BackEndToRRouter", NodeUse::kTor},
                            TypeRow{"MgmtToRRouter", NodeUse::kTor},
                            TypeRow{"LeafRouter", NodeUse::kAggregation},
                            TypeRow{"BackEndLeafRouter", NodeUse::kAggregation},
                            TypeRow{"SpineRouter", NodeUse::kCore},
                            TypeRow{"LowerSpineRouter", NodeUse::kCore},
                            TypeRow{"UpperSpineRouter", NodeUse::kCore},
                            TypeRow{"RegionalHub", NodeUse::kCore},
                            TypeRow{"AZNGHub", NodeUse::kCore},
                            TypeRow{"Server", NodeUse::kHost}};

// Any other type is a switch, its role by its distance from hosts.
NodeUse use_of_type(std::string_view type) {
  for (const TypeRow& row : kTypes) {
    if (row.type == type) return row.use;
  }
  return NodeUse::kSwitch;
}

struct Port {
  std::string_view name;
  std::string_view alias;
  dataplane::Rate rate;  // zero: not said
  std::optional<uint32_t> mtu;
  std::optional<Length> length;
  bool down = false;
};

struct Neighbour {
  std::string_view port;  // of ours
  std::string_view name;
  std::string_view peer_port;  // empty: not said
  Value at;
};

struct Device {
  std::string name;
  uint32_t node = 0;
  std::unordered_map<std::string_view, Port> ports;                 // by name
  std::unordered_map<std::string_view, std::string_view> by_alias;  // to a name
  std::vector<Neighbour> neighbours;
  std::unordered_map<std::string_view, size_t> neighbour_at;  // by our port
  SonicChannels channels;

  // By its name or its alias; null if there is none.
  const Port* find(std::string_view port) const {
    const auto alias = by_alias.find(port);
    const auto found = ports.find(port);
    if (found != ports.end()) return &found->second;
    return alias == by_alias.end() ? nullptr : &ports.at(alias->second);
  }
  std::string_view own_name(std::string_view port) const {
    const Port* found = find(port);
    return found == nullptr ? port : found->name;
  }
};

class SonicReader {
 public:
  SonicReader(Reader& reader, const ImportOptions& options, ForeignTopology& out)
      : reader_(reader), options_(options), out_(out) {}

  bool run(const std::vector<ImportFile>& files) {
    const uint64_t before = reader_.log().count();
    for (const ImportFile& file : files) read_device(file);
    if (reader_.log().count() != before) return false;
    for (uint32_t d = 0; d < devices_.size(); ++d) {
      for (const Neighbour& neighbour : devices_[d].neighbours) add_link(devices_[d], neighbour);
    }
    join_channels();
    if (!without_length_.empty()) {
      note(without_length_[0], std::to_string(without_length_.size()) +
                                   " links have no CABLE_LENGTH, the first here: " +
                                   print_quantity(static_cast<int64_t>(options_.length.micrometres), kLengthQuantity));
    }
    return reader_.log().count() == before;
  }

 private:
  void note(Value at, std::string message) { out_.notes.push_back(error_at(place_of(at), std::move(message))); }

  void read_device(const ImportFile& file) {
    const Value root = reader_.open(file.text, file.path, Dialect::kConfigDb);
    if (root.file().empty()) return;
    const auto neighbours = entry(root, "DEVICE_NEIGHBOR");
    if (!neighbours || neighbours->kind() != ValueKind::kMap) {
      reader_.fail(neighbours.value_or(root),
                   "has no table DEVICE_NEIGHBOR: nothing says what its ports are linked to");
      return;
    }
    const Value localhost = entry(entry(root, "DEVICE_METADATA").value_or(root), "localhost").value_or(root);
    Device device{.name = std::string(text_at(localhost, "hostname"))};
    if (device.name.empty()) device.name = std::filesystem::path(file.path).stem().string();
    const auto [place, is_new] = device_of_.emplace(device.name, devices_.size());
    if (!is_new) {
      reader_.fail(localhost, "the switch " + shown(device.name) + " has a file already");
      return;
    }
    read_ports(root, device);
    device.channels = read_sonic_channels(reader_, root);
    read_lengths(root, device);
    read_types(root);
    device.node = node_named(device.name, localhost);
    out_.nodes[device.node].own_file = file.path;
    SonicHosts hosts = read_sonic_hosts(root);
    if (!hosts.left_out.empty()) note(hosts.at, "VLAN_INTERFACE " + hosts.left_out + ": subnets are planned");
    out_.nodes[device.node].subnets = std::move(hosts.subnets);
    if (const auto type = text_at(localhost, "type"); !type.empty()) set_type(device.node, type);
    if (out_.nodes[device.node].use == NodeUse::kByLinks) out_.nodes[device.node].use = NodeUse::kSwitch;
    for_each_entry(*neighbours, [&](Value port, Value row) { read_neighbour(port, row, device); });
    devices_.push_back(std::move(device));
  }

  void read_ports(Value root, Device& device) {
    const auto table = entry(root, "PORT");
    if (!table || table->kind() != ValueKind::kMap) return;
    for_each_entry(*table, [&](Value key, Value row) {
      if (key.kind() != ValueKind::kScalar || row.kind() != ValueKind::kMap) return;
      Port port{.name = key.text(), .alias = text_at(row, "alias"), .down = text_at(row, "admin_status") == "down"};
      uint64_t number = 0;
      if (read_number(row, "speed", number)) {
        const bool good = number >= 1 && number <= kMaxLinkRate.count_bps() / kBitsOfSpeed;
        if (good) port.rate = dataplane::Rate::bps(number * kBitsOfSpeed);
        if (!good)
          reader_.fail(row.child("speed"), "must be 1 to " + std::to_string(kMaxLinkRate.count_bps() / kBitsOfSpeed) +
                                               " Mb/s, not " + std::to_string(number));
      }
      if (read_number(row, "mtu", number)) {
        if (number >= kLeastLinkMtu && number <= kMaxLinkMtu)
          port.mtu = static_cast<uint32_t>(number);
        else
          note(row.child("mtu"), "mtu " + std::to_string(number) + " is not taken: links have " +
                                     std::to_string(kLeastLinkMtu) + " to " + std::to_string(kMaxLinkMtu));
      }
      if (!port.alias.empty()) device.by_alias.emplace(port.alias, port.name);
      device.ports.emplace(port.name, port);
    });
  }

  // False if it is missing or wrong, which is then reported.
  bool read_number(Value row, std::string_view key, uint64_t& out) {
    const auto value = entry(row, key);
    if (!value) return false;
    const std::string_view text = value->kind() == ValueKind::kScalar ? value->text() : "";
    const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), out);
    const bool good = error == std::errc{} && stop == text.data() + text.size();
    return good || reader_.wrong_type(*value, "a number");
  }

  void read_lengths(Value root, Device& device) {
    const auto table = entry(root, "CABLE_LENGTH");
    if (!table || table->kind() != ValueKind::kMap) return;
    for_each_entry(*table, [&](Value, Value row) {
      if (row.kind() != ValueKind::kMap) return;
      for_each_entry(row, [&](Value port, Value length) {
        if (port.kind() != ValueKind::kScalar || length.kind() != ValueKind::kScalar) return;
        const auto found = device.ports.find(port.text());
        const auto um = parse_quantity(length.text(), kLengthQuantity);
        if (!um || static_cast<uint64_t>(*um) > kMaxLinkLength.micrometres) {
          reader_.wrong_type(length, "a length such as 40m, at most 400000km");
        } else if (found != device.ports.end() && *um > 0) {  // 0m: SONiC's word for a port without a cable
          found->second.length = std::max(Length{static_cast<uint64_t>(*um)}, kLeastLinkLength);
        }
      });
    });
  }

  void read_types(Value root) {
    const auto table = entry(root, "DEVICE_NEIGHBOR_METADATA");
    if (!table || table->kind() != ValueKind::kMap) return;
    for_each_entry(*table, [&](Value name, Value row) {
      if (name.kind() == ValueKind::kScalar)
        type_of_.emplace(std::string(name.text()), std::string(text_at(row, "type")));
    });
  }

  void read_neighbour(Value port, Value row, Device& device) {
    if (port.kind() != ValueKind::kScalar) return;
    Neighbour out{.port = port.text(), .name = text_at(row, "name"), .peer_port = text_at(row, "port"), .at = port};
    if (out.name.empty()) {
      reader_.fail(row.kind() == ValueKind::kMap ? row : port, "the key 'name' is missing: who is at the other end");
      return;
    }
    device.neighbour_at.emplace(out.port, device.neighbours.size());
    device.neighbours.push_back(out);
  }

  void set_type(uint32_t node, std::string_view type) {
    out_.nodes[node].kind = type;
    out_.nodes[node].use = use_of_type(type);
  }

  uint32_t node_named(const std::string& name, Value at) {
    const auto [found, is_new] = node_of_.emplace(name, static_cast<uint32_t>(out_.nodes.size()));
    if (is_new) out_.nodes.push_back({.name = name, .use = NodeUse::kByLinks, .place = place_of(at)});
    return found->second;
  }

  uint32_t neighbour_node(const Neighbour& neighbour) {
    const std::string name(neighbour.name);
    const bool known = node_of_.contains(name);
    const uint32_t node = node_named(name, neighbour.at);
    if (known) return node;
    const auto type = type_of_.find(name);
    if (type != type_of_.end() && !type->second.empty()) {
      set_type(node, type->second);
    } else {
      const bool server = name.starts_with("Server") || name.starts_with("server");
      out_.nodes[node].use = server ? NodeUse::kHost : NodeUse::kSwitch;
      note(neighbour.at,
           shown(name) + " has no type in DEVICE_NEIGHBOR_METADATA: taken for a " + (server ? "host" : "switch"));
    }
    return node;
  }

  // The peer's row of the same link; null if its file is not there, or has none, which is then reported.
  const Neighbour* counterpart(const Device& device, const Neighbour& neighbour) {
    const auto found = device_of_.find(std::string(neighbour.name));
    if (found == device_of_.end()) return nullptr;
    const Device& peer = devices_[found->second];
    const std::string_view port = peer.own_name(neighbour.peer_port);
    const auto at = peer.neighbour_at.find(port);
    const Neighbour* row = at == peer.neighbour_at.end() ? nullptr : &peer.neighbours[at->second];
    if (row == nullptr) {
      reader_.fail(neighbour.at,
                   "the file of " + shown(peer.name) + " has no neighbour at " + shown(neighbour.peer_port));
      return nullptr;
    }
    if (row->name == device.name && device.own_name(row->peer_port) == neighbour.port) return row;
    reader_.fail(neighbour.at, "leads to " + shown(peer.name) + " " + shown(port) + ", which leads to " +
                                   shown(row->name) + " " + shown(row->peer_port) + " (" + std::string(row->at.file()) +
                                   " line " + std::to_string(row->at.at().line) + ")");
    return nullptr;
  }

  void add_link(const Device& device, const Neighbour& neighbour) {
    const uint64_t before = reader_.log().count();
    const Neighbour* other = counterpart(device, neighbour);
    if (reader_.log().count() != before) return;
    const auto found = device_of_.find(std::string(neighbour.name));
    const Device* peer = other == nullptr ? nullptr : &devices_[found->second];
    if (peer == &device) {
      reader_.fail(neighbour.at, "joins " + shown(device.name) + " to itself");
      return;
    }
    const Port mine = port_of(device, neighbour.port);
    const Port theirs = peer == nullptr ? Port{} : port_of(*peer, other->port);
    if (peer != nullptr && found->second < device_of_.at(device.name)) {
      check_agreement(neighbour, mine, theirs);  // the link stands already
      return;
    }
    if (mine.down || theirs.down) {
      note(neighbour.at, "a port of the link is administratively down: left out");
      ++out_.links_left_out;
      return;
    }
    ForeignLink link{
        .a = {device.node, std::string(neighbour.port)},
        .b = {neighbour_node(neighbour), std::string(other == nullptr ? neighbour.peer_port : other->port)},
        .rate = rate_of(neighbour, mine, theirs),
        .length = mine.length ? *mine.length : theirs.length.value_or(options_.length),
        .mtu = mine.mtu,
        .place = place_of(neighbour.at)};
    if (theirs.mtu) link.mtu = std::min(*theirs.mtu, link.mtu.value_or(*theirs.mtu));
    if (!mine.length && !theirs.length) without_length_.push_back(neighbour.at);
    out_.links.push_back(std::move(link));
  }

  void join_channels() {
    std::vector<const SonicChannels*> by_node(out_.nodes.size(), nullptr);
    for (const Device& device : devices_) by_node[device.node] = &device.channels;
    join_sonic_channels(by_node, out_);
  }

  static Port port_of(const Device& device, std::string_view name) {
    const Port* found = device.find(name);
    return found == nullptr ? Port{} : *found;
  }

  dataplane::Rate rate_of(const Neighbour& neighbour, const Port& mine, const Port& theirs) {
    if (!mine.rate.is_zero()) return mine.rate;
    if (!theirs.rate.is_zero()) return theirs.rate;
    note(neighbour.at,
         "no speed in PORT: " + print_quantity(static_cast<int64_t>(options_.rate.count_bps()), kRateQuantity) +
             " is taken");
    return options_.rate;
  }

  void check_agreement(const Neighbour& neighbour, const Port& mine, const Port& theirs) {
    if (!mine.rate.is_zero() && !theirs.rate.is_zero() && mine.rate != theirs.rate) {
      reader_.fail(neighbour.at,
                   "the ends of the link differ in speed: " + std::to_string(mine.rate.count_bps() / kBitsOfSpeed) +
                       " here, " + std::to_string(theirs.rate.count_bps() / kBitsOfSpeed) + " at " +
                       shown(neighbour.name));
    }
    if (mine.length && theirs.length && *mine.length != *theirs.length)
      note(neighbour.at, "the cable's length differs from that in the file of " + shown(neighbour.name));
  }

  Reader& reader_;
  const ImportOptions& options_;
  ForeignTopology& out_;
  std::vector<Device> devices_;
  std::unordered_map<std::string, size_t> device_of_;
  std::unordered_map<std::string, uint32_t> node_of_;
  std::unordered_map<std::string, std::string> type_of_;
  std::vector<Value> without_length_;
};

}  // namespace

bool read_sonic_neighbors(Reader& reader, const std::vector<ImportFile>& files, const ImportOptions& options,
                          ForeignTopology& out) {
  return SonicReader(reader, options, out).run(files);
}

}  // namespace softspine::control
