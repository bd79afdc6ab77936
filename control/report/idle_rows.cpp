// SPDX-License-Identifier: Apache-2.0
#include "control/report/idle_rows.hpp"

#include <algorithm>
#include <functional>
#include <string_view>
#include <vector>

#include "control/telemetry/counter_parts.hpp"
#include "control/telemetry/json.hpp"

namespace softspine::control {
namespace {

std::string_view node_of(const std::string& end) {
  return std::string_view{end}.substr(0, end.find(':'));
}

bool is_idle(const HostSnapshot& host) {
  const auto counts_nothing = [&](const HostCounter& counter) { return total_of(host, counter) == 0; };
  return std::ranges::all_of(host.counters.dropped, std::logical_not{}) &&
         std::ranges::all_of(host_counters(), counts_nothing);
}

// `others_sent`: by uplinks of the link's switch.
bool is_idle(const LinkDirection& link, bool others_sent) {
  if (!link.up || (link.is_uplink && others_sent)) return false;
  return std::ranges::all_of(link_counters(), [&](const LinkCounter& counter) {
    return std::get<Read<LinkDirection>>(counter.read)(link).value_or(0) == 0;
  });
}

// Moves the other rows over, since erasing one by one would move each many times.
void drop_rows(Json& section, const std::set<std::string>& names) {
  Json kept = Json::object();
  for (auto& [name, row] : section.items()) {
    if (!names.contains(name)) add_key(kept, name, std::move(row));
  }
  section = std::move(kept);
}

}  // namespace

IdleParts idle_parts(const FabricSnapshot& snapshot) {
  IdleParts out;
  for (const HostSnapshot& host : snapshot.hosts) {
    if (is_idle(host)) out.hosts.insert(host.name);
  }
  const std::vector<LinkDirection> links = link_directions(snapshot);
  std::set<std::string_view> senders;  // switches that have sent by an uplink
  for (const LinkDirection& link : links) {
    if (link.is_uplink && link.queued_bytes > 0) senders.insert(node_of(link.from));
  }
  for (const LinkDirection& link : links) {
    if (is_idle(link, senders.contains(node_of(link.from)))) out.links.insert(link.from);
  }
  return out;
}

void leave_out_idle(Json& report, const FabricSnapshot& snapshot) {
  const IdleParts idle = idle_parts(snapshot);
  drop_rows(report["hosts"], idle.hosts);
  drop_rows(report["links"], idle.links);
}

}  // namespace softspine::control
