// SPDX-License-Identifier: Apache-2.0
#include "control/vendors/key_reading.hpp"

namespace softspine::control {

namespace {

constexpr FieldSet kAddressesAndPorts = set_of(HashField::kSrcIp) | set_of(HashField::kDstIp) |
                                        set_of(HashField::kL4SrcPort) | set_of(HashField::kL4DstPort);
constexpr FieldSet kOfIpv6 = set_of(HashField::kIpv6FlowLabel);

}  // namespace

bool KeyReading::Key::is_said() const {
  return (said & kAddressesAndPorts) == kAddressesAndPorts;
}

template <typename Change>
void KeyReading::change(const Knob& knob, Change&& change) {
  // A field that is put beside the others, whatever the family, does not restrict them.
  const bool is_beside = knob.kind == KnobKind::kInclude && knob.families == Families::kBoth;
  const FieldSet said = knob.kind == KnobKind::kList ? knob.fields : is_beside ? 0 : ~FieldSet{0};
  const auto of = [&](Key& key, Families family) {
    if ((static_cast<uint8_t>(knob.families) & static_cast<uint8_t>(family)) == 0) return;
    change(key.fields);
    key.said |= said;
  };
  of(ipv4_, Families::kIpv4);
  of(ipv6_, Families::kIpv6);
  has_lines_ = true;
}

void KeyReading::put(const Knob& knob, bool is_in) {
  change(knob, [&](FieldSet& key) { key = is_in ? key | knob.fields : key & ~knob.fields; });
}

void KeyReading::replace(const Knob& knob, FieldSet fields) {
  change(knob, [&](FieldSet& key) { key = (key & ~knob.fields) | (fields & knob.fields); });
}

KeyReading::Result KeyReading::finish() const {
  Result out;
  if (!is_usual_ && !is_said()) {
    out.adds_qp = (ipv4_.fields & kQpField) != 0;
    if ((ipv4_.fields & ~kQpField) != 0)
      out.remarks.emplace_back("no line says which other fields are in the key: the ingress port is left out");
    return out;
  }
  const bool both = is_usual_ || (ipv4_.is_said() && ipv6_.is_said());
  if (both && (ipv6_.fields & ~kOfIpv6) != (ipv4_.fields & ~kOfIpv6))
    out.remarks.emplace_back("IPv6's fields are others than IPv4's: those of IPv4 are taken for both");
  if (!both)
    out.remarks.push_back(std::string("only ") + (ipv4_.is_said() ? "IPv4's" : "IPv6's") +
                          " fields are said: they are taken for both");
  out.fields = (is_usual_ || ipv4_.is_said() ? ipv4_.fields : ipv6_.fields) | (both ? ipv6_.fields & kOfIpv6 : 0);
  return out;
}

}  // namespace softspine::control
