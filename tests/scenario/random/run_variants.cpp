// SPDX-License-Identifier: Apache-2.0
#include "tests/scenario/random/run_variants.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <mutex>

#include "control/load/load.hpp"
#include "control/report/report.hpp"
#include "control/report/step_text.hpp"
#include "dataplane/dpdk/eal.hpp"
#include "testbeds/run/captures.hpp"
#include "testbeds/run/counter_series.hpp"
#include "testbeds/run/event_log.hpp"
#include "testbeds/run/flow_series.hpp"
#include "testbeds/run/pfc_file.hpp"
#include "testbeds/run/queue_lengths.hpp"
#include "testbeds/run/rank_process.hpp"
#include "testbeds/run/run_recording.hpp"
#include "testbeds/run/running_fabric.hpp"
#include "testbeds/run/trace_file.hpp"
#include "tests/harness/rank_threads.hpp"
#include "tests/scenario/random/drawn_files.hpp"
#include "tests/scenario/random/edge_files.hpp"
#include "tests/scenario/run/recorded_rows.hpp"
#include "tests/scenario/run/recording_reader.hpp"
#include "tests/scenario/run/running_testbed.hpp"
#include "tests/scenario/run/trace_reader.hpp"

namespace softspine::testbeds {
namespace {

// Pools look for it when they are made, and when they poison for the first time.
class Poisoned {
 public:
  explicit Poisoned(bool poisons) {
    if (poisons) setenv(kVariable, "1", 1);
  }
  ~Poisoned() { unsetenv(kVariable); }
  Poisoned(const Poisoned&) = delete;
  Poisoned& operator=(const Poisoned&) = delete;

 private:
  static constexpr const char* kVariable = "SOFTSPINE_POISON";
};

std::string temporary(std::string_view what) {
  return (std::filesystem::path(testing::TempDir()) / fmt::format("drawn-{}.{}", getpid(), what)).string();
}

std::string taken(const std::string& path) {
  std::string out = bytes_of(path);
  std::filesystem::remove(path);
  return out;
}

constexpr dataplane::Duration kOddInterval = dataplane::Duration::ps(1'700'003);

void open_outputs(RunningFabric& fabric, const Variant& variant) {
  const auto fine = [](const auto& opened) {
    if (!opened) ADD_FAILURE() << opened.error();
  };
  if (variant.captures) {
    fine(fabric.part<Captures>().open_for_run({.path = temporary("pcapng"), .ports = {}, .watched = variant.watched}));
  }
  if (variant.logs_events) fine(fabric.part<EventLog>().open(temporary("events")));
  if (variant.records) {
    fine(fabric.part<RunRecording>().open(
        {.path = temporary("sqlite"),
         .run = {.version = "1", .text = "", .interval = variant.samples.value_or(kOddInterval)}}));
  }
  if (variant.writes_ns3) {
    fine(fabric.part<PfcFile>().open(temporary("pfc")));
    fabric.part<QueueLengths>().begin_every(kOddInterval * 10);  // workers meet for each
  }
  if (variant.traces) fine(fabric.part<TraceFile>().open({temporary("trace"), kOddInterval * 10}));
  if (!variant.samples) return;
  const dataplane::Duration interval = *variant.samples;
  fine(fabric.part<CounterSeries>().open({.path = temporary("series"), .interval = interval, .counters = {}}));
  fine(fabric.part<FlowSeries>().open(temporary("flows"), interval));
}

// Each sum and last value that the recording has is that of the run's end. Pools may be others by then: a profile has
// changed.
void check_recording(RunningFabric& fabric, VariantOutcome& outcome) {
  auto& recording = fabric.part<RunRecording>();
  for (const std::string& wrong : recording.check(outcome.snapshot)) ADD_FAILURE() << wrong;
  EXPECT_TRUE(recording.add_results(outcome.snapshot, outcome.report, {}));
  RecordingReader reader{temporary("sqlite")};
  auto found = reader.values();
  auto wanted = values_of(outcome.snapshot);
  for (auto* each : {&found, &wanted}) {
    std::erase_if(*each, [](const auto& value) { return value.first.starts_with("pool_samples"); });
  }
  EXPECT_TRUE(found == wanted) << "what is recorded is not what is reported";
  for (const std::string& wrong : differences_of_groups(reader, fabric)) ADD_FAILURE() << wrong;
  if (outcome.snapshot.steps) {
    for (const std::string& wrong : differences_of_steps(reader, *outcome.snapshot.steps)) ADD_FAILURE() << wrong;
  }
  outcome.recording = reader.content();
  std::filesystem::remove(temporary("sqlite"));
}

// What its packets say, put together by the rules of their reader, is what the report says.
void check_trace(const control::Fabric& fabric, VariantOutcome& out) {
  out.trace = taken(temporary("trace"));
  for (const std::string& wrong : differences(read_trace(out.trace), out.snapshot, fabric)) ADD_FAILURE() << wrong;
}

// The line that differs, and the same one of the other text.
std::string first_line_apart(const std::string& a, const std::string& b) {
  const auto at = static_cast<size_t>(std::ranges::mismatch(a, b).in1 - a.begin());
  const auto line = [at](const std::string& text) {
    const size_t end = std::min(at, text.size());
    size_t from = end;
    for (int i = 0; i < 3 && from > 0; ++i)
      from = text.rfind('\n', from - 1) == std::string::npos ? 0 : text.rfind('\n', from - 1);
    return text.substr(from, std::min<size_t>(end - from + 80, 400));
  };
  return fmt::format("{}\n  instead of{}", line(a), line(b));
}

// Likewise, of the first table that differs.
std::string first_table_apart(const RecordedTables& a, const RecordedTables& b) {
  for (const auto& [table, rows] : a) {
    const auto found = b.find(table);
    if (found == b.end()) return "no " + table;
    const auto text = [](const std::vector<std::string>& lines) { return fmt::format("{}", fmt::join(lines, "\n")); };
    if (rows != found->second) return table + ": " + first_line_apart(text(rows), text(found->second));
  }
  return "tables that the other has not";
}

// What depends neither on how it was run nor on what was written meanwhile.
std::string comparable(control::Json report) {
  report.erase("engine");
  report.erase("events");
  return report.dump(1);
}

// When it has run: what came of it, but its files.
void finish(RunningFabric& fabric, const Variant& variant, VariantOutcome& out) {
  const auto closed = fabric.part<Captures>().close_all();
  EXPECT_TRUE(closed) << closed.error();
  out.snapshot = fabric.snapshot();
  if (!fabric.assembly().nodes->ranks().is_first()) return;
  const control::Testbed& testbed = fabric.testbed();
  if (out.snapshot.steps) out.steps = control::steps_json(*out.snapshot.steps, testbed.name).dump(1);
  out.report =
      control::report_json(out.snapshot, {.testbed = testbed.name, .clock = "virtual", .seed = testbed.run.seed});
  EXPECT_EQ(out.report["totals"]["imbalances"], control::Json::array());
  for (const std::string& wrong : fabric.part<CounterSeries>().check(out.snapshot)) ADD_FAILURE() << wrong;
  if (variant.traces) {
    for (const std::string& wrong : fabric.part<TraceFile>().check(out.snapshot)) ADD_FAILURE() << wrong;
  }
  if (variant.records) check_recording(fabric, out);
  if (variant.writes_ns3) out.queues = fabric.part<QueueLengths>().text();
}

// When its files are closed.
void take_files(const Variant& variant, VariantOutcome& out) {
  if (variant.captures) {
    (variant.watched == Watched::kReceived ? out.received : out.capture) = taken(temporary("pcapng"));
  }
  if (variant.logs_events) out.events = taken(temporary("events"));
  if (variant.writes_ns3) out.pauses = taken(temporary("pfc"));
  if (!variant.samples) return;
  out.series = taken(temporary("series"));
  out.flows = taken(temporary("flows"));
  EXPECT_TRUE(out.flows.ends_with("}\n"));
}

// One rank's part, on a thread of its own.
void run_rank(dataplane::RankLink& link, const control::Testbed& testbed, const Variant& variant, VariantOutcome& out) {
  static std::mutex one_at_a_time;
  dataplane::RankTalk talk(link, [](const dataplane::LostRank& lost) {
    ADD_FAILURE() << "rank " << lost.rank << " was lost: " << static_cast<int>(lost.why);
  });
  std::unique_ptr<RunningFabric> fabric;
  {
    const std::lock_guard guard{one_at_a_time};
    auto made = RunningFabric::make(testbed, {.run_folder = {},
                                              .capture = std::nullopt,
                                              .flat = variant.flat,
                                              .steps = variant.records_steps,
                                              .traced_steps = variant.traces || variant.records,
                                              .talk = &talk});
    if (!made) return ADD_FAILURE() << made.error(), void();
    fabric = std::move(*made);
  }
  open_outputs(*fabric, variant);
  const auto ran = fabric->run();
  EXPECT_TRUE(ran) << ran.error();
  VariantOutcome others;
  finish(*fabric, variant, link.rank() == 0 ? out : others);
  EXPECT_EQ(fabric->drain(), 0U) << "packets that leaked";
}

VariantOutcome run_over_ranks(const std::string& text, const Variant& variant) {
  VariantOutcome out;
  const auto testbed = control::parse_testbed(text, tests::drawn_testbed_file(), {.workers = variant.workers});
  if (!testbed) {
    out.refused = to_string(testbed.error().front());
    return out;
  }
  if (!put_edge_input(text)) {
    out.refused = "its edges have no input";
    return out;
  }
  const Poisoned poisoned(variant.poisons);
  tests::RankThreads::run(variant.ranks, [&](dataplane::RankLink& link) {
    if (link.rank() != 0) dataplane::register_worker_thread();
    run_rank(link, *testbed, variant, out);
    if (link.rank() != 0) dataplane::unregister_worker_thread();
  });
  take_files(variant, out);
  if (variant.traces) out.trace = taken(temporary("trace"));
  out.edges = take_edge_outputs();
  return out;
}

}  // namespace

std::string Variant::text() const {
  std::string out = fmt::format("{} worker{}", workers, workers == 1 ? "" : "s");
  if (ranks > 1) out += fmt::format(" on each of {} ranks", ranks);
  if (flat) out += ", flat";
  if (samples) out += fmt::format(", samples every {} ps", samples->count_ps());
  if (captures) out += watched == Watched::kReceived ? ", capture of what is received" : ", capture";
  if (logs_events) out += ", events";
  if (records) out += ", recording";
  if (records_steps) out += ", steps";
  if (writes_ns3) out += ", ns-3's files";
  if (traces) out += ", a trace for Perfetto";
  if (poisons) out += ", poisoned packets";
  return out;
}

VariantOutcome run_variant(const std::string& text, const Variant& variant) {
  if (variant.ranks > 1) return run_over_ranks(text, variant);
  VariantOutcome out;
  const auto testbed = control::parse_testbed(text, tests::drawn_testbed_file(), {.workers = variant.workers});
  if (!testbed) {
    out.refused = to_string(testbed.error().front());
    return out;
  }
  if (!put_edge_input(text)) {
    out.refused = "its edges have no input";
    return out;
  }
  const Poisoned poisoned(variant.poisons);
  auto fabric = RunningFabric::make(*testbed, {.run_folder = {},
                                               .capture = std::nullopt,
                                               .flat = variant.flat,
                                               .steps = variant.records_steps,
                                               .traced_steps = variant.traces || variant.records});
  if (!fabric) {
    out.refused = fabric.error();
    return out;
  }
  open_outputs(**fabric, variant);
  const auto ran = (*fabric)->run();
  EXPECT_TRUE(ran) << ran.error();
  finish(**fabric, variant, out);
  EXPECT_EQ((*fabric)->drain(), 0U) << "packets that leaked";
  fabric->reset();  // closes its files
  take_files(variant, out);
  if (variant.traces) check_trace(testbed->fabric, out);
  out.edges = take_edge_outputs();
  return out;
}

std::string difference(const VariantOutcome& a, const VariantOutcome& b) {
  if (a.refused != b.refused) return fmt::format("refused: '{}' instead of '{}'", a.refused, b.refused);
  const std::string report = comparable(a.report);
  const std::string other = comparable(b.report);
  if (report != other) return "the report: " + first_line_apart(report, other);
  if (!a.capture.empty() && !b.capture.empty() && a.capture != b.capture) return "the capture";
  if (!a.events.empty() && !b.events.empty() && a.events != b.events)
    return "the events: " + first_line_apart(a.events, b.events);
  if (!a.series.empty() && !b.series.empty() && a.series != b.series)
    return "the counters: " + first_line_apart(a.series, b.series);
  if (!a.flows.empty() && !b.flows.empty() && a.flows != b.flows)
    return "the flows over time: " + first_line_apart(a.flows, b.flows);
  if (!a.recording.empty() && !b.recording.empty() && a.recording != b.recording)
    return "the recording: " + first_table_apart(a.recording, b.recording);
  if (!a.steps.empty() && !b.steps.empty() && a.steps != b.steps)
    return "the steps: " + first_line_apart(a.steps, b.steps);
  if (!a.queues.empty() && !b.queues.empty()) {
    if (a.pauses != b.pauses) return "ns-3's pauses: " + first_line_apart(a.pauses, b.pauses);
    if (a.queues != b.queues) return "ns-3's queues: " + first_line_apart(a.queues, b.queues);
  }
  if (!a.trace.empty() && !b.trace.empty() && a.trace != b.trace) return "the trace for Perfetto";
  if (a.edges != b.edges) return "what edges wrote";
  return "";
}

}  // namespace softspine::testbeds
