// SPDX-License-Identifier: Apache-2.0
#include "control/compile/headroom_check.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include "control/compile/sonic_headroom.hpp"
#include "control/compile/switch_qos.hpp"
#include "dataplane/flow_control/whole_link.hpp"

namespace softspine::control {
namespace {

// The smallest frames for which so many cells are enough; 0: none.
uint32_t smallest_frame_held(const PortShape& port, uint32_t cell_bytes, uint64_t cells) {
  if (headroom_needed(port, cell_bytes, port.largest_frame) > cells) return 0;
  uint32_t enough = port.largest_frame;
  uint32_t less = dataplane::kMinFrameBytes;
  while (less < enough) {
    const uint32_t middle = less + (enough - less) / 2;
    if (headroom_needed(port, cell_bytes, middle) <= cells) {
      enough = middle;
    } else {
      less = middle + 1;
    }
  }
  return enough;
}

class HeadroomChecker {
 public:
  explicit HeadroomChecker(const Testbed& testbed) : testbed_(testbed) {}

  HeadroomCheck run() {
    for (uint32_t n = 0; n < testbed_.fabric.nodes.size(); ++n) {
      const FabricNode& node = testbed_.fabric.nodes[n];
      if (node.kind != NodeKind::kSwitch || node.profile >= testbed_.profiles.size()) continue;
      const Profile& profile = testbed_.profiles[node.profile];
      if (profile.qos) check(node, profile, port_shapes(testbed_.fabric, testbed_.profiles, n));
    }
    for (const auto& [message, place] : remarks_) out_.remarks.push_back(error_at(place, message));
    return std::move(out_);
  }

 private:
  using Key = std::tuple<std::string, std::string, uint64_t, int64_t, int64_t, uint32_t>;

  void check(const FabricNode& node, const Profile& profile, const std::vector<PortShape>& shapes) {
    const QosConfig& config = *profile.qos;
    for (const PortShape& shape : shapes) {
      const PortQos& port = config.port(shape.name);
      for (uint32_t g = 0; g < port.groups.size(); ++g) {
        const bool of_link = dataplane::pauses_whole_link(shape.link.flow_control);
        const auto paused = of_link ? uint8_t{0xff} : static_cast<uint8_t>(port.priorities_of_pg[g] & port.pfc_enable);
        const auto* buffers =
            port.groups[g] == PortQos::kNone ? nullptr : &config.profiles[static_cast<size_t>(port.groups[g])];
        const bool lossless = buffers != nullptr && buffers->lossless;
        if (!of_link) remark(profile, g, paused, lossless);
        if (shape.link.flow_control == FlowControl::kCredit) continue;  // nobody has to react in time
        if (paused != 0 && lossless) judge(node, profile, fitted(*buffers, config, shape), shape);
      }
    }
    for (size_t i = 0; const PoolDemand& pool : pool_demands(config, shapes)) {
      const std::string& name = config.pools[i++].name;
      if (pool.shared_headroom == 0) continue;
      out_.shared.push_back(
          {node.name, name, pool.headroom * config.cell_bytes, pool.shared_headroom * config.cell_bytes});
    }
  }

  void judge(const FabricNode& node, const Profile& profile, const BufferProfileConfig& buffers,
             const PortShape& shape) {
    ++out_.judged;
    if (buffers.automatic) return;
    const uint32_t cell = profile.qos->cell_bytes;
    const Key key{profile.name,
                  buffers.name,
                  shape.rate.count_bps(),
                  shape.propagation.count_ps(),
                  shape.peer_response.count_ps(),
                  shape.largest_frame};
    const auto [place, is_new] = places_.try_emplace(key, kNone);
    const std::string port = node.name + ":" + shape.name;
    if (is_new) {
      const uint64_t needed = headroom_needed(shape, cell, dataplane::kMinFrameBytes);
      const uint64_t has = (buffers.xoff + cell - 1) / cell;
      if (has >= needed) return;
      place->second = static_cast<uint32_t>(out_.too_little.size());
      out_.too_little.push_back({.profile = profile.name,
                                 .buffer_profile = buffers.name,
                                 .place = buffers.place,
                                 .ports = {},
                                 .rate = shape.rate,
                                 .propagation = shape.propagation,
                                 .mtu = shape.largest_frame - kFrameOverhead,
                                 .has_bytes = has * cell,
                                 .needed_bytes = needed * cell,
                                 .enough_from = smallest_frame_held(shape, cell, has)});
    }
    if (place->second == kNone) return;
    auto& ports = out_.too_little[place->second].ports;
    if (ports.empty() || ports.back() != port) ports.push_back(port);
  }

  void remark(const Profile& profile, uint32_t group, uint8_t paused, bool lossless) {
    const Place place = profile.place.file.empty() ? Place{.file = testbed_.file} : profile.place;
    const std::string name = "profile " + profile.name + ": priority group " + std::to_string(group);
    if (paused != 0 && !lossless) {
      remarks_.emplace(name + (profile.qos->has_buffers() ? " has no headroom (xoff)" : " has no buffer tables") +
                           ": its priority obeys pauses, and nobody is asked to pause it",
                       place);
    }
    if (paused == 0 && lossless) {
      remarks_.emplace(name + " is lossless, but none of its priorities is in pfc_enable", place);
    }
  }

  const Testbed& testbed_;
  HeadroomCheck out_;
  std::map<Key, uint32_t> places_;  // in too_little; kNone: it is enough
  std::map<std::string, Place> remarks_;
};

}  // namespace

HeadroomCheck check_headroom(const Testbed& testbed) {
  return HeadroomChecker(testbed).run();
}

}  // namespace softspine::control
