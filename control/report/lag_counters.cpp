// SPDX-License-Identifier: Apache-2.0
#include "control/report/lag_counters.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "control/telemetry/json.hpp"
#include "control/telemetry/text_table.hpp"

namespace softspine::control {

namespace {

uint32_t members_up(const LagSnapshot& lag) {
  const auto& members = lag.ends.front().members;
  return static_cast<uint32_t>(std::ranges::count_if(members, &LagMemberSnapshot::is_member));
}
bool is_up(const LagSnapshot& lag) {
  return members_up(lag) >= lag.min_links;
}

uint64_t bytes_of(const LagEndSnapshot& end) {
  uint64_t sum = 0;
  for (const LagMemberSnapshot& member : end.members) sum += member.tx_bytes;
  return sum;
}

Json end_json(const LagEndSnapshot& end) {
  uint64_t packets = 0;
  uint64_t most = 0;
  for (const LagMemberSnapshot& member : end.members) {
    packets += member.tx_packets;
    most = std::max(most, member.tx_bytes);
  }
  const uint64_t bytes = bytes_of(end);
  const double over_mean = bytes == 0 ? 0 : static_cast<double>(most * end.members.size()) / static_cast<double>(bytes);
  return {{"tx_packets", packets}, {"tx_bytes", bytes}, {"max_over_mean", std::round(over_mean * 1e6) / 1e6}};
}

}  // namespace

Json lags_json(const FabricSnapshot& snapshot) {
  Json out = Json::object();
  for (const LagSnapshot& lag : snapshot.lags) {
    Json ends = Json::object();
    for (const LagEndSnapshot& end : lag.ends) add_key(ends, end.node, end_json(end));
    add_key(out, lag.name,
            {{"up", is_up(lag)},
             {"mode", lag.mode},
             {"min_links", lag.min_links},
             {"members", lag.ends.front().members.size()},
             {"members_up", members_up(lag)},
             {"ends", std::move(ends)}});
  }
  return out;
}

std::string lags_table(const FabricSnapshot& snapshot, std::string_view only_switch) {
  TextTable table{
      {"<LAG", "<MODE", "<STATE", "UP", "MIN", "<SWITCH", "<IFACE", "<MEMBER", "TX(pkts)", "TX(bytes)", "SHARE(%)"}};
  for (const LagSnapshot& lag : snapshot.lags) {
    for (const LagEndSnapshot& end : lag.ends) {
      if (!only_switch.empty() && end.node != only_switch) continue;
      const uint64_t bytes = bytes_of(end);
      for (const LagMemberSnapshot& member : end.members) {
        const double share = bytes == 0 ? 0 : 100 * static_cast<double>(member.tx_bytes) / static_cast<double>(bytes);
        table.add({lag.name, lag.mode, is_up(lag) ? "U" : "D", std::to_string(members_up(lag)),
                   std::to_string(lag.min_links), end.node, member.port, member.is_member ? "yes" : "no",
                   grouped(member.tx_packets), grouped(member.tx_bytes), fmt::format("{:.2f}", share)});
      }
    }
  }
  return table.text();
}

std::vector<ReportField> lag_fields() {
  return {
      {"lags.*.up", "true or false", "The LAG has at least min_links members."},
      {"lags.*.mode", "text", "static or lacp."},
      {"lags.*.min_links", "a count", "With fewer members the LAG is down."},
      {"lags.*.members", "a count", "Links that it is made of."},
      {"lags.*.members_up", "a count",
       "Those that are members now: with a carrier and, with LACP, agreed on; not those that are drained or found "
       "dead. "
       "If the others are fewer than min_links, drained ones are members, too."},
      {"lags.*.ends.*.tx_packets", "packets", "Frames that the switch at this end sent by the LAG's ports."},
      {"lags.*.ends.*.tx_bytes", "bytes", "Of these frames."},
      {"lags.*.ends.*.max_over_mean", "a ratio",
       "Bytes of the port that sent most, over the mean of all the LAG's ports at this end; 0: none was sent."},
  };
}

}  // namespace softspine::control
