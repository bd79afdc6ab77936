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

// The names that a kind's words may contain.
struct FaultWords {
  std::string where;
  std::string priorities = {};
  std::string takes = {};
  std::string drop = {};
  std::string corrupt = {};
  std::string from = {};
  std::string to = {};
  std::string more = {};
};

std::string text_of(control::FaultKind kind, bool begins, const FaultWords& words) {
  const control::FaultKindRow& row = control::row_of(kind);
  return fmt::format(fmt::runtime(begins ? row.begins : row.ends), fmt::arg("where", words.where),
                     fmt::arg("priorities", words.priorities), fmt::arg("takes", words.takes),
                     fmt::arg("drop", words.drop), fmt::arg("corrupt", words.corrupt), fmt::arg("from", words.from),
                     fmt::arg("to", words.to), fmt::arg("more", words.more));
}

}  // namespace

std::string links_text(const control::Fabric& fabric, const std::vector<uint32_t>& links) {
  if (links.empty()) return "no link";
  const control::FabricLink& first = fabric.links[links[0]];
  return fmt::format("link {} – {}{}", fabric.name_of(first.a), fabric.name_of(first.b), and_more(links.size()));
}

std::string fault_text(const control::Fabric& fabric, const std::vector<uint32_t>& links, bool up) {
  return text_of(up ? control::FaultKind::kUp : control::FaultKind::kDown, true, {.where = links_text(fabric, links)});
}

std::string fault_text(const control::Testbed& testbed, const control::ProfileChange& change) {
  return fmt::format("{} gets profile {}", testbed.fabric.nodes[change.node].name,
                     testbed.profiles[change.profile].name);
}

std::string fault_text(const control::Fabric& fabric, const control::Fault& fault, bool begins) {
  FaultWords words{.where = links_text(fabric, fault.links)};
  if (!fault.ports.empty()) {
    words.from = fabric.name_of(fault.ports[0]);
    words.to = fabric.name_of(fabric.peer_of(fault.ports[0]));
    words.more = and_more(fault.ports.size());
  }
  return text_of(fault.kind, begins, words);
}

std::string fault_text(const control::Fabric& fabric, const control::HostFault& fault, bool begins) {
  const auto drain = static_cast<int64_t>(fault.drain.count_bps());
  return text_of(fault.kind, begins,
                 {.where = fabric.nodes[fault.node].name,
                  .priorities = priorities_text(fault.priorities),
                  .takes = drain == 0 ? "nothing" : control::print_quantity(drain, control::kRateQuantity)});
}

std::string fault_text(const control::Fabric& fabric, const control::PortFault& fault, bool begins) {
  const std::string place = fault.ports.empty() ? "no port" : fabric.name_of(fault.ports[0]);
  return text_of(fault.kind, begins,
                 {.where = place + and_more(fault.ports.size()),
                  .priorities = priorities_text(fault.priorities),
                  .drop = percent(fault.lost_millionths),
                  .corrupt = percent(fault.damaged_millionths)});
}

}  // namespace softspine::testbeds
