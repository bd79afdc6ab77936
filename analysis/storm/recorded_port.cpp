// SPDX-License-Identifier: Apache-2.0
#include "analysis/storm/recorded_port.hpp"

#include <charconv>
#include <string_view>

#include "control/capture/pcapng.hpp"
#include "control/telemetry/printable.hpp"

namespace softspine::analysis::storm {

using dataplane::Rate;

namespace {

constexpr size_t kMaxNameBytes = 128;  // names go to terminals and pictures
constexpr uint64_t kMaxBps = 10'000'000'000'000;

// A link below the least rate that we know is one that was not measured; one above kMaxBps is nobody's.
Rate speed_of(uint64_t bps) {
  const Rate rate = Rate::bps(bps);
  return rate < Rate::min() || bps > kMaxBps ? Rate{} : rate;
}

// Our own captures describe a port: the other end of its link, and how many ports its node has.
void read_description(std::string_view description, RecordedPort& port) {
  if (!description.starts_with(control::pcapng::kLinkTo)) return;
  description.remove_prefix(control::pcapng::kLinkTo.size());
  const size_t end = description.find(control::pcapng::kOneOf);
  port.peer = control::printable(description.substr(0, end), kMaxNameBytes);
  if (end == std::string_view::npos) return;
  description.remove_prefix(end + control::pcapng::kOneOf.size());
  std::from_chars(description.data(), description.data() + description.size(), port.node_ports);
}

}  // namespace

RecordedPort port_of_interface(size_t index, const CapturedInterface& interface, Rate speed) {
  RecordedPort port{.name = control::printable(interface.name, kMaxNameBytes),
                    .is_named = !interface.name.empty() && interface.is_named,
                    .speed = speed.is_zero() ? speed_of(interface.speed_bps) : speed,
                    .mac = interface.mac,
                    .time = interface.time,
                    .hears = interface.hears};
  read_description(interface.description, port);
  if (port.name.empty()) port.name = "interface " + std::to_string(index);
  return port;
}

RecordedPort port_of_machine(uint32_t number, const CapturedInterface& interface, Rate speed) {
  const std::string name = number == 0 ? "any" : "if" + std::to_string(number);
  return {.name = (interface.machine.empty() ? kThisMachine : interface.machine) + ":" + name,
          .is_named = true,
          .is_shared = number == 0,
          .speed = speed.is_zero() ? speed_of(interface.speed_bps) : speed,
          .time = interface.time};
}

}  // namespace softspine::analysis::storm
