// SPDX-License-Identifier: Apache-2.0
#include "testbeds/run/disjoint_ports.hpp"

#include <algorithm>
#include <set>

#include "analysis/explain/probe.hpp"
#include "analysis/explain/source_ports.hpp"
#include "analysis/explain/walker.hpp"
#include "testbeds/hosts/bond_hash.hpp"
#include "testbeds/run/traffic.hpp"

namespace softspine::testbeds {

using control::LinkEnd;
using control::PlannedFlow;

namespace {

constexpr uint32_t kFirstRocePort = 0xc000;
constexpr uint32_t kRocePorts = 0x4000;

class ConnectionPorts {
 public:
  ConnectionPorts(analysis::Walker& walker, uint32_t source)
      : walker_(walker),
        fabric_(walker.testbed().fabric),
        host_(bonded_host(fabric_, source, walker.router_mac(fabric_.peer_of({source, 0}).node))) {}

  // True if its path shares no link with those before.
  bool choose(PlannedFlow& flow) {
    const uint16_t first = flow.flow.source_port;
    Candidate best = look(flow, first);
    for (uint32_t i = 1; i < kPortsTried && best.shared > 0; ++i) {
      const auto port = static_cast<uint16_t>(kFirstRocePort + (first - kFirstRocePort + i) % kRocePorts);
      Candidate other = look(flow, port);
      if (other.shared < best.shared) best = std::move(other);
    }
    flow.flow.source_port = best.port;
    taken_.insert(best.links.begin(), best.links.end());
    return best.shared == 0;
  }

 private:
  struct Candidate {
    uint16_t port = 0;
    std::vector<LinkEnd> links;
    size_t shared = 0;
  };

  Candidate look(PlannedFlow& flow, uint16_t port) {
    flow.flow.source_port = port;
    const LinkEnd sender{flow.source, bond_port(host_, flow.flow).value()};
    const analysis::Probe probe{.from = flow.source,
                                .to = flow.destination,
                                .port = sender.port,
                                .source_port = port,
                                .qp = flow.flow.destination_qp};
    const auto frame = analysis::frame_of(fabric_, probe, walker_.router_mac(fabric_.peer_of(sender).node));
    const analysis::Path path = walker_.walk(frame, static_cast<uint32_t>(frame.size()), sender);
    Candidate out{.port = port, .links = analysis::links_between_switches(fabric_, path)};
    const auto is_taken = [&](const LinkEnd& link) { return taken_.contains(link); };
    out.shared = static_cast<size_t>(std::ranges::count_if(out.links, is_taken));
    return out;
  }

  analysis::Walker& walker_;
  const control::Fabric& fabric_;
  HostConfig host_;
  std::set<LinkEnd> taken_;
};

}  // namespace

// A connection's queue pairs stand one behind the other.
std::vector<SharedPaths> choose_disjoint_ports(const control::Testbed& testbed, std::span<PlannedFlow> plan) {
  const auto is_asked = [](const control::Workload& it) { return it.ports == control::PortChoice::kDisjoint; };
  if (std::ranges::none_of(testbed.workloads, is_asked)) return {};
  analysis::Walker walker{testbed, std::vector<bool>(testbed.fabric.links.size(), true)};
  std::vector<SharedPaths> out;
  for (size_t i = 0; i < plan.size();) {
    const uint32_t number = plan[i].workload;
    const control::Workload& workload = testbed.workloads[number];
    const std::span<PlannedFlow> connection = plan.subspan(i, workload.qps);
    i += workload.qps;
    if (!is_asked(workload)) continue;
    if (out.empty() || out.back().workload != number) out.push_back({.workload = number});
    ConnectionPorts ports(walker, connection.front().source);
    const auto shares = [&](PlannedFlow& flow) { return !ports.choose(flow); };
    out.back().connections += std::ranges::count_if(connection, shares) > 0 ? 1 : 0;
    ++out.back().of;
  }
  return out;
}

}  // namespace softspine::testbeds
