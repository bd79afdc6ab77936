// SPDX-License-Identifier: Apache-2.0
// Recordings of whole runs, read back by SQL: every sum and last value against the report's counters, events against
// their counts, the same rows for any number of workers, and what a full disk leaves.
#include <fmt/format.h>
#include <sys/resource.h>

#include <cmath>
#include <csignal>
#include <map>

#include "control/compile/thresholds.hpp"
#include "control/record/recording_tables.hpp"
#include "control/report/report.hpp"
#include "control/telemetry/event_lines.hpp"
#include "testbeds/run/run_recording.hpp"
#include "testbeds/run/running_fabric.hpp"
#include "tests/scenario/run/recording_reader.hpp"
#include "tests/scenario/run/running_testbed.hpp"

namespace softspine::testbeds {
namespace {

using control::Json;
using dataplane::Duration;

// A host storms, a link goes down and up, and packets are dropped; one workload is reliable.
constexpr const char* kRecorded = R"(
name: recorded
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
expect: [{value: totals.balanced, equal: true}]
)";

struct RecordedOutcome {
  control::FabricSnapshot snapshot;
  Json report;
  std::string path;
  bool is_whole = false;
  std::vector<std::string> errors;
};

RecordedOutcome run_recorded(const std::string& text, uint32_t workers, bool flat = false,
                             Duration interval = Duration::us(10)) {
  RecordedOutcome out;
  const control::Testbed testbed = testbed_of(text, {.workers = workers});
  auto fabric = RunningFabric::make(testbed, {.run_folder = {}, .capture = std::nullopt, .flat = flat});
  EXPECT_TRUE(fabric);
  out.path = fmt::format("{}/recording-{}-{}{}.sqlite", testing::TempDir(), getpid(), workers, flat);
  auto& recording = (*fabric)->part<RunRecording>();
  const auto opened = recording.open({.path = out.path, .run = {.version = "1", .text = text, .interval = interval}});
  EXPECT_TRUE(opened) << opened.error();
  EXPECT_TRUE((*fabric)->run());
  out.snapshot = (*fabric)->snapshot();
  out.report = control::report_json(out.snapshot, {.testbed = testbed.name, .clock = "virtual", .seed = 1});
  out.report["expectations"] = Json::array({{{"held", true}, {"text", "it runs"}}});
  EXPECT_EQ(recording.check(out.snapshot), std::vector<std::string>{});
  out.is_whole = recording.add_results(out.snapshot, out.report, {});
  for (const auto& error : (*fabric)->errors().all()) out.errors.push_back(error.what);
  EXPECT_EQ((*fabric)->drain(), 0U);
  return out;
}

// Every counter of every series, as its own table reads it from the snapshot that the report is made of.
TEST(Recording, AddsUpToTheReportForEverySeries) {
  const RecordedOutcome run = run_recorded(kRecorded, 2);
  ASSERT_TRUE(run.is_whole);
  EXPECT_EQ(run.errors, std::vector<std::string>{});
  RecordingReader rows{run.path};
  const std::map<std::string, uint64_t> wanted = values_of(run.snapshot);
  std::map<std::string, uint64_t> found = rows.values();
  size_t above_zero = 0;
  for (const auto& [name, value] : wanted) {
    EXPECT_EQ(found[name], value) << name;
    above_zero += value > 0 ? 1 : 0;
  }
  EXPECT_GT(above_zero, 150U);
  for (const auto& [name, value] : found) EXPECT_TRUE(wanted.contains(name)) << name << " " << value;
}

std::string or_null(const std::optional<Duration>& time) {
  return time ? std::to_string(time->count_ps()) : "null";
}
std::string or_null(dataplane::Instant at) {
  return at.is_never() ? "null" : std::to_string(at.count_ps());
}

// What a row of `flows` has from start_ps on.
std::string row_of(const control::FlowSnapshot& flow) {
  const std::optional<Duration> ideal = flow.ideal > Duration{} ? std::optional{flow.ideal} : std::nullopt;
  const auto slowdown = flow.slowdown_millionths();
  std::string out = fmt::format("{}|{}|{}|{}|{}|{}|{}", or_null(flow.start), or_null(flow.first_sent),
                                or_null(flow.last_arrived), or_null(flow.completion), or_null(flow.acked),
                                or_null(ideal), slowdown ? std::to_string(*slowdown) : "null");
  const control::ReliableCounts& of_sender = flow.reliable;
  out += fmt::format("|{}|{}|{}|{}|{}|{}|{}|{}|{}", flow.sent_packets, flow.received_packets, flow.missing(),
                     flow.under_way, flow.marked, of_sender.retransmitted_packets, of_sender.local_ack_timeout_err,
                     of_sender.rp_cnp_handled, of_sender.window_wait_ps);
  return out + "|" + (flow.stalled.empty() ? "null" : flow.stalled);
}

TEST(Recording, HasEachFlowWithAllThatIsKnownOfIt) {
  std::string text = kRecorded;
  text.insert(text.find("faults:"),
              "  - {name: ends, pattern: pairs, from: [h3], to: [h2], message: 16KiB, messages: 1, transport: rc, "
              "congestion_control: dcqcn_connectx, dscp: 3}\n");
  const RecordedOutcome run = run_recorded(text, 1);
  std::vector<std::string> wanted;
  std::map<std::string, size_t> kinds;
  for (const control::FlowSnapshot& flow : run.snapshot.flows) {
    wanted.push_back(row_of(flow));
    kinds["marked"] += flow.marked > 0 ? 1 : 0;
    kinds["complete"] += flow.acked ? 1 : 0;
    kinds["under way"] += flow.under_way > 0 ? 1 : 0;
    kinds["missing"] += flow.missing() > 0 ? 1 : 0;
  }
  EXPECT_EQ(RecordingReader{run.path}.rows(
                "SELECT start_ps, first_sent_ps, last_arrived_ps, fct_ps, fct_acked_ps, ideal_ps,"
                " CAST(round(slowdown * 1e6) AS INTEGER), sent_packets, received_packets, missing_packets,"
                " under_way_packets, marked_packets, retransmitted_packets, timeouts, cnps, window_wait_ps, stalled "
                "FROM flows ORDER BY flow_id"),
            wanted);
  for (const auto& [kind, flows] : kinds) EXPECT_GT(flows, 0U) << kind;
}

TEST(Recording, HasTheFlowsOfTheReportAndTheirBytesOverTime) {
  const RecordedOutcome run = run_recorded(kRecorded, 1);
  RecordingReader rows{run.path};
  EXPECT_EQ(rows.one("SELECT count(*) FROM flows"), run.snapshot.flows.size());
  for (const control::FlowSnapshot& flow : run.snapshot.flows) {
    const std::string of_it = fmt::format(" WHERE flow_id = {}", flow.id);
    EXPECT_EQ(rows.one("SELECT received_bytes FROM flows" + of_it), flow.received_bytes);
    if (flow.open_loop) continue;
    EXPECT_EQ(rows.one("SELECT sum(sent_bytes) FROM flow_samples" + of_it), flow.sent_bytes);
    EXPECT_EQ(rows.one("SELECT sum(cnps) FROM flow_samples" + of_it), flow.reliable.rp_cnp_handled);
  }
  for (const auto& [name, workload] : run.report["flows"].items()) {
    EXPECT_EQ(rows.one(fmt::format("SELECT sum(received_bytes) FROM flows WHERE workload = '{}'", name)),
              workload["received_bytes"]);
    EXPECT_EQ(rows.one(fmt::format("SELECT missing_packets FROM workloads WHERE workload = '{}'", name)),
              workload["missing_packets"]);
  }
}

TEST(Recording, HasEveryEventAndEveryDrop) {
  const RecordedOutcome run = run_recorded(kRecorded, 3);
  RecordingReader rows{run.path};
  for (const auto& [kind, lines] : run.report["events"]["lines"].items()) {
    EXPECT_EQ(rows.one(fmt::format("SELECT count(*) FROM events WHERE event = '{}'", kind)), lines) << kind;
  }
  EXPECT_GT(rows.one("SELECT count(*) FROM events WHERE event = 'xoff_raised'"), 0U);
  uint64_t dropped = 0;
  for (const auto& [reason, packets] : run.report["totals"]["drops"].items()) {
    if (reason.ends_with("consumed")) continue;  // at hosts, too, which have no series of it
    const std::string of_it = fmt::format(" WHERE reason = '{}'", reason);
    EXPECT_EQ(rows.one("SELECT total(packets) FROM drops" + of_it), packets) << reason;
    EXPECT_EQ(rows.one("SELECT total(packets) FROM events" + of_it), packets) << reason;
    dropped += packets.get<uint64_t>();
  }
  EXPECT_GT(dropped, 100U);
  EXPECT_EQ(rows.one("SELECT lost_packets FROM loss_windows WHERE fault_id = 2"),
            run.report["faults"][2]["loss_window"]["lost_packets"]);
  EXPECT_EQ(rows.one("SELECT sum(packets) FROM losses"), [&] {
    uint64_t sum = 0;
    for (const Json& loss : run.report["losses"]) sum += loss["packets"].get<uint64_t>();
    return sum;
  }());
}

TEST(Recording, HasTheFabricAndWhatWasRun) {
  const RecordedOutcome run = run_recorded(kRecorded, 1);
  RecordingReader rows{run.path};
  const control::Testbed testbed = testbed_of(kRecorded);
  EXPECT_EQ(rows.one("SELECT count(*) FROM nodes"), testbed.fabric.nodes.size());
  EXPECT_EQ(rows.one("SELECT count(*) FROM links"), testbed.fabric.links.size());
  EXPECT_EQ(rows.one("SELECT count(*) FROM ports AS a JOIN ports AS b ON a.peer_port_id = b.port_id AND "
                     "b.peer_port_id = a.port_id AND a.link_id = b.link_id"),
            2 * testbed.fabric.links.size());
  EXPECT_EQ(rows.text("SELECT text FROM testbed"), kRecorded);
  EXPECT_EQ(rows.one("SELECT value FROM run WHERE key = 'sample_interval_ps'"), 10'000'000U);
  EXPECT_EQ(rows.one("SELECT value FROM run WHERE key = 'end_ps'"), 700'000'000U);
  EXPECT_EQ(rows.one("SELECT held FROM expectations"), 1U);
  EXPECT_EQ(rows.one("PRAGMA application_id"), static_cast<uint64_t>(control::kRecordingId));
  EXPECT_EQ(rows.one("SELECT max(queue_rows) FROM samples"), rows.one("SELECT count(*) FROM queue_samples"));
  EXPECT_GT(rows.one("SELECT count(*) FROM ecn_thresholds"), 0U);
  EXPECT_FALSE(std::filesystem::exists(run.path + "-journal"));
}

TEST(Recording, SaysWhereNodesAndLinksStand) {
  const RecordedOutcome run = run_recorded(kRecorded, 1);
  RecordingReader rows{run.path};
  EXPECT_EQ(rows.rows("SELECT kind, role, tier, count(*) FROM nodes GROUP BY kind, role, tier ORDER BY tier"),
            (std::vector<std::string>{"host|host|0|6", "switch|tor|1|2", "switch|aggregation|2|2"}));
  // 3 m and 40 m at 198 m/us.
  EXPECT_EQ(rows.rows("SELECT DISTINCT rate_bps, propagation_ps FROM links ORDER BY propagation_ps"),
            (std::vector<std::string>{"100000000000|15152", "100000000000|202020"}));
  EXPECT_EQ(rows.one("SELECT count(*) FROM ports JOIN links USING(link_id) WHERE ports.rate_bps <> links.rate_bps"),
            0U);
}

// ECN: SONiC's AZURE_LOSSLESS. XOFF: where the buffer raises it when it is filled cell by cell.
TEST(Recording, HasTheThresholdsThatABufferIsFoundToHave) {
  const RecordedOutcome run = run_recorded(kRecorded, 1);
  RecordingReader rows{run.path};
  EXPECT_EQ(rows.rows("SELECT DISTINCT queue, min_bytes, max_bytes FROM ecn_thresholds"),
            (std::vector<std::string>{"3|1048576|2097152", "4|1048576|2097152"}));
  const auto switch_ports = rows.one("SELECT count(*) FROM ports JOIN nodes USING(node_id) WHERE kind = 'switch'");
  EXPECT_EQ(rows.one("SELECT count(*) FROM ecn_thresholds"), 2 * switch_ports);
  EXPECT_EQ(rows.one("SELECT count(*) FROM xoff_thresholds"), 2 * switch_ports);
  size_t compared = 0;
  for (const control::Thresholds& found : control::thresholds_of(testbed_of(kRecorded))) {
    for (const std::string& port : found.ports) {
      if (!found.lossless) continue;
      const std::string of_it = fmt::format(
          " FROM xoff_thresholds JOIN ports USING(port_id) JOIN pools ON pools.name = pool "
          "WHERE ports.name = '{}:{}' AND priority_group = {}",
          found.node, port, found.number);
      const auto of = [&](const char* column) {
        return static_cast<double>(rows.one(fmt::format("SELECT {}", column) + of_it)) / found.cell_bytes;
      };
      // Reached by s cells where s = fixed + alpha * (size - s).
      const double alpha = of("alpha * 256") * found.cell_bytes / 256;
      const double shared = std::ceil((of("fixed_bytes") + alpha * of("size_bytes")) / (1 + alpha));
      EXPECT_EQ(of("reserved_bytes") + shared, static_cast<double>(found.xoff.value_or(0))) << port;
      EXPECT_EQ(rows.one("SELECT reserved_bytes" + of_it), found.reserved_cells * found.cell_bytes);
      EXPECT_GT(rows.one("SELECT headroom_bytes" + of_it), 0U);
      ++compared;
    }
  }
  EXPECT_GT(compared, 5U);
}

TEST(Recording, HasTheSameRowsForAnyNumberOfWorkersAndWindows) {
  const auto content = [](const RecordedOutcome& run) { return RecordingReader{run.path}.content(); };
  const auto one = content(run_recorded(kRecorded, 1));
  EXPECT_GT(one.at("queue_samples").size(), 500U);
  for (const auto& [workers, flat] : {std::pair{2U, false}, {3U, false}, {1U, true}, {2U, true}}) {
    const auto more = content(run_recorded(kRecorded, workers, flat));
    for (const auto& [table, rows] : one) EXPECT_TRUE(rows == more.at(table)) << table << " " << workers << flat;
  }
}

TEST(Recording, LeavesTheRunAsItIs) {
  Json with = run_recorded(kRecorded, 1, false, Duration::us(1)).report;
  Json without = run_text(kRecorded).report;
  for (Json* each : {&with, &without}) {
    for (const char* key : {"engine", "testbed", "events", "expectations"}) each->erase(key);
  }
  EXPECT_EQ(with.dump(), without.dump());
}

// No file may grow above this: what a full disk answers, for this process alone.
class SmallFiles {
 public:
  explicit SmallFiles(rlim_t bytes) {
    getrlimit(RLIMIT_FSIZE, &before_);
    handler_ = std::signal(SIGXFSZ, SIG_IGN);
    const rlimit small{bytes, before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &small);
  }
  ~SmallFiles() {
    setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }
  SmallFiles(const SmallFiles&) = delete;
  SmallFiles& operator=(const SmallFiles&) = delete;

 private:
  rlimit before_{};
  sighandler_t handler_ = nullptr;
};

TEST(Recording, ThatFindsTheDiskFullSaysSoAndKeepsWhatItHas) {
  RecordedOutcome run;
  {
    const SmallFiles small{3 << 19};
    run = run_recorded(kRecorded, 2, false, Duration::ns(200));
  }
  EXPECT_FALSE(run.is_whole);
  ASSERT_EQ(run.errors.size(), 1U) << "once";
  EXPECT_NE(run.errors[0].find(run.path), std::string::npos) << run.errors[0];
  EXPECT_EQ(run.report["totals"]["imbalances"], Json::array());
  RecordingReader rows{run.path};
  EXPECT_EQ(rows.text("PRAGMA integrity_check"), "ok");
  EXPECT_GT(rows.one("SELECT count(*) FROM samples"), 10U);
  EXPECT_EQ(rows.one("SELECT count(*) FROM run WHERE key = 'end_ps'"), 0U);
  EXPECT_EQ(rows.one("SELECT max(queue_rows) FROM samples"), rows.one("SELECT count(*) FROM queue_samples"));
}

TEST(Recording, IsNotBegunWhereItCannotBeWritten) {
  const control::Testbed testbed = testbed_of(kRecorded);
  auto fabric = RunningFabric::make(testbed, {});
  ASSERT_TRUE(fabric);
  auto& recording = (*fabric)->part<RunRecording>();
  const auto of = [&](const std::string& path) {
    return recording.open({.path = path, .run = {.version = "1", .text = "", .interval = Duration::us(10)}}).error();
  };
  EXPECT_EQ(of("/nowhere/r.sqlite"), "cannot record to /nowhere/r.sqlite: No such file or directory");
  EXPECT_NE(of("/dev/null").find("not a regular file"), std::string::npos);
}

TEST(UsualInterval, IsAThousandthOfTheDuration) {
  const auto of = [](Duration duration) { return usual_record_interval({.duration = duration}); };
  EXPECT_EQ(of(Duration::ms(1)), Duration::us(10));
  EXPECT_EQ(of(Duration::ms(100)), Duration::us(100));
  EXPECT_EQ(of(Duration::max()), Duration::ms(1));
}

}  // namespace
}  // namespace softspine::testbeds
