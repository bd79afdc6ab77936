// SPDX-License-Identifier: Apache-2.0
// Random switches are identified from flows and the links that those took, and what was identified predicts where other
// flows go. The switches hash by the tests' own twins of the algorithms.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "analysis/explain/explanation.hpp"
#include "analysis/identify/identification.hpp"
#include "analysis/identify/identify_report.hpp"
#include "analysis/identify/probes.hpp"
#include "control/load/load.hpp"
#include "tests/harness/seed.hpp"
#include "tests/model/identify/switch_under_test.hpp"

namespace softspine::tests {
namespace {

using analysis::Flow;
using analysis::FlowFrame;
using analysis::Identification;
using analysis::IdentifyVerdict;
using dataplane::Rng;

constexpr size_t kUnseen = 1'000;

std::vector<Flow> unseen_flows(uint64_t stream) {
  return analysis::first_probes(kUnseen, {}, 1'000'000 + stream);
}

// Links where they are known; else flows share a member if and only if they share a link that nobody has met yet.
void expect_prediction(const Identification& found, const SwitchUnderTest& it, const std::vector<Flow>& flows) {
  ASSERT_FALSE(found.classes.empty());
  const analysis::Hypothesis& first = found.classes.front().hypotheses.front();
  std::vector<FlowFrame> frames;
  for (const Flow& flow : flows) frames.emplace_back(flow);
  const auto buckets = buckets_of(first.config, frames, found.members);
  std::map<uint32_t, uint32_t> unmet;  // link by bucket
  size_t wrong = 0;
  for (size_t i = 0; i < flows.size(); ++i) {
    const uint32_t known = first.fit.of_bucket[buckets[i]];
    const uint32_t link = it.link_of(flows[i]);
    const uint32_t predicted =
        known != analysis::kUnknownLink ? known : unmet.try_emplace(buckets[i], link).first->second;
    wrong += predicted == link ? 0 : 1;
  }
  EXPECT_EQ(wrong, 0u);
  std::set<uint32_t> links;
  for (const auto& [bucket, link] : unmet) {
    EXPECT_TRUE(links.insert(link).second) << "two members that no flow has met were one";
    EXPECT_EQ(std::ranges::count(first.fit.of_bucket, link), 0) << "a link that a flow has met";
  }
}

std::string told(const SwitchUnderTest& it) {
  return analysis::hash_words(it.hash) + ", " + analysis::hash_yaml(it.hash) + ", " + std::to_string(it.members()) +
         " members";
}

TEST(Identify, FindsAnyHashBySixtyFourProbes) {
  Rng rng{seed(), 81};
  for (uint64_t run = 0; run < to_draw(100); ++run) {
    const SwitchUnderTest it = random_switch(rng);
    SCOPED_TRACE(told(it));
    const auto observations = observed(it, analysis::first_probes(64, {}, run), rng);
    const Identification found = identify(observations, it.members(), {});
    ASSERT_EQ(found.verdict, IdentifyVerdict::kIdentified) << identification_text(found);
    expect_prediction(found, it, unseen_flows(run));
  }
}

TEST(Identify, FindsLinuxRoutersAndOpenVSwitches) {
  Rng rng{seed(), 78};
  for (uint64_t run = 0; run < to_repeat(40); ++run) {
    const SwitchUnderTest it = random_switch(rng, random_host_hash);
    SCOPED_TRACE(told(it));
    const auto observations = observed(it, analysis::first_probes(64, {}, run), rng);
    const Identification found = identify(observations, it.members(), {});
    ASSERT_EQ(found.verdict, IdentifyVerdict::kIdentified) << identification_text(found);
    expect_prediction(found, it, unseen_flows(run));
    const dataplane::HashConfig& first = found.classes.front().hypotheses.front().config;
    EXPECT_EQ(analysis::hash_yaml(first), analysis::hash_yaml(it.hash));
  }
}

// What is found is a profile: a testbed takes it as it is.
dataplane::HashConfig read_back(const dataplane::HashConfig& hash) {
  const auto read = control::parse_testbed(
      "name: t\nrun: {clock: virtual, duration: 1us}\n"
      "fabric: {kind: leaf-spine, tors: 2, spines: 2, hosts_per_tor: 1,\n"
      "  host_link: {rate: 100Gbps}, fabric_link: {rate: 100Gbps}}\n"
      "profiles: {default: {hash: " +
          analysis::hash_yaml(hash) + "}}\n",
      "t.yaml");
  EXPECT_TRUE(read.has_value()) << analysis::hash_yaml(hash);
  return read ? read->profiles.front().hash : dataplane::HashConfig{};
}

TEST(Identify, WritesHostsAsProfilesThatLoad) {
  Rng rng{seed(), 77};
  for (uint32_t run = 0; run < to_repeat(40); ++run) {
    const dataplane::HashConfig hash = random_host_hash(rng);
    const dataplane::HashConfig taken = read_back(hash);
    EXPECT_EQ(taken.model, hash.model);
    EXPECT_EQ(taken.algorithm, hash.algorithm);
    EXPECT_EQ(taken.seed, hash.seed);
    EXPECT_EQ(taken.linux_policy, hash.linux_policy);
    if (hash.linux_policy == 3) {
      EXPECT_EQ(taken.fields, hash.fields);
    }
  }
}

TEST(Identify, WritesChipsAsProfilesThatLoad) {
  Rng rng{seed(), 76};
  std::set<bool> symmetric;
  for (uint32_t run = 0; run < 40; ++run) {
    const dataplane::HashConfig hash = random_hash(rng);
    const dataplane::HashConfig taken = read_back(hash);
    EXPECT_EQ(taken.symmetric, hash.symmetric);
    symmetric.insert(taken.symmetric);
    for (const Flow& flow : unseen_flows(run))
      ASSERT_EQ(slow_hash_of(taken, flow), slow_hash_of(hash, flow)) << analysis::hash_yaml(hash);
  }
  EXPECT_EQ(symmetric.size(), 2u);
}

TEST(Identify, FindsAnyHashThoughFivePercentOfTheObservationsAreWrong) {
  Rng rng{seed(), 82};
  const uint64_t of_each = to_repeat(6);
  for (uint64_t run = 0; run < 2 * of_each; ++run) {
    const SwitchUnderTest it = random_switch(rng, run < of_each ? random_hash : random_host_hash);
    SCOPED_TRACE(told(it));
    const auto observations = observed(it, analysis::first_probes(512, {}, run), rng, 5);
    const Identification found = identify(observations, it.members(), {});
    ASSERT_EQ(found.verdict, IdentifyVerdict::kIdentified) << identification_text(found);
    expect_prediction(found, it, unseen_flows(run));
  }
}

// Few flows are RoCEv2, and without a QP both sets of fields hash alike: the rare flows are no wrong observations.
TEST(Identify, FindsAFieldThatFewFlowsHaveAmongWrongObservations) {
  Rng rng{seed(), 79};
  for (const auto algorithm : {dataplane::HashAlgorithm::kCrc, dataplane::HashAlgorithm::kXxh3}) {
    SwitchUnderTest it = random_switch(rng);
    it.hash = {.algorithm = algorithm, .seed = 3};
    it.hash.fields.push_back(dataplane::HashField::kRdmaBthDestQp);
    std::vector<Flow> flows;
    size_t roce = 0;
    for (const Flow& flow : unseen_flows(79)) {
      if (flow.is_roce() && ++roce > 20) continue;
      if (flows.size() < 400) flows.push_back(flow);
    }
    const Identification found = identify(observed(it, flows, rng, 4), it.members(), {});
    ASSERT_EQ(found.verdict, IdentifyVerdict::kIdentified) << identification_text(found);
    expect_prediction(found, it, unseen_flows(7));
  }
}

// Flows as they happen to come, of usual switches.
TEST(Identify, FindsUsualHashesByRandomFlows) {
  Rng rng{seed(), 83};
  for (uint64_t run = 0; run < to_repeat(30); ++run) {
    SwitchUnderTest it = random_switch(rng);
    it.hash.fields = dataplane::HashConfig{}.fields;
    SCOPED_TRACE(told(it));
    std::vector<Flow> flows = unseen_flows(1'000 + run);
    flows.erase(flows.begin(), flows.end() - 64);  // behind those that differ in one part
    const Identification found = identify(observed(it, flows, rng), it.members(), {});
    ASSERT_EQ(found.verdict, IdentifyVerdict::kIdentified) << identification_text(found);
    expect_prediction(found, it, unseen_flows(run));
  }
}

// By the fabric's own code: the twins know IPv4 only.
TEST(Identify, FindsHashesOfIpv6Flows) {
  Rng rng{seed(), 80};
  std::vector<Flow> flows = analysis::first_probes(64, {}, 1);
  for (Flow& flow : flows) {
    flow.is_ipv6 = true;
    for (uint8_t& byte : flow.source) byte = static_cast<uint8_t>(rng.below(256));
    for (uint8_t& byte : flow.destination) byte = static_cast<uint8_t>(rng.below(256));
    flow.flow_label = static_cast<uint32_t>(rng.below(1 << 20));
  }
  std::vector<FlowFrame> frames;
  for (const Flow& flow : flows) frames.emplace_back(flow);
  using enum dataplane::HashAlgorithm;
  std::vector<dataplane::HashConfig> configs{
      {.algorithm = kCrc, .seed = 1'000'000, .offset = 7},
      {.algorithm = kJenkinsHi, .seed = 99},
      {.model = dataplane::HashModel::kRtag7, .algorithm = kCrc32Hi, .seed = 10, .offset = 3},
      {.model = dataplane::HashModel::kRtag7,
       .algorithm = kCrcKoopmanLo,
       .seed = 10,
       .rtag7 = dataplane::Rtag7Config{}}};
  configs.back().rtag7->a.low_ipv6 = true;
  for (const uint8_t policy : {uint8_t{0}, uint8_t{1}, uint8_t{3}}) {
    configs.push_back({.model = dataplane::HashModel::kLinux, .algorithm = kSiphash, .seed = 4'242});
    configs.back().linux_policy = policy;
  }
  configs.push_back({.model = dataplane::HashModel::kOvs, .algorithm = kOvsL4, .seed = 77});
  for (const dataplane::HashConfig& config : configs) {
    SCOPED_TRACE(analysis::hash_yaml(config));
    const auto buckets = buckets_of(config, frames, 20);
    analysis::ObservationCollector seen;
    for (uint32_t link = 0; link < 20; ++link) seen.add_link(name_of_link(link));
    for (size_t i = 0; i < flows.size(); ++i) seen.add(flows[i], name_of_link((buckets[i] + 7) % 20));
    const Identification found = identify(std::move(seen).take(), 20, {});
    ASSERT_EQ(found.verdict, IdentifyVerdict::kIdentified) << identification_text(found);
    const dataplane::HashConfig& first = found.classes.front().hypotheses.front().config;
    EXPECT_EQ(first.algorithm, config.algorithm);
    EXPECT_EQ(first.offset, config.offset);
    EXPECT_EQ(first.linux_policy, config.linux_policy);
    EXPECT_EQ(first.rtag7 && first.rtag7->a.low_ipv6, config.rtag7.has_value());
  }
}

TEST(Identify, FindsFieldsThatFewSwitchesTake) {
  using enum dataplane::HashField;
  const std::vector<std::vector<dataplane::HashField>> sets{
      {kSrcIp, kDstIp, kL4SrcPort, kL4DstPort, kIpProtocol, kVlanId},
      {kSrcIp, kDstIp, kL4SrcPort, kL4DstPort, kIpProtocol, kRdmaBthDestQp, kRdmaBthOpcode},
      {kL4SrcPort, kL4DstPort, kIpProtocol, kSrcIpv4, kDstIpv4},
      {kSrcMac, kSrcIp, kDstIp, kL4SrcPort, kL4DstPort, kIpProtocol}};
  Rng rng{seed(), 84};
  for (const auto& fields : sets) {
    for (const auto algorithm : {dataplane::HashAlgorithm::kCrc, dataplane::HashAlgorithm::kXxh3}) {
      SwitchUnderTest it = random_switch(rng);
      const bool mixes = algorithm == dataplane::HashAlgorithm::kXxh3;
      // All seeds are tried, or all sets of fields: seconds without sanitizers.
      if (to_draw(100) < 100 && (mixes || &fields != &sets.front())) continue;
      it.hash = {.algorithm = algorithm, .fields = fields, .seed = 4'711, .offset = 3};
      SCOPED_TRACE(told(it));
      // None is wrong, so what explains all of them is found before anyone asks which are.
      bool is_doubted = false;
      const auto goes_on = [&](std::string_view what, double) { return !(is_doubted = what == "wrong observations"); };
      const Identification found =
          identify(observed(it, analysis::first_probes(64, {}, 1), rng), it.members(), {.goes_on = goes_on});
      EXPECT_FALSE(is_doubted);
      ASSERT_EQ(found.verdict, IdentifyVerdict::kIdentified) << identification_text(found);
      expect_prediction(found, it, unseen_flows(1));
    }
  }
}

TEST(Identify, SaysThatNothingFitsWhatIsNoHash) {
  Rng rng{seed(), 85};
  for (const auto& [count, members] : {std::pair{64U, 24U}, std::pair{512U, 16U}}) {
    if (to_draw(100) < 100) continue;  // all seeds are tried: many seconds without sanitizers
    SwitchUnderTest it{.hash = {}, .order = std::vector<uint32_t>(members)};
    for (uint32_t i = 0; i < members; ++i) it.order[i] = i;
    const auto observations = observed(it, analysis::first_probes(count, {}, 1), rng, 100);
    const Identification found = identify(observations, members, {});
    EXPECT_EQ(found.verdict, IdentifyVerdict::kNothingFits) << identification_text(found);
  }
}

// Few flows, or such as differ in little: what is called identified is right for all flows.
TEST(Identify, NeverGuesses) {
  Rng rng{seed(), 86};
  size_t open = 0;
  const uint64_t runs = to_repeat(40);
  for (uint64_t run = 0; run < runs; ++run) {
    SwitchUnderTest it = random_switch(rng);
    it.order.resize(8);
    for (uint32_t i = 0; i < 8; ++i) it.order[i] = i;
    SCOPED_TRACE(told(it));
    std::vector<Flow> flows = unseen_flows(run);
    flows.resize(4 + rng.below(60));
    const Flow first = flows.front();
    const uint64_t fixed = rng.next();
    for (Flow& flow : flows) {
      if ((fixed & 1) != 0) flow.source = first.source;
      if ((fixed & 2) != 0) flow.destination = first.destination;
      if ((fixed & 4) != 0) flow.source_port = static_cast<uint16_t>(first.source_port ^ (flow.source_port & 7));
    }
    const Identification found = identify(observed(it, flows, rng), it.members(), {});
    if (found.verdict == IdentifyVerdict::kIdentified) {
      std::vector<Flow> unseen = unseen_flows(10'000 + run);
      // Of flows one way nothing is said about the other: a symmetric hash may turn all of them or none.
      if (found.one_way) {
        const bool upward = flows.front().source < flows.front().destination;
        for (Flow& flow : unseen) {
          if ((flow.source < flow.destination) != upward) std::swap(flow.source, flow.destination);
        }
      }
      expect_prediction(found, it, unseen);
    } else {
      ++open;
    }
  }
  EXPECT_GT(5 * open, runs);
  EXPECT_LT(open, runs);
}

TEST(Identify, IsNotSureOfFlowsThatDifferInTheirSourcePortOnly) {
  Rng rng{seed(), 87};
  SwitchUnderTest it = random_switch(rng);
  std::vector<Flow> flows(64, unseen_flows(0).front());
  for (size_t i = 0; i < flows.size(); ++i) flows[i].source_port = static_cast<uint16_t>(49'152 + 7 * i);
  it.hash = {};
  const Identification found = identify(observed(it, flows, rng), it.members(), {});
  EXPECT_EQ(found.verdict, IdentifyVerdict::kIndistinguishable) << identification_text(found);
}

// Ask, send what would decide, ask again.
TEST(Identify, NamesProbesThatDecide) {
  Rng rng{seed(), 88};
  for (uint64_t run = 0; run < to_repeat(20); ++run) {
    const SwitchUnderTest it = random_switch(rng);
    SCOPED_TRACE(told(it));
    std::vector<Flow> flows = analysis::first_probes(24, {}, run);
    Identification found;
    for (int asked = 0; asked < 6 && found.verdict != IdentifyVerdict::kIdentified; ++asked) {
      const auto observations = observed(it, flows, rng);
      found = identify(observations, it.members(), {});
      for (const Flow& flow : analysis::next_probes(observations, found, {}, 12)) flows.push_back(flow);
    }
    ASSERT_EQ(found.verdict, IdentifyVerdict::kIdentified) << identification_text(found);
    expect_prediction(found, it, unseen_flows(run));
  }
}

TEST(Identify, ThenNamesProbesOfTheMembersThatNoFlowHasMet) {
  Rng rng{seed(), 89};
  SwitchUnderTest it = random_switch(rng);
  it.order.resize(16);
  for (uint32_t i = 0; i < 16; ++i) it.order[i] = 15 - i;
  it.hash = {.algorithm = dataplane::HashAlgorithm::kCrc32Lo, .seed = 25};
  std::vector<Flow> flows;
  for (const Flow& flow : unseen_flows(3)) {
    if (it.bucket_of(flow) < 9 && flows.size() < 64) flows.push_back(flow);
  }
  const auto observations = observed(it, flows, rng);
  const Identification found = identify(observations, 16, {});
  ASSERT_EQ(found.verdict, IdentifyVerdict::kIdentified);
  std::set<uint32_t> met;
  for (const Flow& flow : analysis::next_probes(observations, found, {}, 7)) met.insert(it.bucket_of(flow));
  EXPECT_EQ(met, (std::set<uint32_t>{9, 10, 11, 12, 13, 14, 15}));
}

TEST(Identify, NamesTheSeedByWhichMembersStandInTheLinksOrder) {
  Rng rng{seed(), 90};
  for (const uint32_t members : {8U, 12U, 15U}) {
    SwitchUnderTest it{.hash = {.algorithm = dataplane::HashAlgorithm::kCrcCcitt, .seed = 10, .offset = 2},
                       .order = std::vector<uint32_t>(members)};
    for (uint32_t i = 0; i < members; ++i) it.order[i] = i;
    const Identification found = identify(observed(it, analysis::first_probes(64, {}, 1), rng), members, {});
    ASSERT_EQ(found.verdict, IdentifyVerdict::kIdentified);
    const auto& order = found.classes.front().hypotheses.front().fit.of_bucket;
    for (uint32_t i = 0; i < members; ++i) EXPECT_TRUE(order[i] == i || order[i] == analysis::kUnknownLink) << members;
  }
}

TEST(Identify, EndsWhenItIsAskedTo) {
  Rng rng{seed(), 91};
  const SwitchUnderTest it = random_switch(rng);
  int asked = 0;
  const Identification found = identify(observed(it, analysis::first_probes(64, {}, 1), rng), it.members(),
                                        {.goes_on = [&asked](const char*, double) { return ++asked < 3; }});
  EXPECT_TRUE(found.is_ended);
  EXPECT_EQ(asked, 3);
  EXPECT_NE(found.verdict, IdentifyVerdict::kIdentified);
}

}  // namespace
}  // namespace softspine::tests
