// SPDX-License-Identifier: Apache-2.0
#include "control/explain/vendor_lines.hpp"

#include <algorithm>
#include <optional>

#include "control/vendors/hash_lines.hpp"

namespace softspine::control {

namespace {

using Lines = std::optional<std::vector<std::string>>;

HashSetting setting_of(const HashChange& change) {
  return {.algorithm = change.algorithm, .seed = change.seed, .offset = change.offset, .add_qp = change.add_qp};
}

template <typename Is>
bool any_is(const RoleChanges& changes, Is&& is) {
  return std::ranges::any_of(changes, [&is](const auto& entry) { return is(entry.second); });
}

// No value: a role's change turns what the vendor's lines do not.
template <typename LinesOf>
std::optional<VendorLines> lines_by_role(const char* vendor, const RoleChanges& changes, LinesOf&& lines_of) {
  VendorLines out{.vendor = vendor, .lines = {}, .notes = {}};
  for (const auto& [role, change] : changes) {
    const Lines lines = change.buckets > 0 ? std::nullopt : lines_of(setting_of(change));
    if (!lines || lines->empty()) return std::nullopt;
    for (const std::string& line : *lines) out.lines.push_back(name_of(role) + ": " + line);
  }
  return out;
}

// Seed and offset have no command. swssconfig takes the name of a file inside its container.
Lines sonic_lines(const HashSetting& setting) {
  if (setting.offset.value_or(0) > kSonicMostOffset) return std::nullopt;
  std::vector<std::string> out;
  if (const std::string table = sonic_switch_table(setting); !table.empty()) {
    out.push_back("echo '" + table + "' > hash.json");
    out.emplace_back("docker cp hash.json swss:/tmp/hash.json");
    out.emplace_back("docker exec -i swss swssconfig /tmp/hash.json");
  }
  HashSetting rest = setting;
  rest.seed.reset();
  rest.offset.reset();
  const Lines commands = hash_lines(Vendor::kSonic, rest);
  if (!commands) return std::nullopt;
  out.insert(out.end(), commands->begin(), commands->end());
  return out;
}

std::optional<VendorLines> of_sonic(const RoleChanges& changes) {
  auto out = lines_by_role("SONiC", changes, sonic_lines);
  if (!out) return out;
  const bool has_seed = any_is(changes, [](const HashChange& change) { return change.seed.has_value(); });
  const bool has_offset = any_is(changes, [](const HashChange& change) { return change.offset.has_value(); });
  if (has_seed || has_offset) out->notes.emplace_back("what swssconfig sets is gone when swss restarts");
  if (has_seed)
    out->notes.emplace_back(
        "ecmp_hash_seed of CONFIG_DB's DEVICE_METADATA|localhost stays; the switch then starts with offset 0");
  if (has_offset)
    out->notes.emplace_back("an offset needs a SAI that can set it; a switch of type chassis-packet is given none");
  return out;
}

std::optional<VendorLines> of_enterprise_sonic(const RoleChanges& changes) {
  return lines_by_role("Enterprise SONiC", changes,
                       [](const HashSetting& setting) { return hash_lines(Vendor::kEnterpriseSonic, setting); });
}

std::optional<VendorLines> of_cumulus(const RoleChanges& changes) {
  auto out = lines_by_role("Cumulus Linux (NVUE)", changes, [](const HashSetting& setting) {
    Lines lines = hash_lines(Vendor::kNvue, setting);
    if (lines && !lines->empty()) lines->emplace_back("nv config apply");
    return lines;
  });
  if (out) out->notes.emplace_back("a switch without a seed in its configuration draws one at random");
  return out;
}

std::optional<VendorLines> of_cumulus_files(const RoleChanges& changes) {
  auto out = lines_by_role("Cumulus Linux (files)", changes, [](const HashSetting& setting) {
    Lines lines = hash_lines(Vendor::kTrafficConf, setting);
    if (!lines || lines->empty()) return lines;
    for (std::string& line : *lines) line += " in /etc/cumulus/datapath/traffic.conf";
    lines->emplace_back("systemctl restart switchd.service");
    return lines;
  });
  if (!out) return out;
  out->notes.emplace_back("restarting switchd resets all ports: traffic stops");
  out->notes.emplace_back("only without NVUE, whose nvue_traffic.conf goes before traffic.conf");
  return out;
}

std::optional<VendorLines> of_junos(const RoleChanges& changes) {
  return lines_by_role("Junos (QFX10000)", changes,
                       [](const HashSetting& setting) { return hash_lines(Vendor::kJunos, setting); });
}

}  // namespace

std::vector<VendorLines> vendor_lines_of(const RoleChanges& changes) {
  std::vector<VendorLines> out;
  for (const auto of_vendor : {of_sonic, of_enterprise_sonic, of_cumulus, of_cumulus_files, of_junos}) {
    if (auto lines = of_vendor(changes)) out.push_back(std::move(*lines));
  }
  return out;
}

}  // namespace softspine::control
