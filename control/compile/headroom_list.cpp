// SPDX-License-Identifier: Apache-2.0
#include "control/compile/headroom_list.hpp"

#include <map>
#include <set>
#include <tuple>

#include "control/compile/switch_qos.hpp"
#include "dataplane/units/rate.hpp"

namespace softspine::control {
namespace {

// A metre takes 5.05 ns (quantity.hpp).
uint64_t metres_of(dataplane::Duration propagation) {
  return (static_cast<uint64_t>(propagation.count_ps()) * 198 + 500'000) / 1'000'000;
}

// The name in place of NULL: pg_lossless_SPEED_CABLE_profile.
std::string name_of(const BufferProfileConfig& profile, const PortQos& port, const PortShape& shape) {
  if (profile.name != "NULL") return profile.name;
  const uint64_t mbps = port.speed.value_or(shape.rate).count_bps() / 1'000'000;
  const uint64_t metres = port.cable_micrometres ? *port.cable_micrometres / 1'000'000 : metres_of(shape.propagation);
  return "pg_lossless_" + std::to_string(mbps) + "_" + std::to_string(metres) + "m_profile";
}

class Lister {
 public:
  explicit Lister(const Testbed& testbed) : testbed_(testbed) {}

  std::vector<HeadroomRow> run() {
    std::set<uint32_t> seen;
    for (uint32_t n = 0; n < testbed_.fabric.nodes.size(); ++n) {
      const FabricNode& node = testbed_.fabric.nodes[n];
      if (node.profile >= testbed_.profiles.size()) continue;  // a host has none
      const Profile& profile = testbed_.profiles[node.profile];
      if (profile.qos && profile.qos->has_buffers() && seen.insert(node.profile).second) list(n, profile);
    }
    return std::move(out_);
  }

 private:
  using Key = std::tuple<std::string, bool, uint64_t, int64_t, int64_t, uint32_t, uint64_t, uint64_t>;

  void list(uint32_t n, const Profile& profile) {
    known_.clear();
    for (const PortShape& shape : port_shapes(testbed_.fabric, testbed_.profiles, n)) {
      const PortQos& port = profile.qos->port(shape.name);
      for (uint8_t group = 0; group < port.groups.size(); ++group) {
        if (port.groups[group] == PortQos::kNone) continue;
        const BufferProfileConfig& its = profile.qos->profiles[static_cast<size_t>(port.groups[group])];
        if (its.lossless) add(n, profile, its, shape, group);
      }
    }
  }

  void add(uint32_t n, const Profile& profile, const BufferProfileConfig& buffers, const PortShape& shape,
           uint8_t group) {
    const QosConfig& config = *profile.qos;
    const PortQos& port = config.port(shape.name);
    const bool added = (port.added_groups >> group & 1) != 0;
    const std::string name = name_of(buffers, port, shape);
    const SonicHeadroom sonic = sonic_headroom(config, shape);
    const Key key{name,
                  added,
                  shape.rate.count_bps(),
                  shape.propagation.count_ps(),
                  shape.peer_response.count_ps(),
                  shape.largest_frame,
                  sonic.xoff,
                  sonic.size};
    const auto [place, is_new] = known_.try_emplace(key, out_.size());
    if (is_new) {
      const uint64_t cell = config.cell_bytes;
      const uint64_t exact = headroom_needed(shape, config.cell_bytes, dataplane::kMinFrameBytes) * cell;
      const uint64_t xoff = (fitted(buffers, config, shape).xoff + cell - 1) / cell * cell;
      out_.push_back({.node = testbed_.fabric.nodes[n].name,
                      .profile = profile.name,
                      .buffer_profile = name,
                      .added = added,
                      .groups = {},
                      .rate = shape.rate,
                      .propagation = shape.propagation,
                      .mtu = shape.largest_frame - kFrameOverhead,
                      .xoff = buffers.automatic ? exact : xoff,
                      .exact = exact,
                      .sonic = sonic});
    }
    out_[place->second].groups.push_back(shape.name + "|" + std::to_string(group));
  }

  const Testbed& testbed_;
  std::map<Key, size_t> known_;
  std::vector<HeadroomRow> out_;
};

}  // namespace

std::vector<HeadroomRow> headrooms_of(const Testbed& testbed) {
  return Lister(testbed).run();
}

}  // namespace softspine::control
