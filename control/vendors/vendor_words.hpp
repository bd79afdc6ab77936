// SPDX-License-Identifier: Apache-2.0
// The vendors' names for the knobs of their ECMP hash. Each line's words are declared here, and only here: the reader
// of configurations (hash_reading.hpp) and the writer of cures' lines (hash_lines.hpp) take them from these tables.
//
//   SONiC              config switch-hash global …               SONiC's design "Generic Hash", sonic-utilities' tests
//   Enterprise SONiC   ip load-share hash …                      Ansible collection dellemc.enterprise_sonic, module
//                                                                sonic_ecmp_load_share; SONiC's "IP load share" design
//   NVUE               nv set system forwarding ecmp-hash …      NVIDIA's NVUE reference, "System Forwarding"
//   Cumulus            hash_config.… of datapath/traffic.conf    Cumulus Linux, "Equal Cost Multipath Load Sharing"
//   Arista             ip load-sharing CHIP SEED                 EOS User Manual, "IPv4": ip load-sharing
//                      ip load-sharing trident fields …          annet's implicit EOS configuration; featureprofiles of
//                      load-balance sand profile …               OpenConfig, its EOS branch; AVD's templates
//                      … hash seed, … payload bytes              sessions that users publish; AVD's issue 4925
//                      port-channel load-balance trident …       running configurations that HPE and others publish
//   NX-OS              ip load-sharing address …                 Cisco's command reference; nxos_hash.hpp
//                      port-channel load-balance src-dst …
//   Junos              forwarding-options enhanced-hash-key …    Juniper CLI reference: enhanced-hash-key, inet, inet6
//   OpenConfig         hashing-policies (JSON)                   openconfig-hashing.yang, revision 2023-08-08
//
// Lines whose words are in none of these sources are not declared. A line that begins as hashing lines do and is not
// declared is reported, and not taken into account.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "control/model/profile.hpp"

namespace softspine::control {

enum class Vendor : uint8_t { kSonic, kEnterpriseSonic, kNvue, kTrafficConf, kNxos, kArista, kJunos, kOpenConfig };

// How a file's text becomes lines of words: configuration_lines.hpp.
enum class LineSyntax : uint8_t { kPlain, kKeyValue, kIndented, kBraces, kJson };

enum class KnobKind : uint8_t {
  kSeed,
  kNoSeed,  // back to the seed that is the default
  kAlgorithm,
  kSwitch,      // whether the field is in the key: on, enabled, true; off, disabled, false
  kInclude,     // puts the field into the key
  kExclude,     // takes it out
  kList,        // of fields: of the knob's group, these are in the key, and no others
  kEnable,      // switches count only if this is true
  kSymmetric,   // both directions of a flow hash alike
  kPayload,     // bytes of the payload of UDP packets to a port: payload_bytes.hpp
  kProfile,     // names the Sand profile that is in force: sand_profiles.hpp
  kUnmodelled,  // changes the hash in a way that no model here has
  kElsewhere,   // does not change a hash
};

using FieldSet = uint32_t;  // a bit for each HashField
constexpr FieldSet set_of(HashField field) {
  return FieldSet{1} << static_cast<unsigned>(field);
}
// The last one of HashField.
static_assert(static_cast<unsigned>(HashField::kInnerDstIpv6) < 32, "a field without a bit");
inline constexpr FieldSet kQpField = set_of(HashField::kRdmaBthDestQp);
std::vector<HashField> fields_of(FieldSet set);

enum class Families : uint8_t { kIpv4 = 1, kIpv6 = 2, kBoth = 3 };

struct Knob {
  std::string_view words;  // that the line begins with
  KnobKind kind = KnobKind::kElsewhere;
  FieldSet fields = 0;  // kSwitch, kInclude, kExclude: the field; kList: the group
  Families families = Families::kBoth;
  uint64_t most = 0;          // kSeed
  std::string_view why = {};  // kUnmodelled: what it does
  bool of_lags = false;       // turns the hash of LAGs, not that of ECMP groups
};

using FieldWord = std::pair<std::string_view, HashField>;
using AlgorithmWord = std::pair<std::string_view, HashAlgorithm>;

struct VendorRow {
  Vendor vendor;
  std::string_view name;
  LineSyntax syntax;
  std::span<const std::string_view> prefixes;  // lines on this hash begin so
  std::span<const Knob> knobs;
  std::span<const FieldWord> fields;          // of kList
  std::span<const AlgorithmWord> algorithms;  // of kAlgorithm
  FieldSet usual_ipv4 = 0;                    // documented as the default; 0: not documented
  FieldSet usual_ipv6 = 0;
  std::string_view without_seed = {};  // where its seed comes from if no line has it
  FieldSet usual_lag = 0;              // documented as the default of LAGs
  bool is_usually_symmetric = false;   // documented as the default
};

std::span<const VendorRow> vendors();
const VendorRow& row_of(Vendor vendor);

// SONiC's switch.json, which swssconfig takes as well.
inline constexpr const char* kSonicSwitchTable = "SWITCH_TABLE:switch";
inline constexpr const char* kSonicSeed = "ecmp_hash_seed";
inline constexpr const char* kSonicOffset = "ecmp_hash_offset";
inline constexpr const char* kSonicLagSeed = "lag_hash_seed";
inline constexpr const char* kSonicLagOffset = "lag_hash_offset";
inline constexpr uint8_t kSonicMostOffset = 15;  // as its documentation has it

}  // namespace softspine::control
