// SPDX-License-Identifier: Apache-2.0
#include "control/explain/vendor_lines.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "control/rows/row_formats.hpp"

namespace softspine::control {

namespace {

constexpr uint8_t kMostOfSonicsOffset = 15;  // as its documentation has it

bool is_seed_alone(const HashChange& change) {
  return change.seed && !change.offset && !change.algorithm && !change.add_qp && change.buckets == 0;
}
bool is_of_sonic(const HashChange& change) {
  if (change.add_qp || change.buckets > 0 || change.offset.value_or(0) > kMostOfSonicsOffset) return false;
  return change.algorithm != HashAlgorithm::kXxh3 && change.algorithm != HashAlgorithm::kToeplitz;
}

template <typename Is>
bool all_are(const RoleChanges& changes, Is&& is) {
  return std::ranges::all_of(changes, [&is](const auto& entry) { return is(entry.second); });
}
template <typename Is>
bool any_is(const RoleChanges& changes, Is&& is) {
  return std::ranges::any_of(changes, [&is](const auto& entry) { return is(entry.second); });
}

template <typename Lines>
VendorLines lines_by_role(const char* vendor, const RoleChanges& changes, Lines&& lines_of) {
  VendorLines out{.vendor = vendor, .lines = {}, .notes = {}};
  for (const auto& [role, change] : changes) {
    for (const std::string& line : lines_of(change)) out.lines.push_back(name_of(role) + ": " + line);
  }
  return out;
}

// swssconfig takes the name of a file inside its container.
std::vector<std::string> sonic_lines(const HashChange& change) {
  std::string fields;
  if (change.seed) fields = fmt::format(R"("ecmp_hash_seed": "{}")", *change.seed);
  if (change.offset) fields += fmt::format(R"({}"ecmp_hash_offset": "{}")", fields.empty() ? "" : ", ", *change.offset);
  std::vector<std::string> out;
  if (!fields.empty()) {
    out.push_back(fmt::format(R"(echo '[{{"SWITCH_TABLE:switch": {{{}}}, "OP": "SET"}}]' > hash.json)", fields));
    out.emplace_back("docker cp hash.json swss:/tmp/hash.json");
    out.emplace_back("docker exec -i swss swssconfig /tmp/hash.json");
  }
  if (change.algorithm)
    out.push_back(fmt::format("config switch-hash global ecmp-hash-algorithm {}", word_of(*change.algorithm)));
  return out;
}

VendorLines of_sonic(const RoleChanges& changes) {
  VendorLines out = lines_by_role("SONiC", changes, sonic_lines);
  const bool has_seed = any_is(changes, [](const HashChange& change) { return change.seed.has_value(); });
  const bool has_offset = any_is(changes, [](const HashChange& change) { return change.offset.has_value(); });
  if (has_seed || has_offset) out.notes.emplace_back("what swssconfig sets is gone when swss restarts");
  if (has_seed)
    out.notes.emplace_back(
        "ecmp_hash_seed of CONFIG_DB's DEVICE_METADATA|localhost stays; the switch then starts with offset 0");
  if (has_offset)
    out.notes.emplace_back("an offset needs a SAI that can set it; a switch of type chassis-packet is given none");
  return out;
}

VendorLines of_cumulus(const RoleChanges& changes) {
  VendorLines out = lines_by_role("Cumulus Linux (NVUE)", changes, [](const HashChange& change) {
    return std::vector<std::string>{fmt::format("nv set system forwarding hash-seed {}", *change.seed),
                                    "nv config apply"};
  });
  out.notes.emplace_back("a switch without a seed in its configuration draws one at random");
  return out;
}

VendorLines of_cumulus_files(const RoleChanges& changes) {
  VendorLines out = lines_by_role("Cumulus Linux (files)", changes, [](const HashChange& change) {
    return std::vector<std::string>{
        fmt::format("ecmp_hash_seed = {} in /etc/cumulus/datapath/traffic.conf", *change.seed),
        "systemctl restart switchd.service"};
  });
  out.notes.emplace_back("restarting switchd resets all ports: traffic stops");
  out.notes.emplace_back("only without NVUE, whose nvue_traffic.conf goes before traffic.conf");
  return out;
}

VendorLines of_junos(const RoleChanges& changes) {
  return lines_by_role("Junos (QFX10000)", changes, [](const HashChange& change) {
    return std::vector{fmt::format("set forwarding-options enhanced-hash-key hash-seed {}", *change.seed)};
  });
}

}  // namespace

std::vector<VendorLines> vendor_lines_of(const RoleChanges& changes) {
  std::vector<VendorLines> out;
  if (all_are(changes, is_of_sonic)) out.push_back(of_sonic(changes));
  if (!all_are(changes, is_seed_alone)) return out;
  out.push_back(of_cumulus(changes));
  out.push_back(of_cumulus_files(changes));
  out.push_back(of_junos(changes));
  return out;
}

}  // namespace softspine::control
