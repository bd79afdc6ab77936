// SPDX-License-Identifier: Apache-2.0
#include "analysis/storm/counted_roots.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

namespace softspine::analysis::storm {

namespace {

// Too much for two readings of one link: by more than a tenth and 2.
bool differ(uint64_t a, uint64_t b) {
  const uint64_t most = std::max(a, b);
  return most - std::min(a, b) > 2 + most / 10;
}

// Each pause that began was one frame at least.
uint64_t asked_of(const PauseCounts& counts) {
  return std::max(counts.rx_frames.value_or(0), counts.rx_times.value_or(0));
}

class CountJudge {
 public:
  CountJudge(const CountedFabric& fabric, uint32_t priority) : fabric_(fabric), priority_(priority) {}

  bool has_pauses() const {
    return std::ranges::any_of(fabric_.nodes, [this](const CountedNode& it) { return asked(it) + was_asked(it) > 0; });
  }

  // Only if every pause frame that was received came from the root. Else a node that was not read sent some.
  // Empty: it is so; else why not, as a sentence.
  std::string hidden_sender(const std::string& root) const {
    uint64_t sent = 0;
    uint64_t received = 0;
    for (const CountedNode& node : fabric_.nodes) {
      if (node.name == root && was_asked(node) > 0) return root + " was asked to pause, by a node that was not read";
      sent += asked(node);
      received += was_asked(node);
    }
    if (received <= sent && !differ(sent, received)) return "";
    return fmt::format(
        "pause frames of {}: {} were sent by what was read, {} received: the other ends of some links "
        "were not read, or were read at another time",
        name_of_class(priority_), sent, received);
  }

  CountedSuspect judge(const CountedNode& node) const {
    CountedSuspect out{
        .node = node.name, .priority = priority_, .why = "", .asked = asked(node), .was_asked = was_asked(node)};
    const std::string gap = what_is_not_counted(node);
    if (out.asked == 0) {
      out.suspicion = gap.empty() ? Suspicion::kCannot : Suspicion::kUnknown;
      out.why = gap.empty() ? "asked nobody to pause" : gap;
      return out;
    }
    if (node.is_host) {
      out.suspicion = Suspicion::kCan;
      out.why = node.is_read ? "a host: nothing is behind it" : "a host, by what its neighbour counted";
      return out;
    }
    if (!gap.empty()) {
      out.why = gap;
      return out;
    }
    for (const auto& [port, counts] : node.ports) {
      if (counts[priority_].tx_frames.value_or(0) == 0) continue;
      if (cause_of(node, port).empty()) {
        out.suspicion = Suspicion::kCan;
        out.why = fmt::format("asked by {}, and was not paused at any other port", port);
        return out;
      }
      out.why = fmt::format("was paused at {} as well: it may only pass that on, or be congested besides",
                            cause_of(node, port));
    }
    return out;
  }

  // The root, if no other node can be it.
  static std::string root(const std::vector<CountedSuspect>& suspects) {
    const auto others =
        std::ranges::count_if(suspects, [](const CountedSuspect& it) { return it.suspicion != Suspicion::kCannot; });
    return others == 1 && suspects.front().suspicion == Suspicion::kCan ? suspects.front().node : "";
  }

 private:
  uint64_t asked(const CountedNode& node) const {
    uint64_t sum = 0;
    for (const auto& [port, counts] : node.ports) sum += counts[priority_].tx_frames.value_or(0);
    return sum;
  }
  uint64_t was_asked(const CountedNode& node) const {
    uint64_t sum = 0;
    for (const auto& [port, counts] : node.ports) sum += asked_of(counts[priority_]);
    return sum;
  }
  // Empty: all is.
  std::string what_is_not_counted(const CountedNode& node) const {
    for (const auto& [port, counts] : node.ports) {
      const PauseCounts& it = counts[priority_];
      if (!it.tx_frames || !it.rx_frames)
        return fmt::format("{} does not count both ways {}", port,
                           priority_ == kWholeLink ? "for link-level PAUSE" : "at this priority");
    }
    if (node.known_ports == 0) return node.is_host ? "" : "how many ports it has is not known";
    if (node.ports.size() >= node.known_ports) return "";
    return fmt::format("{} of its {} ports are counted", node.ports.size(), node.known_ports);
  }
  // The port, another than `asking`, at which it was paused itself.
  std::string cause_of(const CountedNode& node, const std::string& asking) const {
    for (const auto& [port, counts] : node.ports) {
      if (port != asking && asked_of(counts[priority_]) > 0) return port;
    }
    return "";
  }

  const CountedFabric& fabric_;
  uint32_t priority_;
};

const PortCounts* counts_of(const CountedFabric& fabric, const std::string& port) {
  const size_t colon = port.rfind(':');
  const auto node = std::ranges::find(fabric.nodes, port.substr(0, colon), &CountedNode::name);
  if (node == fabric.nodes.end()) return nullptr;
  const auto it = node->ports.find(port.substr(colon + 1));
  return it == node->ports.end() ? nullptr : &it->second;
}

// Compares the frames that one end sent with those that the other received.
void compare_ends(const CountedFabric& fabric, CountedVerdict& out) {
  for (const auto& [from, to] : fabric.peers) {
    const PortCounts* sender = counts_of(fabric, from);
    const PortCounts* receiver = counts_of(fabric, to);
    if (sender == nullptr || receiver == nullptr) continue;
    for (uint32_t i = 0; i < kCountedClasses; ++i) {
      const auto& sent = (*sender)[i].tx_frames;
      const auto& received = (*receiver)[i].rx_frames;
      if (!sent || !received) continue;
      if (!differ(*sent, *received)) continue;
      out.notes.push_back(
          fmt::format("{} sent {} pause frames of {}, {} received {}: read at other times, or "
                      "they are not neighbours",
                      from, *sent, name_of_class(i), to, *received));
    }
  }
}

// Frames that left one end arrived at the other.
PortCounts seen_from_the_other_end(const PortCounts& other) {
  PortCounts out;
  for (uint32_t i = 0; i < kCountedClasses; ++i) {
    out[i] = {
        .tx_frames = other[i].rx_frames, .rx_frames = other[i].tx_frames, .rx_times = {}, .tx_us = {}, .rx_us = {}};
  }
  return out;
}

// With what the other ends of their links counted, in place of ports that were not read.
CountedFabric with_other_ends(const CountedFabric& fabric) {
  CountedFabric out = fabric;
  for (const auto& [port, peer] : fabric.peers) {
    const PortCounts* other = counts_of(fabric, peer);
    if (other == nullptr || counts_of(fabric, port) != nullptr) continue;
    const size_t colon = port.rfind(':');
    const auto node = std::ranges::find(out.nodes, port.substr(0, colon), &CountedNode::name);
    if (node != out.nodes.end()) node->ports.emplace(port.substr(colon + 1), seen_from_the_other_end(*other));
  }
  return out;
}

// The one that it must be, as the report names it; or a note on why it need not be.
void name_root(const CountedFabric& fabric, const CountJudge& judge, const std::vector<CountedSuspect>& suspects,
               CountedVerdict& out) {
  const std::string root = CountJudge::root(suspects);
  if (root.empty() || !out.unread.empty()) return;
  const std::string hidden = fabric.peers.empty() ? judge.hidden_sender(root) : "";
  if (hidden.empty()) {
    out.roots.push_back(fmt::format("{}, {}", root, name_of_class(suspects.front().priority)));
  } else {
    out.notes.push_back(hidden);
  }
}

}  // namespace

CountedVerdict judge_counts(const CountedFabric& read) {
  CountedVerdict out;
  compare_ends(read, out);
  const bool do_ends_agree = out.notes.empty();
  const CountedFabric fabric = with_other_ends(read);
  for (const CountedNode& node : fabric.nodes) {
    if (node.ports.empty()) out.unread.push_back(node.name);
  }
  for (uint32_t priority = 0; priority < kCountedClasses; ++priority) {
    const CountJudge judge{fabric, priority};
    if (!judge.has_pauses()) continue;
    std::vector<CountedSuspect> suspects;
    for (const CountedNode& node : fabric.nodes) {
      if (!node.ports.empty()) suspects.push_back(judge.judge(node));
    }
    std::ranges::stable_sort(suspects, [](const CountedSuspect& a, const CountedSuspect& b) {
      return std::tuple{b.suspicion, b.asked} < std::tuple{a.suspicion, a.asked};
    });
    if (do_ends_agree) name_root(fabric, judge, suspects, out);
    out.suspects.insert(out.suspects.end(), suspects.begin(), suspects.end());
  }
  return out;
}

}  // namespace softspine::analysis::storm
