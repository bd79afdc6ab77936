// SPDX-License-Identifier: Apache-2.0
// Answers of a built-in host for its own addresses: to ARP requests, neighbour solicitations and ICMP echo requests
// (IPv4 and IPv6). For every other frame it gives the reason why the frame ends here.
//
// It works on bytes, and reads no more than are stored. An ARP reply or echo reply is the request turned around in
// place; a neighbour advertisement may be longer than its solicitation, so it is written into a packet of its own.
#pragma once

#include <cstdint>

#include "dataplane/packet/drop_reason.hpp"
#include "testbeds/hosts/host_config.hpp"
#include "testbeds/hosts/roce_reader.hpp"

namespace softspine::testbeds {

inline constexpr uint32_t kAdvertisementBytes =
    dataplane::ethernet::kBytes + dataplane::ipv6::kBytes + dataplane::nd::kOptions + dataplane::nd::kLinkOptionBytes;

class Responder {
 public:
  enum class Answer : uint8_t {
    kNone,       // ends with `reason`
    kInPlace,    // the frame has become its answer
    kAdvertise,  // to be written by write_advertisement()
  };
  struct Decision {
    Answer answer;
    dataplane::DropReason reason;
  };

  explicit Responder(const HostConfig& host) : mac_(host.mac), ipv4_(host.ipv4), ipv6_(host.ipv6) {}

  // An Ethernet frame with an IP header: whether it is to our MAC and our address.
  bool is_to_us(const uint8_t* frame) const noexcept {
    using namespace dataplane;
    if (load_mac(frame) != mac_) return false;
    const uint8_t* l3 = frame + ethernet::kBytes;
    if (load16(frame + ethernet::kType) == ethernet::kTypeIpv4) return load32(l3 + ipv4::kDestination) == ipv4_;
    return load_ipv6(l3 + ipv6::kDestination) == ipv6_;
  }
  // `data` are the frame's stored bytes again, to be changed.
  Decision consider(const FrameBytes& frame, uint8_t* data) const noexcept;
  // kAdvertisementBytes at `out`, the answer to this solicitation.
  void write_advertisement(const uint8_t* solicitation, uint8_t* out) const noexcept;

 private:
  Decision consider_arp(const FrameBytes& frame, uint8_t* data) const noexcept;
  Decision consider_ipv4(const FrameBytes& frame, uint8_t* data) const noexcept;
  Decision consider_ipv6(const FrameBytes& frame, uint8_t* data) const noexcept;
  Decision consider_solicitation(const uint8_t* l3, uint32_t icmp_bytes) const noexcept;
  void turn_around(uint8_t* data) const noexcept;

  dataplane::MacAddress mac_;
  Ipv4Address ipv4_;
  dataplane::Ipv6Address ipv6_;
};

}  // namespace softspine::testbeds
