// SPDX-License-Identifier: Apache-2.0
// SONiC's tables of LAGs: PORTCHANNEL, PORTCHANNEL_MEMBER.
#include <charconv>

#include "control/rows/sonic_names.hpp"
#include "control/rows/tables.hpp"

namespace softspine::control {

std::optional<LacpKey> WordTraits<LacpKey>::parse(std::string_view text) {
  if (text == "auto") return LacpKey{};
  uint16_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return LacpKey{number};
}

std::optional<ChannelMember> KeyTraits<ChannelMember>::parse(std::string_view text) {
  const size_t bar = text.find('|');
  if (bar == std::string_view::npos) return std::nullopt;
  const auto channel = KeyTraits<RowName>::parse(text.substr(0, bar));
  const auto ports = KeyTraits<PortSet>::parse(text.substr(bar + 1));
  if (!channel || !ports || ports->names.size() != 1) return std::nullopt;
  return ChannelMember{channel->text, ports->names[0]};
}

const Table<PortChannelRow>& Tables<PortChannelRow>::table() {
  static const Table<PortChannelRow> table =
      Table<PortChannelRow>("PORTCHANNEL", "SONiC's table of LAGs.")
          .beside(sonic_fields_beside("PORTCHANNEL"))
          .optional("min_links", &PortChannelRow::min_links, "with fewer members it is down; 0 is 1",
                    within<uint32_t>(0, 1'024))
          .optional("fast_rate", &PortChannelRow::fast_rate, "asks for a LACPDU each second, not every 30 s")
          .optional("lacp_key", &PortChannelRow::lacp_key, "auto: 1 before the number in the name");
  return table;
}

const Table<ChannelMemberRow>& Tables<ChannelMemberRow>::table() {
  static const Table<ChannelMemberRow> table =
      Table<ChannelMemberRow>("PORTCHANNEL_MEMBER", "SONiC's table of LAGs' members.")
          .beside(sonic_fields_beside("PORTCHANNEL_MEMBER"));
  return table;
}

}  // namespace softspine::control
