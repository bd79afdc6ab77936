// SPDX-License-Identifier: Apache-2.0
#include "testbeds/run/fault_control.hpp"

#include <memory>
#include <optional>

#include "control/compile/switch_qos.hpp"
#include "testbeds/run/fault_text.hpp"

namespace softspine::testbeds {

using control::FaultKind;
using control::FaultTarget;
using control::HostFault;
using control::LinkEnd;
using control::PortFault;
using dataplane::Duration;
using dataplane::Instant;
using dataplane::LinkFault;
using dataplane::PortNo;

namespace {

constexpr uint64_t kMillion = 1'000'000;

}  // namespace

void FaultControl::start() {
  const auto schedule = [this](const auto& fault) {
    nodes_.engine().at(fault.at, [this, &fault](Instant now) { happen(fault, now, fault.until); });
  };
  for (const HostFault& fault : testbed_.host_faults) schedule(fault);
  for (const PortFault& fault : testbed_.port_faults) schedule(fault);
}

void FaultControl::inject(const HostFault& fault, Instant now) {
  happen(fault, now, now + (fault.until - Instant{}));
}
void FaultControl::inject(const PortFault& fault, Instant now) {
  happen(fault, now, now + (fault.until - Instant{}));
}

template <typename Fault>
void FaultControl::happen(const Fault& fault, Instant now, Instant until) {
  begin(fault, now);
  if (until.is_never()) return;
  nodes_.engine().at(until, [this, fault, number = begun_](Instant then) { end(fault, number, then); });
}

void FaultControl::strike(std::string what, FaultScope scope, Instant now) {
  if (scope.kind == FaultKind::kClear) return incidents_.add(IncidentOf::kPortsAndHosts, now, std::move(what));
  const uint32_t number = losses_.begin(std::move(scope), now);
  incidents_.add(IncidentOf::kPortsAndHosts, now, std::move(what), number);
  works_[begun_] = {.number = number};
}

void FaultControl::occupy(const Place& place, Instant now) {
  leave(place, now);
  at_work_[place] = begun_;
  ++works_[begun_].places;
}

bool FaultControl::leave(const Place& place, Instant now) {
  const auto found = at_work_.find(place);
  if (found == at_work_.end()) return false;
  const auto work = works_.find(found->second);
  at_work_.erase(found);
  if (--work->second.places > 0) return true;
  losses_.ended(work->second.number, now);
  losses_.restored(work->second.number, now);
  works_.erase(work);
  return true;
}

void FaultControl::begin(const HostFault& fault, Instant now) {
  ++begun_;
  FaultScope scope{.kind = fault.kind};
  const auto ports = static_cast<uint16_t>(testbed_.fabric.nodes[fault.node].ports.size());
  for (uint16_t p = 0; p < ports; ++p) scope.ports.push_back({fault.node, p});
  strike(fault_text(testbed_.fabric, fault, true), std::move(scope), now);
  if (fault.kind != FaultKind::kClear) {
    occupy({fault.kind, fault.node, 0}, now);
    return set_host(fault, true, now);
  }
  for (const auto& row : control::kFaultKinds) {
    if (row.target != FaultTarget::kHost || !leave({row.kind, fault.node, 0}, now)) continue;
    set_host({.node = fault.node, .kind = row.kind}, false, now);
  }
}

void FaultControl::end(const HostFault& fault, uint64_t number, Instant now) {
  const auto found = at_work_.find({fault.kind, fault.node, 0});
  if (found == at_work_.end() || found->second != number) return;
  leave(found->first, now);
  incidents_.add(IncidentOf::kPortsAndHosts, now, fault_text(testbed_.fabric, fault, false));
  set_host(fault, false, now);
}

void FaultControl::set_host(const HostFault& fault, bool fails, Instant now) {
  RoceHost* const host = nodes_.host_at(fault.node);
  if (host == nullptr) return;
  for (uint16_t p = 0; p < host->config().ports; ++p) {
    const PortNo port{p};
    switch (fault.kind) {
      case FaultKind::kStorm: host->set_storm(port, fails ? fault.priorities : uint8_t{0}, now); break;
      case FaultKind::kSlowReceiver:
        host->set_slow_receiver(port, fails ? std::optional(slow_receiver(fault, p)) : std::nullopt, now);
        break;
      default: break;  // no host's
    }
  }
  nodes_.engine().wake(host->id(), now);
}

SlowReceiver FaultControl::slow_receiver(const HostFault& fault, uint16_t port) const {
  const uint32_t headroom = control::host_headroom(testbed_.fabric, testbed_.profiles, {fault.node, port});
  return SlowReceiver{.priorities = fault.priorities, .drain = fault.drain}.with_headroom(headroom);
}

void FaultControl::begin(const PortFault& fault, Instant now) {
  ++begun_;
  strike(fault_text(testbed_.fabric, fault, true), {.kind = fault.kind, .ports = fault.ports}, now);
  for (const LinkEnd port : fault.ports) {
    if (fault.kind != FaultKind::kClear) {
      occupy({fault.kind, port.node, port.port}, now);
      set_port(fault, port, true, now);
      continue;
    }
    for (const auto& row : control::kFaultKinds) {
      if (row.target == FaultTarget::kHost || !leave({row.kind, port.node, port.port}, now)) continue;
      set_port({.kind = row.kind}, port, false, now);
    }
  }
}

void FaultControl::end(const PortFault& fault, uint64_t number, Instant now) {
  PortFault ended = fault;
  ended.ports.clear();
  for (const LinkEnd port : fault.ports) {
    const auto found = at_work_.find({fault.kind, port.node, port.port});
    if (found == at_work_.end() || found->second != number) continue;
    leave(found->first, now);
    ended.ports.push_back(port);
    set_port(fault, port, false, now);
  }
  if (ended.ports.empty()) return;
  incidents_.add(IncidentOf::kPortsAndHosts, now, fault_text(testbed_.fabric, ended, false));
}

void FaultControl::set_port(const PortFault& fault, LinkEnd port, bool fails, Instant now) {
  switch (fault.kind) {
    case FaultKind::kLossy: return set_cable(fault, port, fails);
    case FaultKind::kDeaf: return set_deaf(port, fails ? fault.priorities : uint8_t{0}, now);
    case FaultKind::kTxDisabled: return set_tx(port, !fails, now);
    default: return;  // no port's
  }
}

void FaultControl::set_cable(const PortFault& fault, LinkEnd port, bool fails) {
  dataplane::Transmitter* const sender = nodes_.transmitter_at(port);
  if (sender == nullptr) return;
  if (!fails) return sender->set_fault(nullptr);
  const uint64_t stream = (uint64_t{port.node} << 32) | (uint64_t{port.port} << 16) | (++faults_of_[port] & 0xffff);
  sender->set_fault(std::make_unique<LinkFault>(fault.lost_millionths * LinkFault::kEvery / kMillion,
                                                fault.damaged_millionths * LinkFault::kEvery / kMillion,
                                                dataplane::Rng{testbed_.run.seed, ~stream}));
}

void FaultControl::set_deaf(LinkEnd port, uint8_t priorities, Instant now) {
  if (pipelines::Switch* const node = nodes_.switch_at(port.node)) {
    node->egress().make_deaf(PortNo{port.port}, priorities, now);
    nodes_.engine().wake(node->id(), now);
  } else if (RoceHost* const host = nodes_.host_at(port.node)) {
    host->set_deaf(PortNo{port.port}, priorities, now);
    nodes_.engine().wake(host->id(), now);
  }
}

void FaultControl::set_tx(LinkEnd port, bool enabled, Instant now) {
  pipelines::Switch* const node = nodes_.switch_at(port.node);
  if (node == nullptr) return;
  node->egress().enable_tx(PortNo{port.port}, enabled, now);
  nodes_.engine().wake(node->id(), now);
}

}  // namespace softspine::testbeds
