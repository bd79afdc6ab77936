// SPDX-License-Identifier: Apache-2.0
// `lag_hash` of a profile, and what SONiC's files say of the hash of LAGs.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/unit/config/complaints.hpp"

namespace softspine::control {
namespace {

using tests::Complaints;
using tests::complaints_about;
using tests::read_well;
using tests::with_fabric;

std::string of_profiles(const std::string& profiles) {
  return with_fabric("profiles: {" + profiles + "}\n");
}
Profile first_of(const std::string& profiles) {
  return read_well(of_profiles(profiles)).profiles.at(0);
}

TEST(LagHash, IsThatOfEcmpGroupsUnlessItIsSaid) {
  const Profile plain = first_of("default: {hash: {algorithm: XXH3, seed: 5}}");
  EXPECT_FALSE(plain.lag_hash);
  EXPECT_EQ(plain.hash_of_lags().seed, 5U);
  const Profile own = first_of("default: {hash: {algorithm: XXH3, seed: 5}, lag_hash: {seed: 6}}");
  EXPECT_EQ(own.hash.seed, 5U);
  EXPECT_EQ(own.hash_of_lags().seed, 6U);
  EXPECT_EQ(own.hash_of_lags().algorithm, HashAlgorithm::kXxh3);
  EXPECT_EQ(complaints_about(of_profiles("default: {lag_hash: {offset: 33}}")),
            (Complaints{"4 profiles.default.lag_hash.offset: must be at most 31, not '33'"}));
}

TEST(LagHash, ThatSaysWhatIsSoAlreadyChangesNothing) {
  EXPECT_FALSE(first_of("default: {hash: {seed: 5}, lag_hash: {seed: 5, algorithm: CRC}}").lag_hash);
  EXPECT_FALSE(first_of("default: {hash: {model: RTAG7, rtag7: {a: {second: XOR}, output: B0, macro_flow: {table: "
                        "[{output: A1, offset: 3}]}}}, lag_hash: {rtag7: {output: B0}}}")
                   .lag_hash);
  EXPECT_TRUE(
      first_of("default: {hash: {model: RTAG7, rtag7: {a: {second: XOR}}}, lag_hash: {rtag7: {output: B0}}}").lag_hash);
}

TEST(LagHash, OfABaseIsPutOverTheHashOfItsHeirs) {
  const auto heir = [](const std::string& hash) {
    return first_of("default: {base: under" + hash +
                    "}, under: {hash: {seed: 1}, lag_hash: {seed: 6, fields: [DST_IP]}}");
  };
  const Profile other = heir(", hash: {algorithm: XXH3, seed: 2, offset: 3}");
  EXPECT_EQ(other.hash.seed, 2U);
  EXPECT_EQ(other.hash_of_lags().seed, 6U);
  EXPECT_EQ(other.hash_of_lags().fields, (std::vector{HashField::kDstIp}));
  EXPECT_EQ(other.hash_of_lags().algorithm, HashAlgorithm::kXxh3) << "which nobody says of LAGs";
  EXPECT_EQ(other.hash_of_lags().offset, 3U);
  EXPECT_EQ(heir("").hash_of_lags().seed, 6U);
  const Profile both = heir(", lag_hash: {seed: 7}");
  EXPECT_EQ(both.hash_of_lags().seed, 7U);
  EXPECT_EQ(both.hash_of_lags().fields, (std::vector{HashField::kDstIp}));
  EXPECT_FALSE(heir(", hash: {seed: 6, fields: [DST_IP]}").lag_hash) << "both are alike again";
}

TEST(LagHash, OfABasesModelGivesWayWordByWord) {
  const auto of = [](const std::string& base, const std::string& own) {
    return first_of("default: {base: under, lag_hash: {" + own + "}}, under: {lag_hash: {" + base + "}}")
        .hash_of_lags();
  };
  const HashConfig blocks = of("model: RTAG7, rtag7: {a: {second: XOR, low_ipv6: true}, b: {seed: 4, symmetric: true}}",
                               "rtag7: {a: {second: CRC_XOR}, b: {first: XOR}, output: B0}");
  ASSERT_TRUE(blocks.rtag7);
  EXPECT_EQ(blocks.model, HashModel::kRtag7);
  EXPECT_EQ(blocks.rtag7->a.second, HashAlgorithm::kCrcXor);
  EXPECT_TRUE(blocks.rtag7->a.low_ipv6);
  EXPECT_EQ(blocks.rtag7->b_first, HashAlgorithm::kXor);
  EXPECT_EQ(blocks.rtag7->b_seed, 4U);
  EXPECT_TRUE(blocks.rtag7->b.symmetric);
  EXPECT_EQ(blocks.rtag7->output, Rtag7Output::kB0);
  const HashConfig kernel = of("algorithm: XXH3", "model: LINUX, seed: 1");
  EXPECT_EQ(kernel.algorithm, HashAlgorithm::kSiphash) << "the model's own";
  EXPECT_EQ(of("algorithm: XXH3", "model: OVS").algorithm, HashAlgorithm::kOvsSymL4) << "the model's own";
}

TEST(LagHash, ThatDoesNotGoWithTheHashIsRefusedWhereverEitherIsSaid) {
  const std::string wide = ": must be less than 16, the bits of this algorithm's result";
  EXPECT_EQ(complaints_about(of_profiles("default: {hash: {algorithm: CRC_CCITT}, lag_hash: {offset: 20}}")),
            (Complaints{"4 profiles.default.lag_hash.offset" + wide}));
  const std::string base = ", under: {lag_hash: {offset: 20}}";
  EXPECT_EQ(complaints_about(of_profiles("default: {base: under, hash: {algorithm: CRC_CCITT}}" + base)),
            (Complaints{"4 profiles.default: its hash does not go with what its bases say of lag_hash",
                        "4 profiles.default" + wide}));
  EXPECT_EQ(complaints_about(of_profiles("default: {base: under, hash: {algorithm: CRC_CCITT, offset: 1}, lag_hash: "
                                         "{offset: 15}}" +
                                         base)),
            Complaints{});
  // A base's fault is reported once.
  EXPECT_EQ(complaints_about(of_profiles("default: {base: under, hash: {seed: 1}}, other: {base: under}, under: {hash: "
                                         "{algorithm: CRC_CCITT}, lag_hash: {offset: 20}}")),
            (Complaints{"4 profiles.under.lag_hash.offset" + wide}));
}

TEST(LagHash, AndThatOfEcmpGroupsAreApartInSonicsSwitchHash) {
  const auto of = [](const std::string& global, const std::string& more = "") {
    return first_of("default: {SWITCH_HASH: {GLOBAL: {" + global + "}}" + more + "}");
  };
  const Profile both =
      of("ecmp_hash: [SRC_IP], lag_hash: [DST_IP], ecmp_hash_algorithm: XOR, lag_hash_algorithm: CRC_CCITT");
  EXPECT_EQ(both.hash.fields, (std::vector{HashField::kSrcIp}));
  EXPECT_EQ(both.hash_of_lags().fields, (std::vector{HashField::kDstIp}));
  EXPECT_EQ(both.hash.algorithm, HashAlgorithm::kXor);
  EXPECT_EQ(both.hash_of_lags().algorithm, HashAlgorithm::kCrcCcitt);
  const Profile ecmp = of("ecmp_hash: [SRC_IP], ecmp_hash_algorithm: XOR");
  EXPECT_EQ(ecmp.hash_of_lags().fields, HashConfig{}.fields) << "is said of ECMP groups alone";
  EXPECT_EQ(ecmp.hash_of_lags().algorithm, HashAlgorithm::kCrc);
  const Profile lags = of("lag_hash: [SRC_IP], lag_hash_algorithm: XOR");
  EXPECT_EQ(lags.hash.fields, HashConfig{}.fields);
  EXPECT_EQ(lags.hash.algorithm, HashAlgorithm::kCrc);
  EXPECT_EQ(lags.hash_of_lags().algorithm, HashAlgorithm::kXor);
  EXPECT_FALSE(of("ecmp_hash_algorithm: XOR, lag_hash_algorithm: XOR").lag_hash);
}

// Of one kind of packets SONiC may say ECMP's fields alone: LAGs then keep those that they had, or none of their own.
TEST(LagHash, OfOneKindOfPacketsStaysAsItWasIfOnlyThatOfEcmpGroupsIsSaid) {
  constexpr auto kIpv4 = static_cast<size_t>(dataplane::HashObjectOf::kIpv4);
  const auto of = [](const std::string& global, const std::string& under) {
    return first_of("default: {base: under, SWITCH_HASH: {GLOBAL: {" + global + "}}}, under: {" + under + "}");
  };
  const std::string source = "hash: {ipv4: {fields: [SRC_IP]}}";
  const Profile ecmp = of("ecmp_hash_ipv4: [DST_IP]", source);
  EXPECT_EQ(ecmp.hash.objects[kIpv4]->fields, (std::vector{HashField::kDstIp}));
  ASSERT_TRUE(ecmp.hash_of_lags().objects[kIpv4]);
  EXPECT_EQ(ecmp.hash_of_lags().objects[kIpv4]->fields, (std::vector{HashField::kSrcIp}));
  const Profile none = of("ecmp_hash_ipv4: [DST_IP]", "hash: {seed: 1}");
  EXPECT_TRUE(none.hash.objects[kIpv4]);
  EXPECT_FALSE(none.hash_of_lags().objects[kIpv4]) << "as any other packet";
  const Profile lags = of("lag_hash_ipv4: [DST_IP]", source);
  EXPECT_EQ(lags.hash.objects[kIpv4]->fields, (std::vector{HashField::kSrcIp}));
  EXPECT_EQ(lags.hash_of_lags().objects[kIpv4]->fields, (std::vector{HashField::kDstIp}));
  EXPECT_FALSE(of("ecmp_hash_ipv4: [DST_IP], lag_hash_ipv4: [DST_IP]", source).lag_hash) << "both alike";
}

class SonicsLagHash : public testing::Test {
 protected:
  SonicsLagHash()
      : folder_(std::filesystem::path(testing::TempDir()) /
                (std::string("softspine-lag-hash-") + testing::UnitTest::GetInstance()->current_test_info()->name())) {
    std::filesystem::create_directories(folder_);
  }
  ~SonicsLagHash() override { std::filesystem::remove_all(folder_); }
  // The path of a file with this text, as a YAML string.
  std::string file(const std::string& name, const std::string& text) {
    std::ofstream(folder_ / name) << text;
    return '"' + (folder_ / name).string() + '"';
  }
  std::string switch_json(const std::string& attributes) {
    return file("switch.json", R"([{"SWITCH_TABLE:switch": {)" + attributes + "}}]");
  }
  std::filesystem::path folder_;
};

TEST_F(SonicsLagHash, HasASeedOfItsOwnWhereOnlyThatOfEcmpGroupsIsSaid) {
  const Profile ecmp =
      first_of("default: {switch_json: " + switch_json(R"("ecmp_hash_seed": "10", "ecmp_hash_offset": "3")") + "}");
  EXPECT_EQ(ecmp.hash.seed, 10U);
  EXPECT_EQ(ecmp.hash.offset, 3U);
  EXPECT_EQ(ecmp.hash_of_lags().seed, 0U);
  EXPECT_EQ(ecmp.hash_of_lags().offset, 0U);
  const Profile heir = first_of("default: {base: under, switch_json: " + switch_json(R"("ecmp_hash_seed": "10")") +
                                "}, under: {hash: {seed: 4}, lag_hash: {seed: 6}}");
  EXPECT_EQ(heir.hash_of_lags().seed, 6U) << "as before";
}

TEST_F(SonicsLagHash, HasTheSeedOfEcmpGroupsWhereThatIsSaidBesideAnAlgorithmOfItsOwn) {
  const std::string config_db = file("config_db.json", R"({"SWITCH_HASH": {"GLOBAL": {"lag_hash_algorithm": "XOR"}}})");
  const std::string alike = switch_json(R"("ecmp_hash_seed": "10", "lag_hash_seed": "10")");
  const auto of = [&](const std::string& more) {
    return first_of("default: {config_db: " + config_db + ", switch_json: " + alike + more +
                    "}, under: {lag_hash: {seed: 6}}");
  };
  for (const char* more : {"", ", base: under"}) {
    const Profile read = of(more);
    EXPECT_EQ(read.hash.seed, 10U);
    EXPECT_EQ(read.hash.algorithm, HashAlgorithm::kCrc);
    EXPECT_EQ(read.hash_of_lags().seed, 10U) << more;
    EXPECT_EQ(read.hash_of_lags().algorithm, HashAlgorithm::kXor);
  }
  EXPECT_EQ(of(", hash: {seed: 3}").hash_of_lags().seed, 3U) << "as ECMP's, whatever that is";
  EXPECT_EQ(of(", hash: {seed: 3}, lag_hash: {seed: 10}").hash_of_lags().seed, 10U);
}

TEST_F(SonicsLagHash, HasTheSeedThatFollowsFromTheDevicesType) {
  const auto of = [&](const std::string& localhost) {
    const std::string config_db = file("config_db.json", R"({"DEVICE_METADATA": {"localhost": {)" + localhost + "}}}");
    return first_of("default: {base: under, config_db: " + config_db + "}, under: {lag_hash: {seed: 6, offset: 2}}")
        .hash_of_lags();
  };
  const HashConfig leaf = of(R"("type": "LeafRouter")");
  EXPECT_EQ(leaf.seed, 10U);
  EXPECT_EQ(leaf.offset, 10U);
  const HashConfig chassis = of(R"("type": "LeafRouter", "switch_type": "chassis-packet")");
  EXPECT_EQ(chassis.seed, 10U);
  EXPECT_EQ(chassis.offset, 2U) << "is given none";
  EXPECT_EQ(of(R"("type": "LeafRouter", "switch_type": "dpu")").seed, 6U);
}

TEST_F(SonicsLagHash, IsCheckedWithWhatAnotherFileSaysOfIt) {
  const std::string config_db =
      file("config_db.json", R"({"SWITCH_HASH": {"GLOBAL": {"lag_hash_algorithm": "CRC_CCITT"}}})");
  const std::string wide = switch_json(R"("lag_hash_offset": "20")");
  const auto about = [&](const std::string& more) {
    Complaints out;
    const auto read = parse_testbed(
        of_profiles("default: {config_db: " + config_db + ", switch_json: " + wide + more + "}"), "t.yaml");
    if (read) return out;
    for (const Error& error : read.error()) out.push_back(error.path + ": " + error.message);
    return out;
  };
  EXPECT_EQ(about(""), (Complaints{"[0].'SWITCH_TABLE:switch': must be less than 16, the bits of this algorithm's "
                                   "result"}));
  EXPECT_EQ(about(", lag_hash: {offset: 15}"), Complaints{});
}

}  // namespace
}  // namespace softspine::control
