// SPDX-License-Identifier: Apache-2.0
// Work that is written comes back as it was, from memory and from a file.
#include "control/traces/recorded_work.hpp"

#include <gtest/gtest.h>

#include "dataplane/units/rng.hpp"
#include "tests/harness/seed.hpp"

namespace softspine::control {
namespace {

using dataplane::Rng;

struct Kept {
  TraceOperation op;
  std::vector<uint64_t> needs;
  std::vector<uint64_t> needs_started;
};

uint64_t some_number(Rng& rng) {
  return rng.below(uint64_t{1} << rng.below(62));
}

Kept some_operation(uint64_t number, Rng& rng) {
  Kept out;
  out.op.kind = std::array{OperationKind::kSend, OperationKind::kReceive, OperationKind::kCompute}[rng.below(3)];
  out.op.cpu = static_cast<uint32_t>(rng.below(1'000));
  out.op.line = some_number(rng);
  if (out.op.kind == OperationKind::kCompute) {
    out.op.time = dataplane::Duration::ps(static_cast<int64_t>(some_number(rng)));
  } else {
    out.op.bytes = some_number(rng);
    out.op.peer = rng.below(5) == 0 ? kAnyRank : static_cast<uint32_t>(rng.below(UINT32_MAX));
    out.op.tag = rng.below(5) == 0 ? kAnyTag : static_cast<uint32_t>(rng.below(UINT32_MAX));
  }
  for (uint64_t i = rng.below(4); i > 0 && number > 0; --i) out.needs.push_back(rng.below(number));
  for (uint64_t i = rng.below(4); i > 0 && number > 0; --i) out.needs_started.push_back(rng.below(number));
  return out;
}

void expect_same(const TraceOperation& read, const Kept& kept) {
  EXPECT_EQ(read.kind, kept.op.kind);
  EXPECT_EQ(read.cpu, kept.op.cpu);
  EXPECT_EQ(read.line, kept.op.line);
  EXPECT_EQ(read.time, kept.op.time);
  EXPECT_EQ(read.bytes, kept.op.bytes);
  EXPECT_EQ(read.peer, kept.op.peer);
  EXPECT_EQ(read.tag, kept.op.tag);
  EXPECT_TRUE(std::ranges::equal(read.needs, kept.needs));
  EXPECT_TRUE(std::ranges::equal(read.needs_started, kept.needs_started));
}

TEST(RecordedWork, ComesBackAsItWas) {
  Rng rng{tests::seed(), 2};
  SCOPED_TRACE(tests::seed());
  RecordedWork work;
  std::vector<std::vector<Kept>> ranks(5);
  for (auto& operations : ranks) {
    work.begin_rank();
    for (uint64_t i = rng.below(300); i > 0; --i) {
      Kept& kept = operations.emplace_back(some_operation(operations.size(), rng));
      kept.op.needs = kept.needs;
      kept.op.needs_started = kept.needs_started;
      work.write(kept.op);
    }
  }
  ASSERT_TRUE(work.finish());
  for (uint32_t rank = 0; rank < ranks.size(); ++rank) {
    ASSERT_EQ(work.ranks()[rank].operations, ranks[rank].size());
    RecordedStream stream(work, rank);
    TraceOperation read;
    for (const Kept& kept : ranks[rank]) {
      ASSERT_TRUE(stream.next(read));
      expect_same(read, kept);
    }
    EXPECT_FALSE(stream.next(read));
  }
}

TEST(SpillFile, HasTheSameBytesWhetherTheyFitInMemoryOrNot) {
  SpillFile few{1 << 20};
  SpillFile many{100};
  for (uint32_t i = 0; i < 10'000; ++i) {
    few.put_number(i * 77);
    many.put_number(i * 77);
  }
  ASSERT_TRUE(few.finish());
  ASSERT_TRUE(many.finish());
  EXPECT_EQ(few.size(), many.size());
  EXPECT_TRUE(std::ranges::equal(few.bytes(), many.bytes()));
}

}  // namespace
}  // namespace softspine::control
