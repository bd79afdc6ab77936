// SPDX-License-Identifier: Apache-2.0
// Random graphs of operations on random ranks, against an executor that knows nothing of hosts: the same operations in
// the same order at the same picoseconds.
#include <gtest/gtest.h>

#include <algorithm>

#include "dataplane/units/rng.hpp"
#include "tests/harness/seed.hpp"
#include "tests/scenario/ranks/plain_executor.hpp"

namespace softspine::testbeds {
namespace {

using namespace dataplane;

constexpr uint32_t kOperations = 80;

std::vector<uint64_t> some_needs(const Script& script, Rng& rng) {
  std::vector<uint64_t> needs;
  for (uint64_t n = script.size() - std::min<size_t>(script.size(), 8); n < script.size(); ++n) {
    if (needs.size() < 3 && rng.below(4) == 0) needs.push_back(n);
  }
  return needs;
}

uint64_t some_bytes(Rng& rng) {
  constexpr uint64_t kMost[]{1, 200, 5'000, 30'000};
  return rng.below(kMost[rng.below(4)]);
}

// Drawn in one order for all ranks, each receive behind its send: so nobody waits for ever, in any window.
std::vector<Script> some_scripts(Rng& rng, uint32_t channels) {
  std::vector<Script> scripts(2 + rng.below(4));
  for (uint32_t i = 0; i < kOperations; ++i) {
    const auto a = static_cast<uint32_t>(rng.below(scripts.size()));
    const auto b = static_cast<uint32_t>((a + 1 + rng.below(scripts.size() - 1)) % scripts.size());
    const auto channel = static_cast<uint32_t>(rng.below(channels));
    const uint64_t bytes = some_bytes(rng);
    switch (rng.below(8)) {
      case 0:
        scripts[a].push_back(
            compute(Duration::ps(static_cast<int64_t>(rng.below(5'000'000))), some_needs(scripts[a], rng)));
        scripts[a].back().after_all = rng.below(3) == 0;
        break;
      case 1: scripts[a].push_back(reduce(bytes, some_needs(scripts[a], rng))); break;
      default:
        scripts[a].push_back(send(b, bytes, some_needs(scripts[a], rng), channel));
        scripts[b].push_back(receive(a, bytes, some_needs(scripts[b], rng), channel));
    }
  }
  return scripts;
}

// The same operations in as many lines as there are channels: messages in the line of their channel, so that each
// connection keeps its order; all others in any.
Script in_lines(const Script& script, uint32_t lines, Rng& rng) {
  std::vector<uint32_t> line;
  std::vector<uint64_t> number;
  std::vector<uint64_t> used(lines);
  for (const ScriptedOperation& op : script) {
    const bool is_message = op.kind == control::OperationKind::kSend || op.kind == control::OperationKind::kReceive;
    line.push_back(is_message ? op.channel : static_cast<uint32_t>(rng.below(lines)));
    number.push_back(control::number_in(line.back(), used[line.back()]++));
  }
  Script out;
  for (uint32_t l = 0; l < lines; ++l) {
    for (size_t n = 0; n < script.size(); ++n) {
      if (line[n] != l) continue;
      ScriptedOperation& op = out.emplace_back(script[n]);
      op.line = l;
      for (uint64_t& need : op.needs) need = number[need];
      std::ranges::sort(op.needs);
    }
  }
  return out;
}

struct DrawnGraph {
  std::vector<Script> scripts;
  RankSetup setup;

  explicit DrawnGraph(uint64_t seed) {
    Rng rng{seed, 0};
    setup.channels = 1 + static_cast<uint32_t>(rng.below(3));
    setup.admission = rng.below(2) == 0;
    setup.rank.window = rng.below(2) == 0 ? 1024 : 1 + static_cast<uint32_t>(rng.below(6));
    setup.rank.reduce_bytes_per_second = 1'000'000'000;
    setup.depth = kOperations;
    scripts = some_scripts(rng, setup.channels);
    if (rng.below(2) == 0) return;
    for (Script& script : scripts) script = in_lines(script, setup.channels, rng);
  }
};

TEST(RandomGraphs, AreExecutedAsByOneWhoKnowsNothingOfHosts) {
  const uint32_t rounds = tests::to_draw(400);
  for (uint32_t round = 0; round < rounds; ++round) {
    const uint64_t seed = tests::seed() * 10'000 + round;
    SCOPED_TRACE(seed);
    const DrawnGraph graph{seed};
    RankFabric ranks{graph.scripts, graph.setup};
    ranks.run_to_the_end();
    PlainExecutor plain{graph.scripts, graph.setup};
    plain.run();
    for (uint32_t r = 0; r < graph.scripts.size(); ++r) {
      ASSERT_EQ(ranks.done(r).list().size(), graph.scripts[r].size());
      for (size_t i = 0; i < graph.scripts[r].size(); ++i) {
        const DoneOperation& is = ranks.done(r).list()[i];
        const DoneOperation& ought = plain.done(r)[i];
        ASSERT_EQ(is.number, ought.number) << "rank " << r << ", done as number " << i;
        ASSERT_EQ(is.started, ought.started) << "rank " << r << ", operation " << is.number;
        ASSERT_EQ(is.done, ought.done) << "rank " << r << ", operation " << is.number;
      }
    }
  }
}

}  // namespace
}  // namespace softspine::testbeds
