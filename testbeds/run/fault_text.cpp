// SPDX-License-Identifier: Apache-2.0
#include "testbeds/run/fault_text.hpp"

#include <fmt/format.h>

#include "control/format/quantity.hpp"

namespace softspine::testbeds {

namespace {

std::string and_more(size_t count) {
  return count < 2 ? "" : fmt::format(" and {} more", count - 1);
}

std::string priorities_text(uint8_t priorities) {
  std::string out;
  for (unsigned p = 0; p < 8; ++p) {
    if ((priorities >> p & 1) != 0) out += fmt::format("{}{}", out.empty() ? "" : ", ", p);
  }
  return out;
}

std::string percent(uint64_t millionths) {
  return fmt::format("{:g}%", static_cast<double>(millionths) * 1e-4);
}

}  // namespace

std::string links_text(const control::Fabric& fabric, const std::vector<uint32_t>& links) {
  if (links.empty()) return "no link";
  const control::FabricLink& first = fabric.links[links[0]];
  return fmt::format("link {} – {}{}", fabric.name_of(first.a), fabric.name_of(first.b), and_more(links.size()));
}

std::string fault_text(const control::Fabric& fabric, const std::vector<uint32_t>& links, bool up) {
  return links_text(fabric, links) + (up ? " up" : " down");
}

std::string fault_text(const control::Fabric& fabric, const control::Fault& fault) {
  if (fault.kind == control::LinkFaultKind::kDrained) return links_text(fabric, fault.links) + " drained";
  if (fault.ports.size() == fault.links.size() && !fault.ports.empty()) {
    const control::LinkEnd from = fault.ports[0];
    return fmt::format("frames from {} to {}{} die", fabric.name_of(from), fabric.name_of(fabric.peer_of(from)),
                       and_more(fault.ports.size()));
  }
  return links_text(fabric, fault.links) + ": frames of both directions die";
}

std::string fault_text(const control::Testbed& testbed, const control::ProfileChange& change) {
  return fmt::format("{} gets profile {}", testbed.fabric.nodes[change.node].name,
                     testbed.profiles[change.profile].name);
}

std::string fault_text(const control::Fabric& fabric, const control::HostFault& fault, bool begins) {
  const std::string& name = fabric.nodes[fault.node].name;
  if (fault.kind == control::HostFaultKind::kClear) return name + ": faults cleared";
  const bool storms = fault.kind == control::HostFaultKind::kStorm;
  if (!begins) return fmt::format("{}: {} ends", name, storms ? "storm" : "slow receiver");
  if (storms)
    return fmt::format("{} storms: pauses of priority {} without end", name, priorities_text(fault.priorities));
  const auto drain = static_cast<int64_t>(fault.drain.count_bps());
  return fmt::format("{} is a slow receiver of priority {}: {}", name, priorities_text(fault.priorities),
                     drain == 0 ? "takes nothing" : "takes " + control::print_quantity(drain, control::kRateQuantity));
}

std::string fault_text(const control::Fabric& fabric, const control::PortFault& fault, bool begins) {
  const std::string place = fault.ports.empty() ? "no port" : fabric.name_of(fault.ports[0]);
  const std::string where = place + and_more(fault.ports.size());
  switch (fault.kind) {
    case control::PortFaultKind::kClear: return where + ": faults cleared";
    case control::PortFaultKind::kDeaf:
      return begins ? fmt::format("{} is deaf to pauses of priority {}", where, priorities_text(fault.priorities))
                    : where + ": obeys pauses again";
    case control::PortFaultKind::kTxDisabled: return where + (begins ? ": TX disabled" : ": TX enabled again");
    case control::PortFaultKind::kLossy: break;
  }
  if (!begins) return where + ": its cable is good again";
  return fmt::format("cable of {} loses {} and damages {} of the frames sent", where, percent(fault.lost_millionths),
                     percent(fault.damaged_millionths));
}

}  // namespace softspine::testbeds
