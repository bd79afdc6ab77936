// SPDX-License-Identifier: Apache-2.0
#include "dataplane/local/local_agent.hpp"

#include <algorithm>

#include "dataplane/packet/checksum.hpp"
#include "dataplane/packet/parse.hpp"
#include "dataplane/packet/wire.hpp"

namespace softspine::dataplane {

namespace {

// RFC 792, 4443: codes.
constexpr uint8_t kNetUnreachable = 0;
constexpr uint8_t kPortUnreachable = 3;
constexpr uint8_t kFragmentationNeeded = 4;
constexpr uint8_t k6PortUnreachable = 4;

AddressBytes address_of(const uint8_t* bytes, uint32_t count) {
  AddressBytes address{};
  std::copy_n(bytes, count, address.begin());
  return address;
}

bool contains(const Prefix& prefix, const AddressBytes& address) {
  const uint32_t whole = prefix.length / 8;
  if (!std::equal(address.begin(), address.begin() + whole, prefix.address.begin())) return false;
  const uint32_t rest = prefix.length % 8;
  return rest == 0 || ((address[whole] ^ prefix.address[whole]) >> (8 - rest)) == 0;
}

// The subnet that the packet came in from, for this family; null on fabric ports.
const Subnet* ingress_subnet(const ForwardingState& state, const PacketMeta& meta, bool is_ipv6) {
  for (const Subnet& subnet : state.subnets) {
    if (subnet.is_ipv6 != is_ipv6) continue;
    if (subnet.vlan != 0 ? subnet.vlan == meta.vlan : subnet.port == meta.in_port && meta.vlan == 0) return &subnet;
  }
  return nullptr;
}

bool answers_for(const SwitchTables& tables, const Subnet& subnet, const AddressBytes& target) {
  if (target == subnet.gateway) return true;
  if (!subnet.proxy) return false;
  const PrefixTrie& trie = subnet.is_ipv6 ? tables.state->ipv6 : tables.state->ipv4;
  return tables.state->below_overrides(trie.lookup(target.data())) != PrefixTrie::kMiss;
}

void learn(SwitchTables& tables, const Subnet& subnet, const PacketMeta& meta, const AddressBytes& address,
           const uint8_t* mac) {
  if (!contains(subnet.prefix, address) || address == subnet.gateway || (mac[0] & ethernet::kMulticastBit) != 0) return;
  Adjacency adjacency;
  std::copy_n(mac, 6, adjacency.destination.begin());
  adjacency.source = tables.state->router_mac;
  adjacency.port = meta.in_port;
  adjacency.mtu = subnet.mtu;
  adjacency.vlan = subnet.vlan;
  tables.neighbours.learn(address, adjacency, meta.at);
}

// Back out of the port it came in by, to `destination`.
void send_back(const ForwardingState& state, Packet packet, const MacAddress& destination, LocalAgent::Outcomes& out) {
  uint8_t* data = packet.data();
  PacketMeta& meta = packet.meta();
  store_mac(data + ethernet::kDestination, destination);
  store_mac(data + ethernet::kSource, state.router_mac);
  meta.verdict = Verdict::kForward;
  meta.out_port = meta.in_port;
  out.push(std::move(packet));
}

void end(Packet packet, DropReason reason, LocalAgent::Outcomes& out) {
  drop(packet.meta(), reason);
  out.push(std::move(packet));
}

// Not for the router: on a bridged port it belongs to the VLAN's other stations, unless these have no layer 2 in
// common.
void pass_on(const ForwardingState& state, Packet packet, LocalAgent::Outcomes& out) {
  PacketMeta& meta = packet.meta();
  const bool flooded =
      meta.vlan != 0 && (packet.data()[0] & ethernet::kMulticastBit) != 0 && !state.ports[meta.in_port].isolated;
  if (!flooded) return end(std::move(packet), DropReason::kConsumed, out);
  meta.verdict = Verdict::kFlood;
  out.push(std::move(packet));
}

}  // namespace

void LocalAgent::receive(SwitchTables& tables, Packet packet, Instant now, Outcomes& out) noexcept {
  const PacketMeta& meta = packet.meta();
  if (meta.ether_type == ethernet::kTypeArp) return receive_arp(tables, std::move(packet), out);
  if ((meta.flags & (kIsIpv4 | kIsIpv6)) == 0 || meta.reason != DropReason::kCount) {
    const bool faulty = meta.reason != DropReason::kCount;
    return end(std::move(packet), faulty ? meta.reason : DropReason::kUnsupported, out);
  }
  if (meta.ip_protocol == ip::kIcmp6 && (meta.flags & kIsIpv6) != 0 &&
      packet.stored_bytes() >= meta.l4_offset + nd::kOptions) {
    const uint8_t type = packet.data()[meta.l4_offset];
    const bool is_discovery = type == icmp::k6NeighbourSolicitation || type == icmp::k6NeighbourAdvertisement;
    if (is_discovery && !is_valid_discovery(packet)) return pass_on(*tables.state, std::move(packet), out);
    if (type == icmp::k6NeighbourSolicitation) return receive_solicitation(tables, std::move(packet), out);
    if (type == icmp::k6NeighbourAdvertisement) return receive_advertisement(tables, std::move(packet), out);
  }
  receive_ip(tables, std::move(packet), now, out);
}

void LocalAgent::receive_arp(SwitchTables& tables, Packet packet, Outcomes& out) noexcept {
  const ForwardingState& state = *tables.state;
  const PacketMeta& meta = packet.meta();
  uint8_t* body = packet.data() + meta.l3_offset;
  if (packet.stored_bytes() < meta.l3_offset + arp::kBytes) return end(std::move(packet), DropReason::kTruncated, out);
  const Subnet* subnet = ingress_subnet(state, meta, false);
  const bool known_form = load48(body) == arp::kEthernetIpv4;
  if (subnet == nullptr || !known_form) return pass_on(state, std::move(packet), out);
  const AddressBytes sender = address_of(body + arp::kSenderIp, 4);
  const AddressBytes target = address_of(body + arp::kTargetIp, 4);
  learn(tables, *subnet, meta, sender, body + arp::kSenderMac);
  const bool is_probe = sender == AddressBytes{};  // RFC 5227: a host tries whether its address is free
  if (load16(body + arp::kOperation) != arp::kRequest || sender == target || !answers_for(tables, *subnet, target) ||
      (is_probe && target != subnet->gateway)) {
    return pass_on(state, std::move(packet), out);
  }
  const MacAddress asker = load_mac(body + arp::kSenderMac);
  store16(body + arp::kOperation, arp::kReply);
  std::copy_n(body + arp::kSenderMac, 10, body + arp::kTargetMac);  // MAC and IP, side by side
  store_mac(body + arp::kSenderMac, state.router_mac);
  std::copy_n(target.data(), 4, body + arp::kSenderIp);
  send_back(state, std::move(packet), asker, out);
}

void LocalAgent::receive_solicitation(SwitchTables& tables, Packet packet, Outcomes& out) noexcept {
  const ForwardingState& state = *tables.state;
  const PacketMeta& meta = packet.meta();
  const uint8_t* l3 = packet.data() + meta.l3_offset;
  const Subnet* subnet = ingress_subnet(state, meta, true);
  if (subnet == nullptr) return pass_on(state, std::move(packet), out);
  const AddressBytes source = address_of(l3 + ipv6::kSource, 16);
  const AddressBytes target = address_of(packet.data() + meta.l4_offset + nd::kTarget, 16);
  const MacAddress asker = load_mac(packet.data() + ethernet::kSource);
  if (source != AddressBytes{}) learn(tables, *subnet, meta, source, asker.data());
  if (source == AddressBytes{} || !answers_for(tables, *subnet, target)) return pass_on(state, std::move(packet), out);
  turn_into_advertisement(packet, state.router_mac);
  send_back(state, std::move(packet), asker, out);
}

void LocalAgent::receive_advertisement(SwitchTables& tables, Packet packet, Outcomes& out) noexcept {
  const ForwardingState& state = *tables.state;
  const PacketMeta& meta = packet.meta();
  const uint8_t* body = packet.data() + meta.l4_offset;
  const Subnet* subnet = ingress_subnet(state, meta, true);
  if (subnet != nullptr) {
    learn(tables, *subnet, meta, address_of(body + nd::kTarget, 16), packet.data() + ethernet::kSource);
  }
  pass_on(state, std::move(packet), out);
}

void LocalAgent::receive_ip(const SwitchTables& tables, Packet packet, Instant now, Outcomes& out) noexcept {
  PacketMeta& meta = packet.meta();
  const uint8_t* l3 = packet.data() + meta.l3_offset;
  if ((packet.data()[0] & ethernet::kMulticastBit) != 0) return pass_on(*tables.state, std::move(packet), out);
  const bool is_ipv4 = (meta.flags & kIsIpv4) != 0;
  const bool whole = packet.elided_bytes() == 0 && (meta.flags & kIsFragment) == 0 &&
                     packet.stored_bytes() >= meta.l4_offset + icmp::kBytes;
  const uint8_t type = whole ? packet.data()[meta.l4_offset] : uint8_t{0xff};
  const bool is_echo = is_ipv4 ? meta.ip_protocol == ip::kIcmp && type == icmp::kEchoRequest
                               : meta.ip_protocol == ip::kIcmp6 && type == icmp::k6EchoRequest;
  if (whole && is_echo) {
    turn_into_echo_reply(packet);
    meta.verdict = Verdict::kContinue;
    out.push(std::move(packet));
    return;
  }
  if ((meta.flags & kIsUdp) != 0 && may_send_error(now)) {
    const AddressBytes self =
        is_ipv4 ? address_of(l3 + ipv4::kDestination, 4) : address_of(l3 + ipv6::kDestination, 16);
    Packet error = make_icmp_error(pool_, packet, {self, tables.state->router_mac},
                                   is_ipv4 ? icmp::kUnreachable : icmp::k6Unreachable,
                                   is_ipv4 ? kPortUnreachable : k6PortUnreachable, 0);
    if (error) out.push(std::move(error));
  }
  const bool is_icmp = meta.ip_protocol == (is_ipv4 ? ip::kIcmp : ip::kIcmp6);
  const bool is_known = is_icmp || (meta.flags & kIsUdp) != 0;
  end(std::move(packet), is_known ? DropReason::kConsumed : DropReason::kUnsupported, out);
}

void LocalAgent::notify_sender(SwitchTables& tables, const Packet& packet, Instant now, Outcomes& out) noexcept {
  const ForwardingState& state = *tables.state;
  const PacketMeta& meta = packet.meta();
  const bool is_ipv6 = (meta.flags & kIsIpv6) != 0;
  if (meta.reason == DropReason::kNeighbourIncomplete) return ask_for_neighbour(tables, packet, now, out);
  const Subnet* subnet = ingress_subnet(state, meta, is_ipv6);
  const AddressBytes& loopback = is_ipv6 ? state.loopback_ipv6 : state.loopback_ipv4;
  const AddressBytes& source = subnet != nullptr ? subnet->gateway : loopback;
  uint8_t type = is_ipv6 ? icmp::k6Unreachable : icmp::kUnreachable;
  uint8_t code = kNetUnreachable;
  uint32_t mtu = 0;
  if (meta.reason == DropReason::kTtlExpired) {
    type = is_ipv6 ? icmp::k6TimeExceeded : icmp::kTimeExceeded;
  } else if (meta.reason == DropReason::kMtuExceeded) {
    mtu = meta.hash;  // the route stage leaves the MTU there
    const bool may_fragment =
        !is_ipv6 && (load16(packet.data() + meta.l3_offset + ipv4::kFragment) & ipv4::kDontFragment) == 0;
    if (may_fragment) return;  // a switch does not fragment, and the sender did not ask for an error
    type = is_ipv6 ? icmp::k6PacketTooBig : icmp::kUnreachable;
    code = is_ipv6 ? uint8_t{0} : kFragmentationNeeded;
  }
  if (!may_send_error(now)) return;
  Packet error = make_icmp_error(pool_, packet, {source, state.router_mac}, type, code, mtu);
  if (error) out.push(std::move(error));
}

bool LocalAgent::may_send_error(Instant now) noexcept {
  const Instant from = std::max(budget_from_, now - kErrorCost * kErrorBurst);
  if (from + kErrorCost > now) return false;
  budget_from_ = from + kErrorCost;
  return true;
}

void LocalAgent::ask_for_neighbour(SwitchTables& tables, const Packet& packet, Instant now, Outcomes& out) noexcept {
  const ForwardingState& state = *tables.state;
  const PacketMeta& meta = packet.meta();
  const Subnet& subnet = state.subnets[meta.next_hop];
  const uint8_t* l3 = packet.data() + meta.l3_offset;
  const AddressBytes target =
      subnet.is_ipv6 ? address_of(l3 + ipv6::kDestination, 16) : address_of(l3 + ipv4::kDestination, 4);
  if (!tables.neighbours.should_ask(target, now)) return;
  Packet question = subnet.is_ipv6 ? make_solicitation(state, subnet, target) : make_arp_request(state, subnet, target);
  if (!question) return;
  PacketMeta& asked = question.meta();
  asked.vlan = subnet.vlan;
  asked.out_port = subnet.port;
  asked.in_port = kLocalPort;
  asked.traffic_class = 0;
  asked.next_hop = kBridgedNextHop;
  asked.verdict = subnet.vlan != 0 ? Verdict::kFlood : Verdict::kForward;
  out.push(std::move(question));
}

}  // namespace softspine::dataplane
