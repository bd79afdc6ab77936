// SPDX-License-Identifier: Apache-2.0
// What a host says when it is asked who or whether it is: ARP requests and neighbour solicitations
// for its own addresses, ICMP echo requests of both versions. Everything else has a reason to end.
//
// Works on bytes; reads nothing beyond the stored ones. An ARP or echo answer is the request turned
// around in place; an advertisement is longer than some solicitations, so it is written anew.
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
