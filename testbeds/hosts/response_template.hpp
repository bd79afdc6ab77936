// SPDX-License-Identifier: Apache-2.0
// What a receiving queue pair sends back, built once: acknowledgements (positive and negative) and CNPs.
//
//   ACK, NAK   | Ethernet | IP | UDP | BTH 0x11 | syndrome 1, MSN 3 | ICRC |
//              each packet is the template with a PSN, a syndrome and a message sequence number (MSN)
//              BECN in its BTH: it echoes that the packet that it names came marked with CE. Telemetry that it echoes
//              stands behind the MSN (packet/telemetry_field.hpp); a packet without it gets the field with no hop
//   CNP        | Ethernet | IP | UDP | BTH 0x81, BECN | 16 zeros | ICRC |
//              always the same bytes
//
// ACK: not ECN-capable, so it can't be marked; the migration bit is set, as in requests. CNP: ECT(0) and without the
// migration bit, as ConnectX sends it. IPv4's id is 0: neither is ever fragmented (RFC 6864).
// Syndromes (InfiniBand 9.7.5.1): 0x1f acknowledges without end-to-end credits, 0x60 is NAK "PSN sequence error".
#pragma once

#include <array>
#include <cstdint>
#include <cstring>

#include "testbeds/hosts/frame_template.hpp"
#include "testbeds/hosts/host_config.hpp"

namespace softspine::testbeds {

inline constexpr uint8_t kSyndromeAck = 0x1f;
inline constexpr uint8_t kSyndromeSequenceError = 0x60;
inline constexpr uint32_t kCnpReservedBytes = 16;

class ResponseTemplate {
 public:
  // The sink passes validate() and has somebody to answer.
  ResponseTemplate(const HostConfig& host, const SinkConfig& sink);

  // Each writes up to kTemplateBytes at `frame`, of which as many count as it returns.
  uint32_t write_ack(uint8_t* frame, uint8_t syndrome, uint32_t psn, uint32_t msn) const {
    copy_template(frame, ack_.data(), psn_offset_ + 8U + dataplane::kIcrcBytes);
    const uint32_t aeth_word = uint32_t{syndrome} << 24 | msn;
    dataplane::store32(frame + psn_offset_, psn);
    dataplane::store32(frame + psn_offset_ + 4, aeth_word);
    dataplane::store_icrc(frame + psn_offset_ + 8,
                          ack_icrc_.with(__builtin_bswap32(psn), __builtin_bswap32(aeth_word)));
    return psn_offset_ + 8U + dataplane::kIcrcBytes;
  }
  // What an acknowledgement of `bytes` bytes echoes of its packet: `field`, its telemetry or null. Returns its length.
  uint32_t echo(dataplane::Packet& ack, uint32_t bytes, bool is_marked, const uint8_t* field) const noexcept;
  uint32_t write_cnp(uint8_t* frame) const {
    std::memcpy(frame, cnp_.data(), kTemplateBytes);
    return psn_offset_ + 4U + kCnpReservedBytes + dataplane::kIcrcBytes;
  }

 private:
  dataplane::PatchedIcrc ack_icrc_;
  uint8_t psn_offset_ = 0;  // of the word that ends the BTH
  bool echoes_ce_;
  bool echoes_telemetry_;
  dataplane::IpVersion version_;
  std::array<uint8_t, kTemplateBytes> ack_{};
  std::array<uint8_t, kTemplateBytes> cnp_{};
};

}  // namespace softspine::testbeds
