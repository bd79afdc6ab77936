// SPDX-License-Identifier: Apache-2.0
// Hashes out of other vendors' configurations: what their documents show is read, what is not known is said.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "control/vendors/hash_lines.hpp"
#include "control/vendors/hash_reading.hpp"
#include "tests/unit/config/complaints.hpp"

namespace softspine::control {
namespace {

using tests::complaints_about;
using tests::read_well;
using tests::with_fabric;
using enum HashField;
using Fields = std::vector<HashField>;

bool has_note(const std::vector<LineNote>& notes, int line, std::string_view part) {
  return std::ranges::any_of(
      notes, [&](const LineNote& note) { return note.line == line && note.text.find(part) != std::string::npos; });
}
// Of the file as a whole, or of a line that is not taken.
bool remarks_on(const HashReading& reading, int line, std::string_view part) {
  return has_note(line == 0 ? reading.remarks : reading.not_taken, line, part);
}

TEST(VendorHash, OfNvueIsTheUsualFieldsButForThoseThatAreTurned) {
  const HashReading read = read_hash(
      "nv set system hostname leaf01\n"
      "nv set system forwarding ecmp-hash ip-protocol off\n"
      "nv set system forwarding ecmp-hash ingress-interface enabled\n"
      "nv set system forwarding ecmp-hash inner-source-ip on\n"
      "nv set system forwarding lag-hash vlan on\n"
      "nv set system forwarding hash-seed 50\n");
  EXPECT_EQ(read.vendor, Vendor::kNvue);
  EXPECT_TRUE(read.errors.empty());
  EXPECT_EQ(read.fields, (Fields{kInPort, kSrcIp, kDstIp, kL4SrcPort, kL4DstPort, kIpv6FlowLabel, kInnerSrcIp}));
  EXPECT_EQ(read.seed, 50u);
  EXPECT_EQ(read.taken.size(), 5u);
  EXPECT_EQ(read.ignored_count, 1u);
  EXPECT_TRUE(remarks_on(read, 0, "no line names the function"));
  EXPECT_TRUE(remarks_on(read, 0, "both directions"));
  EXPECT_EQ(read.lag_fields,
            (Fields{kSrcMac, kDstMac, kEthertype, kVlanId, kSrcIp, kDstIp, kL4SrcPort, kL4DstPort, kIpProtocol}));
}

// What a vendor has of tunnels is in the key, not passed over.
TEST(VendorHash, OfInnerPacketsIsInTheKey) {
  const Fields inner{kInnerSrcIp, kInnerDstIp, kInnerIpProtocol, kInnerL4SrcPort, kInnerL4DstPort};
  std::string nvue;
  std::string file = "hash_config.enable = true\n";
  for (const char* word : {"ip-protocol", "source-ip", "destination-ip", "source-port", "destination-port"}) {
    nvue += std::string("nv set system forwarding ecmp-hash inner-") + word + " enabled\n";
    nvue += std::string("nv set system forwarding ecmp-hash ") + word + " disabled\n";
  }
  nvue += "nv set system forwarding ecmp-hash ipv6-label disabled\n";
  for (const char* word : {"ip_prot", "sip", "dip", "sport", "dport"}) {
    file += std::string("hash_config.inner_") + word + " = true\n";
    file += std::string("hash_config.") + word + " = false\n";
  }
  file += "hash_config.ip6_label = false\n";
  for (const std::string& text :
       {nvue, file,
        std::string("config switch-hash global ecmp-hash INNER_SRC_IP INNER_DST_IP INNER_IP_PROTOCOL "
                    "INNER_L4_SRC_PORT INNER_L4_DST_PORT\n")}) {
    const HashReading read = read_hash(text);
    EXPECT_TRUE(read.errors.empty());
    EXPECT_EQ(read.fields, inner) << text;
  }
  EXPECT_TRUE(remarks_on(read_hash("nv set system forwarding ecmp-hash inner-ipv6-label on\n"), 1, "not expressed"));
}

// Both directions of a flow hash alike, with SAI's model and with RTAG7.
TEST(VendorHash, OfBothDirectionsIsSaisSymmetric) {
  for (const char* text : {"set forwarding-options enhanced-hash-key symmetric-hash\n",
                           "symmetric_hash_enable = TRUE\n", "ip load-share hash ipv4 symmetric\n"}) {
    HashConfig sai;
    apply_reading(read_hash(text), sai);
    EXPECT_TRUE(sai.symmetric) << text;
    HashConfig broadcom{.model = HashModel::kRtag7};
    apply_reading(read_hash(text), broadcom);
    EXPECT_FALSE(broadcom.symmetric);
    ASSERT_TRUE(broadcom.rtag7) << text;
    EXPECT_TRUE(broadcom.rtag7->a.symmetric);
  }
  EXPECT_EQ(read_hash("symmetric_hash_enable = FALSE\n").symmetric, false);
  EXPECT_TRUE(remarks_on(read_hash("ip load-share hash ipv6 symmetric\n"), 0, "one IP version"));
  EXPECT_TRUE(remarks_on(read_hash("set forwarding-options enhanced-hash-key symmetric-hash inet disable\n"), 1,
                         "is not known here"));
}

TEST(VendorHash, OfLagsIsAHashOfItsOwn) {
  const HashReading arista = read_hash(
      "port-channel load-balance trident fields mac src-mac dst-mac\n"
      "port-channel load-balance trident fields ip source-ip destination-ip source-port destination-port\n"
      "port-channel load-balance sand profile best\n");
  EXPECT_EQ(arista.lag_fields, (Fields{kSrcIp, kDstIp, kL4SrcPort, kL4DstPort}));
  EXPECT_FALSE(arista.fields);
  EXPECT_EQ(arista.ignored_count, 1u);
  EXPECT_TRUE(remarks_on(arista, 3, "a profile that is not in this file"));
  EXPECT_TRUE(remarks_on(arista, 0, "of LAGs: only IPv4's fields"));
  const std::string file = "lag_hash_config.smac = false\nlag_hash_config.dmac = false\n";
  EXPECT_EQ(read_hash("lag_hash_config.enable = true\n" + file).lag_fields,
            (Fields{kEthertype, kVlanId, kSrcIp, kDstIp, kL4SrcPort, kL4DstPort, kIpProtocol}));
  const HashReading off = read_hash(file);
  EXPECT_FALSE(off.lag_fields);
  EXPECT_TRUE(remarks_on(off, 0, "lag_hash_config.enable is not true"));
}

TEST(VendorHash, OfAristaHasTheSeedsOfItsChips) {
  for (const auto& [line, seed] : {std::pair{"ip load-sharing fm6000 20\n", 20u},
                                   {"ip load-sharing fm6000 39\n", 39u},
                                   {"ip load-sharing trident 5\n", 5u},
                                   {"ip load-sharing arad 2\n", 2u},
                                   {"ip load-sharing trident 3\nno ip load-sharing trident\n", 0u}}) {
    const HashReading read = read_hash(line);
    EXPECT_EQ(read.vendor, Vendor::kArista) << line;
    EXPECT_TRUE(read.errors.empty()) << line;
    EXPECT_EQ(read.seed, seed) << line;
  }
  for (const char* line : {"ip load-sharing fm6000 40\n", "ip load-sharing trident 6\n", "ip load-sharing arad 3\n",
                           "ip load-sharing petraA 3\n", "ip load-sharing trident x\n"})
    EXPECT_EQ(read_hash(line).errors.size(), 1u) << line;
  EXPECT_TRUE(remarks_on(read_hash("ip load-sharing trident fields mac src-mac\n"), 1, "is not known here"));
  EXPECT_EQ(hash_lines(Vendor::kArista, {.algorithm = {}, .seed = 25, .offset = {}}),
            std::vector<std::string>{"ip load-sharing fm6000 25"});
  EXPECT_FALSE(hash_lines(Vendor::kArista, {.algorithm = {}, .seed = 40, .offset = {}}));
}

TEST(VendorHash, OfTrafficConfTakesFieldsOnlyWhereTheyAreEnabled) {
  const std::string fields = "hash_config.sip = true\nhash_config.dport = false\nhash_config.ip6_label = false\n";
  const HashReading off = read_hash("ecmp_hash_seed = 42\n#hash_config.enable = true\n" + fields);
  const HashReading on = read_hash("ecmp_hash_seed = 42\nhash_config.enable = true\n" + fields);
  EXPECT_EQ(off.vendor, Vendor::kTrafficConf);
  EXPECT_EQ(off.seed, 42u);
  EXPECT_EQ(off.fields->size(), 6u);
  EXPECT_TRUE(remarks_on(off, 0, "hash_config.enable is not true"));
  EXPECT_EQ(on.fields, (Fields{kSrcIp, kDstIp, kL4SrcPort, kIpProtocol}));
  EXPECT_FALSE(remarks_on(on, 0, "hash_config.enable"));
}

TEST(VendorHash, OfJunosIsTheSameInBracesAndInSetLines) {
  const HashReading braces = read_hash(
      "forwarding-options {\n    enhanced-hash-key {\n        hash-seed 10;\n"
      "        family inet { no-l4-source-port; }\n"
      "        family inet6 {\n            no-l4-source-port;\n            ipv6-flow-label;\n        }\n    }\n}\n");
  const HashReading set = read_hash(
      "set forwarding-options enhanced-hash-key hash-seed 10\n"
      "set forwarding-options enhanced-hash-key family inet no-l4-source-port\n"
      "set forwarding-options enhanced-hash-key family inet6 no-l4-source-port\n"
      "set forwarding-options enhanced-hash-key family inet6 ipv6-flow-label\n");
  for (const HashReading& read : {braces, set}) {
    EXPECT_EQ(read.vendor, Vendor::kJunos);
    EXPECT_EQ(read.seed, 10u);
    EXPECT_EQ(read.fields, (Fields{kSrcIp, kDstIp, kL4DstPort, kIpProtocol, kIpv6FlowLabel}));
    EXPECT_EQ(read.taken.size(), 4u);
    EXPECT_EQ(read.ignored_count, 0u);
  }
}

TEST(VendorHash, OfAristaHasTheFieldsOfItsList) {
  const HashReading trident = read_hash(
      "hostname x\n!\n"
      "ip load-sharing trident fields ipv6 destination-port source-ip ingress-interface destination-ip source-port "
      "flow-label\n"
      "ip load-sharing trident fields ip source-ip source-port destination-ip destination-port ingress-interface\n"
      "port-channel load-balance trident fields ip source-ip source-port destination-ip destination-port\n");
  EXPECT_EQ(trident.vendor, Vendor::kArista);
  EXPECT_EQ(trident.fields, (Fields{kInPort, kSrcIp, kDstIp, kL4SrcPort, kL4DstPort, kIpv6FlowLabel}));
  EXPECT_EQ(trident.lag_fields, (Fields{kSrcIp, kDstIp, kL4SrcPort, kL4DstPort}));
  EXPECT_EQ(trident.ignored_count, 1u);
  const HashReading sand = read_hash(
      "load-balance policies\n   load-balance sand profile default\n"
      "      fields ipv6 outer dst-ip flow-label next-header src-ip\n      fields l4 outer dst-port src-port\n");
  EXPECT_EQ(sand.fields, (Fields{kSrcIp, kDstIp, kL4SrcPort, kL4DstPort, kIpProtocol, kIpv6FlowLabel}));
  EXPECT_TRUE(remarks_on(sand, 0, "only IPv6's fields are said"));
}

TEST(VendorHash, OfEnterpriseSonicAddsTheQueuePair) {
  const HashReading read = read_hash(
      "ip load-share hash seed 8888\nip load-share hash ipv4 ipv4-dst-ip\nip load-share hash ipv4 ipv4-src-ip\n"
      "ip load-share hash algorithm CRC_32LO\nip load-share hash roce qpn\nip load-share hash ipv4 symmetric\n");
  EXPECT_EQ(read.vendor, Vendor::kEnterpriseSonic);
  EXPECT_EQ(read.algorithm, HashAlgorithm::kCrc32Lo);
  EXPECT_EQ(read.fields, (Fields{kSrcIp, kDstIp, kRdmaBthDestQp}));
  EXPECT_EQ(read.symmetric, true);
  HashConfig hash;
  apply_reading(read_hash("ip load-share hash roce qpn\n"), hash);
  EXPECT_EQ(hash.fields.size(), 6u);
  EXPECT_EQ(hash.fields.back(), kRdmaBthDestQp);
}

TEST(VendorHash, OfSonicsCommandsIsSaisWords) {
  const HashReading read = read_hash(
      "config switch-hash global ecmp-hash 'SRC_IP' 'DST_IP' 'INNER_SRC_IP' 'L4_SRC_PORT'\n"
      "config switch-hash global ecmp-hash-algorithm CRC_CCITT\nconfig switch-hash global lag-hash SRC_MAC\n");
  EXPECT_EQ(read.vendor, Vendor::kSonic);
  EXPECT_EQ(read.algorithm, HashAlgorithm::kCrcCcitt);
  EXPECT_EQ(read.fields, (Fields{kSrcIp, kDstIp, kL4SrcPort, kInnerSrcIp}));
  EXPECT_EQ(read.lag_fields, (Fields{kSrcMac}));
  EXPECT_FALSE(read.lag_algorithm);
  EXPECT_EQ(read.ignored_count, 0u);
}

TEST(VendorHash, OfOpenConfigHasSeedRotationAndFields) {
  const HashReading read = read_hash(R"({"openconfig-system:system": {"openconfig-hashing:hashing-policies":
    {"hashing-policy": [{"name": "e", "config": {"name": "e", "seed": "10", "rotation": 11, "algorithm": "CRC_32LO"},
     "hash-field-modes": {"config": {"transport-ports": "SRC_PORT"}, "ipv4-fields": {"config": {"ipv4-both": true}},
     "ipv6-fields": {"config": {"ipv6-both": true, "ipv6-flow-label": true}}}}]}}})");
  EXPECT_EQ(read.vendor, Vendor::kOpenConfig);
  EXPECT_TRUE(read.errors.empty());
  EXPECT_EQ(read.seed, 10u);
  EXPECT_EQ(read.offset, 11);
  EXPECT_EQ(read.algorithm, HashAlgorithm::kCrc32Lo);
  EXPECT_EQ(read.fields, (Fields{kSrcIp, kDstIp, kL4SrcPort, kIpv6FlowLabel}));
  EXPECT_TRUE(remarks_on(read, 0, "which way 'rotation' rotates"));
}

// A line made of each knob's own words is taken, or ignored as one on another hash; never unknown.
TEST(VendorHash, EachDeclaredKnobIsReadByItsWords) {
  size_t knobs = 0;
  for (const VendorRow& row : vendors()) {
    for (const Knob& knob : row.knobs) {
      std::string line(row.syntax == LineSyntax::kBraces ? "set " : "");
      line += knob.words;
      if (const size_t star = line.find('*'); star != std::string::npos) line.replace(star, 1, "any");
      const char* before = row.syntax == LineSyntax::kKeyValue ? " = " : " ";
      if (knob.kind == KnobKind::kSeed) line += before + std::string("1");
      if (knob.kind == KnobKind::kPayload) line += " 4791 payload bytes 5-7";
      if (knob.kind == KnobKind::kProfile) line += " any\nload-balance policies\n load-balance sand profile any";
      if (knob.kind == KnobKind::kSwitch || knob.kind == KnobKind::kEnable) line += before + std::string("true");
      if (knob.kind == KnobKind::kAlgorithm) line += before + std::string(row.algorithms.front().first);
      if (knob.kind == KnobKind::kList) {
        for (const auto& [word, field] : row.fields) line += " " + std::string(word);
      }
      const HashReading read = read_hash(line + "\n");
      EXPECT_EQ(read.vendor, row.vendor) << line;
      const bool is_unmodelled = knob.kind == KnobKind::kUnmodelled;
      EXPECT_EQ(read.taken.size(), is_unmodelled || knob.kind == KnobKind::kElsewhere ? 0u : 1u) << line;
      EXPECT_EQ(read.not_taken.size(), is_unmodelled ? 1u : 0u) << line << ": a line is taken or not taken";
      EXPECT_EQ(remarks_on(read, 1, "is not expressed"), is_unmodelled) << line;
      ++knobs;
    }
  }
  EXPECT_GT(knobs, 80u);
}

TEST(VendorHash, SaysWhichLinesItDoesNotKnow) {
  for (const auto& [text, line] : {std::pair{"nv set system forwarding ecmp-hash source-ip on\n"
                                             "nv set system forwarding ecmp-hash colour on\n",
                                             2},
                                   {"ip load-share hash seed 1\n\nno ip load-share hash ipv4 ipv4-src-ip\n", 3},
                                   {"forwarding-options {\n enhanced-hash-key {\n  inactive: hash-seed 5;\n }\n}\n", 3},
                                   {"deactivate forwarding-options enhanced-hash-key family inet\n", 1}}) {
    const HashReading read = read_hash(text);
    EXPECT_TRUE(remarks_on(read, line, "is not known here")) << text;
    EXPECT_EQ(read.not_taken.size(), 1u);
  }
}

TEST(VendorHash, RefusesValuesThatAKnobCannotHave) {
  for (const auto& [text, message] :
       {std::pair{"nv set system forwarding hash-seed 4294967296\n", "expected a number from 0 to 4294967295"},
        {"nv set system forwarding hash-seed -1\n", "expected a number"},
        {"nv set system forwarding hash-seed\n", "expected a number"},
        {"nv set system forwarding ecmp-hash source-ip maybe\n", "expected on or off, found 'maybe'"},
        {"config switch-hash global ecmp-hash-algorithm MD5\n", "there is no algorithm 'MD5'"},
        {"config switch-hash global ecmp-hash\n", "no field is left in the key"},
        {"{\"hashing-policies\": {\"hashing-policy\": [{\"config\": {\"rotation\": 32}}]}}", "from 0 to 31"},
        {"{\"hashing-policies\": {\"hashing-policy\": [{}, {}]}}", "2 hashing policies"},
        {"{\"SWITCH_HASH\": {}}", "config_db"},
        {"{", "is no JSON"},
        {"hello\n", "has no line on hashing"},
        {"", "has no line on hashing"}}) {
    const HashReading read = read_hash(text);
    ASSERT_FALSE(read.errors.empty()) << text;
    EXPECT_NE(read.errors.front().text.find(message), std::string::npos) << read.errors.front().text;
  }
}

// What is written is read back, for each value that a vendor's knob takes.
TEST(VendorHash, LinesThatAreWrittenAreReadBack) {
  size_t written = 0;
  for (const VendorRow& row : vendors()) {
    for (const uint32_t seed : {0u, 10u, 16'777'215u, 0xffff'ffffu}) {
      const auto lines = hash_lines(row.vendor, {.algorithm = {}, .seed = seed, .offset = {}});
      if (!lines) continue;
      ASSERT_EQ(lines->size(), 1u);
      const HashReading read = read_hash(lines->front() + "\n");
      EXPECT_EQ(read.vendor, row.vendor);
      EXPECT_EQ(read.seed, seed) << lines->front();
      ++written;
    }
    for (const auto& [word, algorithm] : row.algorithms) {
      const auto lines = hash_lines(row.vendor, {.algorithm = algorithm, .seed = {}, .offset = {}});
      if (!lines) continue;
      EXPECT_EQ(read_hash(lines->front()).algorithm, algorithm) << lines->front();
      ++written;
    }
    EXPECT_FALSE(hash_lines(row.vendor, {.algorithm = {}, .seed = {}, .offset = 3})) << "no line turns it";
  }
  // seeds of NVUE, traffic.conf, Junos, Enterprise SONiC, Arista; algorithms
  EXPECT_EQ(written, 4u + 4u + 4u + 3u + 2u + 7u + 8u);
}

class SwitchConfig : public testing::Test {
 protected:
  SwitchConfig()
      : path_(std::filesystem::path(testing::TempDir()) /
              (std::string("softspine-") + testing::UnitTest::GetInstance()->current_test_info()->name() + ".conf")) {}
  ~SwitchConfig() override { std::filesystem::remove(path_); }
  std::string testbed(std::string_view text, std::string_view more = "") {
    std::ofstream(path_) << text;
    return with_fabric("profiles:\n  default: {switch_config: \"" + path_.string() + "\"" + std::string(more) + "}\n");
  }
  std::filesystem::path path_;
};

TEST_F(SwitchConfig, GivesAProfileItsHashAndTheProfilesOwnGoesOverIt) {
  const Testbed plain = read_well(testbed("nv set system forwarding hash-seed 50\n"));
  EXPECT_EQ(plain.profiles.front().hash.seed, 50u);
  EXPECT_EQ(plain.profiles.front().hash.fields.size(), 6u);
  const Testbed over = read_well(testbed("nv set system forwarding hash-seed 50\n", ", hash: {seed: 7, offset: 3}"));
  EXPECT_EQ(over.profiles.front().hash.seed, 7u);
  EXPECT_EQ(over.profiles.front().hash.fields.size(), 6u);
}

TEST_F(SwitchConfig, GivesAProfileTheHashOfLagsThatItsLinesSay) {
  const Testbed read =
      read_well(testbed("config switch-hash global ecmp-hash SRC_IP DST_IP\n"
                        "config switch-hash global lag-hash SRC_IP L4_SRC_PORT\n"
                        "config switch-hash global lag-hash-algorithm CRC_CCITT\n"));
  const Profile& profile = read.profiles.front();
  EXPECT_EQ(profile.hash.fields, (Fields{kSrcIp, kDstIp}));
  ASSERT_TRUE(profile.lag_hash);
  EXPECT_EQ(profile.lag_hash->fields, (Fields{kSrcIp, kL4SrcPort}));
  EXPECT_EQ(profile.lag_hash->algorithm, HashAlgorithm::kCrcCcitt);
  EXPECT_FALSE(read_well(testbed("nv set system forwarding hash-seed 50\n")).profiles.front().lag_hash);
}

// Bytes 5 to 7 of RoCE's header are the destination QP.
TEST_F(SwitchConfig, GivesLagsThePayloadBytesOfTheirProfile) {
  const Testbed read =
      read_well(testbed("load-balance policies\n load-balance sand profile ecmp\n  hash seed 7\n"
                        " load-balance sand profile lag\n  fields udp dst-port 4791 payload bytes 5-7\n"
                        "ip load-sharing sand profile ecmp\nport-channel load-balance sand profile lag\n"));
  const Profile& profile = read.profiles.front();
  EXPECT_EQ(profile.hash.seed, 7u);
  EXPECT_TRUE(profile.hash.udfs.empty());
  ASSERT_TRUE(profile.lag_hash);
  dataplane::Udf of_udp = dataplane::destination_qp_udf();
  of_udp.l3_protocol = 17;
  EXPECT_EQ(profile.lag_hash->udfs, std::vector{of_udp}) << "of any EtherType";
}

TEST_F(SwitchConfig, TellsWithFileAndLine) {
  const auto wrong = parse_testbed(testbed("\n\nnv set system forwarding hash-seed x\n"), "t.yaml");
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().front().file, path_.string());
  EXPECT_EQ(wrong.error().front().line, 3);
  const Testbed warned =
      read_well(testbed("nv set system forwarding hash-seed 5\nnv set system forwarding ecmp-hash x on\n"));
  const auto found = std::ranges::find(warned.warnings, 2, &Error::line);
  ASSERT_NE(found, warned.warnings.end());
  EXPECT_EQ(found->file, path_.string());
  EXPECT_NE(found->message.find("not known here"), std::string::npos);
  EXPECT_EQ(complaints_about(with_fabric("profiles: {default: {switch_config: nowhere.conf}}\n")).size(), 1u);
}

TEST_F(SwitchConfig, IsCheckedAgainstTheProfilesModel) {
  constexpr const char* kJenkins = "ip load-share hash algorithm JENKINS_HASH_LO\n";
  const auto wrong = parse_testbed(testbed(kJenkins, ", hash: {model: RTAG7}"), "t.yaml");
  ASSERT_FALSE(wrong);
  ASSERT_EQ(wrong.error().size(), 1u);
  EXPECT_NE(wrong.error().front().message.find("RTAG7 has no JENKINS_LO"), std::string::npos)
      << wrong.error().front().message;
  EXPECT_EQ(read_well(testbed(kJenkins)).profiles.front().hash.algorithm, HashAlgorithm::kJenkinsLo)
      << "SAI's model has it";
}

}  // namespace
}  // namespace softspine::control
