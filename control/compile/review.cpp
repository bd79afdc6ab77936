// SPDX-License-Identifier: Apache-2.0
#include "control/compile/review.hpp"

#include <algorithm>
#include <charconv>

#include "control/compile/headroom_check.hpp"

namespace softspine::control {
namespace {

std::string listed(const std::vector<uint8_t>& numbers) {
  std::string out;
  for (size_t i = 0; i < numbers.size(); ++i) {
    out += (i == 0 ? "" : i + 1 == numbers.size() ? " and " : ", ") + std::to_string(numbers[i]);
  }
  return out;
}

class Reviewer {
 public:
  explicit Reviewer(const Testbed& testbed) : testbed_(testbed), fabric_(testbed.fabric), book_(testbed) {}

  Review run() {
    out_.warnings = testbed_.warnings;
    std::vector<Demands> demands;
    for (const Workload& workload : testbed_.workloads) demands.push_back(demands_of(workload));
    demands.push_back(demands_outside());
    const std::vector<Ways> ways = find_ways(fabric_, demands);
    for (uint32_t w = 0; w < testbed_.workloads.size(); ++w) review_workload(w, ways[w]);
    review_outside(ways.back());
    for (const Error& remark : check_headroom(testbed_).remarks) out_.warnings.push_back(remark);
    sort_by_place(out_.errors);
    sort_by_place(out_.warnings);
    return std::move(out_);
  }

 private:
  void warn(const Place& place, std::string message) { out_.warnings.push_back(error_at(place, std::move(message))); }
  std::string link_name(LinkEnd sender) const {
    return fabric_.name_of(sender) + " to " + fabric_.name_of(fabric_.peer_of(sender));
  }

  void review_workload(uint32_t index, const Ways& ways) {
    const Workload& workload = testbed_.workloads[index];
    ServedWorkload served{.workload = index, .links = {}};
    for (const LinkEnd sender : ways.senders) served.links.push_back({sender, book_.at(sender, workload.dscp)});
    review_ways(workload, ways);
    review_loss(workload, served, ways);
    review_maps(workload, served);
    review_notifications(workload, served);
    out_.workloads.push_back(std::move(served));
  }

  void review_ways(const Workload& workload, const Ways& ways) {
    if (!ways.cut) return;
    const bool drawn = workload.pattern == Pattern::kPermutation;
    const std::string pair =
        fabric_.nodes[ways.cut->first].name + " has no way to " + fabric_.nodes[ways.cut->second].name;
    const std::string more =
        ways.cut_pairs > 1 ? " (nor have " + std::to_string(ways.cut_pairs - 1) + " more pairs)" : "";
    Error error = error_at(workload.place, pair + more + ", by links that are all up");
    if (drawn) error.message += ": who is drawn to send there sends in vain";
    (drawn ? out_.warnings : out_.errors).push_back(std::move(error));
  }

  void review_loss(const Workload& workload, const ServedWorkload& served, const Ways& ways) {
    // Where it comes into a switch says more than the queue that it leaves by.
    const auto worst = std::ranges::max_element(served.links, {}, [](const ServedLink& link) {
      return link.service.loss == Loss::kNothing ? 0 : link.service.group ? 2 : 1;
    });
    if (worst == served.links.end() || worst->service.loss == Loss::kNothing) return;
    const std::vector<uint8_t> better = book_.lossless_dscps(ways);
    const std::string dscp = "DSCP " + std::to_string(workload.dscp);
    const std::string where = link_name(worst->sender) + ": " + book_.why(worst->sender, worst->service);
    if (!better.empty()) {
      const std::string others = better.size() == 1 ? " is lossless" : " are lossless";
      return warn(workload.dscp_place,
                  dscp + " may be dropped, from " + where + "; on all its ways DSCP " + listed(better) + others);
    }
    const auto partly = partly_lossless(ways, workload);
    if (!partly) return;
    const auto lossy = std::ranges::find_if(
        ways.senders, [&](LinkEnd sender) { return book_.at(sender, *partly).loss != Loss::kNothing; });
    warn(workload.dscp_place, dscp + " may be dropped: no DSCP is lossless on all its ways; " +
                                  std::to_string(*partly) + " is on some, not from " + link_name(*lossy) + ": " +
                                  book_.why(*lossy, book_.at(*lossy, *partly)));
  }

  // Its own DSCP, or else the least, that pauses (or credit) hold back on some link but not on all.
  std::optional<uint8_t> partly_lossless(const Ways& ways, const Workload& workload) const {
    const auto is_held = [&](uint8_t dscp) {
      return std::ranges::any_of(ways.senders, [&](LinkEnd sender) {
        const Service service = book_.at(sender, dscp);
        return service.group && service.priorities != 0;
      });
    };
    if (is_held(workload.dscp)) return workload.dscp;
    for (uint8_t dscp = 0; dscp < 64; ++dscp) {
      if (is_held(dscp)) return dscp;
    }
    return std::nullopt;
  }

  void review_maps(const Workload& workload, const ServedWorkload& served) {
    for (const ServedLink& link : served.links) {
      const FabricNode& node = fabric_.nodes[fabric_.peer_of(link.sender).node];
      if (node.kind != NodeKind::kSwitch) continue;
      const Profile& profile = testbed_.profiles[node.profile];
      if ((profile.unmapped_dscps >> workload.dscp & 1) == 0) continue;
      return warn(workload.dscp_place, "DSCP " + std::to_string(workload.dscp) +
                                           " is not in the DSCP_TO_TC_MAP of profile " + profile.name +
                                           ": it is traffic class 0 at " + node.name);
    }
  }

  void review_notifications(const Workload& workload, const ServedWorkload& served) {
    if (!uses_cnps(workload.transport.congestion_control)) return;
    const bool marked = std::ranges::any_of(served.links, [](const ServedLink& link) { return link.service.marked; });
    if (!marked && !served.links.empty()) {
      warn(workload.place, "congestion_control has no effect: no queue on its ways marks (WRED_PROFILE with ecn)");
    }
    for (const ServedLink& link : served.links) {
      const Service service = book_.at(link.sender, workload.transport.cnp_dscp, false);
      if (service.loss != Loss::kEarly) continue;
      return warn(workload.place, "CNPs (DSCP " + std::to_string(workload.transport.cnp_dscp) +
                                      ") are not ECN-capable, and " + book_.why(link.sender, service) + ", at " +
                                      fabric_.name_of(link.sender));
    }
  }

  std::vector<uint32_t> hosts_where(bool builtin) const {
    std::vector<uint32_t> out;
    for (uint32_t n = 0; n < fabric_.nodes.size(); ++n) {
      const FabricNode& node = fabric_.nodes[n];
      if (node.kind == NodeKind::kHost && is_builtin(node.attachment) == builtin) out.push_back(n);
    }
    return out;
  }

  Demands demands_outside() {
    out_.outside.hosts = hosts_where(false);
    const auto& outside = out_.outside.hosts;
    if (outside.empty()) return {};
    if (outside.size() > 1) return {{outside, outside}};
    const std::vector<uint32_t> others = hosts_where(true);
    return {{outside, others}, {others, outside}};
  }

  void review_outside(const Ways& ways) {
    OutsideService& outside = out_.outside;
    if (outside.hosts.empty() || ways.senders.empty()) return;
    outside.lossless_dscps = book_.lossless_dscps(ways);
    if (outside.lossless_dscps.size() == 64) outside.lossless_dscps.clear();  // no switch between them
    std::string why;
    for (const uint8_t dscp : outside.lossless_dscps) {
      const auto early = std::ranges::find_if(
          ways.senders, [&](LinkEnd sender) { return book_.at(sender, dscp, false).loss == Loss::kEarly; });
      if (outside.drops_early || early == ways.senders.end()) continue;
      outside.drops_early = true;
      why = book_.why(*early, book_.at(*early, dscp, false)) + ", at " + fabric_.name_of(*early);
    }
    if (outside.lossless_dscps.empty()) return;
    for (const uint32_t host : outside.hosts) review_guest(host);
    if (outside.drops_early) review_unknown_senders(why);
  }

  // What they send, nobody here knows; of guests their commands tell.
  void review_unknown_senders(const std::string& why) {
    std::vector<uint32_t> unknown = out_.outside.hosts;
    std::erase_if(unknown, [&](uint32_t host) {
      return std::holds_alternative<Guest>(fabric_.nodes[host].attachment) ||
             is_replayed(fabric_.nodes[host].attachment);
    });
    if (unknown.empty()) return;
    const std::string others =
        unknown.size() == 1 ? "" : " (and " + std::to_string(unknown.size() - 1) + " more hosts)";
    warn(fabric_.nodes[unknown.front()].place, "DSCP " + listed(out_.outside.lossless_dscps) +
                                                   " is lossless only for what it sends ECN-capable" + others + ": " +
                                                   why);
  }

  // A guest's adapter writes what its command's tools ask for, and they ask for 0 unless told otherwise; `nic: dscp`
  // writes over the DSCP of it.
  void review_guest(uint32_t index) {
    const FabricNode& node = fabric_.nodes[index];
    const auto* guest = std::get_if<Guest>(&node.attachment);
    if (guest == nullptr || guest->run.empty()) return;
    const OutsideService& outside = out_.outside;
    const auto is_lossless = [&](uint8_t dscp) {
      return node.nic.dscp || std::ranges::binary_search(outside.lossless_dscps, dscp);
    };
    const Place& place = node.place;
    const std::vector<uint8_t> classes = traffic_classes_in(guest->run);
    if (classes.empty() && !is_lossless(0)) {
      return warn(place,
                  "its command names no --tclass: RDMA tools then send DSCP 0, which may be dropped; lossless are " +
                      listed(outside.lossless_dscps));
    }
    for (const uint8_t tclass : classes) {
      if (!is_lossless(tclass >> 2)) {
        return warn(place, "--tclass " + std::to_string(tclass) + " is DSCP " + std::to_string(tclass >> 2) +
                               ", which may be dropped; lossless are " + listed(outside.lossless_dscps));
      }
      if ((tclass & 3) == 0 && outside.drops_early) {
        return warn(place, "--tclass " + std::to_string(tclass) + " is not ECN-capable, and WRED drops what is not: " +
                               std::to_string(tclass | 2) + " is ECT(0)");
      }
    }
  }

  const Testbed& testbed_;
  const Fabric& fabric_;
  const ServiceBook book_;
  Review out_;
};

}  // namespace

std::vector<uint8_t> traffic_classes_in(std::string_view command) {
  constexpr std::string_view kOption = "--tclass";
  std::vector<uint8_t> out;
  for (size_t at = command.find(kOption); at != std::string_view::npos; at = command.find(kOption, at)) {
    at += kOption.size();
    if (at >= command.size() || (command[at] != ' ' && command[at] != '=')) continue;
    at = std::min(command.find_first_not_of(" =", at), command.size());
    uint8_t number = 0;
    const auto [end, error] = std::from_chars(command.data() + at, command.data() + command.size(), number);
    if (error == std::errc{}) out.push_back(number);
  }
  return out;
}

Review review(const Testbed& testbed) {
  return Reviewer(testbed).run();
}

}  // namespace softspine::control
