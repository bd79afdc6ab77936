// SPDX-License-Identifier: Apache-2.0
#include "control/load/sonic_port_channels.hpp"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "control/document/words.hpp"

namespace softspine::control {
namespace {

uint16_t automatic_key(std::string_view name) {
  uint32_t key = 1;
  for (const char c : name) {
    if (c >= '0' && c <= '9') key = key * 10 + static_cast<uint32_t>(c - '0');
  }
  return static_cast<uint16_t>(key);  // as teammgrd does it
}

}  // namespace

std::shared_ptr<const std::vector<PortChannel>> port_channels_of(Reader& reader, const ProfileRow& row) {
  if (row.port_channel.items.empty() && row.port_channel_member.items.empty()) return nullptr;
  auto out = std::make_shared<std::vector<PortChannel>>();
  std::map<std::string_view, size_t> by_name;
  for (const auto& [key, at, channel, layer] : row.port_channel.items) {
    by_name.emplace(key.text, out->size());
    PortChannel made{.name = key.text, .place = place_of(at), .members = {}};
    made.min_links = std::max(1U, channel.min_links.value_or(1));
    made.fast_rate = channel.fast_rate.value_or(false);
    if (channel.lacp_key) made.lacp_key = channel.lacp_key->number.value_or(automatic_key(key.text));
    out->push_back(std::move(made));
  }
  std::map<std::string_view, std::string_view> channel_of;  // by port
  for (const auto& [key, at, member, layer] : row.port_channel_member.items) {
    const auto found = by_name.find(key.channel);
    if (found == by_name.end()) {
      reader.ignore(at, "PORTCHANNEL_MEMBER", "rows of " + key.channel + ", which PORTCHANNEL has not");
      continue;
    }
    const auto [other, is_new] = channel_of.emplace(key.port, key.channel);
    if (!is_new) {
      reader.fail(at, "the port is in " + shown(other->second) + " already: a port is in one LAG");
      continue;
    }
    (*out)[found->second].members.push_back({key.port, place_of(at)});
  }
  return out;
}

}  // namespace softspine::control
