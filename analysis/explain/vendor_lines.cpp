// SPDX-License-Identifier: Apache-2.0
#include "analysis/explain/vendor_lines.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <span>

#include "control/vendors/hash_lines.hpp"
#include "dataplane/hashing/ovs_key.hpp"

namespace softspine::analysis {

namespace {

using Lines = std::optional<std::vector<std::string>>;

control::HashSetting setting_of(const HashChange& change) {
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
    const bool has_no_line = change.buckets > 0 || change.linux_policy;
    const Lines lines = has_no_line ? std::nullopt : lines_of(setting_of(change));
    if (!lines || lines->empty()) return std::nullopt;
    for (const std::string& line : *lines) out.lines.push_back(name_of(role) + ": " + line);
  }
  return out;
}

// Seed and offset have no command. swssconfig takes the name of a file inside its container.
Lines sonic_lines(std::span<const control::HashSetting> settings) {
  std::vector<std::string> out;
  if (const std::string table = sonic_switch_table(settings); !table.empty()) {
    out.push_back("echo '" + table + "' > hash.json");
    out.emplace_back("docker cp hash.json swss:/tmp/hash.json");
    out.emplace_back("docker exec -i swss swssconfig /tmp/hash.json");
  }
  for (const control::HashSetting& setting : settings) {
    if (setting.offset.value_or(0) > control::kSonicMostOffset) return std::nullopt;
    control::HashSetting rest = setting;
    rest.seed.reset();
    rest.offset.reset();
    const Lines commands = hash_lines(control::Vendor::kSonic, rest);
    if (!commands) return std::nullopt;
    out.insert(out.end(), commands->begin(), commands->end());
  }
  return out;
}

void add_sonic_notes(const RoleChanges& changes, VendorLines& out) {
  const bool has_seed = any_is(changes, [](const HashChange& change) { return change.seed.has_value(); });
  const bool has_offset = any_is(changes, [](const HashChange& change) { return change.offset.has_value(); });
  if (has_seed || has_offset) out.notes.emplace_back("what swssconfig sets is gone when swss restarts");
  if (has_seed)
    out.notes.emplace_back(
        "ecmp_hash_seed of CONFIG_DB's DEVICE_METADATA|localhost stays; the switch then starts with offset 0");
  if (has_offset)
    out.notes.emplace_back("an offset needs a SAI that can set it; a switch of type chassis-packet is given none");
}

std::optional<VendorLines> of_sonic(const RoleChanges& changes) {
  auto out =
      lines_by_role("SONiC", changes, [](const control::HashSetting& setting) { return sonic_lines({&setting, 1}); });
  if (out) add_sonic_notes(changes, *out);
  return out;
}

// Whether the profiles of a role's switches with LAGs give LAGs a hash of their own.
struct LagHashes {
  bool any_own = false;
  bool any_shared = false;
};
LagHashes lag_hashes_of(const control::Testbed& testbed, control::Role role) {
  LagHashes out;
  for (const control::Lag& lag : testbed.fabric.lags) {
    for (const uint32_t node : lag.nodes) {
      if (testbed.fabric.nodes[node].role != role) continue;
      const bool is_own = testbed.profiles[testbed.fabric.nodes[node].profile].lag_hash != nullptr;
      (is_own ? out.any_own : out.any_shared) = true;
    }
  }
  return out;
}

template <typename T>
void overlay(const std::optional<T>& given, std::optional<T>& out) {
  if (given) out = given;
}

// A role's changes as SONiC's two hashes. A change to the hash of ECMP groups changes that of LAGs where a profile has
// one for both.
std::optional<std::array<control::HashSetting, 2>> sonic_hashes(const control::Testbed& testbed, control::Role role,
                                                                const RoleChanges& changes) {
  std::array<control::HashSetting, 2> out;
  auto& [ecmp, lags] = out;
  lags.of_lags = true;
  const LagHashes has = lag_hashes_of(testbed, role);
  for (const auto& [its, change] : changes) {
    if (its != role) continue;
    if (change.buckets > 0 || change.linux_policy || change.add_qp ||
        (!change.of_lags && has.any_own && has.any_shared))
      return std::nullopt;
    const control::HashSetting setting = setting_of(change);
    const auto turn = [&setting](control::HashSetting& hash) {
      overlay(setting.algorithm, hash.algorithm);
      overlay(setting.seed, hash.seed);
      overlay(setting.offset, hash.offset);
    };
    if (!change.of_lags) turn(ecmp);
    if (change.of_lags || has.any_shared) turn(lags);
  }
  return out;
}

std::optional<VendorLines> of_sonic(const control::Testbed& testbed, const RoleChanges& changes) {
  VendorLines out{.vendor = "SONiC", .lines = {}, .notes = {}};
  std::vector<control::Role> done;
  for (const auto& [role, change] : changes) {
    if (std::ranges::find(done, role) != done.end()) continue;
    done.push_back(role);
    const auto hashes = sonic_hashes(testbed, role, changes);
    const Lines lines = hashes ? sonic_lines(*hashes) : std::nullopt;
    if (!lines || lines->empty()) return std::nullopt;
    for (const std::string& line : *lines) out.lines.push_back(name_of(role) + ": " + line);
  }
  add_sonic_notes(changes, out);
  return out;
}

std::optional<VendorLines> of_enterprise_sonic(const RoleChanges& changes) {
  return lines_by_role("Enterprise SONiC", changes, [](const control::HashSetting& setting) {
    return hash_lines(control::Vendor::kEnterpriseSonic, setting);
  });
}

std::optional<VendorLines> of_cumulus(const RoleChanges& changes) {
  auto out = lines_by_role("Cumulus Linux (NVUE)", changes, [](const control::HashSetting& setting) {
    Lines lines = hash_lines(control::Vendor::kNvue, setting);
    if (lines && !lines->empty()) lines->emplace_back("nv config apply");
    return lines;
  });
  if (out) out->notes.emplace_back("a switch without a seed in its configuration draws one at random");
  return out;
}

std::optional<VendorLines> of_cumulus_files(const RoleChanges& changes) {
  auto out = lines_by_role("Cumulus Linux (files)", changes, [](const control::HashSetting& setting) {
    Lines lines = hash_lines(control::Vendor::kTrafficConf, setting);
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
  return lines_by_role("Junos (QFX10000)", changes, [](const control::HashSetting& setting) {
    return hash_lines(control::Vendor::kJunos, setting);
  });
}

std::optional<VendorLines> of_arista(const RoleChanges& changes) {
  auto out = lines_by_role("Arista EOS (FM6000)", changes, [](const control::HashSetting& setting) {
    return hash_lines(control::Vendor::kArista, setting);
  });
  if (out)
    out->notes.emplace_back(
        "other chips have fewer seeds: `ip load-sharing trident` 0 to 5, `arad` and `petraA` 0 to 2");
  return out;
}

// How the switches of a role hash, each way once: model and algorithm.
std::vector<std::pair<control::HashModel, control::HashAlgorithm>> hashes_of(const control::Testbed& testbed,
                                                                             control::Role role) {
  std::vector<std::pair<control::HashModel, control::HashAlgorithm>> out;
  for (const control::FabricNode& node : testbed.fabric.nodes) {
    if (node.kind != control::NodeKind::kSwitch || node.role != role) continue;
    const control::HashConfig& hash = testbed.profiles[node.profile].hash;
    const std::pair one{hash.model, hash.algorithm};
    if (std::ranges::find(out, one) == out.end()) out.push_back(one);
  }
  return out;
}

bool is_of_chips(const control::Testbed& testbed, const RoleChanges& changes) {
  return std::ranges::all_of(changes, [&](const auto& change) {
    return std::ranges::none_of(hashes_of(testbed, change.first),
                                [](const auto& hash) { return dataplane::row_of(hash.first).is_of_hosts; });
  });
}

// For roles that all hash by one model of hosts that forward, which have few knobs.
std::optional<VendorLines> of_hosts(const control::Testbed& testbed, const RoleChanges& changes,
                                    control::HashModel model) {
  const bool is_ovs = model == control::HashModel::kOvs;
  VendorLines out{.vendor = is_ovs ? "Open vSwitch" : "Linux", .lines = {}, .notes = {}};
  for (const auto& [role, change] : changes) {
    const auto hashes = hashes_of(testbed, role);
    if (hashes.size() != 1 || hashes[0].first != model || !change.seed || change.of_lags) return std::nullopt;
    if (change.linux_policy)
      out.lines.push_back(
          fmt::format("{0}: sysctl -w net.ipv4.fib_multipath_hash_policy={1} net.ipv6.fib_multipath_hash_policy={1}",
                      name_of(role), *change.linux_policy));
    const uint64_t algorithm = dataplane::is_symmetric_ovs(change.algorithm.value_or(hashes[0].second)) ? 1 : 0;
    out.lines.push_back(name_of(role) + ": " +
                        (is_ovs ? fmt::format("selection_method=dp_hash,selection_method_param=0x{:x} of each group",
                                              algorithm << 32 | *change.seed)
                                : fmt::format("sysctl -w net.ipv4.fib_multipath_hash_seed={}", *change.seed)));
  }
  if (is_ovs) out.notes.emplace_back("`ovs-ofctl -O OpenFlow15 mod-group` wants the group's buckets again");
  if (!is_ovs) out.notes.emplace_back("from Linux 6.11 on; it is IPv6's seed, too");
  return out;
}

}  // namespace

std::vector<VendorLines> vendor_lines_of(const RoleChanges& changes) {
  std::vector<VendorLines> out;
  for (const auto of_vendor : {of_sonic, of_enterprise_sonic, of_cumulus, of_cumulus_files, of_junos, of_arista}) {
    if (auto lines = of_vendor(changes)) out.push_back(std::move(*lines));
  }
  return out;
}

std::vector<VendorLines> vendor_lines_of(const control::Testbed& testbed, const RoleChanges& changes) {
  std::vector<VendorLines> out;
  if (!is_of_chips(testbed, changes)) {
    for (const control::HashModel model : {control::HashModel::kLinux, control::HashModel::kOvs}) {
      if (auto lines = of_hosts(testbed, changes, model)) out.push_back(std::move(*lines));
    }
    return out;
  }
  if (testbed.fabric.lags.empty()) return vendor_lines_of(changes);
  if (auto lines = of_sonic(testbed, changes)) out.push_back(std::move(*lines));
  return out;
}

}  // namespace softspine::analysis
