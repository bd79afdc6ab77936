// SPDX-License-Identifier: Apache-2.0
#include "analysis/identify/probes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "control/model/address.hpp"
#include "dataplane/units/rng.hpp"

namespace softspine::analysis {

namespace dp = dataplane;

namespace {

constexpr size_t kCandidates = 2'048;
constexpr size_t kClassesCompared = 32;

enum class Kind : uint8_t { kTcp, kUdp, kRoce };

Flow::Address address_in(const AddressRange& range, bool is_ipv6, dp::Rng& rng) {
  Flow::Address out = range.base;
  for (uint32_t bit = range.prefix_bits; bit < (is_ipv6 ? 128U : 32U); ++bit) {
    const auto mask = static_cast<uint8_t>(0x80 >> bit % 8);
    out[bit / 8] = static_cast<uint8_t>((out[bit / 8] & ~mask) | (rng.below(2) != 0 ? mask : 0));
  }
  return out;
}

uint16_t some_port(dp::Rng& rng) {
  return static_cast<uint16_t>(5'000 + rng.below(60'000));
}

// Adapters send RoCEv2 from these alone.
constexpr uint16_t kFirstRocePort = 0xc000;
uint16_t roce_port(dp::Rng& rng) {
  return static_cast<uint16_t>(kFirstRocePort + rng.below(0x10000 - kFirstRocePort));
}

std::string text_of(const Flow& flow, const Flow::Address& address) {
  return flow.is_ipv6 ? to_string(control::Ipv6Address{address})
                      : to_string(control::Ipv4Address{dp::load32(address.data())});
}

Flow random_flow(const ProbeRanges& ranges, dp::Rng& rng, Kind kind) {
  Flow out;
  out.source = address_in(ranges.sources, false, rng);
  out.destination = address_in(ranges.destinations, false, rng);
  out.protocol = kind == Kind::kTcp ? dp::ip::kTcp : dp::ip::kUdp;
  out.source_port = kind == Kind::kRoce ? roce_port(rng) : some_port(rng);
  out.destination_port = kind == Kind::kRoce ? dp::udp::kRoceV2Port : some_port(rng);
  if (kind != Kind::kRoce) return out;
  out.qp = static_cast<uint32_t>(16 + rng.below((1 << 24) - 16));
  out.opcode = dp::bth::kWriteOnly;
  return out;
}

Flow varied(Flow flow, FlowPart part, const ProbeRanges& ranges, dp::Rng& rng) {
  switch (part) {
    case FlowPart::kSource: flow.source = address_in(ranges.sources, false, rng); break;
    case FlowPart::kDestination: flow.destination = address_in(ranges.destinations, false, rng); break;
    case FlowPart::kSourcePort: flow.source_port = some_port(rng); break;
    case FlowPart::kDestinationPort: flow.destination_port = some_port(rng); break;
    case FlowPart::kQp: flow.qp = static_cast<uint32_t>(16 + rng.below((1 << 24) - 16)); break;
    default: flow.protocol = flow.protocol == dp::ip::kTcp ? dp::ip::kUdp : dp::ip::kTcp; break;
  }
  return flow;
}

class FirstProbes {
 public:
  FirstProbes(size_t count, const ProbeRanges& ranges, uint64_t seed) : count_(count), ranges_(ranges), rng_(seed, 5) {}

  std::vector<Flow> make() && {
    const size_t each = std::max<size_t>(1, count_ / 16);
    const Flow plain = random_flow(ranges_, rng_, Kind::kTcp);
    const Flow roce = random_flow(ranges_, rng_, Kind::kRoce);
    add(plain);
    add(roce);
    for (size_t i = 0; i < each; ++i) {
      for (const FlowPart part :
           {FlowPart::kSource, FlowPart::kDestination, FlowPart::kSourcePort, FlowPart::kDestinationPort})
        add(varied(plain, part, ranges_, rng_));
      add(varied(roce, FlowPart::kQp, ranges_, rng_));
    }
    for (size_t i = 0; i < each / 2 + 1; ++i) {
      const Flow flow = random_flow(ranges_, rng_, Kind::kTcp);
      add(flow);
      add(varied(flow, FlowPart::kProtocol, ranges_, rng_));
    }
    while (out_.size() < count_) add(random_flow(ranges_, rng_, static_cast<Kind>(rng_.below(3))));
    return std::move(out_);
  }

 private:
  void add(const Flow& flow) {
    if (out_.size() < count_ && known_.insert(flow).second) out_.push_back(flow);
  }

  size_t count_;
  const ProbeRanges& ranges_;
  dp::Rng rng_;
  std::vector<Flow> out_;
  std::set<Flow> known_;
};

// Where each class sends the candidates: links, or for a member that no flow has met, a number behind them.
std::vector<std::vector<uint32_t>> links_by_class(const Identification& found, const std::vector<FlowFrame>& frames) {
  std::vector<std::vector<uint32_t>> out;
  for (const HashClass& one : found.classes) {
    if (out.size() == kClassesCompared) break;
    const Hypothesis& hypothesis = one.hypotheses.front();
    std::vector<uint32_t>& links = out.emplace_back(buckets_of(hypothesis.config, frames, found.members));
    for (uint32_t& link : links) {
      const uint32_t known = hypothesis.fit.of_bucket[link];
      link = known != kUnknownLink ? known : static_cast<uint32_t>(found.links.size()) + link;
    }
  }
  return out;
}

// Which of the candidates decide most: greedily, until each pair of classes is parted, and then again.
class Choice {
 public:
  Choice(const Identification& found, const std::vector<Flow>& candidates)
      : named_(static_cast<uint32_t>(found.links.size())), is_chosen_(candidates.size(), false) {
    std::vector<FlowFrame> frames;
    for (const Flow& flow : candidates) frames.emplace_back(flow);
    links_ = links_by_class(found, frames);
    for (uint32_t a = 0; a < links_.size(); ++a) {
      for (uint32_t b = a + 1; b < links_.size(); ++b) pairs_.emplace_back(a, b);
    }
    open_ = pairs_;
  }

  std::vector<size_t> best(size_t count) {
    std::vector<size_t> out;
    while (out.size() < count) {
      size_t best = 0;
      size_t most = 0;
      for (size_t i = 0; i < is_chosen_.size(); ++i) {
        if (const size_t worth = worth_of(i); worth > most) {
          best = i;
          most = worth;
        }
      }
      take(best);
      out.push_back(best);
    }
    return out;
  }

 private:
  using Pair = std::pair<uint32_t, uint32_t>;

  bool parts(size_t flow, const Pair& pair) const { return links_[pair.first][flow] != links_[pair.second][flow]; }
  size_t worth_of(size_t flow) const {
    if (is_chosen_[flow]) return 0;
    const uint32_t link = links_.front()[flow];
    const bool meets = link >= named_ && !met_.contains(link);
    const auto parted = std::ranges::count_if(open_, [&](const Pair& pair) { return parts(flow, pair); });
    return 1 + 2 * static_cast<size_t>(parted) + (meets ? 1 : 0);
  }
  void take(size_t flow) {
    is_chosen_[flow] = true;
    met_.insert(links_.front()[flow]);
    std::erase_if(open_, [&](const Pair& pair) { return parts(flow, pair); });
    if (open_.empty()) open_ = pairs_;
  }

  uint32_t named_;
  std::vector<bool> is_chosen_;
  std::vector<std::vector<uint32_t>> links_;  // by class, by candidate
  std::vector<Pair> pairs_;                   // of classes
  std::vector<Pair> open_;                    // that no chosen flow has parted yet
  std::set<uint32_t> met_;                    // members of the first class, by chosen flows
};

}  // namespace

std::vector<Flow> first_probes(size_t count, const ProbeRanges& ranges, uint64_t seed) {
  return FirstProbes{count, ranges, seed}.make();
}

ProbeRanges observed_ranges(const Observations& observations) {
  const Sample sample = sample_of(observations, 1);
  const auto range_of = [&sample](Flow::Address Flow::* address) {
    AddressRange out{.base = sample.flows.front().*address, .prefix_bits = sample.is_ipv6 ? 128U : 32U};
    for (const Flow& flow : sample.flows) {
      uint32_t bits = 0;
      const auto bit_of = [&bits](const Flow::Address& of) { return of[bits / 8] >> (7 - bits % 8) & 1; };
      while (bits < out.prefix_bits && bit_of(flow.*address) == bit_of(out.base)) ++bits;
      out.prefix_bits = bits;
    }
    return out;
  };
  return {.sources = range_of(&Flow::source), .destinations = range_of(&Flow::destination)};
}

std::vector<Flow> next_probes(const Observations& observations, const Identification& found, const ProbeRanges& ranges,
                              size_t count) {
  if (found.classes.empty() || observations.flows.empty())
    return first_probes(count, ranges, observations.flows.size() + 2);
  const Sample sample = sample_of(observations, found.members);
  std::vector<Flow> candidates = flows_like(sample, kCandidates, 2);
  dp::Rng rng{1, 6};
  for (Flow& flow : candidates) {
    flow.source = address_in(ranges.sources, sample.is_ipv6, rng);
    flow.destination = address_in(ranges.destinations, sample.is_ipv6, rng);
  }
  std::vector<Flow> out;
  for (const size_t i : Choice{found, candidates}.best(std::min(count, candidates.size())))
    out.push_back(candidates[i]);
  return out;
}

std::string iperf3_line(const Flow& flow) {
  const bool is_udp = flow.protocol == dp::ip::kUdp;
  if (flow.is_roce() || !(is_udp || flow.protocol == dp::ip::kTcp)) return {};
  return fmt::format("iperf3 -c {} -B {} --cport {} -p {}{} -n 10K", text_of(flow, flow.destination),
                     text_of(flow, flow.source), flow.source_port, flow.destination_port, is_udp ? " -u" : "");
}

// The lower 14 and the upper 6 of a label's 20 bits are added up (exclusive or); a label of zero is none.
std::string ib_write_bw_line(const Flow& flow) {
  if (!flow.is_roce() || flow.source_port < kFirstRocePort) return {};
  const uint32_t label = 1U << 14 | ((flow.source_port - kFirstRocePort) ^ 1U);
  return fmt::format("ib_write_bw -n 5 --flow_label={} {}", label, text_of(flow, flow.destination));
}

}  // namespace softspine::analysis
