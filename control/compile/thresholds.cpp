// SPDX-License-Identifier: Apache-2.0
#include "control/compile/thresholds.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <set>
#include <tuple>

#include "control/compile/switch_qos.hpp"
#include "dataplane/buffer/mmu.hpp"

namespace softspine::control {
namespace {

namespace dp = dataplane;

// Beyond any memory: who has not triggered by then never does.
constexpr uint64_t kMaxFrames = 1U << 24;

class Probe {
 public:
  Probe(const dp::BufferPlan& plan, const dp::Mmu::Account& account)
      : account_(account), mmu_(static_cast<uint32_t>(plan.ports.size() - 1)) {
    mmu_.apply(plan);
  }

  // From the first frame to the first drop; nothing triggers before it has been sent.
  void run(Thresholds& out) {
    for (uint64_t sent = 1; sent <= kMaxFrames; ++sent) {
      if (mmu_.admit(account_, 1) == 0) {
        out.first_drop = sent;
        out.reason = mmu_.refused_for();
        return;
      }
      if (mmu_.must_raise_xoff() && !out.xoff) {
        out.xoff = sent;
        out.xon_after = drained(sent);
      }
    }
  }

 private:
  // How many have to leave, of so many that are there, before XOFF is cleared. All are there again afterwards.
  std::optional<uint64_t> drained(uint64_t held) {
    uint64_t gone = 0;
    bool cleared = false;
    while (gone < held && !cleared) {
      ++gone;
      cleared = mmu_.release(account_, 1);
    }
    for (uint64_t i = 0; i < gone; ++i) (void)mmu_.admit(account_, 1);
    (void)mmu_.must_raise_xoff();
    return cleared ? std::optional(gone) : std::nullopt;
  }

  dp::Mmu::Account account_;
  dp::Mmu mmu_;
};

class ThresholdFinder {
 public:
  explicit ThresholdFinder(const Testbed& testbed) : testbed_(testbed) {}

  std::vector<Thresholds> run() {
    std::set<uint32_t> seen;
    for (uint32_t n = 0; n < testbed_.fabric.nodes.size(); ++n) {
      const FabricNode& node = testbed_.fabric.nodes[n];
      if (node.kind != NodeKind::kSwitch || node.profile >= testbed_.profiles.size() || node.ports.empty()) continue;
      const Profile& profile = testbed_.profiles[node.profile];
      if (profile.qos && profile.qos->has_buffers() && seen.insert(node.profile).second) probe(n, profile);
    }
    return std::move(out_);
  }

 private:
  using Key = std::tuple<bool, int16_t, uint32_t, uint8_t, uint32_t, uint8_t>;

  void probe(uint32_t n, const Profile& profile) {
    const auto shapes = port_shapes(testbed_.fabric, testbed_.profiles, n);
    const auto plan = compile_qos(profile, shapes);
    std::map<Key, size_t> known;
    for (uint32_t p = 0; p < shapes.size(); ++p) {
      const PortQos& port = profile.qos->port(shapes[p].name);
      for (uint8_t priority = 0; priority < 8; ++priority) {
        if ((port.pfc_enable >> priority & 1) != 0) add_lossless(n, profile, *plan, known, p, priority);
      }
      std::set<uint8_t> queues;
      const PortMaps& maps = profile.maps_at(shapes[p].name);
      for (uint8_t tc = 0; tc < 8; ++tc) {
        const uint8_t queue = maps.tc_to_queue[tc];
        const auto leads = [tc](const auto& map) { return std::ranges::find(map, tc) != map.end(); };
        const bool leads_there = leads(maps.dscp_to_tc) || (maps.trusts_pcp && leads(maps.dot1p_to_tc));
        if (leads_there && queues.insert(queue).second) add_lossy(n, profile, *plan, known, p, tc);
      }
    }
  }

  void add_lossless(uint32_t n, const Profile& profile, const dp::QosPlan& plan, std::map<Key, size_t>& known,
                    uint32_t p, uint8_t priority) {
    const PortQos& port = profile.qos->port(testbed_.fabric.nodes[n].ports[p].name);
    for (uint8_t g = 0; g < 8; ++g) {
      const int16_t index = port.groups[g];
      const bool its = (plan.ports[p].priorities_of_pg[g] >> priority & 1) != 0;
      if (!its || index == PortQos::kNone || !plan.buffer.ports[p].groups[g].lossless) continue;
      const uint8_t queues = plan.ports[p].queues_of_priority[priority];
      if (queues != 0)
        add(n, profile, plan, known, {p, g, static_cast<uint8_t>(std::countr_zero(queues)), index, true});
    }
  }

  void add_lossy(uint32_t n, const Profile& profile, const dp::QosPlan& plan, std::map<Key, size_t>& known, uint32_t p,
                 uint8_t tc) {
    const std::string& name = testbed_.fabric.nodes[n].ports[p].name;
    const PortQos& port = profile.qos->port(name);
    const PortMaps& maps = profile.maps_at(name);
    const uint8_t group = maps.tc_to_pg[tc];
    const uint8_t queue = maps.tc_to_queue[tc];
    const int16_t index = port.queues[queue];
    if (index == PortQos::kNone || plan.buffer.ports[p].groups[group].lossless) return;
    add(n, profile, plan, known, {p, group, queue, index, false});
  }

  struct Way {
    uint32_t port;
    uint8_t group;
    uint8_t queue;
    int16_t buffer_profile;
    bool lossless;
  };

  // Alike at most ports: the way is filled once for each slice and headroom.
  void add(uint32_t n, const Profile& profile, const dp::QosPlan& plan, std::map<Key, size_t>& known, const Way& way) {
    const FabricNode& node = testbed_.fabric.nodes[n];
    const dp::PriorityGroupPlan& group = plan.buffer.ports[way.port].groups[way.group];
    const uint8_t number = way.lossless ? way.group : way.queue;
    const Key key{!way.lossless, way.buffer_profile, group.headroom_cells, group.pool, group.reserved_cells, number};
    const auto [place, is_new] = known.try_emplace(key, out_.size());
    if (is_new) {
      Thresholds out{.node = node.name,
                     .profile = profile.name,
                     .buffer_profile = profile.qos->profiles[static_cast<size_t>(way.buffer_profile)].name,
                     .number = number,
                     .lossless = way.lossless,
                     .cell_bytes = profile.qos->cell_bytes};
      const auto ports = static_cast<uint32_t>(node.ports.size());
      const uint32_t to = ports == 1 ? way.port : (way.port + 1) % ports;
      out.reserved_cells = way.lossless ? group.reserved_cells : plan.buffer.ports[to].queues[way.queue].reserved_cells;
      out.headroom_pool_cells = way.lossless ? plan.buffer.ingress_pools[group.pool].headroom_cells : 0;
      Probe(plan.buffer, {dp::Mmu::number_of_pg(way.port, way.group), dp::Mmu::number_of_queue(to, way.queue)})
          .run(out);
      out_.push_back(std::move(out));
    }
    out_[place->second].ports.push_back(node.ports[way.port].name);
  }

  const Testbed& testbed_;
  std::vector<Thresholds> out_;
};

}  // namespace

std::vector<Thresholds> thresholds_of(const Testbed& testbed) {
  return ThresholdFinder(testbed).run();
}

}  // namespace softspine::control
