// SPDX-License-Identifier: Apache-2.0
#include "tools/softspine/service_report.hpp"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "control/telemetry/json.hpp"
#include "control/telemetry/text_table.hpp"
#include "testbeds/run/traffic.hpp"
#include "tools/command/complain.hpp"
#include "tools/softspine/error_list.hpp"
#include "tools/softspine/outside_report.hpp"
#include "tools/softspine/replay_review.hpp"

namespace softspine::tools {

using control::Json;

namespace {

std::string number_text(const std::optional<uint8_t>& number) {
  return number ? std::to_string(*number) : "-";
}

std::vector<uint8_t> numbers_of(uint8_t mask) {
  std::vector<uint8_t> out;
  for (uint8_t p = 0; p < 8; ++p) {
    if ((mask >> p & 1) != 0) out.push_back(p);
  }
  return out;
}

std::string text_of(const std::vector<uint8_t>& numbers) {
  return numbers.empty() ? "-" : fmt::format("{}", fmt::join(numbers, ", "));
}

std::string verdict_text(const control::Service& service) {
  using control::Loss;
  if (service.loss != Loss::kNothing) return "may drop";
  return service.credit ? "lossless, by credit" : "lossless";
}

// Links that begin and end in the same tiers, and serve alike.
struct Alike {
  control::LinkEnd first;
  uint64_t links = 0;
};
using Kind = std::tuple<control::Role, control::Role, control::Service>;

// First all that leads up, from the hosts on, then what leads down.
int place_on_the_way(control::Role from, control::Role to) {
  const int tier = tier_of(from);
  return tier_of(to) > tier ? tier : 2 * control::kTopTier + 1 - tier;
}

std::vector<std::pair<Kind, Alike>> kinds_of(const control::Fabric& fabric, const control::ServedWorkload& workload) {
  std::vector<std::pair<Kind, Alike>> out;
  std::map<Kind, size_t> known;
  for (const control::ServedLink& link : workload.links) {
    const Kind kind{fabric.nodes[link.sender.node].role, fabric.nodes[fabric.peer_of(link.sender).node].role,
                    link.service};
    const auto [place, is_new] = known.try_emplace(kind, out.size());
    if (is_new) out.emplace_back(kind, Alike{link.sender, 0});
    ++out[place->second].second.links;
  }
  const auto place = [](const auto& each) {
    return place_on_the_way(std::get<0>(each.first), std::get<1>(each.first));
  };
  std::ranges::stable_sort(out, {}, place);
  return out;
}

std::string outside_text(const control::Testbed& testbed, const control::OutsideService& outside) {
  if (outside.hosts.empty()) return "";
  const std::string& first = testbed.fabric.nodes[outside.hosts.front()].name;
  const std::string hosts = outside.hosts.size() == 1
                                ? "for " + first + ", which is outside"
                                : fmt::format("for {} and {} more hosts outside", first, outside.hosts.size() - 1);
  if (outside.lossless_dscps.empty()) return fmt::format("no DSCP is lossless {}\n", hosts);
  const uint8_t dscp = outside.lossless_dscps.front();
  return fmt::format(
      "DSCP {} {} lossless {}: perftest's --tclass {} ({} x 4 + 2 for ECT(0)), softspine-verbs --dscp {}, or nic: "
      "{{dscp: {}}}\n",
      text_of(outside.lossless_dscps), outside.lossless_dscps.size() == 1 ? "is" : "are", hosts, dscp * 4 + 2, dscp,
      dscp, dscp);
}

// Beyond the cores, workers wait for each other's turns on them, window by window.
void warn_of_workers(const control::Testbed& testbed, control::Errors& warnings) {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  if (sched_getaffinity(0, sizeof cores, &cores) != 0) return;
  const int count = CPU_COUNT(&cores);
  if (testbed.run.workers <= static_cast<uint32_t>(count)) return;
  warnings.push_back(
      {testbed.file, "run.workers", 0, 0,
       fmt::format("{} workers on {} {}: they wait for each other at every window, and the run takes many "
                   "times as long",
                   testbed.run.workers, count, count == 1 ? "core" : "cores")});
}

void warn_of_shared_paths(const control::Testbed& testbed, control::Errors& warnings) {
  std::vector<testbeds::SharedPaths> found;
  const auto asks = [](const control::Workload& it) { return it.ports == control::PortChoice::kDisjoint; };
  if (std::ranges::any_of(testbed.workloads, asks)) testbeds::plan_traffic(testbed, &found);
  for (const testbeds::SharedPaths& each : found) {
    if (each.connections == 0) continue;
    const control::Workload& workload = testbed.workloads[each.workload];
    warnings.push_back(control::error_at(
        workload.place, fmt::format("'ports: disjoint': {} of {} connections have fewer disjoint paths than their {} "
                                    "queue pairs, some of which share links",
                                    each.connections, each.of, workload.qps)));
  }
}

}  // namespace

std::string service_text(const control::Testbed& testbed, const control::Review& review) {
  std::string outside =
      outside_text(testbed, review.outside) + outside_addresses_text(testbed.fabric, review.outside.hosts);
  if (review.workloads.empty()) return outside;
  control::TextTable table({"<WORKLOAD", "DSCP", "<FROM", "<TO", "QUEUE", "PG", "PRIORITY", "LINKS", "<PACKETS"});
  for (const control::ServedWorkload& served : review.workloads) {
    const control::Workload& workload = testbed.workloads[served.workload];
    for (const auto& [kind, alike] : kinds_of(testbed.fabric, served)) {
      const auto& [from, to, service] = kind;
      const std::string priorities = service.group ? text_of(numbers_of(service.priorities)) : "-";
      table.add({workload.name, std::to_string(served.dscp), control::name_of(from), control::name_of(to),
                 number_text(service.queue), number_text(service.group), priorities, std::to_string(alike.links),
                 verdict_text(service)});
    }
  }
  return table.text() + outside;
}

Json service_json(const control::Testbed& testbed, const control::Review& review) {
  const control::Fabric& fabric = testbed.fabric;
  const auto number = [](const std::optional<uint8_t>& given) { return given ? Json(*given) : Json(); };
  Json workloads = Json::object();
  for (const control::ServedWorkload& served : review.workloads) {
    const control::Workload& workload = testbed.workloads[served.workload];
    Json links = Json::array();
    for (const control::ServedLink& link : served.links) {
      links.push_back({{"from", fabric.name_of(link.sender)},
                       {"to", fabric.name_of(fabric.peer_of(link.sender))},
                       {"queue", number(link.service.queue)},
                       {"priority_group", number(link.service.group)},
                       {"priorities", numbers_of(link.service.priorities)},
                       {"credit", link.service.credit},
                       {"marked", link.service.marked},
                       {"lossless", link.service.loss == control::Loss::kNothing}});
    }
    const bool is_first = !workloads.contains(workload.name);
    workloads[is_first ? workload.name : fmt::format("{}, DSCP {}", workload.name, served.dscp)] = {
        {"dscp", served.dscp}, {"dscp_given", workload.dscp_given}, {"links", std::move(links)}};
  }
  Json hosts = Json::array();
  for (const uint32_t host : review.outside.hosts) hosts.push_back(fabric.nodes[host].name);
  return {{"workloads", std::move(workloads)},
          {"outside",
           {{"hosts", std::move(hosts)},
            {"lossless_dscps", review.outside.lossless_dscps},
            {"addresses", outside_addresses_json(fabric, review.outside.hosts)}}}};
}

Json warnings_json(const control::Errors& warnings) {
  Json out = Json::array();
  for (const control::Error& warning : warnings) {
    out.push_back({{"file", warning.file},
                   {"line", warning.line},
                   {"column", warning.column},
                   {"path", warning.path},
                   {"message", warning.message}});
  }
  return out;
}

std::expected<control::Review, ExitStatus> reviewed(const control::Testbed& testbed) {
  control::Review out = control::review(testbed);
  warn_of_workers(testbed, out.warnings);
  warn_of_shared_paths(testbed, out.warnings);
  review_replays(testbed, out.outside, out.warnings);
  print_list(out.warnings, "warning: ");
  if (out.errors.empty()) return out;
  print_list(out.errors);
  complain("softspine: {} error{} in {}; nothing was started\n", out.errors.size(), out.errors.size() == 1 ? "" : "s",
           testbed.file);
  return std::unexpected(ExitStatus::kWrongInput);
}

}  // namespace softspine::tools
