// SPDX-License-Identifier: Apache-2.0
// Lossless priority groups that SONiC's buffermgrd adds to a switch's tables, and the profiles that it gives them.
//
//   which ports     up (PORT), of a known cable that is not 0m (CABLE_LENGTH), with priorities in pfc_enable
//   which groups    those of the same number as these priorities, if they have no row in BUFFER_PG
//   which profile   pg_lossless_SPEED_CABLE_profile of BUFFER_PROFILE, by PORT's speed and the cable; of a port without
//                   speed, the only one for its cable
//                   else one that fits: on a Spectrum as SONiC's calculator has it (compile/sonic_headroom.hpp), on
//                   another chip with the headroom of the formula; NULL in BUFFER_PG stands for the same
// SONiC looks the profile's figures up in pg_profile_lookup.ini of the platform, which is no part of a config_db.json:
// `pg_profile_lookup` of a profile names it (pg_profile_lookup.hpp).
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "control/document/reader.hpp"
#include "control/model/qos.hpp"
#include "control/rows/qos_rows.hpp"

namespace softspine::control {

// Inputs of the headroom calculator, and of pools without size: LOSSLESS_TRAFFIC_PATTERN,
// DEFAULT_LOSSLESS_BUFFER_PARAMETER, the size of egress_lossless_pool. Call it after the pools have been read.
void read_calculator_inputs(Reader& reader, const QosRows& rows, QosConfig& config);

class FittingProfiles {
 public:
  using Ports = std::map<std::string, PortQos, std::less<>>;

  FittingProfiles(Reader& reader, QosConfig& config) : reader_(reader), config_(config) {}

  // The index in QosConfig::profiles of the fitting profile that all ports share.
  int16_t automatic(const QosRows& rows, Value at);
  void add_groups(const QosRows& rows, Ports& ports);

 private:
  int16_t named_after(const QosRows& rows, const PortQos& port);

  Reader& reader_;
  QosConfig& config_;
  int16_t automatic_ = PortQos::kNone;
  std::map<std::string, int16_t> named_;  // by the start and the end of the name
};

}  // namespace softspine::control
