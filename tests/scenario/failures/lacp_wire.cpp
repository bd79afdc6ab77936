// SPDX-License-Identifier: Apache-2.0
#include "tests/scenario/failures/lacp_wire.hpp"

#include <algorithm>

#include "dataplane/packet/wire.hpp"

namespace softspine::tests {

using namespace dataplane;

namespace {

bool runs_lacp(const control::Fabric& fabric, const control::FabricLink& link) {
  if (link.lag != control::kNone) return fabric.lags[link.lag].mode == control::LagMode::kLacp;
  const auto& a = fabric.nodes[link.a.node];
  const auto& b = fabric.nodes[link.b.node];
  const auto speaks = [](const control::FabricNode& node) {
    return node.kind == control::NodeKind::kHost && node.ports.size() == 2 && node.bond.lacp_rate.has_value();
  };
  return speaks(a) || speaks(b);
}

bool is_of_host(const control::Fabric& fabric, const control::FabricLink& link) {
  return fabric.nodes[link.a.node].kind == control::NodeKind::kHost ||
         fabric.nodes[link.b.node].kind == control::NodeKind::kHost;
}

}  // namespace

void WireEnd::judge_last() noexcept {
  const LinkCounters& counters = wire_.counters();
  const uint64_t lost = counters.lost_packets + counters.vanished_packets + counters.damaged_packets;
  if (lost != lost_ && last_arrives_ != nullptr) *last_arrives_ = false;
  lost_ = lost;
  last_arrives_ = nullptr;
}

void WireEnd::frame(Direction /*direction*/, const Packet& packet, Instant at, const char* /*comment*/) noexcept {
  judge_last();
  const uint8_t* const bytes = packet.data();
  if (packet.is_of_flow()) {
    const bool is_ipv6 = load16(bytes + ethernet::kType) == ethernet::kTypeIpv6;
    const uint8_t* const transport =
        bytes + ethernet::kBytes + (is_ipv6 ? ipv6::kBytes : ipv4::kMinBytes) + udp::kBytes;
    data_.push_back({.at = at, .flow = packet.flow(), .psn = load24(transport + bth::kPsn), .has_carrier = wire_.up()});
    last_arrives_ = &data_.back().arrives;
  } else if (load16(bytes + ethernet::kType) == kTypeSlowProtocols) {
    const auto pdu = read_lacpdu({bytes, packet.stored_bytes()});
    pdus_.push_back({.at = at, .arrives = pdu.has_value(), .pdu = pdu.value_or(Lacpdu{})});
    last_arrives_ = &pdus_.back().arrives;
  }
}

void WireEnd::finish() {
  judge_last();
  wire_.set_tap(nullptr);
}

LacpWire::LacpWire(const control::Testbed& testbed, testbeds::RunningFabric& fabric)
    : testbed_(testbed), fabric_(fabric) {
  const auto tapped = [&nodes = *fabric.assembly().nodes](control::LinkEnd end) {
    return std::make_unique<WireEnd>(end, *nodes.transmitter_at(end));
  };
  for (uint32_t i = 0; i < testbed.fabric.links.size(); ++i) {
    const control::FabricLink& link = testbed.fabric.links[i];
    const bool is_judged = runs_lacp(testbed.fabric, link);
    if (!is_judged && !is_of_host(testbed.fabric, link)) continue;
    links_.push_back({.link = i, .runs_lacp = is_judged, .a = tapped(link.a), .b = tapped(link.b), .outages = {}});
  }
  look(Instant{});
}

LacpWire::~LacpWire() = default;

void LacpWire::look(Instant now) {
  for (WireLink& each : links_) {
    const bool was_up = each.outages.empty() || !each.outages.back().until.is_never();
    if (was_up == each.a->has_carrier()) continue;
    if (was_up) {
      each.outages.push_back({.from = now});
    } else {
      each.outages.back().until = now;
    }
  }
  fabric_.assembly().engine->look_at(now + kCarrierLooks, [this](Instant later) { look(later); });
}

void LacpWire::finish() {
  for (WireLink& each : links_) {
    each.a->finish();
    each.b->finish();
    for (const control::Fault& fault : testbed_.faults) {
      if (fault.kind == control::FaultKind::kDown && std::ranges::binary_search(fault.links, each.link))
        note_cut(each, fault.at);
    }
  }
}

// What was too short to be seen.
void LacpWire::note_cut(WireLink& link, Instant at) {
  const auto has_it = [at](const WireLink::Outage& each) {
    return each.from - kCarrierLooks <= at && (each.until.is_never() || at <= each.until);
  };
  if (std::ranges::any_of(link.outages, has_it)) return;
  const auto next = std::ranges::upper_bound(link.outages, at, {}, &WireLink::Outage::from);
  link.outages.insert(next, {.from = at, .until = at + kCarrierLooks});
}

}  // namespace softspine::tests
