// SPDX-License-Identifier: Apache-2.0
#include "control/topology/stacks.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "control/document/words.hpp"
#include "control/format/quantity.hpp"

namespace softspine::control {
namespace {

using StackItem = Named<StackRow>::Item;

class Stacks {
 public:
  Stacks(Reader& reader, Expanded& out) : reader_(reader), fabric_(out.fabric) {
    for (uint32_t n = 0; n < fabric_.nodes.size(); ++n) {
      by_name_.emplace(fabric_.nodes[n].name, n);
      if (fabric_.nodes[n].role == Role::kTor) tors_.push_back(fabric_.nodes[n].name);
    }
  }

  void add(const StackItem& item) {
    const StackRow& row = item.value;
    if (row.switches.size() != 2) return;  // its table has complained
    const std::vector<Value> places = row.where.child("switches").each();
    Stack stack{.name = item.name,
                .management = row.management,
                .keepalive_interval = row.keepalive_interval,
                .keepalive_timeout = row.keepalive_timeout,
                .hold_timeout = row.hold_timeout,
                .delay_restore = row.delay_restore};
    bool good = true;
    for (size_t i = 0; i < 2; ++i) {
      const auto found = tor_named(row.switches[i], places[i]);
      good = found && is_free(*found, item, places[i]) && good;
      stack.switches[i] = found.value_or(kNone);
    }
    if (!good || !choose_primary(row, stack)) return;
    stack.peer_links = links_between(stack.switches[0], stack.switches[1]);
    if (stack.peer_links.empty()) {
      reader_.fail(row.where.child("switches"), "no link joins " + row.switches[0] + " and " + row.switches[1] +
                                                    ": a stack needs a peer link (topology: links)");
      return;
    }
    find_single_ports(row, stack);
    fabric_.stacks.push_back(std::move(stack));
  }

 private:
  std::optional<uint32_t> tor_named(const std::string& name, Value where) {
    if (reader_.is_invalid(where)) return std::nullopt;
    const auto found = by_name_.find(name);
    if (found == by_name_.end()) {
      reader_.fail(where, "there is no ToR " + shown(name) + reader_.guess(name, tors_));
      return std::nullopt;
    }
    const FabricNode& node = fabric_.nodes[found->second];
    if (node.role == Role::kTor) return found->second;
    const std::string_view is = node.kind == NodeKind::kHost ? kHostWord : row_of(node.role)->word;
    reader_.fail(where, "a stack is two ToRs, and the role of " + name + " is " + std::string(is));
    return std::nullopt;
  }

  bool is_free(uint32_t node, const StackItem& item, Value where) {
    const auto [other, is_new] = stack_of_.emplace(node, &item);
    if (is_new) return true;
    const std::string& name = fabric_.nodes[node].name;
    if (other->second == &item) return reader_.fail(where, "a stack is two ToRs, and both are " + name);
    return reader_.fail(where, name + " is in the stack " + other->second->name + " in line " +
                                   std::to_string(other->second->key.at().line) + " already");
  }

  bool choose_primary(const StackRow& row, Stack& stack) {
    if (!row.primary || *row.primary == row.switches[0]) return true;
    if (*row.primary != row.switches[1]) {
      return reader_.fail(row.where.child("primary"),
                          shown(*row.primary) + " is neither " + row.switches[0] + " nor " + row.switches[1]);
    }
    std::swap(stack.switches[0], stack.switches[1]);
    return true;
  }

  std::vector<uint32_t> links_between(uint32_t a, uint32_t b) const {
    std::vector<uint32_t> out;
    for (uint16_t p = 0; p < fabric_.nodes[a].ports.size(); ++p) {
      const uint32_t link = fabric_.nodes[a].ports[p].link;
      if (link != kNone && fabric_.peer_of({a, p}).node == b) out.push_back(link);
    }
    std::ranges::sort(out);
    return out;
  }

  void find_single_ports(const StackRow& row, const Stack& stack) {
    std::map<uint32_t, uint32_t> members_of;  // by host
    for (const uint32_t member : stack.switches) {
      for (uint16_t p = 0; p < fabric_.nodes[member].ports.size(); ++p) {
        if (fabric_.nodes[member].ports[p].link == kNone) continue;
        const uint32_t peer = fabric_.peer_of({member, p}).node;
        if (fabric_.nodes[peer].kind == NodeKind::kHost) members_of[peer] |= member == stack.switches[0] ? 1U : 2U;
      }
    }
    constexpr uint32_t kBoth = 3;
    const auto is_single = [](const auto& each) { return each.second != kBoth; };
    const auto singles = std::ranges::count_if(members_of, is_single);
    if (singles == static_cast<int64_t>(members_of.size())) {
      reader_.warn(row.where, "has no effect on any host: none has a port at each of the two");
    } else if (singles > 0) {
      const auto first = std::ranges::find_if(members_of, is_single)->first;
      reader_.warn(row.where, fabric_.nodes[first].name +
                                  (singles == 1 ? " has" : " and " + std::to_string(singles - 1) + " more have") +
                                  " a port at one of the two alone: nothing replaces it");
    }
  }

  Reader& reader_;
  Fabric& fabric_;
  std::unordered_map<std::string_view, uint32_t> by_name_;
  std::vector<std::string_view> tors_;
  std::map<uint32_t, const StackItem*> stack_of_;  // by switch
};

}  // namespace

void stack_switches(Reader& reader, const TestbedRow& row, Expanded& out) {
  if (!row.topology || row.topology->stacks.items.empty()) return;
  Stacks stacks(reader, out);
  for (const auto& item : row.topology->stacks.items) stacks.add(item);
}

void find_slow_stacks(Reader& reader, const TestbedRow& row, const Testbed& testbed) {
  if (!row.topology) return;
  for (const auto& item : row.topology->stacks.items) {
    const dataplane::Duration takes = item.value.hold_timeout + item.value.keepalive_timeout;
    if (takes < testbed.run.duration) continue;
    const auto printed = [](dataplane::Duration time) { return print_quantity(time.count_ps(), kDurationQuantity); };
    reader.warn(item.value.where, "may do nothing before the run ends, after " + printed(testbed.run.duration) +
                                      ": hold_timeout and keepalive_timeout are " + printed(takes));
  }
}

}  // namespace softspine::control
