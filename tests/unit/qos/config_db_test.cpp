// SPDX-License-Identifier: Apache-2.0
// A config_db.json of the shape that a SONiC ToR has: quoted numbers without units, a row per port, tables besides.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "control/document/reader.hpp"
#include "tests/harness/source_root.hpp"
#include "tests/unit/qos/plans.hpp"

namespace softspine::control {
namespace {

using tests::Complaints;
using tests::complaints_about;
using tests::plan_of;
using tests::Planned;
using tests::with_fabric;

std::string shipped_file() {
  return (tests::source_root() / "tests/unit/qos/config_db.json").string();
}
Planned plan_with(std::string_view more) {
  return plan_of(
      with_fabric("profiles: {tor: {config_db: " + shipped_file() + std::string(more) + "}}\nroles: {tor: tor}\n"));
}

TEST(ConfigDb, IsReadAsItIs) {
  const Planned planned = plan_with(", cell: 208B");
  ASSERT_NE(planned.plan, nullptr);
  const dataplane::PriorityGroupPlan& group = planned.group(2, 4);
  EXPECT_TRUE(group.lossless);
  EXPECT_EQ(group.reserved_cells, 6u);
  EXPECT_EQ(group.headroom_cells, 854u);
  EXPECT_EQ(group.xon_cells, 11u);
  EXPECT_EQ(group.xon_offset_cells, 11u);
  EXPECT_EQ(group.limit, dataplane::SharedLimit::dynamic(-3));
  EXPECT_EQ(planned.plan->buffer.ingress_pools.at(0).headroom_cells, 20'164u);
  const dataplane::PortQosPlan& port = planned.plan->ports.at(1);
  EXPECT_EQ(port.pfc_enabled, 0b11000);
  EXPECT_EQ(port.watchdog.priorities, 0b11000);
  EXPECT_EQ(port.watchdog.action, dataplane::WatchdogAction::kDrop);
  EXPECT_EQ(port.watchdog.detection, dataplane::Duration::ms(200));
  EXPECT_EQ(port.watchdog.restoration, dataplane::Duration::ms(400));
  EXPECT_EQ(planned.plan->watchdog_poll, dataplane::Duration::ms(200));
  EXPECT_EQ(port.queues[3].weight, 15u);
  EXPECT_EQ(planned.plan->wred.at(port.queues[3].wred).mark.max_probability, dataplane::WredLine::kCertain / 20);
}

TEST(ConfigDb, RatesAreBytesASecond) {
  const Planned planned = plan_with(", PORT_QOS_MAP: {global: {scheduler: scheduler_port}}");
  EXPECT_EQ(planned.plan->ports.at(0).shaper.rate, dataplane::Rate::gbps(80));
  EXPECT_EQ(planned.plan->ports.at(0).shaper.burst_bytes, 8'192u);
}

TEST(ConfigDb, GoesUnderWhatTheProfileSays) {
  const Planned planned = plan_with(
      ", BUFFER_PROFILE: {pg_lossless_100000_40m_profile: {dynamic_th: 0}}, BUFFER_PG: {Ethernet4|4: {profile: "
      "ingress_lossy_profile}}");
  EXPECT_EQ(planned.group(0, 4).limit, dataplane::SharedLimit::dynamic(0));
  EXPECT_TRUE(planned.group(0, 4).lossless);
  EXPECT_FALSE(planned.group(1, 4).lossless);
}

// A file of its own for each test.
class Broken : public testing::Test {
 protected:
  Broken()
      : path_(std::filesystem::path(testing::TempDir()) /
              (std::string("softspine-") + testing::UnitTest::GetInstance()->current_test_info()->name() + ".json")) {}
  ~Broken() override { std::filesystem::remove(path_); }
  // "LINE path: message", of the file or, with "testbed ", of the testbed.
  Complaints complaints(std::string_view text) {
    std::ofstream(path_) << text;
    const std::string testbed =
        with_fabric("profiles: {tor: {config_db: \"" + path_.string() + "\"}}\nroles: {tor: tor}\n");
    Complaints out;
    const auto read = parse_testbed(testbed, "t.yaml");
    if (read) return out;
    for (const Error& error : read.error()) {
      EXPECT_TRUE(error.file == path_.string() || error.file == "t.yaml") << error.file;
      out.push_back((error.file == "t.yaml" ? "testbed " : "") + std::to_string(error.line) + " " + error.path + ": " +
                    error.message);
    }
    return out;
  }
  std::filesystem::path path_;
};

TEST_F(Broken, SaysWhereAndAllAtOnce) {
  EXPECT_EQ(complaints(R"({
  "BUFFER_POOL": {"p": {"type": "ingress", "size": "1000000", "mode": "dynamic"}},
  "BUFFER_PROFILE": {
    "a": {"pool": "q", "dynamic_th": "12", "size": "0"},
    "b": {"pool": "p", "size": "x", "static_th": "5"}
  },
  "BUFFER_PG": {"Ethernet0|3-9": {"profile": "a"}},
  "PFC_WD": {"Ethernet0": {"action": "explode"}}
})"),
            (Complaints{"4 BUFFER_PROFILE.a.pool: BUFFER_POOL has no row 'q': did you mean 'p'?",
                        "4 BUFFER_PROFILE.a.dynamic_th: expected a whole number from -8 to 8, found '12'",
                        "5 BUFFER_PROFILE.b.size: expected a size such as 96KiB, found 'x'",
                        "7 BUFFER_PG.'Ethernet0|3-9': expected 3, 3-4 or Ethernet0|3-4, found 'Ethernet0|3-9'",
                        "8 PFC_WD.Ethernet0.action: 'explode' is not one of drop, forward, alert"}));
}

TEST(ConfigDb, ItsValuesAreToldFromTheTestbeds) {
  Reader reader("t.yaml");
  const auto testbed = Document::parse("{a: 1}", "t.yaml", reader.log());
  const Value first = reader.open("{a: 1}", "first");
  const Value second = reader.open("{a: 1}", "second");
  EXPECT_EQ(second.file(), "second");
  EXPECT_NE(testbed->root().child("a").id(), first.child("a").id());
  EXPECT_NE(first.child("a").id(), second.child("a").id());
  reader.fail(testbed->root().child("a"), "no");
  EXPECT_FALSE(reader.is_invalid(first.child("a")));
}

TEST_F(Broken, TellsOfAFileThatIsNoJson) {
  const Complaints said = complaints("{\"BUFFER_POOL\": {\"p\": ");
  ASSERT_EQ(said.size(), 1u);
  EXPECT_TRUE(said[0].find("not JSON: ") != std::string::npos) << said[0];
  EXPECT_EQ(complaints(""), Complaints{"0 : empty"});
  EXPECT_EQ(complaints("[]"), Complaints{"1 : expected a map (config_db), found a list"});
}

TEST_F(Broken, TellsOfAFileThatIsNotThere) {
  EXPECT_EQ(complaints_about(with_fabric("profiles: {tor: {config_db: nowhere/c.json}}\n")),
            (Complaints{"4 profiles.tor.config_db: 'nowhere/c.json' cannot be opened: No such file or directory"}));
  EXPECT_EQ(complaints_about(with_fabric("profiles: {tor: {config_db: /dev/null}}\n")),
            (Complaints{"4 profiles.tor.config_db: '/dev/null' is not a file"}));
}

TEST_F(Broken, APortThatItHasNoRowsForIsNamed) {
  EXPECT_EQ(complaints(R"({
  "BUFFER_POOL": {"p": {"type": "ingress", "size": "1000000"}},
  "BUFFER_PROFILE": {"a": {"pool": "p", "dynamic_th": "1"}},
  "BUFFER_PG": {"Ethernet0,Ethernet4|0-7": {"profile": "a"}}
})")
                .front(),
            "testbed 4 profiles.tor: traffic class 0 goes to priority group 0, which has no row in BUFFER_PG for "
            "tor1:Ethernet8");
}

TEST_F(Broken, NullIsALosslessProfileThatFitsThePort) {
  std::ofstream(path_) << R"({
  "BUFFER_POOL": {"ingress_lossless_pool": {"type": "ingress", "size": "8000000"}},
  "BUFFER_PROFILE": {"ingress_lossy_profile": {"pool": "ingress_lossless_pool", "dynamic_th": "3", "size": "0"}},
  "BUFFER_PG": {"Ethernet0,Ethernet4,Ethernet8|3-4": {"profile": "NULL"},
                "Ethernet0,Ethernet4,Ethernet8|0": {"profile": "ingress_lossy_profile"}},
  "DEFAULT_LOSSLESS_BUFFER_PARAMETER": {"AZURE": {"default_dynamic_th": "-1", "over_subscribe_ratio": "2"}}
})" << std::flush;
  const Planned planned =
      plan_of(with_fabric("profiles: {tor: {config_db: \"" + path_.string() + "\"}}\nroles: {tor: tor}\n"));
  EXPECT_TRUE(planned.group(0, 3).lossless);
  EXPECT_EQ(planned.group(0, 3).limit, dataplane::SharedLimit::dynamic(-1));
  const auto shapes = port_shapes(planned.testbed.fabric, planned.testbed.profiles, 0);
  EXPECT_EQ(planned.group(0, 3).headroom_cells, headroom_needed(shapes.at(0), 256, dataplane::kMinFrameBytes));
}

}  // namespace
}  // namespace softspine::control
