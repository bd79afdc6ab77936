// SPDX-License-Identifier: Apache-2.0
#include "testbeds/run/link_control.hpp"

#include <algorithm>
#include <functional>
#include <utility>

#include "testbeds/run/fault_text.hpp"
#include "testbeds/run/lag_copy.hpp"

namespace softspine::testbeds {

using control::Fault;
using control::FaultKind;
using control::LinkEnd;
using dataplane::Duration;
using dataplane::Instant;

LinkControl::LinkControl(const control::Testbed& testbed, control::Compiler& compiler, const LocalNodes& nodes,
                         LossWindows& losses, Incidents& incidents)
    : testbed_(testbed),
      compiler_(compiler),
      nodes_(nodes),
      losses_(losses),
      incidents_(incidents),
      states_(testbed.fabric.links.size()),
      routed_{.usable = std::vector<bool>(states_.size(), true),
              .last_resort = std::vector<bool>(states_.size(), true),
              .carrier = std::vector<bool>(states_.size(), true),
              .agreed = std::vector<bool>(states_.size(), true)},
      waves_(testbed, compiler, nodes, routed_, incidents),
      latest_(states_.size(), control::kNone) {}

void LinkControl::start() {
  waves_.start();
  for (const Fault& fault : testbed_.faults) {
    nodes_.engine().at(fault.at, [this, &fault](Instant now) { strike(fault, now); });
  }
}

void LinkControl::snapshot(control::FabricSnapshot& out) {
  out.route_changes = waves_.changes();
  copy_lags(testbed_.fabric, lag_members(), out);
}

void LinkControl::strike(const Fault& fault, Instant now) {
  if (fault.profile) return use_profile(fault.profile->node, fault.profile->profile, now);
  switch (fault.kind) {
    case FaultKind::kDown: return set(fault.links, false, now);
    case FaultKind::kUp: return set(fault.links, true, now);
    case FaultKind::kOneWay:
    case FaultKind::kDead: return kill(fault, now);
    case FaultKind::kDrained: return drain(fault, now);
    default: return;  // FaultControl's
  }
}

void LinkControl::set(const std::vector<uint32_t>& links, bool up, Instant now) {
  for (const uint32_t link : links) states_[link].asked = up;
  if (up) return repair(links, now);
  std::vector<uint32_t> changed = links;
  std::erase_if(changed, [this](uint32_t link) { return !states_[link].up; });
  if (!changed.empty()) take_down(changed, fault_text(testbed_.fabric, changed, false), now);
}

void LinkControl::set_lost(uint32_t link, bool lost, Instant now) {
  LinkState& state = states_[link];
  lost ? ++state.lost_ends : --state.lost_ends;
  if (state.up == state.should_be_up()) return;
  if (state.up) return take_down({link}, fault_text(testbed_.fabric, {link}, false), now);
  set_carriers({link}, true, now);
  reopen({link}, true, now);
}

void LinkControl::set_shut(const std::vector<uint32_t>& links, bool shut, const std::string& what, Instant now) {
  std::vector<uint32_t> changed;
  for (const uint32_t link : links) {
    states_[link].shut = shut;
    if (states_[link].up != states_[link].should_be_up()) changed.push_back(link);
  }
  if (changed.empty()) return;
  if (shut) return take_down(changed, what, now);
  set_carriers(changed, true, now);
  reopen(changed, true, now);
}

void LinkControl::set_unused(const std::vector<uint32_t>& links, bool LinkState::* why, bool unused, Instant now) {
  if (links.empty()) return;
  for (const uint32_t link : links) states_[link].*why = unused;
  if (unused && why == &LinkState::not_agreed) {
    for (const uint32_t link : links) {
      if (latest_[link] == control::kNone) continue;
      losses_.reopen(latest_[link], now);
      waiting_.insert(latest_[link]);
    }
  }
  show_to_routes(links, now);
  losses_.set_links(routed_.last_resort, now);
  if (waves_.has_started()) waves_.follow(links, now, [this](Instant then) { restore_agreed(then); });
}

void LinkControl::restore(uint32_t fault, Instant now) {
  for (uint32_t link = 0; link < states_.size(); ++link) {
    if (latest_[link] != fault || !states_[link].not_agreed) continue;
    waiting_.insert(fault);
    return;
  }
  losses_.restored(fault, now);
}

void LinkControl::restore_agreed(Instant now) {
  const std::set<uint32_t> waiting = std::exchange(waiting_, {});
  for (const uint32_t fault : waiting) {
    const bool is_over = std::ranges::none_of(open_, [fault](const Open& each) { return each.fault == fault; });
    if (is_over) restore(fault, now);
  }
}

uint32_t LinkControl::open(const Fault& fault, const std::string& what, Instant now) {
  const uint32_t number = losses_.begin({.kind = fault.kind, .links = fault.links, .ports = fault.ports}, now);
  incidents_.add(IncidentOf::kLinks, now, what, number);
  open_.push_back({.fault = number, .kind = fault.kind, .links = fault.links, .ports = fault.ports});
  for (const uint32_t link : fault.links) {
    if (!states_[link].not_agreed || latest_[link] != control::kNone) latest_[link] = number;
  }
  return number;
}

void LinkControl::show_to_routes(const std::vector<uint32_t>& links, Instant now) {
  for (const uint32_t link : links) {
    const LinkState& state = states_[link];
    routed_.usable[link] = !state.is_unused() && state.noticed == LinkState::Use::kFull;
    routed_.agreed[link] = !state.not_agreed;
    routed_.last_resort[link] = !state.is_unused() && state.noticed != LinkState::Use::kNone;
  }
  waves_.follow_members(links, now);
}

LinkControl::Change LinkControl::change_of(const std::vector<uint32_t>& links) {
  Change out{.links = links};
  for (const uint32_t link : links) {
    LinkState& state = states_[link];
    if (state.last != state.use()) ++state.changes;
    state.last = state.use();
    out.changes.push_back(state.changes);
  }
  return out;
}

void LinkControl::take_down(const std::vector<uint32_t>& links, const std::string& what, Instant now) {
  const uint32_t fault = open({.links = links, .kind = FaultKind::kDown}, what, now);
  set_carriers(links, false, now);
  Change change = change_of(links);
  change.begun.push_back(fault);
  notice(std::move(change), true, now);
}

void LinkControl::set_carriers(const std::vector<uint32_t>& links, bool up, Instant now) {
  for (const uint32_t link : links) {
    states_[link].up = routed_.carrier[link] = up;
    for (const LinkEnd end : {testbed_.fabric.links[link].a, testbed_.fabric.links[link].b}) {
      if (const auto here = nodes_.at(end)) nodes_.engine().set_link(*here, up, now);
    }
  }
  waves_.follow_members(links, now);
}

// Nothing is emptied: who sends does not know.
void LinkControl::kill(const Fault& fault, Instant now) {
  const uint32_t number = open(fault, fault_text(testbed_.fabric, fault, true), now);
  set_dead(fault.ports, true);
  for (const uint32_t link : fault.links) {
    ++states_[link].deaths;
    states_[link].is_dark = states_[link].is_dark || fault.carrier_goes;
  }
  Change change = change_of(fault.links);
  change.begun.push_back(number);
  notice(std::move(change), fault.carrier_goes, now);
  if (fault.until.is_never()) return;
  nodes_.engine().at(now + (fault.until - fault.at), [this, number](Instant then) { end_death(number, then); });
}

void LinkControl::end_death(uint32_t fault, Instant now) {
  const auto found = std::ranges::find(open_, fault, &Open::fault);
  if (found == open_.end()) return;
  incidents_.add(IncidentOf::kLinks, now,
                 fault_text(testbed_.fabric, {.links = found->links, .kind = found->kind}, false));
  set_dead(found->ports, false);
  const std::vector<uint32_t> links = found->links;
  const bool was_dark = std::ranges::any_of(links, [this](uint32_t link) { return states_[link].is_dark; });
  for (const uint32_t link : links) {
    if (--states_[link].deaths == 0) states_[link].is_dark = false;  // repair() takes links out of the fault
  }
  open_.erase(found);
  Change change = change_of(links);
  losses_.ended(fault, now);
  change.ended = {fault};
  notice(std::move(change), was_dark, now);
}

// Routes leave first, and the links after them.
void LinkControl::drain(const Fault& fault, Instant now) {
  const uint32_t number = open(fault, fault_text(testbed_.fabric, fault, true), now);
  for (const uint32_t link : fault.links) states_[link].drained = true;
  // Nobody has to detect it.
  detect(change_of(fault.links), now, [this, number, after = fault.links_after](Instant then) {
    losses_.converged(number, then);
    if (!after) return;
    nodes_.engine().at(then + *after, [this, number](Instant later) { go_down_drained(number, later); });
  });
}

void LinkControl::go_down_drained(uint32_t fault, Instant now) {
  const auto found = std::ranges::find(open_, fault, &Open::fault);
  if (found == open_.end()) return;  // it is over
  for (const uint32_t link : found->links) states_[link].asked = false;
  set_carriers(found->links, false, now);
  incidents_.add(IncidentOf::kLinks, now, links_text(testbed_.fabric, found->links) + " down, drained");
  notice(change_of(found->links), true, now);
}

// Whatever these links had. One whose end outside has no carrier, or whose switch has shut it, stays down.
void LinkControl::repair(const std::vector<uint32_t>& links, Instant now) {
  std::vector<uint32_t> working;
  std::vector<uint32_t> up_again;
  bool by_signal = false;
  for (const uint32_t link : links) {
    LinkState& state = states_[link];
    if (state.works()) continue;
    by_signal = by_signal || !state.up || state.is_dark || state.drained;
    if (!state.up && state.should_be_up()) {
      state.up = true;
      up_again.push_back(link);
    }
    for (const LinkEnd end : {testbed_.fabric.links[link].a, testbed_.fabric.links[link].b}) {
      if (dead_.erase(end) != 0) set_dead({end}, false);  // however many faults it had
    }
    state.drained = state.is_dark = false;
    state.deaths = 0;
    if (state.up) working.push_back(link);
  }
  set_carriers(up_again, true, now);
  reopen(working, by_signal, now);
}

// Links that work again, or lack one of their faults.
void LinkControl::reopen(const std::vector<uint32_t>& links, bool by_signal, Instant now) {
  std::vector<uint32_t> changed = links;
  std::ranges::sort(changed);
  if (!changed.empty()) incidents_.add(IncidentOf::kLinks, now, fault_text(testbed_.fabric, changed, true));
  Change change = change_of(changed);
  change.ended = close_faults(now);
  notice(std::move(change), by_signal, now);
}

bool LinkControl::has_fault(uint32_t link, FaultKind kind) const {
  const LinkState& state = states_[link];
  switch (kind) {
    case FaultKind::kDown: return !state.up;
    case FaultKind::kOneWay:
    case FaultKind::kDead: return state.deaths > 0;
    case FaultKind::kDrained: return state.drained;
    default: return false;
  }
}

std::vector<uint32_t> LinkControl::close_faults(Instant now) {
  std::vector<uint32_t> out;
  std::erase_if(open_, [&](Open& each) {
    const auto has_it_still = [&](uint32_t link) { return has_fault(link, each.kind); };
    std::erase_if(each.links, std::not_fn(has_it_still));
    std::erase_if(each.ports, [&](LinkEnd end) { return !has_it_still(testbed_.fabric.port(end).link); });
    if (!each.links.empty()) return false;
    losses_.ended(each.fault, now);
    out.push_back(each.fault);
    return true;
  });
  return out;
}

void LinkControl::set_dead(const std::vector<LinkEnd>& ports, bool dead) {
  for (const LinkEnd port : ports) {
    uint32_t& faults = dead_[port];
    faults = dead ? faults + 1 : std::max(faults, 1U) - 1;
    if (dataplane::Transmitter* const sender = nodes_.transmitter_at(port)) sender->set_dead(faults > 0);
    if (faults == 0) dead_.erase(port);
  }
}

// How long a state must last until routing takes notice; none: it never does.
std::optional<Duration> LinkControl::detection_of(bool by_signal) const {
  if (!testbed_.detection) return by_signal ? std::optional(Duration{}) : std::nullopt;
  const auto& signal = testbed_.detection->loss_of_signal;
  const auto& hellos = testbed_.detection->hellos;
  if (!by_signal || !signal) return hellos;
  return hellos ? std::min(*signal, *hellos) : *signal;
}

void LinkControl::notice(Change change, bool by_signal, Instant now) {
  if (see_change_) see_change_(now);
  const auto after = detection_of(by_signal);
  if (!after) {
    for (const uint32_t fault : change.ended) restore(fault, now);
    return;
  }
  if (after->count_ps() == 0) return detect(change, now);
  nodes_.engine().at(now + *after, [this, change = std::move(change)](Instant then) { detect(change, then); });
}

// Detects a state that has lasted; links that have changed since are another detection's.
void LinkControl::detect(const Change& change, Instant now, RouteWaves::Done followed) {
  std::vector<uint32_t> links;
  const bool by_hellos = testbed_.detection && testbed_.detection->hellos;
  for (size_t i = 0; i < change.links.size(); ++i) {
    const uint32_t link = change.links[i];
    LinkState& state = states_[link];
    const LinkState::Use visible = state.visible(by_hellos);
    if (state.changes != change.changes[i] || state.noticed == visible) continue;
    state.noticed = visible;
    links.push_back(link);
  }
  show_to_routes(links, now);
  if (links.empty()) {
    for (const uint32_t fault : change.ended) restore(fault, now);
    if (followed) followed(now);
    return;
  }
  if (testbed_.detection) {
    for (const uint32_t fault : change.begun) losses_.detected(fault, now);
  }
  losses_.set_links(routed_.last_resort, now);
  waves_.follow(links, now,
                [this, begun = change.begun, ended = change.ended, followed = std::move(followed)](Instant then) {
                  for (const uint32_t fault : begun) losses_.converged(fault, then);
                  for (const uint32_t fault : ended) restore(fault, then);
                  if (followed) followed(then);
                });
}

void LinkControl::use_profile(uint32_t node, uint32_t profile, Instant now) {
  incidents_.add(IncidentOf::kLinks, now, fault_text(testbed_, {.node = node, .profile = profile}));
  compiler_.use_profile(node, profile);
  waves_.publish_again(node, now);
}

bool LinkControl::use_engineered(uint32_t node, std::vector<control::Override> overrides, Instant now) {
  if (!compiler_.use_engineered(node, std::move(overrides))) return false;
  waves_.publish_again(node, now);
  return true;
}

}  // namespace softspine::testbeds
