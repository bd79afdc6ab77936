// SPDX-License-Identifier: Apache-2.0
#include "control/compile/review.hpp"

#include <algorithm>

#include "control/compile/headroom_check.hpp"
#include "control/compile/mtu_review.hpp"
#include "control/traffic/pairs.hpp"
#include "control/traffic/workload_demands.hpp"
#include "control/traffic/workload_packets.hpp"
#include "dataplane/congestion/algorithms.hpp"

namespace softspine::control {
namespace {

class Reviewer {
 public:
  explicit Reviewer(const Testbed& testbed) : testbed_(testbed), fabric_(testbed.fabric), book_(testbed) {}

  Review run() {
    out_.warnings = testbed_.warnings;
    std::vector<Demands> demands;
    for (const Workload& workload : testbed_.workloads) demands.push_back(demands_of(workload));
    OutsideReview outside(fabric_, book_, out_.warnings);
    demands.push_back(outside.demands());
    const std::vector<Ways> ways = find_ways(fabric_, demands);
    for (uint32_t w = 0; w < testbed_.workloads.size(); ++w) review_workload(w, ways[w]);
    out_.outside = outside.review(ways.back());
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
    review_ways(workload, ways);
    review_mtu(testbed_, workload, out_.errors, out_.warnings);
    for (const uint8_t dscp : dscps_of(workload)) review_service(index, dscp, ways);
  }

  void review_service(uint32_t index, uint8_t dscp, const Ways& ways) {
    const Workload& workload = testbed_.workloads[index];
    ServedWorkload served{.workload = index, .dscp = dscp, .links = {}};
    for (const LinkEnd sender : ways.senders) served.links.push_back({sender, book_.at(sender, dscp)});
    review_loss(workload, served, ways);
    review_maps(workload, served);
    review_notifications(workload, served);
    review_telemetry(workload, served);
    out_.workloads.push_back(std::move(served));
  }

  void review_ways(const Workload& workload, const Ways& ways) {
    if (!ways.cut) return;
    const bool drawn = is_drawn(workload.pattern);
    const std::string pair =
        fabric_.nodes[ways.cut->first].name + " has no way to " + fabric_.nodes[ways.cut->second].name;
    const std::string more =
        ways.cut_pairs > 1 ? " (nor have " + std::to_string(ways.cut_pairs - 1) + " more pairs)" : "";
    Error error = error_at(workload.place, pair + more + ", by links that are all up");
    if (drawn) error.message += ": who is drawn to send there sends in vain";
    (drawn ? out_.warnings : out_.errors).push_back(std::move(error));
  }

  void review_loss(const Workload& workload, const ServedWorkload& served, const Ways& ways) {
    // Its priority group at a switch is more telling than the queue that it leaves by.
    const auto worst = std::ranges::max_element(served.links, {}, [](const ServedLink& link) {
      return link.service.loss == Loss::kNothing ? 0 : link.service.group ? 2 : 1;
    });
    if (worst == served.links.end() || worst->service.loss == Loss::kNothing) return;
    const std::vector<uint8_t> better = book_.lossless_dscps(ways);
    const std::string dscp = "DSCP " + std::to_string(served.dscp);
    const std::string where = link_name(worst->sender) + ": " + book_.why(worst->sender, worst->service);
    if (!better.empty()) {
      const std::string others = better.size() == 1 ? " is lossless" : " are lossless";
      return warn(workload.dscp_place,
                  dscp + " may be dropped, from " + where + "; on all its ways DSCP " + listed(better) + others);
    }
    const auto partly = partly_lossless(ways, served.dscp);
    if (!partly) return;
    const auto lossy = std::ranges::find_if(
        ways.senders, [&](LinkEnd sender) { return book_.at(sender, *partly).loss != Loss::kNothing; });
    warn(workload.dscp_place, dscp + " may be dropped: no DSCP is lossless on all its ways; " +
                                  std::to_string(*partly) + " is on some, not from " + link_name(*lossy) + ": " +
                                  book_.why(*lossy, book_.at(*lossy, *partly)));
  }

  // Its own DSCP, or else the least, that pauses (or credit) hold back on some link but not on all.
  std::optional<uint8_t> partly_lossless(const Ways& ways, uint8_t own) const {
    const auto is_held = [&](uint8_t dscp) {
      return std::ranges::any_of(ways.senders, [&](LinkEnd sender) {
        const Service service = book_.at(sender, dscp);
        return service.group && service.priorities != 0;
      });
    };
    if (is_held(own)) return own;
    for (uint8_t dscp = 0; dscp < kDscps; ++dscp) {
      if (is_held(dscp)) return dscp;
    }
    return std::nullopt;
  }

  void review_maps(const Workload& workload, const ServedWorkload& served) {
    for (const ServedLink& link : served.links) {
      const FabricNode& node = fabric_.nodes[fabric_.peer_of(link.sender).node];
      if (node.kind != NodeKind::kSwitch) continue;
      const Profile& profile = testbed_.profiles[node.profile];
      if ((profile.unmapped_dscps >> served.dscp & 1) == 0) continue;
      return warn(workload.dscp_place, "DSCP " + std::to_string(served.dscp) +
                                           " is not in the DSCP_TO_TC_MAP of profile " + profile.name +
                                           ": it is traffic class 0 at " + node.name);
    }
  }

  void review_notifications(const Workload& workload, const ServedWorkload& served) {
    const auto& control = workload.transport.reliable.congestion_control;
    if (!uses_cnps(control) && !uses_echo(control)) return;
    const bool marked = std::ranges::any_of(served.links, [](const ServedLink& link) { return link.service.marked; });
    if (!marked && !served.links.empty()) {
      warn(workload.place, "congestion_control has no effect: no queue on its ways marks (WRED_PROFILE with ecn)");
    }
    if (!uses_cnps(control)) return;
    for (const ServedLink& link : served.links) {
      const Service service = book_.at(link.sender, workload.transport.cnp_dscp, false);
      if (service.loss != Loss::kEarly) continue;
      return warn(workload.place, "CNPs (DSCP " + std::to_string(workload.transport.cnp_dscp) +
                                      ") are not ECN-capable, and " + book_.why(link.sender, service) + ", at " +
                                      fabric_.name_of(link.sender));
    }
  }

  // What it does not know of a hop the sender takes for none.
  void review_telemetry(const Workload& workload, const ServedWorkload& served) {
    if (!uses_telemetry(workload.transport.reliable.congestion_control)) return;
    for (const ServedLink& link : served.links) {
      const FabricNode& node = fabric_.nodes[link.sender.node];
      if (node.kind != NodeKind::kSwitch) continue;
      const std::string at = fabric_.name_of(link.sender);
      if (!testbed_.profiles[node.profile].in_band_telemetry)
        return warn(workload.place, "congestion_control knows nothing of " + at + ": profile " +
                                        testbed_.profiles[node.profile].name + " has no in_band_telemetry");
      if (!dataplane::telemetry::code_of(fabric_.links[fabric_.port(link.sender).link].rate))
        return warn(workload.place,
                    "congestion_control knows nothing of " + at +
                        ": telemetry has no word for its rate (10, 25, 40, 50, 100, 200, 400, 800Gbps)");
    }
  }

  const Testbed& testbed_;
  const Fabric& fabric_;
  const ServiceBook book_;
  Review out_;
};

}  // namespace

Review review(const Testbed& testbed) {
  return Reviewer(testbed).run();
}

}  // namespace softspine::control
