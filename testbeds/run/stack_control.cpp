// SPDX-License-Identifier: Apache-2.0
#include "testbeds/run/stack_control.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "testbeds/run/fault_text.hpp"

namespace softspine::testbeds {

using control::StackRole;
using control::StackState;
using dataplane::Duration;
using dataplane::Instant;

Instant next_keepalive(Instant now, Duration interval) {
  const int64_t whole = (now - Instant{}) / interval;
  const Instant last = Instant::at(whole * interval);
  return last == now ? now : last + interval;
}

Instant last_keepalive(Instant now, Duration interval) {
  if (now == Instant{}) return now;
  return next_keepalive(now, interval) - interval;
}

StackControl::StackControl(const control::Testbed& testbed, dataplane::Engine& engine, LinkControl& links,
                           Incidents& incidents)
    : testbed_(testbed), engine_(engine), links_(links), incidents_(incidents) {
  for (const control::Stack& stack : testbed.fabric.stacks) {
    Run run{.config = &stack, .members = {}};
    for (size_t i = 0; i < stack.switches.size(); ++i) {
      const uint32_t node = stack.switches[i];
      run.members[i] = {.node = node,
                        .host_links = host_links_of(stack, node),
                        .is = {.name = testbed.fabric.nodes[node].name,
                               .role = i == 0 ? StackRole::kPrimary : StackRole::kSecondary}};
    }
    runs_.push_back(std::move(run));
  }
  if (runs_.empty()) return;
  links.on_change([this](Instant now) {
    for (Run& run : runs_) look(run, now);
  });
}

std::vector<uint32_t> StackControl::host_links_of(const control::Stack& stack, uint32_t node) const {
  const control::Fabric& fabric = testbed_.fabric;
  const uint32_t other = stack.switches[0] == node ? stack.switches[1] : stack.switches[0];
  const auto is_at_other = [&](uint32_t host) {
    for (uint16_t p = 0; p < fabric.nodes[host].ports.size(); ++p) {
      if (fabric.peer_of({host, p}).node == other) return true;
    }
    return false;
  };
  std::vector<uint32_t> out;
  for (uint16_t p = 0; p < fabric.nodes[node].ports.size(); ++p) {
    const uint32_t peer = fabric.peer_of({node, p}).node;
    const bool is_host = fabric.nodes[peer].kind == control::NodeKind::kHost;
    if (is_host && is_at_other(peer)) out.push_back(fabric.nodes[node].ports[p].link);
  }
  std::ranges::sort(out);
  return out;
}

bool StackControl::any_link_asked(uint32_t node) const {
  return std::ranges::any_of(testbed_.fabric.nodes[node].ports,
                             [this](const control::FabricPort& port) { return links_.state(port.link).asked; });
}

void StackControl::look(Run& run, Instant now) {
  const auto is_usable = [this](uint32_t link) { return links_.state(link).use() != LinkState::Use::kNone; };
  const auto is_up = [this](uint32_t link) { return links_.up(link); };
  // In a peer link that is a LAG, min_links count.
  const auto any_peer_link = [&](const auto& is) {
    return std::ranges::any_of(run.config->peer_links, [&](uint32_t link) {
      const control::Lag* lag = testbed_.fabric.lag_of(testbed_.fabric.links[link].a);
      return lag == nullptr ? is(link) : lag->is_up(is);
    });
  };
  const std::array before{run.members[0].lives, run.members[1].lives};
  for (Member& member : run.members) member.lives = any_link_asked(member.node);
  const std::array lives{run.members[0].lives, run.members[1].lives};
  const bool passes = run.both_live() && any_peer_link(is_usable);
  if (passes == run.passes && lives == before) return;
  ++run.changes;
  run.passes = passes;
  for (size_t i = 0; i < lives.size(); ++i) {
    if (before[i] && !lives[i]) end_member(run, run.members[i], now);
    if (!before[i] && lives[i]) return_member(run, run.members[i], run.members[1 - i], now);
  }
  const control::Stack& config = *run.config;
  if (passes) return follow_with(run, &StackControl::receive_keepalive, next_keepalive(now, config.keepalive_interval));
  const bool dies_unseen = !run.lost && any_peer_link(is_up);
  const Instant lost = last_keepalive(now, config.keepalive_interval) + config.keepalive_timeout;
  follow_with(run, &StackControl::lose_peer, dies_unseen ? lost : now);
}

void StackControl::end_member(const Run& run, Member& member, Instant now) {
  member.is.state = StackState::kDown;
  links_.set_shut(member.host_links, true, {}, now);
  tell(run, member.is.name + " is down", now);
}

// One that returns with the other one, or alone, is what it was.
void StackControl::return_member(const Run& run, Member& member, const Member& other, Instant now) {
  const bool other_was_there = other.is.state != StackState::kDown && other.is.state != StackState::kRestoring;
  if (other_was_there) member.is.role = StackRole::kSecondary;
  member.is.state = StackState::kRestoring;
  tell(run, fmt::format("{} is back, as the {}", member.is.name, name_of(member.is.role)), now);
}

void StackControl::follow_with(Run& run, Step step, Instant at) {
  const auto act = [this, &run, step, changes = run.changes](Instant now) {
    if (run.changes == changes) (this->*step)(run, now);
  };
  engine_.at(at, act);
}

void StackControl::lose_peer(Run& run, Instant now) {
  if (!run.lost) {
    run.lost = true;
    ++run.peer_losses;
    tell(run, "the peer link is lost", now);
    use_peer_links(run, false, now);
  }
  const control::Stack& config = *run.config;
  const Instant listens = now + config.hold_timeout;
  if (config.management && run.both_live()) {
    follow_with(run, &StackControl::disable_secondary, next_keepalive(listens, config.keepalive_interval));
  } else {
    follow_with(run, &StackControl::go_on_alone, listens + config.keepalive_timeout);
  }
}

void StackControl::disable_secondary(Run& run, Instant now) {
  agree_on_roles(run);
  for (Member& member : run.members) {
    if (member.is.role == StackRole::kPrimary) {
      member.is.state = StackState::kAlone;
      links_.set_shut(member.host_links, false, {}, now);
    } else if (member.is.state != StackState::kDisabled) {
      member.is.state = StackState::kDisabled;
      ++member.is.disables;
      tell(run, member.is.name + " shuts its ports to hosts: the peer link is lost, and the primary lives", now);
      links_.set_shut(member.host_links, true,
                      fmt::format("{} shut by {}", links_text(testbed_.fabric, member.host_links), member.is.name),
                      now);
    }
  }
}

void StackControl::go_on_alone(Run& run, Instant now) {
  for (size_t i = 0; i < run.members.size(); ++i) {
    Member& member = run.members[i];
    if (!member.lives) continue;
    const bool takes_over = member.is.role == StackRole::kSecondary;
    if (takes_over) {
      ++member.is.takeovers;
      const Member& other = run.members[1 - i];
      if (other.lives && other.is.role == StackRole::kPrimary) ++run.split_brains;
      member.is.role = StackRole::kPrimary;
    }
    if (takes_over || member.is.state != StackState::kAlone) {
      tell(run, fmt::format("{} goes on alone, as the primary", member.is.name), now);
    }
    member.is.state = StackState::kAlone;
    links_.set_shut(member.host_links, false, {}, now);
  }
}

void StackControl::receive_keepalive(Run& run, Instant now) {
  agree_on_roles(run);
  if (run.lost) {
    run.lost = false;
    tell(run, "keepalives pass the peer link again", now);
    use_peer_links(run, true, now);
  }
  bool any_shut = false;
  for (Member& member : run.members) {
    if (member.is.state == StackState::kAlone) member.is.state = StackState::kActive;
    if (member.is.state == StackState::kDisabled) member.is.state = StackState::kRestoring;
    any_shut = any_shut || member.is.state == StackState::kRestoring;
  }
  if (any_shut) follow_with(run, &StackControl::restore, now + run.config->delay_restore);
}

void StackControl::restore(Run& run, Instant now) {
  for (Member& member : run.members) {
    if (member.is.state != StackState::kRestoring) continue;
    member.is.state = StackState::kActive;
    tell(run, member.is.name + " opens its ports to hosts", now);
    links_.set_shut(member.host_links, false, {}, now);
  }
}

// Both see each other: the one that is configured so is the primary, unless the other one alone is.
void StackControl::agree_on_roles(Run& run) {
  if (run.members[0].is.role != run.members[1].is.role) return;
  run.members[0].is.role = StackRole::kPrimary;
  run.members[1].is.role = StackRole::kSecondary;
}

void StackControl::use_peer_links(const Run& run, bool use, Instant now) {
  links_.set_unused(run.config->peer_links, &LinkState::peer_lost, !use, now);
}

void StackControl::tell(const Run& run, const std::string& what, Instant now) {
  incidents_.add(IncidentOf::kStacks, now, "stack " + run.config->name + ": " + what);
}

void StackControl::snapshot(control::FabricSnapshot& out) {
  for (const Run& run : runs_) {
    out.stacks.push_back({.name = run.config->name,
                          .members = {run.members[0].is, run.members[1].is},
                          .peers = !run.lost,
                          .peer_losses = run.peer_losses,
                          .split_brains = run.split_brains});
  }
}

}  // namespace softspine::testbeds
