// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <set>
#include <tuple>

#include "control/compile/sonic_headroom.hpp"
#include "control/compile/switch_qos.hpp"
#include "control/load/qos_change.hpp"
#include "control/load/qos_resolve.hpp"

namespace softspine::control {
namespace {

// One switch and the profile that it works by.
class QosCheck {
 public:
  QosCheck(Reader& reader, const std::vector<Profile>& profiles, const Fabric& fabric)
      : reader_(reader), profiles_(profiles), fabric_(fabric) {}

  void check(const Profile& profile, uint32_t node) {
    if (!profile.qos || !profile.qos->whole || !profile.qos->has_buffers()) return;
    check_sums(*profile.qos, node);
    check_uses(profile, node, true);
    check_uses(profile, node, false);
    check_credit(*profile.qos, node);
    check_interfaces(*profile.qos, node);
  }

 private:
  // Every switch of a profile would say the same.
  void fail(const Place& place, const std::string& once, std::string message) {
    if (!said_.emplace(place.file, place.path, once).second) return;
    reader_.log().add({place.file, place.path, place.line, place.column, std::move(message)});
  }

  void check_sums(const QosConfig& config, uint32_t node) {
    const auto demands = pool_demands(config, port_shapes(fabric_, profiles_, node));
    for (size_t i = 0; i < demands.size(); ++i) {
      if (!demands[i].fits) {
        fail(config.pools[i].place, "sum",
             "nothing is left for it: the " + std::to_string(fabric_.nodes[node].ports.size()) + " ports of " +
                 fabric_.nodes[node].name + " take all of the " + std::to_string(config.memory_bytes) +
                 " bytes of egress_lossless_pool");
      }
      if (!config.holds_reserved(config.pools[i]) || demands[i].reserved <= demands[i].size) continue;
      fail(config.pools[i].place, "sum",
           "is too small: the " + std::to_string(fabric_.nodes[node].ports.size()) + " ports of " +
               fabric_.nodes[node].name + " reserve " + std::to_string(demands[i].reserved * config.cell_bytes) +
               " of its " + std::to_string(demands[i].size * config.cell_bytes) + " bytes");
    }
  }

  void warn(const Place& place, const std::string& once, std::string message) {
    if (!said_.emplace(place.file, place.path, once).second) return;
    reader_.warn(error_at(place, std::move(message)));
  }
  static bool has_rows(const PortQos::Indices& rows) {
    return std::ranges::any_of(rows, [](int16_t row) { return row != PortQos::kNone; });
  }

  // What PORT says of a port that is here decides nothing but the names and sizes of lossless profiles.
  void check_interfaces(const QosConfig& config, uint32_t node) {
    for (const PortShape& shape : port_shapes(fabric_, profiles_, node)) {
      const PortQos& port = config.port(shape.name);
      const std::string name = fabric_.nodes[node].name + ":" + shape.name;
      if (port.speed && *port.speed != shape.rate) {
        warn(config.place, "speed", "PORT has another speed than the link of " + name + ": the link's own holds");
      }
      if (!port.admin_up) warn(config.place, "down", "PORT has " + name + " down: it has a link, and is up here");
    }
  }

  // A promise of room needs memory that is its alone.
  void check_credit(const QosConfig& config, uint32_t node) {
    for (const PortShape& shape : port_shapes(fabric_, profiles_, node)) {
      if (shape.link.flow_control != FlowControl::kCredit) continue;
      const PortQos& port = config.port(shape.name);
      const std::string of_port = " of " + fabric_.nodes[node].name + ":" + shape.name + " ";
      uint8_t without = port.pfc_enable;
      for (uint32_t g = 0; g < port.groups.size(); ++g) {
        const auto credited = static_cast<uint8_t>(port.priorities_of_pg[g] & port.pfc_enable);
        if (credited == 0) continue;
        without &= static_cast<uint8_t>(~credited);
        const std::string why = why_no_credit(config, port.groups[g], shape, std::popcount(credited));
        if (!why.empty()) {
          fail(config.place, why, "flow_control: credit: priority group " + std::to_string(g) + of_port + why);
        }
      }
      if (without == 0) continue;
      const std::string which = "priority " + std::to_string(std::countr_zero(without));
      const std::string why = "is in pfc_enable, but in no priority group: there is no room to promise";
      fail(config.place, which, "flow_control: credit: " + which + of_port + why);
    }
  }
  static std::string why_no_credit(const QosConfig& config, int16_t row, const PortShape& shape, int priorities) {
    if (priorities > 1)
      return "has " + std::to_string(priorities) + " lossless priorities; each needs a group of its own";
    const auto* found = row == PortQos::kNone ? nullptr : &config.profiles[static_cast<size_t>(row)];
    if (found == nullptr || !found->lossless) return "has no headroom (xoff) to promise";
    const BufferProfileConfig its = fitted(*found, config, shape);
    const BufferProfileConfig* buffers = &its;
    if (config.pools[buffers->pool].xoff != 0 || (its.calculated && config.shares_headroom()))
      return "shares its headroom: what is promised must be its alone";
    if (!buffers->automatic && buffers->xoff < shape.largest_frame) {
      return "has " + std::to_string(buffers->xoff) + " bytes of headroom, less than a frame of " +
             std::to_string(shape.largest_frame);
    }
    return {};
  }

  static void add_classes(const PortMaps& maps, std::set<uint8_t>& classes) {
    classes.insert(maps.dscp_to_tc.begin(), maps.dscp_to_tc.end());
    if (maps.trusts_pcp) classes.insert(maps.dot1p_to_tc.begin(), maps.dot1p_to_tc.end());
  }

  // What a DSCP can lead to needs a row; what only a tag's PCP leads to is refused when it comes.
  void check_uses(const Profile& profile, uint32_t node, bool ingress) {
    const QosConfig& config = *profile.qos;
    const bool limited = std::ranges::any_of(config.pools, [&](const auto& pool) { return pool.ingress == ingress; });
    if (!limited) return;
    std::set<uint8_t> of_switch{0};  // what comes in by any port may leave by any other
    for (const FabricPort& port : fabric_.nodes[node].ports) {
      const PortMaps& maps = profile.maps_at(port.name);
      add_classes(maps, of_switch);
    }
    for (const FabricPort& port : fabric_.nodes[node].ports) {
      const PortQos& rows = config.port(port.name);
      const PortMaps& maps = profile.maps_at(port.name);
      std::set<uint8_t> classes{0};
      add_classes(maps, classes);
      if (!ingress) classes = of_switch;
      for (const uint8_t tc : classes) {
        const uint8_t to = ingress ? maps.tc_to_pg[tc] : maps.tc_to_queue[tc];
        if ((ingress ? rows.groups : rows.queues)[to] != PortQos::kNone) continue;
        const std::string what = std::string(ingress ? "priority group " : "queue ") + std::to_string(to);
        // SONiC's own tables leave out what its switches never use.
        if (config.from_config_db && has_rows(ingress ? rows.groups : rows.queues)) {
          warn(config.place, what,
               "traffic class " + std::to_string(tc) + " goes to " + what + ", which has no row in " +
                   (ingress ? "BUFFER_PG" : "BUFFER_QUEUE") + " for " + fabric_.nodes[node].name + ":" + port.name +
                   ": what goes there is dropped");
          continue;
        }
        fail(config.place, what,
             "traffic class " + std::to_string(tc) + " goes to " + what + ", which has no row in " +
                 (ingress ? "BUFFER_PG" : "BUFFER_QUEUE") + " for " + fabric_.nodes[node].name + ":" + port.name);
      }
    }
  }

  Reader& reader_;
  const std::vector<Profile>& profiles_;
  const Fabric& fabric_;
  std::set<std::tuple<std::string, std::string, std::string>> said_;
};

// By port, and how many there are at the end.
std::vector<uint32_t> slices_of(const Profile& profile, const Fabric& fabric, uint32_t node) {
  const auto& ports = fabric.nodes[node].ports;
  if (!profile.qos || !profile.qos->has_buffers()) return std::vector<uint32_t>(ports.size() + 1, 0);
  std::vector<uint32_t> out;
  for (uint32_t p = 0; p < ports.size(); ++p) {
    out.push_back(profile.qos->slice_of(profile.qos->port(ports[p].name), p, static_cast<uint32_t>(ports.size())));
  }
  out.push_back(profile.qos->slices - 1);
  return out;
}

}  // namespace

std::string profile_change_error(const std::vector<Profile>& profiles, const Fabric& fabric, uint32_t index,
                                 const Profile& to) {
  const FabricNode& node = fabric.nodes[index];
  if (node.kind != NodeKind::kSwitch) return node.name + " is a host: switches have profiles";
  if (node.profile >= profiles.size()) return "the profile of " + node.name + " is not known";
  const Profile& from = profiles[node.profile];
  const auto cell_of = [](const Profile& profile) {
    return profile.qos && profile.qos->has_buffers() ? profile.qos->cell_bytes : 1;
  };
  if (slices_of(from, fabric, index) != slices_of(to, fabric, index)) {
    return node.name + " works by " + from.name + ", whose memory is in other slices than that of " + to.name +
           ": what is held lies where it lies";
  }
  if (cell_of(from) == cell_of(to)) {
    Reader reader;
    QosCheck(reader, profiles, fabric).check(to, index);
    const Errors errors = reader.finish();
    return errors.empty() ? "" : errors.front().path + ": " + errors.front().message;
  }
  return node.name + " works by " + from.name + ", whose cells have " + std::to_string(cell_of(from)) +
         " bytes, and those of " + to.name + " " + std::to_string(cell_of(to)) +
         ": what is held cannot be counted anew (1: without BUFFER_* tables)";
}

void check_qos(Reader& reader, const std::vector<Profile>& profiles, const Fabric& fabric) {
  QosCheck check(reader, profiles, fabric);
  for (uint32_t n = 0; n < fabric.nodes.size(); ++n) {
    const FabricNode& node = fabric.nodes[n];
    if (node.kind == NodeKind::kSwitch && node.profile < profiles.size()) check.check(profiles[node.profile], n);
  }
}

}  // namespace softspine::control
