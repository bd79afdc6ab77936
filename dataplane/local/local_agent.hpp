// SPDX-License-Identifier: Apache-2.0
// Answers of a switch itself: ARP and ND for its gateway addresses (and as a proxy), ICMP echo to its
// addresses, and ICMP errors for what it could not forward (TTL, no route, MTU, neighbour unknown).
//
// Called in the order of time, at the instant of the packet it answers; deterministic; no state but the
// error budget. It takes the packet and returns the packets that follow from it in `Outcomes`, each with a verdict:
//   kContinue  an IP packet of the switch's own: route and rewrite it
//   kForward   ready for out_port, MACs set
//   kFlood     to the members of meta.vlan but in_port (or to out_port of a routed subnet: kForward)
//   kDrop      ends, with reason
// Sources: RFC 826, 4861 (ND without router discovery), 792, 4443, 1812 4.3.2 (errors about errors: never).
// ICMP errors are limited to kErrorsPerSecond with bursts of kErrorBurst, as a switch's CPU path is.
#pragma once

#include <array>
#include <cstdint>

#include "dataplane/forwarding/stages.hpp"
#include "dataplane/packet/pool.hpp"

namespace softspine::dataplane {

class LocalAgent {
 public:
  static constexpr int64_t kErrorsPerSecond = 10'000;
  static constexpr int64_t kErrorBurst = 100;
  static constexpr Duration kErrorCost = Duration::s(1) / kErrorsPerSecond;

  struct Outcomes {
    std::array<Packet, 2> packets;
    uint32_t count = 0;
    void push(Packet packet) { packets[count++] = std::move(packet); }
  };

  explicit LocalAgent(PacketPool& pool) : pool_(pool) {}

  // A packet with verdict kLocal.
  void receive(SwitchTables& tables, Packet packet, Instant now, Outcomes& out) noexcept;
  // Answers a packet with kDrop and kMustAnswer: by an ICMP error, or by asking for its neighbour's MAC. The packet
  // stays with the caller.
  void notify_sender(SwitchTables& tables, const Packet& packet, Instant now, Outcomes& out) noexcept;

 private:
  void receive_arp(SwitchTables& tables, Packet packet, Outcomes& out) noexcept;
  void receive_solicitation(SwitchTables& tables, Packet packet, Outcomes& out) noexcept;
  void receive_advertisement(SwitchTables& tables, Packet packet, Outcomes& out) noexcept;
  void receive_ip(const SwitchTables& tables, Packet packet, Instant now, Outcomes& out) noexcept;
  void ask_for_neighbour(SwitchTables& tables, const Packet& packet, Instant now, Outcomes& out) noexcept;
  Packet make_arp_request(const ForwardingState& state, const Subnet& subnet, const AddressBytes& target) noexcept;
  Packet make_solicitation(const ForwardingState& state, const Subnet& subnet, const AddressBytes& target) noexcept;
  bool may_send_error(Instant now) noexcept;

  PacketPool& pool_;
  // The instant from which unused error budget counts; at the start, the budget of a whole burst is unused.
  Instant budget_from_ = Instant{} - kErrorCost * kErrorBurst;
};

// The sender of an error: until it is routed, the frame is from the switch's MAC to that MAC.
struct ErrorSource {
  AddressBytes address;
  MacAddress mac;
};
// An ICMP or ICMPv6 error about `original`; empty if none must be sent.
Packet make_icmp_error(PacketPool& pool, const Packet& original, const ErrorSource& source, uint8_t type, uint8_t code,
                       uint32_t mtu) noexcept;
// Whether a neighbour solicitation or advertisement may be believed (RFC 4861 7.1): its whole fixed part is
// stored, it has crossed no router, its code is 0, its checksum right, its target not a multicast address.
bool is_valid_discovery(const Packet& packet) noexcept;
// Turns a valid solicitation that has a source address into its advertisement, in place, except for the frame's MACs.
void turn_into_advertisement(Packet& packet, const MacAddress& mac) noexcept;
// Turns an echo request into its reply, in place.
void turn_into_echo_reply(Packet& packet) noexcept;

}  // namespace softspine::dataplane
