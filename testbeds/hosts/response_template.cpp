// SPDX-License-Identifier: Apache-2.0
#include "testbeds/hosts/response_template.hpp"

#include "dataplane/packet/checksum.hpp"
#include "dataplane/units/check.hpp"
#include "testbeds/hosts/roce_headers.hpp"

namespace softspine::testbeds {

using namespace dataplane;

namespace {

RoceAddress address_of(const SinkConfig& sink, uint8_t dscp, uint8_t ecn) {
  return {.destination = sink.source,
          .destination_qp = sink.source_qp,
          .source_port = rxe_source_port(sink.qp, sink.source_qp),
          .dscp = dscp,
          .ecn = ecn};
}

void complete_ip(uint8_t* l3, IpVersion version) {
  if (version == IpVersion::k4) store16(l3 + ipv4::kChecksum, ipv4_checksum(l3, ipv4::kMinBytes));
}

}  // namespace

ResponseTemplate::ResponseTemplate(const HostConfig& host, const SinkConfig& sink)
    : echoes_ce_(sink.echoes_ce), echoes_telemetry_(sink.echoes_telemetry), version_(version_of(sink.source)) {
  SOFTSPINE_CHECK(validate(host, sink).empty(), sink.id, sink.qp);
  const IpVersion version = version_;
  const uint32_t echoed = echoes_telemetry_ ? telemetry::kBytes + telemetry::kAckPadding : 0;
  // A queue pair's traffic class is of all that it sends, acknowledgements too (rxe, mlx5). Were they not ECN-capable,
  // WRED would drop them where it marks the data.
  const HeaderPlaces ack = write_roce_headers(ack_.data(), host, address_of(sink, sink.ack_dscp, ip::kEct0),
                                              bth::kAcknowledge, aeth::kBytes + echoed + kIcrcBytes);
  ack.bth[bth::kFlags] = bth::kMigrationBit;
  if (echoed != 0) ack.bth[bth::kFlags] |= telemetry::kAckPadding << bth::kPadShift;
  complete_ip(ack.l3, version);
  psn_offset_ = static_cast<uint8_t>(ack.bth + bth::kAckRequest - ack_.data());
  const auto psn_word = static_cast<uint32_t>(ack.bth + bth::kAckRequest - ack.l3);
  const auto covered = static_cast<uint32_t>(ack.extension - ack.l3) + aeth::kBytes;
  ack_icrc_ = PatchedIcrc{ack.l3, covered, 0, version, psn_word, psn_word + 4};

  const HeaderPlaces cnp = write_roce_headers(cnp_.data(), host, address_of(sink, sink.cnp_dscp, ip::kEct0), bth::kCnp,
                                              kCnpReservedBytes + kIcrcBytes);
  cnp.bth[bth::kCongestion] = bth::kBecn;
  complete_ip(cnp.l3, version);
  const auto cnp_covered = static_cast<uint32_t>(cnp.extension - cnp.l3) + kCnpReservedBytes;
  store_icrc(cnp.l3 + cnp_covered, icrc_of(cnp.l3, cnp_covered, 0, version));
}

uint32_t ResponseTemplate::echo(Packet& ack, uint32_t bytes, bool is_marked, const uint8_t* field) const noexcept {
  if (echoes_ce_ && is_marked) ack.data()[psn_offset_ - bth::kAckRequest + bth::kCongestion] |= bth::kBecn;
  if (!echoes_telemetry_) return bytes;
  constexpr uint32_t kAdded = telemetry::kBytes + telemetry::kAckPadding;
  ack.cut_to(bytes);
  uint8_t* const place = ack.insert_bytes(bytes - kIcrcBytes, kAdded);
  std::memset(place, 0, kAdded);
  if (field != nullptr) std::memcpy(place, field, telemetry::kBytes);
  const uint8_t* const l3 = ack.data() + ethernet::kBytes;
  const uint32_t covered = bytes + kAdded - ethernet::kBytes - kIcrcBytes;
  store_icrc(place + kAdded, icrc_of(l3, covered, 0, version_));
  return bytes + kAdded;
}

}  // namespace softspine::testbeds
