// SPDX-License-Identifier: Apache-2.0
// Recordings of what changes now and then: the groups among whose members switches choose, and what ranks did and
// waited for.
#include <fmt/format.h>

#include "testbeds/run/run_recording.hpp"
#include "testbeds/run/running_fabric.hpp"
#include "tests/scenario/run/recorded_rows.hpp"
#include "tests/scenario/run/running_testbed.hpp"

namespace softspine::testbeds {
namespace {

using control::Json;
using dataplane::Duration;

// Five ranks in a ring, one of which stands behind a storm; a link goes down and up; tor1 has a LAG. A
// link of tor2 goes down and up between two looks: it has new tables then, with the same groups.
constexpr const char* kRing = R"(
name: ring
run: {duration: 3ms}
fabric: {kind: leaf-spine, tors: 2, spines: 2, hosts_per_tor: 3, links_per_spine: 2, host_link: {rate: 100Gbps, length: 3m}, fabric_link: {rate: 100Gbps, length: 40m}}
topology: {lags: [{name: bundle, between: [tor1, spine1]}]}
profiles: {default: {base: sonic-tomahawk-100g-40m}}
collectives: [{name: r, op: all_reduce, algorithm: ring, protocol: simple, size: 1MiB, ranks: [h1, h2, h3, h4, h5]}]
faults:
  - {at: 20us, node: h4, set: storm, priorities: [3], until: 60us}
  - {at: 100us, link: "tor1:Ethernet12", set: down}
  - {at: 200us, link: "tor1:Ethernet12", set: up}
  - {at: 301us, link: "tor2:Ethernet12", set: down}
  - {at: 304us, link: "tor2:Ethernet12", set: up}
)";

// Its iterations take the same time but for the first, and those of the second size take longer.
constexpr const char* kEvenBroadcast = R"(
name: even
run: {duration: 3ms}
fabric: {kind: star, hosts: 4, host_link: {rate: 100Gbps, length: 3m}}
collectives: [{name: r, op: broadcast, algorithm: ring, protocol: simple, size: [16KiB, 256KiB], iterations: 3, compute: 50us, ranks: [h1, h2, h3, h4]}]
)";

struct How {
  const char* text = kRing;
  uint32_t workers = 1;
  bool flat = false;
  bool steps = true;
  control::RecordedLimits limits = {};
};

struct ChangesOutcome {
  std::string path;
  control::FabricSnapshot snapshot;
  std::vector<std::string> differences;
};

ChangesOutcome run_changes(const How& how = {}) {
  ChangesOutcome out;
  const control::Testbed testbed = testbed_of(how.text, {.workers = how.workers});
  auto fabric = RunningFabric::make(
      testbed, {.run_folder = {}, .capture = std::nullopt, .flat = how.flat, .steps = how.steps, .traced_steps = true});
  EXPECT_TRUE(fabric);
  out.path = fmt::format("{}/changes-{}.sqlite", testing::TempDir(), getpid());
  auto& recording = (*fabric)->part<RunRecording>();
  EXPECT_TRUE(
      recording.open({.path = out.path,
                      .run = {.version = "1", .text = how.text, .interval = Duration::us(10), .limits = how.limits}}));
  EXPECT_TRUE((*fabric)->run());
  out.snapshot = (*fabric)->snapshot();
  EXPECT_TRUE(recording.add_results(out.snapshot, Json::object(), {}));
  RecordingReader rows{out.path};
  out.differences = differences_of_groups(rows, **fabric);
  EXPECT_EQ((*fabric)->drain(), 0U);
  return out;
}

TEST(RecordedGroups, AreThoseOfTheTablesAndChangeWithThem) {
  const ChangesOutcome run = run_changes();
  EXPECT_EQ(run.differences, std::vector<std::string>{});
  RecordingReader rows{run.path};
  const auto tables = [&](const char* node) {
    return rows.rows(fmt::format(
        "SELECT t_ps, count(DISTINCT hash_group_id), sum(buckets) FROM hash_tables JOIN nodes USING(node_id) "
        "LEFT JOIN hash_groups USING(hash_table_id) LEFT JOIN hash_group_members USING(hash_group_id) "
        "WHERE nodes.name = '{}' GROUP BY hash_table_id",
        node));
  };
  const std::vector<std::string> of_tor = tables("tor1");
  ASSERT_EQ(of_tor.size(), 3U) << "at the start, down, up";
  EXPECT_EQ(of_tor[0].substr(of_tor[0].find('|')), of_tor[2].substr(of_tor[2].find('|')));
  EXPECT_NE(of_tor[0].substr(of_tor[0].find('|')), of_tor[1].substr(of_tor[1].find('|')));
  EXPECT_TRUE(of_tor[0].starts_with("0|")) << of_tor[0];
  EXPECT_TRUE(of_tor[1].starts_with("1")) << of_tor[1] << ", a sample after 100 us";
  EXPECT_EQ(tables("tor2").size(), 1U) << "its groups are the same at each look";
  EXPECT_GT(rows.one("SELECT count(*) FROM hash_groups WHERE is_lag"), 0U);
  EXPECT_GT(rows.one("SELECT count(*) FROM hash_groups WHERE destinations LIKE '10.0.2.0/24%'"), 0U);
}

// Each group's shares and expected shares add up to one.
TEST(RecordedGroups, HaveSharesThatAddUp) {
  const ChangesOutcome run = run_changes();
  RecordingReader rows{run.path};
  EXPECT_EQ(rows.one("SELECT count(*) FROM (SELECT 1 FROM hash_shares GROUP BY switch, hash_group "
                     "HAVING abs(sum(expected) - 1) > 1e-9 OR abs(sum(share) - 1) > 1e-9)"),
            0U);
  EXPECT_GT(rows.one("SELECT count(*) FROM hash_shares WHERE tx_bytes > 100000"), 4U);
  EXPECT_EQ(rows.one("SELECT sum(tx_bytes) FROM hash_shares WHERE switch = 'tor1' AND hash_group = 'ecmp 0'"),
            rows.one("SELECT sum(tx_bytes) FROM port_samples JOIN ports USING(port_id) JOIN ports AS o ON o.port_id = "
                     "ports.peer_port_id JOIN nodes ON nodes.node_id = o.node_id WHERE ports.name LIKE 'tor1:%' AND "
                     "nodes.name LIKE 'spine%'"));
}

TEST(RecordedSteps, AddUpToTheReportsSteps) {
  const ChangesOutcome run = run_changes();
  RecordingReader rows{run.path};
  ASSERT_TRUE(run.snapshot.steps);
  EXPECT_EQ(differences_of_steps(rows, *run.snapshot.steps), std::vector<std::string>{});
  EXPECT_EQ(
      rows.rows("SELECT jobs.name, jobs.kind, explained, nodes.name FROM jobs JOIN job_ranks USING(job_id) JOIN nodes "
                "USING(node_id) WHERE rank = 3"),
      (std::vector<std::string>{"r|collective|1|h4"}));
  // Of all-reduce in a ring each rank sends and receives 2 (n - 1) times at least.
  EXPECT_GE(rows.one("SELECT count(*) FROM rank_steps JOIN step_kinds USING(kind_id) WHERE name = 'send'"), 40U);
  EXPECT_EQ(rows.one("SELECT count(*) FROM rank_steps JOIN step_kinds USING(kind_id) WHERE name = 'send'"),
            rows.one("SELECT count(*) FROM rank_steps JOIN step_kinds USING(kind_id) WHERE name = 'receive'"));
  EXPECT_GT(rows.one("SELECT count(*) FROM rank_waits WHERE cause = 'pause' AND cause_by = 'h4'"), 0U);
}

TEST(RecordedSteps, SayWhyOfEachWaitThatIsLongerThanAllBefore) {
  const auto waits = [](const char* text, const char* which) {
    return RecordingReader{run_changes({.text = text}).path}.one(fmt::format(
        "SELECT count(*) FROM (SELECT reason, t_ps - from_ps AS length, max(t_ps - from_ps) OVER (PARTITION BY job_id, "
        "rank ORDER BY wait_id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS longest FROM rank_waits) WHERE {}",
        which));
  };
  for (const char* text : {kRing, kEvenBroadcast}) {
    EXPECT_EQ(waits(text, "(reason IS NULL) <> (length <= coalesce(longest, 0))"), 0U);
    EXPECT_GT(waits(text, "reason IS NULL"), 0U);
  }
  EXPECT_GT(waits(kEvenBroadcast, "length = longest"), 0U);
}

TEST(RecordedSteps, HaveNoReasonsWithoutAskingForThem) {
  const ChangesOutcome without = run_changes({.steps = false});
  RecordingReader rows{without.path};
  EXPECT_EQ(rows.one("SELECT count(*) FROM rank_waits"), 0U);
  EXPECT_EQ(rows.one("SELECT explained FROM jobs"), 0U);
  const std::vector<std::string> steps = rows.rows("SELECT * FROM rank_steps");
  EXPECT_EQ(RecordingReader{run_changes().path}.rows("SELECT * FROM rank_steps"), steps);
  EXPECT_GT(steps.size(), 80U);
}

TEST(RecordedChanges, AreTheSameRowsForAnyNumberOfWorkersAndWindows) {
  const auto content = [](const How& how) { return RecordingReader{run_changes(how).path}.content(); };
  const auto one = content({});
  for (const How& how : {How{.workers = 2}, How{.workers = 3}, How{.workers = 2, .flat = true}}) {
    const auto more = content(how);
    for (const auto& [table, rows] : one)
      EXPECT_TRUE(rows == more.at(table)) << table << " " << how.workers << how.flat;
  }
}

TEST(RecordedChanges, EndWhereThereAreTooMany) {
  EXPECT_EQ(control::RecordedLimits{}.rank_steps, 5'000'000U);
  EXPECT_EQ(control::RecordedLimits{}.group_members, 4'000'000U);
  const uint64_t next =
      RecordingReader{run_changes().path}.one("SELECT t_ps FROM rank_steps ORDER BY rowid LIMIT 1 OFFSET 30");
  const ChangesOutcome run = run_changes({.limits = {.rank_steps = 30}});
  RecordingReader rows{run.path};
  EXPECT_EQ(rows.one("SELECT count(*) FROM rank_steps"), 30U);
  EXPECT_EQ(rows.one("SELECT value FROM run WHERE key = 'rank_steps_end_ps'"), next);
  EXPECT_EQ(rows.one("SELECT count(*) FROM rank_waits WHERE t_ps > (SELECT max(t_ps) FROM rank_steps)"), 0U);
}

TEST(RecordedChanges, SayWhichGroupsAreTheLast) {
  const uint64_t first = RecordingReader{run_changes().path}.one(
      "SELECT count(DISTINCT hash_group_id || member) FROM hash_tables JOIN hash_groups USING(hash_table_id) "
      "JOIN hash_group_members USING(hash_group_id) WHERE t_ps = 0");
  for (const auto& [limit, at_begin] : {std::pair{first, 0U}, std::pair{first - 1, 1U}}) {
    RecordingReader rows{run_changes({.limits = {.group_members = limit}}).path};
    EXPECT_EQ(rows.one("SELECT count(*) FROM hash_tables WHERE node_id IS NULL"), 1U) << limit;
    EXPECT_EQ(rows.one("SELECT count(*) FROM hash_tables WHERE node_id IS NULL AND t_ps = 0"), at_begin) << limit;
    EXPECT_EQ(rows.one("SELECT count(*) FROM hash_tables WHERE hash_table_id > "
                       "(SELECT hash_table_id FROM hash_tables WHERE node_id IS NULL)"),
              0U);
  }
}

}  // namespace
}  // namespace softspine::testbeds
