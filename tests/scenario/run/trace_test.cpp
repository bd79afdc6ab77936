// SPDX-License-Identifier: Apache-2.0
// Perfetto traces of whole runs, read back by the rules of Perfetto's reader (trace_reader.hpp) and held against the
// report; the same bytes for any number of workers; what a full disk leaves.
#include <fmt/format.h>
#include <sys/resource.h>

#include <csignal>
#include <filesystem>

#include "testbeds/run/running_fabric.hpp"
#include "testbeds/run/trace_file.hpp"
#include "tests/scenario/run/running_testbed.hpp"
#include "tests/scenario/run/trace_reader.hpp"

namespace softspine::testbeds {
namespace {

using dataplane::Duration;

// A host storms, a link goes down and up, packets are dropped and marked, a watchdog ends a storm.
constexpr const char* kTraced = R"(
name: traced
run: {duration: 700us}
fabric: {kind: leaf-spine, tors: 2, spines: 2, hosts_per_tor: 3, host_link: {rate: 100Gbps, length: 3m}, fabric_link: {rate: 100Gbps, length: 40m}}
profiles: {default: {base: sonic-tomahawk-100g-40m}}
workload:
  - {name: in, pattern: incast, from: [h4, h5, h2], to: h1, message: 256KiB, messages: 1000, dscp: 3}
  - {name: asks, pattern: pairs, from: [h6], to: [h1], message: 64KiB, messages: 20, transport: rc, congestion_control: dcqcn_connectx, dscp: 3}
  - {name: lossy, pattern: incast, from: [h4, h5], to: h3, message: 256KiB, messages: 1000, dscp: 8}
faults:
  - {at: 100us, node: h1, set: storm, priorities: [3], until: 250us}
  - {at: 400us, link: "tor1:Ethernet12", set: down}
  - {at: 500us, link: "tor1:Ethernet12", set: up}
)";

struct TracedOutcome {
  control::FabricSnapshot snapshot;
  control::Fabric fabric;
  std::string bytes;
  std::vector<std::string> errors;
};

struct HowTraced {
  uint32_t workers = 1;
  bool flat = false;
  Duration interval = Duration::us(10);
  bool steps = false;  // also for --steps
};

TracedOutcome run_traced(const std::string& text, const HowTraced& how = {}) {
  TracedOutcome out;
  const control::Testbed testbed = testbed_of(text, {.workers = how.workers});
  out.fabric = testbed.fabric;
  auto fabric = RunningFabric::make(
      testbed, {.run_folder = {}, .capture = std::nullopt, .flat = how.flat, .steps = how.steps, .traced_steps = true});
  EXPECT_TRUE(fabric);
  const std::string path = fmt::format("{}/traced-{}", testing::TempDir(), getpid());
  auto& trace = (*fabric)->part<TraceFile>();
  const auto opened = trace.open({path, how.interval});
  EXPECT_TRUE(opened) << opened.error();
  EXPECT_TRUE((*fabric)->run());
  out.snapshot = (*fabric)->snapshot();
  EXPECT_EQ(trace.check(out.snapshot), std::vector<std::string>{});
  for (const auto& error : (*fabric)->errors().all()) out.errors.push_back(error.what);
  EXPECT_EQ((*fabric)->drain(), 0U);
  out.bytes = bytes_of(path);
  std::filesystem::remove(path);
  return out;
}

TEST(Trace, HasThePausesDropsMarksAndEventsOfTheReport) {
  const TracedOutcome run = run_traced(kTraced, {.workers = 2});
  EXPECT_EQ(run.errors, std::vector<std::string>{});
  const ReadTrace trace = read_trace(run.bytes);
  EXPECT_EQ(differences(trace, run.snapshot, run.fabric), std::vector<std::string>{});
  std::map<std::string, size_t> kinds;
  for (const TraceSlice& each : trace.slices) ++kinds[each.category];
  for (const TraceSlice& each : trace.instants) ++kinds[each.category];
  for (const char* const kind : {"paused", "pauses", "event", "drops"}) EXPECT_GT(kinds[kind], 3U) << kind;
  EXPECT_GT(trace.counters.size(), 10U);
}

// The run ends in the storm, while packets lie in headroom.
TEST(Trace, HasTheLevelsOfGroupsAndPools) {
  std::string text = kTraced;
  text.replace(text.find("duration: 700us"), 15, "duration: 200us");
  text.resize(text.find("  - {at: 400us"));
  const TracedOutcome run = run_traced(text);
  const ReadTrace trace = read_trace(run.bytes);
  EXPECT_EQ(differences(trace, run.snapshot, run.fabric), std::vector<std::string>{});
  EXPECT_EQ(pool_differences(trace, run.snapshot), std::vector<std::string>{});
  for (const auto& [of, what] :
       {std::pair{"/group 3 ", "shared"}, {"/group 3 ", "headroom"}, {"_pool", "shared"}, {"_pool", "headroom"}}) {
    EXPECT_TRUE(std::ranges::any_of(trace.counters,
                                    [&](const auto& each) {
                                      const auto& [track, levels] = each;
                                      return track.contains(of) && track.contains(what) && levels.back().second > 0;
                                    }))
        << of << what;
  }
}

// Its slices are those of picoseconds, rounded down.
TEST(Trace, RoundsToTheNanosecondBelow) {
  const ReadTrace trace = read_trace(run_traced(kTraced).bytes);
  for (const TraceSlice& each : trace.slices) {
    const uint64_t ns = each.to_ns - each.from_ns;
    EXPECT_LE(ns, each.number("duration_ps") / 1'000 + 1);
    EXPECT_GE(ns + 1, each.number("duration_ps") / 1'000);
  }
}

// The storming host asks from 100 us on, for 150 us, and the last quanta that it asked for.
TEST(Trace, LeadsFromTheHostThatStormsToThePortThatItPauses) {
  const ReadTrace trace = read_trace(run_traced(kTraced).bytes);
  const auto of = [&](const std::string& track) {
    std::vector<TraceSlice> out;
    for (const TraceSlice& each : trace.slices) {
      if (each.track == track) out.push_back(each);
    }
    return out;
  };
  const auto asks = of("h1/h1:eth0/priority 3 pauses its neighbour");
  const auto paused = of("tor1/tor1:Ethernet0/priority 3 paused");
  ASSERT_EQ(asks.size(), 1U);
  EXPECT_GE(asks[0].from_ns, 100'000U);
  EXPECT_LE(asks[0].from_ns, 101'000U);
  EXPECT_EQ(asks[0].name, "pauses tor1:Ethernet0");
  ASSERT_GE(paused.size(), 1U);
  for (const TraceSlice& each : paused) {
    EXPECT_EQ(each.flows, asks[0].flows);
    EXPECT_EQ(each.name, "paused by h1:eth0");
    EXPECT_GE(each.from_ns, asks[0].from_ns);
    EXPECT_LE(each.to_ns, asks[0].to_ns);
  }
}

TEST(Trace, HasTheSameBytesForAnyNumberOfWorkersAndWindows) {
  const std::string one = run_traced(kTraced).bytes;
  EXPECT_GT(one.size(), 50'000U);
  for (const auto& [workers, flat] : {std::pair{2U, false}, {3U, false}, {1U, true}, {2U, true}})
    EXPECT_TRUE(run_traced(kTraced, {.workers = workers, .flat = flat}).bytes == one) << workers << flat;
}

TEST(Trace, OfLinksThatGoByPauseHasATrackForTheLink) {
  std::string text = kTraced;
  text.replace(text.find("host_link: {"), 12, "host_link: {flow_control: pause, ");
  const TracedOutcome run = run_traced(text);
  const ReadTrace trace = read_trace(run.bytes);
  EXPECT_EQ(differences(trace, run.snapshot, run.fabric), std::vector<std::string>{});
  EXPECT_TRUE(std::ranges::any_of(trace.slices, [](const auto& it) { return it.track.ends_with("/link paused"); }));
}

constexpr const char* kRing =
    "name: ring\nrun: {duration: 20ms}\nfabric: {kind: leaf-spine, tors: 2, spines: 1, hosts_per_tor: 4, host_link: "
    "{rate: 100Gbps, length: 3m}, fabric_link: {rate: 100Gbps, length: 3m}}\n"
    "roles: {tor: lossless, aggregation: lossless}\n"
    "collectives: [{name: g, op: all_reduce, algorithm: ring, protocol: simple, size: 1MiB, ranks: [h1, h2, h3, "
    "h4]}]\n";

TEST(Trace, HasEachOperationOfEachRank) {
  const TracedOutcome run = run_traced(kRing);
  const ReadTrace trace = read_trace(run.bytes);
  EXPECT_EQ(differences(trace, run.snapshot, run.fabric), std::vector<std::string>{});
  std::map<std::string, uint64_t> operations;
  std::map<std::string, uint64_t> alone;
  uint64_t received = 0;
  for (const TraceSlice& each : trace.slices) {
    if (each.category != "step") continue;
    EXPECT_TRUE(each.track.ends_with("/" + each.name)) << each.track;
    ++operations[each.name];
    if (each.name != "receive") continue;
    received += each.number("bytes");
    const std::string rank = each.track.substr(0, each.track.rfind('/'));
    alone[rank.substr(rank.rfind(' ') + 1)] += each.number("alone_ps");
  }
  const control::CollectiveSnapshot& ring = run.snapshot.collectives.at(0);
  EXPECT_GT(ring.messages_sent, 20U);
  EXPECT_EQ(operations["send"], ring.messages_sent);
  EXPECT_EQ(operations["receive"], ring.messages_received);
  EXPECT_EQ(received, ring.received_bytes);
  EXPECT_EQ(alone[ring.longest_wait.host], static_cast<uint64_t>(ring.longest_wait.waited.count_ps()));
  EXPECT_EQ(run.bytes, run_traced(kRing, {.workers = 2, .flat = true, .steps = true}).bytes);
}

TEST(Trace, LeavesTheRunAsItIs) {
  const control::FabricSnapshot with = run_traced(kTraced, {.interval = Duration::us(1)}).snapshot;
  const control::FabricSnapshot without = run_text(kTraced).snapshot;
  for (const char* const category : {"paused", "pauses"})
    EXPECT_EQ(pauses_in(with, category), pauses_in(without, category));
  const auto sent = [](const control::FabricSnapshot& of) {
    std::vector<uint64_t> out;
    for (const auto& flow : of.flows) out.push_back(flow.sent_packets), out.push_back(flow.received_packets);
    return out;
  };
  EXPECT_EQ(sent(with), sent(without));
}

// No file may grow above this: what a full disk answers, for this process alone.
class FilesOfAtMost {
 public:
  explicit FilesOfAtMost(rlim_t bytes) {
    getrlimit(RLIMIT_FSIZE, &before_);
    handler_ = std::signal(SIGXFSZ, SIG_IGN);
    const rlimit small{bytes, before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &small);
  }
  ~FilesOfAtMost() {
    setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }
  FilesOfAtMost(const FilesOfAtMost&) = delete;
  FilesOfAtMost& operator=(const FilesOfAtMost&) = delete;

 private:
  rlimit before_{};
  sighandler_t handler_ = nullptr;
};

TEST(Trace, ThatFindsTheDiskFullSaysSoOnceAndIsReadableUpToThere) {
  constexpr size_t kRoom = 300'001;
  TracedOutcome run;
  {
    const FilesOfAtMost small{kRoom};
    run = run_traced(kTraced, {.workers = 2, .interval = Duration::ns(500)});
  }
  ASSERT_EQ(run.errors.size(), 1U);
  EXPECT_NE(run.errors[0].find("traced-"), std::string::npos) << run.errors[0];
  EXPECT_EQ(run.bytes.size(), kRoom);
  const ReadTrace trace = read_trace(run.bytes);
  EXPECT_EQ(trace.findings, std::vector<std::string>{});
  EXPECT_GT(trace.packets, 1'000U);
  EXPECT_EQ(pauses_in(run.snapshot, "paused"), pauses_in(run_text(kTraced).snapshot, "paused"))
      << "the run is unharmed";
}

TEST(Trace, IsReadableWhereverItIsCut) {
  const std::string bytes = run_traced(kTraced).bytes;
  for (size_t size = 10'000; size < bytes.size(); size += 7'919) {
    const ReadTrace trace = read_trace(std::string_view{bytes}.substr(0, size));
    EXPECT_EQ(trace.findings, std::vector<std::string>{}) << size;
    EXPECT_GT(trace.packets, 50U);
  }
}

TEST(Trace, IsNotBegunWhereItCannotBeWritten) {
  const control::Testbed testbed = testbed_of(kTraced);
  auto fabric = RunningFabric::make(testbed, {});
  ASSERT_TRUE(fabric);
  const auto opened = (*fabric)->part<TraceFile>().open({"/nowhere/trace", Duration::us(10)});
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error(), "cannot write the trace to /nowhere/trace: No such file or directory");
}

}  // namespace
}  // namespace softspine::testbeds
