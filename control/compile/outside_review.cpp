// SPDX-License-Identifier: Apache-2.0
#include "control/compile/outside_review.hpp"

#include <algorithm>
#include <charconv>

namespace softspine::control {
namespace {

std::vector<uint32_t> hosts_where(const Fabric& fabric, bool builtin) {
  std::vector<uint32_t> out;
  for (uint32_t n = 0; n < fabric.nodes.size(); ++n) {
    const FabricNode& node = fabric.nodes[n];
    if (node.kind == NodeKind::kHost && is_builtin(node.attachment) == builtin) out.push_back(n);
  }
  return out;
}

}  // namespace

OutsideReview::OutsideReview(const Fabric& fabric, const ServiceBook& book, Errors& warnings)
    : fabric_(fabric), book_(book), warnings_(warnings) {
  out_.hosts = hosts_where(fabric_, false);
}

Demands OutsideReview::demands() const {
  if (out_.hosts.empty()) return {};
  if (out_.hosts.size() > 1) return {{out_.hosts, out_.hosts}};
  const std::vector<uint32_t> others = hosts_where(fabric_, true);
  return {{out_.hosts, others}, {others, out_.hosts}};
}

OutsideService OutsideReview::review(const Ways& ways) {
  if (out_.hosts.empty() || ways.senders.empty()) return out_;
  out_.lossless_dscps = book_.lossless_dscps(ways);
  if (out_.lossless_dscps.size() == kDscps) out_.lossless_dscps.clear();  // no switch between them
  std::string why;
  for (const uint8_t dscp : out_.lossless_dscps) {
    const auto early = std::ranges::find_if(
        ways.senders, [&](LinkEnd sender) { return book_.at(sender, dscp, false).loss == Loss::kEarly; });
    if (out_.drops_early || early == ways.senders.end()) continue;
    out_.drops_early = true;
    why = book_.why(*early, book_.at(*early, dscp, false)) + ", at " + fabric_.name_of(*early);
  }
  if (out_.lossless_dscps.empty()) return out_;
  for (const uint32_t host : out_.hosts) review_guest(host);
  if (out_.drops_early) review_unknown_senders(why);
  return out_;
}

void OutsideReview::review_unknown_senders(const std::string& why) {
  std::vector<uint32_t> unknown = out_.hosts;
  std::erase_if(unknown, [&](uint32_t host) {
    return std::holds_alternative<Guest>(fabric_.nodes[host].attachment) || is_replayed(fabric_.nodes[host].attachment);
  });
  if (unknown.empty()) return;
  const std::string others = unknown.size() == 1 ? "" : " (and " + std::to_string(unknown.size() - 1) + " more hosts)";
  warn(fabric_.nodes[unknown.front()].place,
       "DSCP " + listed(out_.lossless_dscps) + " is lossless only for what it sends ECN-capable" + others + ": " + why);
}

// A guest's adapter writes the DSCP that its command's tools ask for, by default 0; `nic: dscp` overwrites it.
void OutsideReview::review_guest(uint32_t index) {
  const FabricNode& node = fabric_.nodes[index];
  const auto* guest = std::get_if<Guest>(&node.attachment);
  if (guest == nullptr || guest->run.empty()) return;
  const auto is_lossless = [&](uint8_t dscp) {
    return node.nic.parameters.dscp || std::ranges::binary_search(out_.lossless_dscps, dscp);
  };
  const Place& place = node.place;
  const std::vector<uint8_t> classes = traffic_classes_in(guest->run);
  if (classes.empty() && !is_lossless(0)) {
    return warn(place,
                "its command names no --tclass: RDMA tools then send DSCP 0, which may be dropped; lossless are " +
                    listed(out_.lossless_dscps));
  }
  if (classes.empty() && out_.drops_early) {
    return warn(place,
                "its command names no --tclass: RDMA tools then send what is not ECN-capable, and WRED drops that; "
                "--tclass 2 is ECT(0)");
  }
  for (const uint8_t tclass : classes) {
    if (!is_lossless(tclass >> 2)) {
      return warn(place, "--tclass " + std::to_string(tclass) + " is DSCP " + std::to_string(tclass >> 2) +
                             ", which may be dropped; lossless are " + listed(out_.lossless_dscps));
    }
    if ((tclass & 3) == 0 && out_.drops_early) {
      return warn(place, "--tclass " + std::to_string(tclass) + " is not ECN-capable, and WRED drops what is not: " +
                             std::to_string(tclass | 2) + " is ECT(0)");
    }
  }
}

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

}  // namespace softspine::control
