// SPDX-License-Identifier: Apache-2.0
#include "testbeds/run/link_control.hpp"

#include <utility>

#include "testbeds/run/fault_text.hpp"

namespace softspine::testbeds {

using dataplane::Instant;

LinkControl::LinkControl(const control::Testbed& testbed, control::Compiler& compiler, Assembly& assembly)
    : testbed_(testbed), compiler_(compiler), assembly_(assembly), up_(testbed.fabric.links.size(), true) {}

void LinkControl::start() {
  routes_ = compiler_.routes(up_);
  for (uint32_t n = 0; n < routes_->size(); ++n) {
    if (assembly_.switches[n] != nullptr) assembly_.switches[n]->publish(compiler_.compile(n, routes(n)), Instant{});
  }
  for (const control::Fault& fault : testbed_.faults) {
    assembly_.engine->at(fault.at, [this, &fault](Instant now) {
      if (fault.profile) return use_profile(fault.profile->node, fault.profile->profile, now);
      set(fault.links, fault.up, now);
    });
  }
}

void LinkControl::set(const std::vector<uint32_t>& links, bool up, Instant now) {
  std::vector<uint32_t> changed;
  for (const uint32_t link : links) {
    if (up_[link] == up) continue;
    up_[link] = up;
    assembly_.engine->set_link(assembly_.port_ref(testbed_.fabric.links[link].a), up, now);
    changed.push_back(link);
  }
  if (changed.empty()) return;
  struck_.push_back({now, fault_text(testbed_.fabric, changed, up)});
  if (testbed_.convergence.count_ps() == 0) return follow(now);
  assembly_.engine->at(now + testbed_.convergence, [this](Instant later) { follow(later); });
}

void LinkControl::use_profile(uint32_t node, uint32_t profile, Instant now) {
  struck_.push_back({now, fault_text(testbed_, {.node = node, .profile = profile})});
  compiler_.use_profile(node, profile);
  assembly_.switches[node]->publish(compiler_.compile(node, routes(node)), now);
}

void LinkControl::follow(Instant now) {
  auto now_there = compiler_.routes(up_);
  for (uint32_t n = 0; n < now_there->size(); ++n) {
    if (assembly_.switches[n] == nullptr || (*now_there)[n] == routes(n)) continue;
    assembly_.switches[n]->publish(compiler_.compile(n, (*now_there)[n]), now);
    followed_.push_back({now, n});
  }
  routes_ = std::move(now_there);
}

}  // namespace softspine::testbeds
