// SPDX-License-Identifier: Apache-2.0
// How the types of SONiC's tables of LAGs are written.
#pragma once

#include <string>

#include "control/rows/port_channel_rows.hpp"
#include "control/rows/qos_formats.hpp"

namespace softspine::control {

template <>
struct WordTraits<LacpKey> {
  static constexpr const char* name = "auto or a LACP key";
  static constexpr const char* example = "auto";
  static std::optional<LacpKey> parse(std::string_view text);
  static std::string print(const LacpKey& key) { return key.number ? std::to_string(*key.number) : "auto"; }
};
template <>
struct KeyTraits<ChannelMember> {
  static constexpr std::string_view pattern = "^[A-Za-z0-9][A-Za-z0-9_.:@+-]{0,127}[|][A-Za-z0-9][A-Za-z0-9_./-]*$";
  static constexpr std::string_view expected = "a member such as PortChannel101|Ethernet0";
  static std::optional<ChannelMember> parse(std::string_view text);
};

}  // namespace softspine::control
