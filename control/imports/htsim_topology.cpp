// SPDX-License-Identifier: Apache-2.0
#include "control/imports/htsim_topology.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <string>
#include <utility>

#include "control/document/words.hpp"
#include "control/format/link_limits.hpp"
#include "control/generators/generators.hpp"
#include "control/imports/field_lines.hpp"

namespace softspine::control {
namespace {

constexpr uint64_t kMicrometresOfNs = 198'000;
constexpr size_t kMostTiers = 3;

struct HtsimTier {
  Field at;
  uint64_t gbps = 0;
  uint64_t down = 0;
  uint64_t up = 0;
  uint64_t latency_ns = 0;
  uint64_t switch_latency_ns = 0;
  uint64_t oversubscribed = 0;  // 0: not given
  uint64_t bundle = 1;
  uint64_t switches = 0;
};

class HtsimTopologyReader {
 public:
  HtsimTopologyReader(Reader& reader, const ImportFile& file, ForeignTopology& out)
      : errors_(file.path), log_(reader.log()), file_(file.path), lines_(file.text), out_(out) {}

  bool run() {
    for (std::vector<Field> line = lines_.next(); !line.empty(); line = lines_.next()) {
      if (!line[0].text.starts_with('#')) read_line(line);
    }
    if (!errors_.any() && check()) {
      make_nodes();
      make_links();
    }
    const bool good = !errors_.any();
    errors_.put_into(log_);
    return good;
  }

 private:
  bool fail(std::string_view kind, const Field& at, std::string message) {
    return errors_.fail(kind, at, std::move(message));
  }
  Place place_of(const Field& at) const { return {file_, "", at.line, at.column}; }

  void read_line(const std::vector<Field>& line) {
    const std::string_view key = line[0].text;
    uint64_t number = 0;
    if (!take(line, number)) return;
    if (key == "Nodes") return set(line[0], nodes_, number);
    if (key == "Tiers") return set(line[0], tier_count_, number);
    if (key == "Podsize") return set(line[0], podsize_, number);
    if (key == "Tier") return begin_tier(line[0], number);
    if (tier_ == nullptr) {
      fail("key", line[0], "expected Nodes, Tiers, Podsize or Tier, and here stands " + shown(key));
      return;
    }
    uint64_t* const value = value_of(key);
    if (value == nullptr) {
      fail("tier's key", line[0], shown(key) + " is not known of a tier");
    } else {
      *value = number;
    }
  }

  bool take(const std::vector<Field>& line, uint64_t& out) {
    if (line.size() != 2)
      return fail("line", line[0],
                  "a line is a key and a number, and here are " + std::to_string(line.size()) + " words");
    const std::string_view text = line[1].text;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
    return (error == std::errc{} && end == text.data() + text.size() && out <= UINT32_MAX) ||
           fail("number", line[1],
                "expected a number from 0 to " + std::to_string(UINT32_MAX) + ", and here stands " + shown(text));
  }
  void set(const Field& at, uint64_t& out, uint64_t number) {
    if (number == 0 || out != 0) {
      fail(at.text, at, number == 0 ? "is at least 1" : shown(at.text) + " stands here twice");
    } else {
      out = number;
    }
  }
  void begin_tier(const Field& at, uint64_t number) {
    if (number != tiers_read_ || number >= kMostTiers) {
      fail("tier", at,
           "expected Tier " + std::to_string(std::min<uint64_t>(tiers_read_, kMostTiers - 1)) + ", and here stands " +
               std::to_string(number));
      tier_ = &wrong_tier_;
      return;
    }
    tier_ = &tiers_[tiers_read_++];
    tier_->at = at;
  }
  uint64_t* value_of(std::string_view key) {
    if (key == "Downlink_speed_Gbps") return &tier_->gbps;
    if (key == "Radix_Down") return &tier_->down;
    if (key == "Radix_Up") return &tier_->up;
    if (key == "Downlink_Latency_ns") return &tier_->latency_ns;
    if (key == "Switch_Latency_ns") return &tier_->switch_latency_ns;
    if (key == "Oversubscribed") return &tier_->oversubscribed;
    if (key == "Bundle") return &tier_->bundle;
    return nullptr;
  }

  bool check() {
    const Field top{.line = 1, .column = 1};
    if (nodes_ == 0 || podsize_ == 0) return fail("missing", top, "needs Nodes and Podsize");
    if (tier_count_ < 2 || tier_count_ > kMostTiers) return fail("tiers", top, "Tiers is 2 or 3");
    if (tiers_read_ != tier_count_)
      return fail("tiers", top,
                  "Tiers is " + std::to_string(tier_count_) + ", and here are " + std::to_string(tiers_read_));
    if (nodes_ > kMaxNodes) return fail("nodes", top, "has more than " + std::to_string(kMaxNodes) + " nodes");
    if (nodes_ % podsize_ != 0) return fail("pods", top, "Nodes is no multiple of Podsize");
    if (tier_count_ == 2 && podsize_ != nodes_) return fail("pods", top, "two tiers are one pod: Podsize is Nodes");
    for (size_t i = 0; i < tier_count_; ++i) {
      if (!check_tier(i)) return false;
    }
    return count_switches();
  }

  bool check_tier(size_t number) {
    const HtsimTier& tier = tiers_[number];
    const bool is_top = number + 1 == tier_count_;
    if (tier.down == 0 || tier.bundle == 0 || (!is_top && tier.up == 0))
      return fail("radix", tier.at, "needs Radix_Down, Radix_Up below the top, and a Bundle of 1 at least");
    if (!is_top && tier.up > kMaxLinks) return fail("radix", tier.at, "Radix_Up is more than a testbed has links");
    if (number == 0 && tier.bundle != 1) return fail("bundle", tier.at, "a host has one link: Bundle is 1");
    const dataplane::Rate rate = dataplane::Rate::bps(tier.gbps * 1'000'000'000);
    if (tier.gbps > 100'000 || rate < kLeastLinkRate || rate > kMaxLinkRate)
      return fail("rate", tier.at, "has no rate that a link can have: Downlink_speed_Gbps");
    if (tier.latency_ns * kMicrometresOfNs > kMaxLinkLength.micrometres)
      return fail("latency", tier.at, "Downlink_Latency_ns is longer than a link's");
    if (!is_top && tier.oversubscribed != 0 && !is_oversubscribed(number))
      return fail("oversubscribed", tier.at, "Oversubscribed is not what its radixes and rates make");
    if (tier.switch_latency_ns != 0)
      out_.notes.push_back({file_, "", tier.at.line, tier.at.column,
                            "Switch_Latency_ns is not taken over: switches here take no time but a frame's"});
    return true;
  }
  bool is_oversubscribed(size_t number) const {
    const HtsimTier& tier = tiers_[number];
    return tier.down * tier.gbps == tier.oversubscribed * tier.up * tiers_[number + 1].gbps;
  }

  bool divides(const HtsimTier& tier, uint64_t by, uint64_t number, const std::string& what) {
    return (by != 0 && number % by == 0 && number >= by) || fail("division", tier.at, what);
  }

  bool count_switches() {
    HtsimTier& tors = tiers_[0];
    HtsimTier& second = tiers_[1];
    HtsimTier& cores = tiers_[2];
    if (!divides(tors, tors.down, podsize_, "Podsize is no multiple of its Radix_Down") ||
        !divides(second, second.bundle, tors.up, "the Radix_Up of Tier 0 is no multiple of its Bundle"))
      return false;
    tors.switches = nodes_ / tors.down;
    pods_ = nodes_ / podsize_;
    tors_a_pod_ = podsize_ / tors.down;
    second_a_pod_ = tors.up / second.bundle;
    second.switches = second_a_pod_ * pods_;
    if (second.down != tors_a_pod_ * second.bundle)
      return fail("down", second.at,
                  "its Radix_Down is " + std::to_string(second.down) + ", and below it are " +
                      std::to_string(tors_a_pod_) + " ToRs by " + std::to_string(second.bundle) + " links each");
    if (tier_count_ == 2) return has_room();
    if (!divides(cores, cores.bundle, second.up, "the Radix_Up of Tier 1 is no multiple of its Bundle")) return false;
    cores.switches = second_a_pod_ * (second.up / cores.bundle);
    return (cores.down == pods_ * cores.bundle ||
            fail("down", cores.at,
                 "its Radix_Down is " + std::to_string(cores.down) + ", and below it are " + std::to_string(pods_) +
                     " pods by " + std::to_string(cores.bundle) + " links each")) &&
           has_room();
  }
  bool has_room() {
    uint64_t switches = 0;
    for (const HtsimTier& tier : tiers_) switches += tier.switches;
    const uint64_t links =
        nodes_ + tiers_[0].switches * tiers_[0].up + (tier_count_ == 3 ? tiers_[1].switches * tiers_[1].up : 0);
    return (nodes_ + switches <= kMaxNodes && links <= kMaxLinks) ||
           fail("size", tiers_[0].at, "has more nodes or links than a testbed can have");
  }

  void make_nodes() {
    const auto add = [&](const std::string& what, uint64_t count, NodeUse use, const Field& at) {
      for (uint64_t i = 0; i < count; ++i)
        out_.nodes.push_back({.name = what + std::to_string(i), .use = use, .place = place_of(at)});
    };
    add("h", nodes_, NodeUse::kHost, tiers_[0].at);
    add("tor", tiers_[0].switches, NodeUse::kTor, tiers_[0].at);
    add("agg", tiers_[1].switches, NodeUse::kAggregation, tiers_[1].at);
    add("core", tiers_[2].switches, NodeUse::kCore, tiers_[2].at);
  }

  void join(uint64_t lower, uint64_t upper, const HtsimTier& tier) {
    const uint64_t length = tier.latency_ns * kMicrometresOfNs;
    for (uint64_t i = 0; i < tier.bundle; ++i) {
      ForeignLink link{.place = place_of(tier.at)};
      link.a.node = static_cast<uint32_t>(lower);
      link.b.node = static_cast<uint32_t>(upper);
      link.rate = dataplane::Rate::bps(tier.gbps * 1'000'000'000);
      link.length = std::max(Length{length}, kLeastLinkLength);
      out_.links.push_back(std::move(link));
    }
  }

  void make_links() {
    const uint64_t first_tor = nodes_;
    const uint64_t first_second = first_tor + tiers_[0].switches;
    const uint64_t first_core = first_second + tiers_[1].switches;
    for (uint64_t host = 0; host < nodes_; ++host) join(host, first_tor + host / tiers_[0].down, tiers_[0]);
    for (uint64_t tor = 0; tor < tiers_[0].switches; ++tor) {
      const uint64_t pod = tor / tors_a_pod_;
      for (uint64_t i = 0; i < second_a_pod_; ++i)
        join(first_tor + tor, first_second + pod * second_a_pod_ + i, tiers_[1]);
    }
    if (tier_count_ == 2) return;
    for (uint64_t i = 0; i < tiers_[1].switches; ++i) {
      for (uint64_t up = 0; up < tiers_[1].up / tiers_[2].bundle; ++up)
        join(first_second + i, first_core + i % second_a_pod_ + up * second_a_pod_, tiers_[2]);
    }
  }

  ErrorsByKind errors_;
  ErrorLog& log_;
  std::string file_;
  FieldLines lines_;
  ForeignTopology& out_;
  uint64_t nodes_ = 0;
  uint64_t tier_count_ = 0;
  uint64_t podsize_ = 0;
  std::array<HtsimTier, kMostTiers> tiers_;
  size_t tiers_read_ = 0;
  HtsimTier* tier_ = nullptr;  // that lines are about
  HtsimTier wrong_tier_;
  uint64_t pods_ = 0;
  uint64_t tors_a_pod_ = 0;
  uint64_t second_a_pod_ = 0;
};

}  // namespace

bool read_htsim_topology(Reader& reader, const ImportFile& file, ForeignTopology& out) {
  return HtsimTopologyReader(reader, file, out).run();
}

}  // namespace softspine::control
