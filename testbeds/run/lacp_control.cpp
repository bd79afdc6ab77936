// SPDX-License-Identifier: Apache-2.0
#include "testbeds/run/lacp_control.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "control/compile/compile.hpp"
#include "control/model/stack_of.hpp"
#include "testbeds/outside/outside_spec.hpp"

namespace softspine::testbeds {

using dataplane::Duration;
using dataplane::Instant;

namespace {

constexpr dataplane::MacAddress kCommonSystem{0x00, 0x00, 0x5e, 0x00, 0x01, 0x01};
constexpr uint16_t kPriority = 32'768;
constexpr uint16_t kPortOffset = 1024;
constexpr Duration kLacpEveryWall = Duration::ms(20);

uint16_t place_in(const std::vector<uint32_t>& nodes, uint32_t node) {
  return static_cast<uint16_t>(std::ranges::find(nodes, node) - nodes.begin());
}

std::vector<std::string> words_about(const dataplane::LacpPort& port, bool was_used, const std::string& port_words) {
  const dataplane::LacpCounters& counters = port.counters();
  std::vector<std::string> words;
  if (counters.loops > 0) {
    words.push_back(
        fmt::format("{} LACPDUs were its own system's: the link leads back to where it began", counters.loops));
  }
  if (!port.is_distributing() && counters.received == counters.loops) {
    words.push_back("no partner has answered: " + port_words + " is not used");
  } else if (!port.is_distributing()) {
    words.push_back(was_used ? "its partner is lost, and " + port_words + " not used"
                             : "its partner never agreed to use the port");
  }
  if (counters.partner_changes > 0) {
    words.push_back(
        fmt::format("its partner has become another {} times (system, key or port)", counters.partner_changes));
  }
  if (counters.expiries > 0) words.push_back(fmt::format("its partner fell silent {} times", counters.expiries));
  if (counters.faulty > 0) words.push_back(fmt::format("{} frames were no LACPDUs", counters.faulty));
  if (counters.other_versions > 0) {
    words.push_back(fmt::format("{} LACPDUs were of another version than 1, and obeyed", counters.other_versions));
  }
  return words;
}

}  // namespace

dataplane::MacAddress lacp_system(const control::Fabric& fabric, const control::Subnet& subnet) {
  const control::Stack* stack = control::stack_of(fabric, subnet);
  return stack == nullptr ? kCommonSystem : fabric.nodes[stack->switches[0]].ports[0].mac.bytes;
}

LacpControl::LacpControl(const control::Testbed& testbed, const LocalNodes& nodes, LinkControl& links)
    : testbed_(testbed), nodes_(nodes), links_(links) {
  const auto for_each_host = [&](bool is_builtin, auto&& f) {
    for (uint32_t n = 0; n < testbed.fabric.nodes.size(); ++n) {
      const control::FabricNode& node = testbed.fabric.nodes[n];
      if (node.kind == control::NodeKind::kHost && control::is_builtin(node.attachment) == is_builtin) f(n, node);
    }
  };
  for_each_host(false, [&](uint32_t host, const control::FabricNode& node) {
    if (!bonds_by_lacp(testbed.fabric, host)) return;
    for (uint16_t port = 0; port < node.ports.size(); ++port) run_at(host, port);
  });
  for_each_host(true, [&](uint32_t host, const control::FabricNode& node) {
    if (!node.bond.lacp_rate) return;
    for (uint16_t port = 0; port < node.ports.size(); ++port) run_with_builtin(host, port);
  });
  for (size_t i = 0; i < testbed.fabric.lags.size(); ++i) {
    const control::Lag& lag = testbed.fabric.lags[i];
    if (lag.mode == control::LagMode::kLacp) run_at(lag, static_cast<uint16_t>(i + 1));
  }
}

void LacpControl::add(control::LinkEnd end, const dataplane::LacpConfig& config,
                      const std::optional<dataplane::LacpEnd>& partner) {
  const uint32_t link = testbed_.fabric.port(end).link;
  const bool is_used = partner.has_value();
  if (used_.emplace(link, is_used).second && !is_used) links_.set_unused({link}, &LinkState::not_agreed, true, {});
  const uint32_t number = all_ports_++;
  pipelines::Switch* const node = nodes_.switch_at(end.node);
  if (node == nullptr) return;
  node->run_lacp(dataplane::PortNo{end.port}, config, partner);
  ports_.push_back({end, number, is_used});
}

void LacpControl::run_at(const control::Lag& lag, uint16_t key) {
  const control::Fabric& fabric = testbed_.fabric;
  const auto actor_at = [&](control::LinkEnd end) {
    const size_t i = lag.end_at(end.node);
    dataplane::LacpEnd actor{.system_priority = kPriority,
                             .system = control::packet_mac(fabric.nodes[end.node].ports[0].mac),
                             .key = lag.lacp_key[i].value_or(key),
                             .port_priority = kPriority,
                             .port = static_cast<uint16_t>(end.port + 1),
                             .state = dataplane::lacp::kActive | dataplane::lacp::kAggregation};
    if (lag.fast_rate[i]) actor.state |= dataplane::lacp::kShortTimeout;
    return actor;
  };
  for (const uint32_t node : lag.nodes) {
    for (const uint16_t port : lag.ports_at(node)) {
      const dataplane::LacpConfig config{.actor = actor_at({node, port}),
                                         .second = Duration::s(1) / testbed_.run.dilation,
                                         .retry_count = lag.retry_count};
      std::optional<dataplane::LacpEnd> partner;
      if (lag.agreed) partner = actor_at(fabric.peer_of({node, port}));
      add({node, port}, config, partner);
    }
  }
}

dataplane::LacpConfig LacpControl::config_towards(uint32_t host, control::LinkEnd end) const {
  const control::Fabric& fabric = testbed_.fabric;
  const control::Subnet& subnet = fabric.subnets[fabric.nodes[host].subnet];
  dataplane::LacpConfig config{.actor = {},
                               .second = Duration::s(1) / testbed_.run.dilation,
                               .retry_count = fabric.nodes[host].bond.retry_count};
  config.actor.system_priority = kPriority;
  config.actor.system = lacp_system(fabric, subnet);
  config.actor.key = static_cast<uint16_t>(place_in(subnet.hosts, host) + 1);
  config.actor.port_priority = kPriority;
  config.actor.port = static_cast<uint16_t>((place_in(subnet.switches, end.node) + 1) * kPortOffset + end.port + 1);
  config.actor.state = dataplane::lacp::kActive | dataplane::lacp::kAggregation;
  if (fabric.nodes[host].bond.fast_rate) config.actor.state |= dataplane::lacp::kShortTimeout;
  return config;
}

void LacpControl::run_at(uint32_t host, uint16_t port) {
  const control::LinkEnd end = testbed_.fabric.peer_of({host, port});
  add(end, config_towards(host, end));
}

// Numbers as Linux's bonding driver has them.
void LacpControl::run_with_builtin(uint32_t host, uint16_t port) {
  constexpr uint16_t kSystemPriority = 65'535;
  constexpr uint16_t kPortPriority = 255;
  const control::LinkEnd end = testbed_.fabric.peer_of({host, port});
  const dataplane::LacpConfig ours = config_towards(host, end);
  dataplane::LacpConfig theirs{.actor = {}, .second = ours.second};
  theirs.actor.system_priority = kSystemPriority;
  theirs.actor.system = control::packet_mac(testbed_.fabric.nodes[host].ports[0].mac);
  theirs.actor.key = 1;
  theirs.actor.port_priority = kPortPriority;
  theirs.actor.port = static_cast<uint16_t>(port + 1);
  theirs.actor.state = dataplane::lacp::kActive | dataplane::lacp::kAggregation;
  if (testbed_.fabric.nodes[host].bond.lacp_rate == control::LacpRate::kFast)
    theirs.actor.state |= dataplane::lacp::kShortTimeout;
  if (RoceHost* const it = nodes_.host_at(host)) it->run_lacp(dataplane::PortNo{port}, theirs, ours.actor);
  add(end, ours, theirs.actor);
}

const dataplane::LacpPort& LacpControl::machine_at(control::LinkEnd end) const {
  return *nodes_.switch_at(end.node)->lacp().find(dataplane::PortNo{end.port});
}

std::map<uint32_t, bool> LacpControl::agreed() const {
  std::map<uint32_t, bool> out;
  for (const auto& of_rank : nodes_.ranks().gather(agreed_here())) {
    for (const auto& [link, distributes] : of_rank) {
      const auto it = out.emplace(link, distributes).first;
      it->second = it->second && distributes;
    }
  }
  return out;
}

std::map<uint32_t, bool> LacpControl::agreed_here() const {
  std::map<uint32_t, bool> out;
  for (const Port& port : ports_) {
    const bool distributes = machine_at(port.end).is_distributing();
    const auto [link, is_new] = out.emplace(testbed_.fabric.port(port.end).link, distributes);
    link->second = link->second && distributes;
  }
  return out;
}

void LacpControl::start() {
  if (all_ports_ == 0) return;
  nodes_.engine().look_at(Instant::at(kLacpEveryWall / testbed_.run.dilation), [this](Instant now) { look(now); });
}

std::vector<std::string> LacpControl::notes() const {
  return notes_;
}

void LacpControl::finish(Instant) {
  std::vector<Note> here;
  for (const Port& port : ports_) {
    const bool is_of_lag = testbed_.fabric.lag_of(port.end) != nullptr;
    const auto words = words_about(machine_at(port.end), port.was_used, is_of_lag ? "the link" : "the host's port");
    if (words.empty()) continue;
    here.push_back(
        {port.number, fmt::format("{}: LACP: {}", testbed_.fabric.name_of(port.end), fmt::join(words, "; "))});
  }
  notes_.clear();
  for (Note& note : nodes_.ranks().collect_all(here, &Note::port)) notes_.push_back(std::move(note.text));
}

void LacpControl::look(Instant now) {
  auto now_agreed = agreed();
  for (Port& port : ports_) port.was_used = port.was_used || now_agreed[testbed_.fabric.port(port.end).link];
  std::array<std::vector<uint32_t>, 2> changed;  // not used, used
  for (const auto& [link, used] : now_agreed) {
    if (std::exchange(used_[link], used) != used) changed[used ? 1 : 0].push_back(link);
  }
  for (const bool used : {false, true}) links_.set_unused(changed[used ? 1 : 0], &LinkState::not_agreed, !used, now);
  nodes_.engine().look_at(now + kLacpEveryWall / testbed_.run.dilation, [this](Instant later) { look(later); });
}

}  // namespace softspine::testbeds
