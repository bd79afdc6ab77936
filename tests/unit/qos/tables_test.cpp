// SPDX-License-Identifier: Apache-2.0
// Tables that do not hold together: what is said about them, and where.
#include <gtest/gtest.h>

#include "tests/unit/config/complaints.hpp"

namespace softspine::control {
namespace {

using tests::Complaints;
using tests::complaints_about;
using tests::with_fabric;

// From line 6 on.
std::string with_tables(std::string_view tables) {
  return with_fabric("profiles:\n  default:\n" + std::string(tables));
}
// Lines 6 to 10; from line 11 on more.
std::string with_pools(std::string_view tables) {
  return with_tables(
      "    BUFFER_POOL: {in: {type: ingress, size: 1MiB}, out: {type: egress, size: 1MiB}}\n"
      "    BUFFER_QUEUE: {0-7: {profile: queue}}\n"
      "    BUFFER_PROFILE:\n"
      "      queue: {pool: out, dynamic_th: 1}\n"
      "      lossy: {pool: in, dynamic_th: 1}\n" +
      std::string(tables));
}

TEST(QosTables, NamesThatNobodyHasAreGuessed) {
  EXPECT_EQ(
      complaints_about(with_pools("      a: {pool: inn, dynamic_th: 0}\n"
                                  "    BUFFER_PG: {0-6: {profile: losy}, 7: {profile: \"[BUFFER_PROFILE|lossy]\"}}\n"
                                  "    QUEUE: {3: {scheduler: s, wred_profile: w}}\n")),
      (Complaints{"11 profiles.default.BUFFER_PROFILE.a.pool: BUFFER_POOL has no row 'inn': did you mean 'in'?",
                  "12 profiles.default.BUFFER_PG.0-6.profile: BUFFER_PROFILE has no row 'losy': did you mean 'lossy'?",
                  "13 profiles.default.QUEUE.3.scheduler: SCHEDULER has no row 's'",
                  "13 profiles.default.QUEUE.3.wred_profile: WRED_PROFILE has no row 'w'"}));
}

TEST(QosTables, WhatIsMissingIsNamed) {
  EXPECT_EQ(
      complaints_about(with_tables("    BUFFER_POOL: {p: {}}\n"
                                   "    BUFFER_PROFILE: {a: {}}\n"
                                   "    BUFFER_PG: {0: {}}\n"
                                   "    SCHEDULER: {s: {weight: 3}}\n"
                                   "    WRED_PROFILE: {w: {ecn: ecn_all, green_min_threshold: 1KiB}}\n"
                                   "    PFC_WD: {Ethernet0: {detection_time: 100ms}, Ethernet4: {waiting: keep}}\n")),
      (Complaints{"6 profiles.default.BUFFER_POOL.p: the key 'size' is missing, and egress_lossless_pool, which it "
                  "could be computed of, has none",
                  "6 profiles.default.BUFFER_POOL.p: the key 'type' is missing: ingress or egress",
                  "7 profiles.default.BUFFER_PROFILE.a: needs either 'dynamic_th' or 'static_th': how much shared "
                  "memory it may use",
                  "7 profiles.default.BUFFER_PROFILE.a: the key 'pool' is missing: a row of BUFFER_POOL",
                  "8 profiles.default.BUFFER_PG.0: the key 'profile' is missing: a row of BUFFER_PROFILE; "
                  "BUFFER_PG: NULL is a lossless one that fits the port",
                  "9 profiles.default.SCHEDULER.s: the key 'type' is missing: STRICT or DWRR",
                  "10 profiles.default.WRED_PROFILE.w: the key 'green_drop_probability' is missing",
                  "10 profiles.default.WRED_PROFILE.w: the key 'green_max_threshold' is missing",
                  "11 profiles.default.PFC_WD.Ethernet0: the key 'action' is missing: drop, forward or alert",
                  "11 profiles.default.PFC_WD.Ethernet4: the key 'action' is missing: drop, forward or alert"}));
}

TEST(QosTables, ValuesOutOfReachAreRefused) {
  EXPECT_EQ(
      complaints_about(
          with_tables("    cell: 8B\n"
                      "    BUFFER_PROFILE: {a: {pool: p, dynamic_th: 9}, b: {pool: p, size: 10, dynamic_th: -8}}\n"
                      "    BUFFER_POOL: {p: {type: sideways, size: 1MiB}}\n"
                      "    SCHEDULER: {s: {type: DWRR, weight: 0}, t: {type: WRR}, u: {type: STRICT, cir: 1Gbps}}\n"
                      "    WRED_PROFILE: {w: {green_drop_probability: 101%}}\n"
                      "    PORT_QOS_MAP: {global: {pfc_enable: \"3,8\"}}\n"
                      "    BUFFER_PG: {8: {profile: a}, 4-3: {profile: a}}\n")),
      (Complaints{
          "6 profiles.default.cell: must be at least 32B, not '8B'",
          "7 profiles.default.BUFFER_PROFILE.a.dynamic_th: expected a whole number from -8 to 8, found '9'",
          "7 profiles.default.BUFFER_PROFILE.b.size: '10' has no unit: expected a size such as 96KiB (B, KB, KiB, MB, "
          "MiB, GB, GiB)",
          "8 profiles.default.BUFFER_POOL.p.type: 'sideways' is not one of ingress, egress, both",
          "9 profiles.default.SCHEDULER.s.weight: must be at least 1, not '0'",
          "9 profiles.default.SCHEDULER.t.type: 'WRR' is not one of STRICT, DWRR: did you mean 'DWRR'?",
          "9 profiles.default.SCHEDULER.u.cir: a guaranteed rate (cir) cannot be had: use weight, or pir",
          "10 profiles.default.WRED_PROFILE.w.green_drop_probability: must be at most 100%, not '101%'",
          "11 profiles.default.PORT_QOS_MAP.global.pfc_enable: expected priorities such as \"3,4\" or [3, 4], found "
          "'3,8'",
          "12 profiles.default.BUFFER_PG.8: expected 3, 3-4 or Ethernet0|3-4, found '8'",
          "12 profiles.default.BUFFER_PG.4-3: expected 3, 3-4 or Ethernet0|3-4, found '4-3'"}));
}

TEST(QosTables, HeadroomIsForLosslessPriorityGroups) {
  EXPECT_EQ(complaints_about(with_pools("      a: {pool: out, dynamic_th: 0, xoff: 1KiB}\n"
                                        "      b: {pool: in, dynamic_th: 0, xon: 1KiB}\n"
                                        "    BUFFER_PG: {0-6: {profile: lossy}, 7: {profile: queue}}\n")),
            (Complaints{
                "11 profiles.default.BUFFER_PROFILE.a.xoff: headroom is for priority groups: out is an egress pool",
                "12 profiles.default.BUFFER_PROFILE.b.xon: is for lossless profiles: 'xoff' is missing",
                "13 profiles.default.BUFFER_PG.7.profile: queue is of out, an egress pool: priority groups take one of "
                "an ingress pool"}));
}

TEST(QosTables, AHeadroomPoolNeedsALosslessGroup) {
  EXPECT_EQ(
      complaints_about(with_tables("    BUFFER_POOL: {in: {type: ingress, size: 1MiB, xoff: 64KiB}}\n"
                                   "    BUFFER_PROFILE: {lossy: {pool: in, dynamic_th: 1}}\n"
                                   "    BUFFER_PG: {0-7: {profile: lossy}}\n")),
      (Complaints{"6 profiles.default.BUFFER_POOL.in.xoff: a headroom pool without use: no row of BUFFER_PG names a "
                  "lossless profile of in"}));
  EXPECT_EQ(complaints_about(with_tables("    BUFFER_POOL: {in: {type: ingress, size: 1MiB, xoff: 64KiB}}\n"
                                         "    BUFFER_PROFILE: {a: {pool: in, dynamic_th: 1, xoff: 65KiB}}\n"
                                         "    BUFFER_PG: {0-7: {profile: a}}\n")),
            (Complaints{
                "7 profiles.default.BUFFER_PROFILE.a.xoff: is more than the whole headroom pool of in (65536 bytes)"}));
}

// Whether anybody uses the headroom is not known where the one profile names a pool that is not there.
TEST(QosTables, OfAWrongPoolNothingFollows) {
  EXPECT_EQ(complaints_about(with_tables(
                "    BUFFER_POOL: {a: {type: ingress, size: 1MiB}, in: {type: ingress, size: 1MiB, xoff: 64KiB}}\n"
                "    BUFFER_PROFILE: {a: {pool: inn, dynamic_th: 1, xoff: 16KiB}}\n"
                "    BUFFER_PG: {0-7: {profile: a}}\n")),
            (Complaints{"7 profiles.default.BUFFER_PROFILE.a.pool: BUFFER_POOL has no row 'inn': did you mean 'in'?"}));
}

TEST(QosTables, NullIsAProfileOfPriorityGroupsOnly) {
  EXPECT_EQ(complaints_about(with_tables(
                "    BUFFER_POOL: {in: {type: ingress, size: 1MiB}, out: {type: egress, size: 1MiB}}\n"
                "    BUFFER_PROFILE: {lossy: {pool: in, dynamic_th: 1}, queue: {pool: out, dynamic_th: 1}}\n"
                "    BUFFER_PG: {0-7: {profile: lossy}}\n"
                "    BUFFER_QUEUE: {0-2: {profile: queue}, 3: {profile: \"NULL\"}, 4-7: {profile: queue}}\n")),
            (Complaints{"9 profiles.default.BUFFER_QUEUE.3.profile: BUFFER_PROFILE has no row 'NULL'"}));
}

TEST(QosTables, EachKeyOfALineOfWredWantsTheOtherTwo) {
  const auto with = [](const std::string& key) {
    return complaints_about(
        with_tables("    WRED_PROFILE: {w: {ecn: ecn_all, wred_green_enable: true, green_min_threshold: 1KiB, "
                    "green_max_threshold: 2KiB, green_drop_probability: 1%, " +
                    key + "}}\n"));
  };
  const std::string missing = "6 profiles.default.WRED_PROFILE.w: the key 'ecn_green_";
  EXPECT_EQ(with("ecn_green_max_threshold: 2KiB"),
            (Complaints{missing + "mark_probability' is missing", missing + "min_threshold' is missing"}));
  EXPECT_EQ(with("ecn_green_min_threshold: 2KiB"),
            (Complaints{missing + "mark_probability' is missing", missing + "max_threshold' is missing"}));
  EXPECT_EQ(with("ecn_green_mark_probability: 2%"),
            (Complaints{missing + "max_threshold' is missing", missing + "min_threshold' is missing"}));
}

TEST(QosTables, APoolHoldsWhatIsReservedInIt) {
  EXPECT_EQ(
      complaints_about(with_tables("    ingress_pool_size: total\n"
                                   "    BUFFER_POOL: {in: {type: ingress, size: 1MiB}}\n"
                                   "    BUFFER_PROFILE: {a: {pool: in, dynamic_th: 1, size: 64KiB}}\n"
                                   "    BUFFER_PG: {0-7: {profile: a}}\n")),
      (Complaints{"7 profiles.default.BUFFER_POOL.in: is too small: the 3 ports of tor1 reserve 1572864 of its 1048576 "
                  "bytes"}));
  // To the cell: 3 × 8 × 170 cells of 256 bytes are 4,080 of 4,096; of 171 they would be 4,104.
  const auto with_size = [](std::string_view size) {
    return with_tables(
        "    ingress_pool_size: total\n"
        "    BUFFER_POOL: {in: {type: ingress, size: 1MiB}}\n"
        "    BUFFER_PROFILE: {a: {pool: in, dynamic_th: 1, size: " +
        std::string(size) +
        "}}\n"
        "    BUFFER_PG: {0-7: {profile: a}}\n");
  };
  EXPECT_TRUE(complaints_about(with_size("43520B")).empty());
  EXPECT_EQ(complaints_about(with_size("43521B")).size(), 1u);
  // Elsewhere what is reserved lies beside the pool.
  EXPECT_TRUE(complaints_about(with_tables("    BUFFER_POOL: {in: {type: ingress, size: 1MiB}}\n"
                                           "    BUFFER_PROFILE: {a: {pool: in, dynamic_th: 1, size: 64KiB}}\n"
                                           "    BUFFER_PG: {0-7: {profile: a}}\n"))
                  .empty());
}

TEST(QosTables, SlicesAndPortProfilesAreChecked) {
  EXPECT_EQ(complaints_about(with_tables("    slices: 2\n    PORT_SLICE: {Ethernet0: {slice: 2}}\n"
                                         "    BUFFER_POOL: {in: {type: ingress, size: 1MiB}}\n"
                                         "    BUFFER_PROFILE: {a: {pool: in, dynamic_th: 1}}\n"
                                         "    BUFFER_PG: {0-7: {profile: a}}\n")),
            (Complaints{"7 profiles.default.PORT_SLICE.Ethernet0.slice: is not one of the 2 slices"}));
  EXPECT_EQ(
      complaints_about(with_tables(
          "    BUFFER_PORT_INGRESS_PROFILE_LIST: {Ethernet0: {profile_list: \"a,b\"}, Ethernet4: {profile_list: c}}\n"
          "    BUFFER_POOL: {in: {type: ingress, size: 1MiB}, out: {type: egress, size: 1MiB}}\n"
          "    BUFFER_PROFILE: {a: {pool: in, dynamic_th: 1}, b: {pool: in, dynamic_th: 2}, c: {pool: out, "
          "dynamic_th: 1}}\n"
          "    BUFFER_PG: {0-7: {profile: a}}\n    BUFFER_QUEUE: {0-7: {profile: c}}\n")),
      (Complaints{"6 profiles.default.BUFFER_PORT_INGRESS_PROFILE_LIST.Ethernet0.profile_list: has two profiles of in",
                  "6 profiles.default.BUFFER_PORT_INGRESS_PROFILE_LIST.Ethernet4.profile_list: c is of out, an "
                  "egress pool"}));
}

TEST(QosTables, WhatIsClassifiedNeedsAGroupAndAQueue) {
  EXPECT_EQ(
      complaints_about(
          with_pools("    BUFFER_PG: {0: {profile: lossy}, \"Ethernet0,Ethernet4|3-4\": {profile: lossy}}\n")),
      (Complaints{"6 profiles.default: traffic class 3 goes to priority group 3, which has no row in BUFFER_PG for "
                  "tor1:Ethernet8",
                  "6 profiles.default: traffic class 4 goes to priority group 4, which has no row in BUFFER_PG for "
                  "tor1:Ethernet8"}));
}

TEST(QosTables, ARowStandsOnce) {
  EXPECT_EQ(
      complaints_about(
          with_pools("    BUFFER_PG: {0-4: {profile: lossy}, 4-7: {profile: lossy}, Ethernet0|3: {profile: "
                     "lossy}, \"Ethernet4,Ethernet0|3\": {profile: lossy}}\n")),
      (Complaints{"11 profiles.default.BUFFER_PG.4-7: 4 stands in this table already",
                  "11 profiles.default.BUFFER_PG.'Ethernet4,Ethernet0|3': Ethernet0|3 stands in this table already"}));
}

TEST(QosTables, ALimitOfQueuesGoesWithoutBuffers) {
  EXPECT_EQ(
      complaints_about(with_pools("    BUFFER_PG: {0-7: {profile: lossy}}\n    queue_limit: 1MiB\n"
                                  "    queue_limits: {3: 2MiB}\n")),
      (Complaints{"12 profiles.default.queue_limit: goes without BUFFER_* tables only: they say what a queue may hold",
                  "13 profiles.default.queue_limits: goes without BUFFER_* tables only: they say what a queue may "
                  "hold"}));
  EXPECT_EQ(
      complaints_about(with_fabric("profiles: {default: {base: lossless, queue_limit: 1MiB}}\n")),
      (Complaints{"4 profiles.default.queue_limit: does not go with the BUFFER_* tables that the profile is made of: "
                  "they say what a queue may hold"}));
}

TEST(QosTables, AChipWhoseRulesAreNotPublicIsNamedAsSuch) {
  for (const std::string chip : {"trident3", "tomahawk3", "tomahawk4", "tomahawk6"}) {
    EXPECT_EQ(complaints_about(with_tables("    base: azure\n    platform: " + chip + "\n")),
              (Complaints{"7 profiles.default.platform: how " + chip +
                          " divides its memory is not public: say cell and slices instead"}));
  }
}

TEST(QosTables, AMapOfAPortThatNobodyHasIsNamed) {
  EXPECT_EQ(complaints_about(with_tables(
                "    MAP_PFC_PRIORITY_TO_QUEUE: {A: {3: 3}, B: {3: 4}}\n"
                "    PORT_QOS_MAP: {Ethernet0: {pfc_to_queue_map: A}, Ethernet4: {pfc_to_queue_map: C}}\n")),
            (Complaints{
                "7 profiles.default.PORT_QOS_MAP.Ethernet4.pfc_to_queue_map: there is no map 'C': did you mean 'A'?"}));
  EXPECT_EQ(complaints_about(with_tables(
                "    TC_TO_QUEUE_MAP: {A: {0: 0}}\n"
                "    PORT_QOS_MAP: {global: {tc_to_queue_map: A}, Ethernet4: {tc_to_queue_map: nobody}}\n")),
            (Complaints{"7 profiles.default.PORT_QOS_MAP.Ethernet4.tc_to_queue_map: there is no map 'nobody'"}));
}

TEST(QosTables, ARunningSwitchTakesAProfileOfTheSameCells) {
  const std::string_view file =
      "profiles: {plain: {}, tight: {base: lossless, cell: 128B}, other: {base: lossless}}\n"
      "roles: {tor: lossless}\n"
      "faults:\n";
  const auto with_fault = [&](std::string_view fault) {
    return with_fabric(std::string(file) + std::string(fault) + "\n");
  };
  EXPECT_TRUE(complaints_about(with_fault("  - {at: 1ms, node: tor1, profile: other}")).empty());
  EXPECT_EQ(complaints_about(with_fault("  - {at: 1ms, node: tor1, profile: tight}")),
            (Complaints{
                "7 faults[0].profile: tor1 works by lossless, whose cells have 256 bytes, and those of tight 128: what "
                "is held cannot be counted anew (1: without BUFFER_* tables)"}));
  EXPECT_EQ(complaints_about(with_fault("  - {at: 1ms, node: tor1, profile: plain}")).size(), 1u);
  EXPECT_EQ(complaints_about(with_fault("  - {at: 1ms, node: h1, profile: other}")),
            (Complaints{"7 faults[0].profile: h1 is a host: switches have profiles"}));
  EXPECT_EQ(complaints_about(with_fault("  - {at: 1ms, node: tor1, profile: othr}")),
            (Complaints{"7 faults[0].profile: there is no profile 'othr': did you mean 'other'?"}));
  EXPECT_EQ(complaints_about(with_fault("  - {at: 1ms, node: tor1}")),
            (Complaints{"7 faults[0]: needs either 'set' (down, up) or 'profile'"}));
}

// Profiles are numbered by 15 bits, of which one number stands for none.
TEST(QosTables, MoreProfilesThanTheirNumbersReachAreRefused) {
  const auto with_profiles = [](int count) {
    std::string rows;
    for (int i = 0; i < count; ++i) rows += "      r" + std::to_string(i) + ": {pool: in, dynamic_th: 1}\n";
    return complaints_about(
        with_tables("    BUFFER_POOL: {in: {type: ingress, size: 1MiB}}\n    BUFFER_PG: {0-7: {profile: r7}}\n"
                    "    BUFFER_PORT_INGRESS_PROFILE_LIST: {Ethernet0: {profile_list: r8}}\n    BUFFER_PROFILE:\n" +
                    rows));
  };
  EXPECT_EQ(with_profiles(32'766), Complaints{});
  EXPECT_EQ(with_profiles(32'767),
            (Complaints{"32776 profiles.default.BUFFER_PROFILE.r32766: is one too many: BUFFER_PROFILE may have 32766 "
                        "rows"}));
}

TEST(QosTables, TablesUponTablesHaveAnEnd) {
  std::string text = with_fabric("profiles:\n");
  text += "  p0: {BUFFER_PROFILE: {";
  for (int i = 0; i < 1000; ++i) text += "r" + std::to_string(i) + ": {pool: p, dynamic_th: 1}, ";
  text += "}, BUFFER_POOL: {p: {type: ingress, size: 1MiB}}}\n";
  for (int i = 1; i < 500; ++i) text += "  p" + std::to_string(i) + ": {base: p" + std::to_string(i - 1) + "}\n";
  const Complaints complaints = complaints_about(text);
  ASSERT_FALSE(complaints.empty());
  EXPECT_TRUE(complaints.front().ends_with(
      "is too much: profiles may have 400000 rows of tables, those of bases counted again"))
      << complaints.front();
}

}  // namespace
}  // namespace softspine::control
