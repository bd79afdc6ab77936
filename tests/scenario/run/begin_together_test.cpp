// SPDX-License-Identifier: Apache-2.0
#include "testbeds/run/begin_together.hpp"

#include <gtest/gtest.h>

#include <map>
#include <mutex>
#include <string>

#include "tests/harness/rank_threads.hpp"
#include "tests/scenario/run/running_testbed.hpp"

namespace softspine::testbeds {
namespace {

constexpr const char* kTwoTors = R"(
name: begins
run: {duration: 1ms}
fabric: {kind: leaf-spine, tors: 2, spines: 1, hosts_per_tor: 1, host_link: {rate: 100Gbps, length: 3m}, fabric_link: {rate: 100Gbps, length: 40m}}
)";

// Keeps what is asked of it, and asks all ranks when it ends, as parts do that join what they have.
class Asking : public RunPart {
 public:
  Asking(const Ranks& ranks, std::string error, std::string& kept)
      : ranks_(ranks), error_(std::move(error)), kept_(kept) {}
  std::expected<void, std::string> begin() override {
    kept_ += "begin ";
    if (error_.empty()) return {};
    return std::unexpected(error_);
  }
  void end_soon() noexcept override { kept_ += "end "; }
  void finish(dataplane::Instant) override {
    for (const std::string& each : ranks_.gather(kept_)) kept_ += each.empty() ? "?" : ".";
  }

 private:
  const Ranks& ranks_;
  std::string error_;
  std::string& kept_;
};

// By rank: what its part was asked for, and the error that it has of them all.
std::map<uint32_t, std::string> begun_with(const std::map<uint32_t, std::string>& errors) {
  const control::Testbed testbed = testbed_of(kTwoTors);
  std::map<uint32_t, std::string> out;
  std::mutex lock;
  tests::RankThreads::run(3, [&](dataplane::RankLink& link) {
    dataplane::RankTalk talk{link, [](const dataplane::LostRank& lost) { FAIL() << "rank " << lost.rank; }};
    const Ranks ranks{&talk, testbed.fabric, 1};
    const auto error = errors.find(ranks.rank());
    std::string kept;
    RunParts parts;
    parts.add<Asking>(ranks, error == errors.end() ? "" : error->second, kept);
    const auto begun = begin_together(parts, ranks, {});
    const std::lock_guard guard{lock};
    out[ranks.rank()] = kept + (begun ? "" : "| " + begun.error());
  });
  return out;
}

using ByRank = std::map<uint32_t, std::string>;

TEST(BeginTogether, IsThatOfAllRanks) {
  EXPECT_EQ(begun_with({}), (ByRank{{0, "begin "}, {1, "begin "}, {2, "begin "}}));
}

TEST(BeginTogether, EndsOnAllRanksWhenOneCannot) {
  const std::string ended = "begin end ...| h2: no namespace";
  EXPECT_EQ(begun_with({{1, "h2: no namespace"}}), (ByRank{{0, ended}, {1, ended}, {2, ended}}));
  EXPECT_EQ(begun_with({{1, "h2: no namespace"}, {2, "h3: neither"}}), (ByRank{{0, ended}, {1, ended}, {2, ended}}));
}

}  // namespace
}  // namespace softspine::testbeds
