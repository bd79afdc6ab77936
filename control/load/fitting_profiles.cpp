// SPDX-License-Identifier: Apache-2.0
#include "control/load/fitting_profiles.hpp"

#include <algorithm>

namespace softspine::control {

void read_calculator_inputs(Reader& reader, const QosRows& rows, QosConfig& config) {
  for (const auto& item : rows.lossless_parameter.items) {
    if (item.row.over_subscribe_ratio) config.over_subscribe_ratio = *item.row.over_subscribe_ratio;
  }
  for (const auto& item : rows.traffic_pattern.items) {
    config.lossless_mtu = item.row.mtu.value_or(config.lossless_mtu);
    config.small_packet_percentage = item.row.small_packet_percentage.value_or(config.small_packet_percentage);
  }
  for (const BufferPoolConfig& pool : config.pools) {
    if (pool.name == "egress_lossless_pool") config.memory_bytes = pool.size;
  }
  for (size_t i = 0; i < rows.buffer_pool.items.size(); ++i) {
    if (!config.pools[i].computed || config.memory_bytes > 0) continue;
    reader.fail(rows.buffer_pool.items[i].row.where,
                "the key 'size' is missing, and egress_lossless_pool, which it could be computed of, has none");
  }
}

int16_t FittingProfiles::automatic(const QosRows& rows, Value at) {
  if (automatic_ != PortQos::kNone) return automatic_;
  const bool is_spectrum = rows.platform && *rows.platform >= Platform::kSpectrum;
  BufferProfileConfig out{.name = "NULL",
                          .dynamic_th = 0,
                          .lossless = true,
                          .automatic = !is_spectrum,
                          .calculated = is_spectrum,
                          .place = place_of(at)};
  const auto is_lossless = [](const BufferPoolConfig& p) { return p.name == kLosslessPool; };
  auto pool = std::ranges::find_if(config_.pools, is_lossless);
  if (pool == config_.pools.end()) pool = std::ranges::find_if(config_.pools, &BufferPoolConfig::ingress);
  if (pool == config_.pools.end()) {
    reader_.fail(at,
                 "NULL stands for a profile of " + std::string(kLosslessPool) + ", which is missing in BUFFER_POOL");
    return PortQos::kNone;
  }
  out.pool = static_cast<uint8_t>(pool - config_.pools.begin());
  for (const auto& item : rows.lossless_parameter.items) {
    if (item.row.default_dynamic_th) out.dynamic_th = item.row.default_dynamic_th->value;
  }
  config_.profiles.push_back(std::move(out));
  automatic_ = static_cast<int16_t>(config_.profiles.size() - 1);
  return automatic_;
}

void FittingProfiles::add_groups(const QosRows& rows, Ports& ports) {
  const bool has_pool = std::ranges::any_of(config_.pools, &BufferPoolConfig::ingress);
  if (!has_pool || rows.cable_length.items.empty()) return;
  const Value at = rows.cable_length.items.back().at;
  for (auto& [name, port] : ports) {
    if (!port.cable_micrometres || *port.cable_micrometres == 0 || !port.admin_up) continue;
    for (uint8_t group = 0; group < port.groups.size(); ++group) {
      if ((port.pfc_enable >> group & 1) == 0 || port.groups[group] != PortQos::kNone) continue;
      const int16_t named = named_after(rows, port);
      port.groups[group] = named != PortQos::kNone ? named : automatic(rows, at);
      port.added_groups |= static_cast<uint8_t>(1U << group);
    }
  }
}

// Of a port whose speed is not known, the only one for its cable.
int16_t FittingProfiles::named_after(const QosRows& rows, const PortQos& port) {
  const std::string cable = "_" + std::to_string(*port.cable_micrometres / 1'000'000) + "m_profile";
  const std::string speed =
      "pg_lossless_" + (port.speed ? std::to_string(port.speed->count_bps() / 1'000'000) + cable : std::string());
  const auto [place, is_new] = named_.try_emplace(speed + cable, PortQos::kNone);
  int16_t& out = place->second;
  if (!is_new) return out;
  for (size_t i = 0; i < rows.buffer_profile.items.size() && i < config_.profiles.size(); ++i) {
    const BufferProfileConfig& profile = config_.profiles[i];
    if (!profile.lossless || !profile.name.starts_with(speed) || !profile.name.ends_with(cable)) continue;
    if (out != PortQos::kNone) return out = PortQos::kNone;
    out = static_cast<int16_t>(i);
  }
  return out;
}

}  // namespace softspine::control
