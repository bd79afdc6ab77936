// SPDX-License-Identifier: Apache-2.0
#include "control/compile/service.hpp"

#include <algorithm>

#include "control/compile/switch_qos.hpp"
#include "dataplane/flow_control/whole_link.hpp"

namespace softspine::control {
namespace {

uint8_t bit(uint8_t n) {
  return static_cast<uint8_t>(1U << n);
}

const BufferProfileConfig* row_at(const QosConfig& config, int16_t index) {
  return index == PortQos::kNone ? nullptr : &config.profiles[static_cast<size_t>(index)];
}

// The share in a pool without users but one, whose limit is alpha times what is free.
uint64_t dynamic_share(uint64_t shared, int logarithm) {
  const uint64_t eighths = uint64_t{1} << (logarithm + 8);  // alpha in 256ths
  return shared / (256 + eighths) * eighths;
}

}  // namespace

std::string listed(const std::vector<uint8_t>& dscps) {
  std::string out;
  for (size_t i = 0; i < dscps.size(); ++i) {
    out += (i == 0 ? "" : i + 1 == dscps.size() ? " and " : ", ") + std::to_string(dscps[i]);
  }
  return out;
}

ServiceBook::ServiceBook(const Testbed& testbed) : testbed_(testbed) {
  const Fabric& fabric = testbed.fabric;
  ingress_bytes_.resize(fabric.nodes.size());
  pool_bytes_.resize(fabric.nodes.size());
  for (uint32_t n = 0; n < fabric.nodes.size(); ++n) {
    const Profile* profile = profile_of(n);
    if (profile == nullptr || !profile->qos || !profile->qos->has_buffers()) continue;
    const QosConfig& config = *profile->qos;
    const auto demands = pool_demands(config, port_shapes(fabric, testbed.profiles, n));
    for (size_t i = 0; i < demands.size(); ++i) {
      const PoolDemand& pool = demands[i];
      const uint64_t beside = pool.shared_headroom > 0 ? pool.shared_headroom : pool.headroom;
      const uint64_t own = config.holds_reserved(config.pools[i]) ? 0 : pool.reserved;
      if (config.pools[i].ingress) ingress_bytes_[n] += (pool.size + own + beside) / config.slices * config.cell_bytes;
      const uint64_t taken = config.holds_reserved(config.pools[i]) ? std::min(pool.size, pool.reserved) : 0;
      pool_bytes_[n].push_back((pool.size - taken) / config.slices * config.cell_bytes);
    }
  }
}

const Profile* ServiceBook::profile_of(uint32_t node) const {
  const FabricNode& found = testbed_.fabric.nodes[node];
  const bool has = found.kind == NodeKind::kSwitch && found.profile < testbed_.profiles.size();
  return has ? &testbed_.profiles[found.profile] : nullptr;
}

Service ServiceBook::at(LinkEnd sender, uint8_t dscp, bool ecn_capable) const {
  const Fabric& fabric = testbed_.fabric;
  const LinkEnd receiver = fabric.peer_of(sender);
  Service out;
  const Profile* from = profile_of(sender.node);
  const Profile* to = profile_of(receiver.node);
  if (from != nullptr) out.queue = queue_of(*from, sender, dscp);
  if (to != nullptr) {
    const PortMaps& maps = to->maps_at(fabric.port(receiver).name);
    out.group = maps.tc_to_pg[class_of(fabric.nodes[sender.node].vlan, maps, dscp)];
    out.loss = group_loss(receiver, out);
    if (out.loss == Loss::kNothing && (out.priorities & stops_for(sender, dscp)) == 0) out.loss = Loss::kNotObeyed;
  }
  if (from == nullptr || !from->qos) {
    if (from != nullptr && out.loss == Loss::kNothing) out.loss = Loss::kNoBuffers;
    return out;
  }
  const int16_t wred = from->qos->port(fabric.port(sender).name).wreds[*out.queue];
  const auto* line = wred == PortQos::kNone ? nullptr : &from->qos->wreds[static_cast<size_t>(wred)].second;
  out.marked = line != nullptr && !line->mark.off();
  if (out.loss != Loss::kNothing) return out;
  if (queue_may_drop(sender, *out.queue)) {
    out.loss = from->qos->has_buffers() ? Loss::kQueue : Loss::kNoBuffers;
  } else if (line != nullptr && (!ecn_capable || !out.marked) && !line->drop.off()) {
    out.loss = Loss::kEarly;
  }
  return out;
}

// A packet's class is that of the port that it came in by, which a link does not know: here it is that of the ports
// without maps of their own.
uint8_t ServiceBook::queue_of(const Profile& profile, LinkEnd sender, uint8_t dscp) const {
  return profile.maps_at(testbed_.fabric.port(sender).name).tc_to_queue[profile.dscp_to_tc[dscp]];
}

// The priorities whose pauses the sender obeys for packets of this DSCP.
uint8_t ServiceBook::stops_for(LinkEnd sender, uint8_t dscp) const {
  const Fabric& fabric = testbed_.fabric;
  const FabricNode& node = fabric.nodes[sender.node];
  const FlowControl mode = fabric.links[fabric.port(sender).link].parameters.flow_control;
  if (dataplane::pauses_whole_link(mode)) return dataplane::paused_priorities(mode, 0);
  if (const Profile* profile = profile_of(sender.node)) {
    if (!profile->qos) return 0;
    const uint8_t queue = queue_of(*profile, sender, dscp);
    const PortQos& port = profile->qos->port(fabric.port(sender).name);
    uint8_t out = 0;
    for (uint8_t p = 0; p < 8; ++p) {
      if ((port.queues_of_priority[p] & bit(queue)) != 0) out |= bit(p);
    }
    return out & port.pfc_enable;
  }
  // A host has the classes of the switch before its first port.
  const LinkEnd first = fabric.peer_of({sender.node, 0});
  const Profile* before = profile_of(first.node);
  const uint8_t priority = before == nullptr ? dataplane::kAzureDscpToTc[dscp]
                                             : class_of(node.vlan, before->maps_at(fabric.port(first).name), dscp);
  if (is_builtin(node.attachment) || node.nic.parameters.relay_pfc) return bit(priority);
  return bit(priority) & node.nic.pfc_enable.value_or(0xff);
}

// Whether the group is one that its sender is stopped for; fills in what of.
Loss ServiceBook::group_loss(LinkEnd receiver, Service& service) const {
  const Profile& profile = *profile_of(receiver.node);
  if (!profile.qos || !profile.qos->has_buffers()) return Loss::kNoBuffers;
  const FabricPort& port = testbed_.fabric.port(receiver);
  const PortQos& qos = profile.qos->port(port.name);
  const BufferProfileConfig* row = row_at(*profile.qos, qos.groups[*service.group]);
  if (row == nullptr || !row->lossless) return Loss::kNoHeadroom;
  const FlowControl mode = testbed_.fabric.links[port.link].parameters.flow_control;
  service.credit = mode == FlowControl::kCredit;
  service.priorities = dataplane::pauses_whole_link(mode) ? dataplane::paused_priorities(mode, 0)
                                                          : qos.priorities_of_pg[*service.group] & qos.pfc_enable;
  return service.priorities == 0 ? Loss::kNotPaused : Loss::kNothing;
}

bool ServiceBook::queue_may_drop(LinkEnd sender, uint8_t queue) const {
  const QosConfig& config = *profile_of(sender.node)->qos;
  if (!config.has_buffers()) return true;
  const bool limited = std::ranges::any_of(config.pools, [](const auto& pool) { return !pool.ingress; });
  if (!limited) return false;
  const BufferProfileConfig* row = row_at(config, config.port(testbed_.fabric.port(sender).name).queues[queue]);
  if (row == nullptr) return true;
  const uint64_t shared = pool_bytes_[sender.node][row->pool];
  const uint64_t fixed = row->static_th == 0 ? shared : std::min(row->static_th, shared);
  const uint64_t most = row->dynamic_th ? dynamic_share(shared, *row->dynamic_th) : fixed;
  return row->size + most < ingress_bytes_[sender.node];
}

bool ServiceBook::is_lossless(const Ways& ways, uint8_t dscp) const {
  return std::ranges::all_of(ways.senders, [&](LinkEnd sender) { return at(sender, dscp).loss == Loss::kNothing; });
}

std::vector<uint8_t> ServiceBook::lossless_dscps(const Ways& ways) const {
  std::vector<uint8_t> out;
  for (uint8_t dscp = 0; dscp < kDscps; ++dscp) {
    if (is_lossless(ways, dscp)) out.push_back(dscp);
  }
  return out;
}

std::string ServiceBook::profile_name(uint32_t node) const {
  const Profile* profile = profile_of(node);
  return profile == nullptr ? "" : " of profile " + profile->name;
}

std::string ServiceBook::why(LinkEnd sender, const Service& service) const {
  const uint32_t receiver = testbed_.fabric.peer_of(sender).node;
  const std::string group = "priority group " + std::to_string(service.group.value_or(0)) + profile_name(receiver);
  const std::string queue = "queue " + std::to_string(service.queue.value_or(0)) + profile_name(sender.node);
  switch (service.loss) {
    case Loss::kNothing: break;
    case Loss::kNoBuffers: {
      const Profile* to = profile_of(receiver);
      const bool is_theirs = to != nullptr && (!to->qos || !to->qos->has_buffers());
      return "profile " + (is_theirs ? to : profile_of(sender.node))->name +
             " has no BUFFER_* tables: nothing is paused";
    }
    case Loss::kNoHeadroom: return group + " has no headroom (xoff)";
    case Loss::kNotPaused: return "no priority of " + group + " is in pfc_enable";
    case Loss::kNotObeyed:
      return testbed_.fabric.nodes[sender.node].name + " does not obey the pauses that " + group + " asks for";
    case Loss::kQueue: return queue + " may hold less than comes in: it drops before anybody is paused";
    case Loss::kEarly:
      return "WRED of " + queue +
             (service.marked ? " drops what is not ECN-capable" : " drops early, and marks nothing (ecn_none)");
  }
  return "";
}

}  // namespace softspine::control
