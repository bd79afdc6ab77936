// SPDX-License-Identifier: Apache-2.0
#include "dataplane/hashing/key_part.hpp"

#include <algorithm>

#include "dataplane/packet/packet_flag.hpp"
#include "dataplane/packet/wire.hpp"

namespace softspine::dataplane {

namespace {

// `to` and `field` are filled in by who asks.
KeyPart place_of(HashField field, bool is_ipv6) {
  using S = KeyPart::Source;
  const auto address = static_cast<uint8_t>(is_ipv6 ? 16 : 4);
  const auto source = static_cast<uint16_t>(is_ipv6 ? ipv6::kSource : ipv4::kSource);
  const auto destination = static_cast<uint16_t>(is_ipv6 ? ipv6::kDestination : ipv4::kDestination);
  switch (field) {
    case HashField::kInPort: return {.source = S::kInPort, .length = 2};
    case HashField::kSrcMac:
      return {.base = UdfBase::kL2, .offset = ethernet::kSource, .mirror = ethernet::kDestination, .length = 6};
    case HashField::kDstMac:
      return {.base = UdfBase::kL2, .offset = ethernet::kDestination, .mirror = ethernet::kSource, .length = 6};
    case HashField::kEthertype: return {.source = S::kEtherType, .length = 2};
    case HashField::kVlanId: return {.source = S::kVlan, .length = 2};
    case HashField::kSrcIp:
    case HashField::kSrcIpv4:
    case HashField::kSrcIpv6: return {.offset = source, .mirror = destination, .length = address};
    case HashField::kDstIp:
    case HashField::kDstIpv4:
    case HashField::kDstIpv6: return {.offset = destination, .mirror = source, .length = address};
    case HashField::kL4SrcPort:
      return {.base = UdfBase::kL4,
              .needs = kHasPorts,
              .offset = udp::kSourcePort,
              .mirror = udp::kDestinationPort,
              .length = 2};
    case HashField::kL4DstPort:
      return {.base = UdfBase::kL4,
              .needs = kHasPorts,
              .offset = udp::kDestinationPort,
              .mirror = udp::kSourcePort,
              .length = 2};
    case HashField::kIpProtocol: return {.source = S::kProtocol, .length = 1};
    case HashField::kRdmaBthDestQp:
      return {.base = UdfBase::kL4, .needs = kIsRoce, .offset = udp::kBytes + bth::kDestinationQp, .length = 3};
    case HashField::kRdmaBthOpcode:
      return {.base = UdfBase::kL4, .needs = kIsRoce, .offset = udp::kBytes + bth::kOpcode, .length = 1};
    case HashField::kIpv6FlowLabel: return {.source = S::kFlowLabel, .needs = kIsIpv6, .length = 3};
    default: break;
  }
  return {};
}

bool has_mirror(HashField field) {
  using enum HashField;
  constexpr HashField kThese[] = {kSrcMac,    kDstMac,  kSrcIp,   kDstIp,   kL4SrcPort,
                                  kL4DstPort, kSrcIpv4, kDstIpv4, kSrcIpv6, kDstIpv6};
  return std::ranges::find(kThese, field) != std::end(kThese);
}

}  // namespace

KeyPart source_of(HashField field, bool is_ipv6) {
  KeyPart part = place_of(field, is_ipv6);
  if (!has_mirror(field)) part.mirror = part.offset;
  part.field = field;
  return part;
}

bool is_elsewhere(HashField field, bool is_ipv6) {
  using enum HashField;
  return is_ipv6 ? field == kSrcIpv4 || field == kDstIpv4 : field == kSrcIpv6 || field == kDstIpv6;
}

std::vector<KeyPart> parts_of(const HashConfig& config, bool is_ipv6) {
  std::vector<HashField> fields = config.fields;
  std::ranges::sort(fields);
  fields.erase(std::ranges::unique(fields).begin(), fields.end());
  std::vector<KeyPart> parts;
  for (const HashField field : fields) {
    if (config.model == HashModel::kRtag7 && field == HashField::kIpv6FlowLabel && !is_ipv6) continue;
    if (!is_elsewhere(field, is_ipv6) && !is_inner(field)) parts.push_back(source_of(field, is_ipv6));
  }
  for (uint8_t i = 0; i < config.udfs.size(); ++i) {
    const Udf& udf = config.udfs[i];
    parts.push_back({.source = KeyPart::Source::kUdf,
                     .base = udf.base,
                     .offset = udf.offset,
                     .mirror = udf.offset,
                     .length = udf.length,
                     .udf = i});
  }
  return parts;
}

}  // namespace softspine::dataplane
