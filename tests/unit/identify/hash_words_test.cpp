// SPDX-License-Identifier: Apache-2.0
// What the report says, whole: of each kind of hash, of each verdict, and as JSON.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/identify/identify_report.hpp"
#include "control/telemetry/json.hpp"

namespace softspine::tests {
namespace {

using analysis::FlowPart;
using analysis::Identification;
using analysis::IdentifyVerdict;
using dataplane::HashAlgorithm;
using dataplane::HashConfig;
using dataplane::HashField;
using dataplane::HashModel;
using testing::HasSubstr;

// Of 64 flows on two of three members.
Identification found_to_be(IdentifyVerdict verdict, const std::vector<HashConfig>& classes = {}) {
  Identification out{.verdict = verdict, .links = {"a", "b"}, .members = 3, .flows = 64};
  for (const HashConfig& config : classes)
    out.classes.push_back({{{config, {.agreeing = 63, .of_bucket = {1, analysis::kUnknownLink, 0}}}}});
  out.chance = -100;  // 2^-100 = 10^-30.1
  return out;
}

HashConfig rtag7(bool pre_processing, bool symmetric, bool low_ipv6) {
  HashConfig out{.model = HashModel::kRtag7,
                 .algorithm = HashAlgorithm::kCrcCcitt,
                 .fields = {HashField::kSrcIp},
                 .seed = 5,
                 .offset = 3};
  out.rtag7.emplace();
  out.rtag7->a.pre_processing = pre_processing;
  out.rtag7->a.symmetric = symmetric;
  out.rtag7->a.low_ipv6 = low_ipv6;
  return out;
}

HashConfig sai(bool symmetric) {
  return {.algorithm = HashAlgorithm::kXxh3, .fields = {HashField::kDstIp}, .symmetric = symmetric, .seed = 9};
}

HashConfig linux_router(uint8_t policy) {
  return {.model = HashModel::kLinux,
          .algorithm = HashAlgorithm::kSiphash,
          .fields = {HashField::kSrcIp, HashField::kL4DstPort},
          .seed = 7,
          .linux_policy = policy};
}

HashConfig open_vswitch(HashAlgorithm algorithm) {
  return {.model = HashModel::kOvs, .algorithm = algorithm, .seed = 8};
}

TEST(HashWords, OfEachModelNameWhatItTakes) {
  const auto line_of = [](const HashConfig& config) {
    const std::string text = identification_text(found_to_be(IdentifyVerdict::kIdentified, {config}));
    const size_t begin = text.find("\n  ") + 3;
    return text.substr(begin, text.find('\n', begin) - begin);
  };
  EXPECT_EQ(line_of(sai(false)), "SAI XXH3, seed 9, offset 0, of DST_IP");
  EXPECT_EQ(line_of(sai(true)), "SAI XXH3, seed 9, offset 0, of DST_IP; symmetric");
  EXPECT_EQ(line_of(rtag7(false, false, false)), "RTAG7 CRC_CCITT, seed 5, offset 3, of SRC_IP");
  EXPECT_EQ(line_of(rtag7(true, false, false)), "RTAG7 CRC_CCITT, seed 5, offset 3, of SRC_IP; pre_processing");
  EXPECT_EQ(line_of(rtag7(false, true, true)), "RTAG7 CRC_CCITT, seed 5, offset 3, of SRC_IP; symmetric, low_ipv6");
  EXPECT_EQ(line_of(linux_router(3)), "LINUX policy 3, seed 7, of SRC_IP, L4_DST_PORT");
  EXPECT_EQ(line_of(open_vswitch(HashAlgorithm::kOvsL4)), "OVS L4, basis 8");
  EXPECT_EQ(line_of(open_vswitch(HashAlgorithm::kOvsSymL4)), "OVS SYM_L4, basis 8; ports of UDP do not count");
}

TEST(HashWords, OfAProfileAreThoseOfATestbed) {
  EXPECT_EQ(analysis::hash_yaml(sai(false)), "{model: SAI, algorithm: XXH3, fields: [DST_IP], seed: 9, offset: 0}");
  EXPECT_EQ(analysis::hash_yaml(sai(true)),
            "{model: SAI, algorithm: XXH3, fields: [DST_IP], seed: 9, offset: 0, symmetric: true}");
  EXPECT_EQ(analysis::hash_yaml(rtag7(true, false, true)),
            "{model: RTAG7, algorithm: CRC_CCITT, fields: [SRC_IP], seed: 5, offset: 3, "
            "rtag7: {a: {pre_processing: true, low_ipv6: true}}}");
  EXPECT_EQ(analysis::hash_yaml(linux_router(1)), "{model: LINUX, policy: 1, seed: 7}");
  EXPECT_EQ(analysis::hash_yaml(linux_router(3)), "{model: LINUX, policy: 3, fields: [SRC_IP, L4_DST_PORT], seed: 7}");
  EXPECT_EQ(analysis::hash_yaml(open_vswitch(HashAlgorithm::kOvsL4)), "{model: OVS, algorithm: L4, seed: 8}");
  EXPECT_EQ(
      profile_yaml(found_to_be(IdentifyVerdict::kIdentified, {sai(true)}), "mine"),
      "# Made by softspine identify of 64 flows, 63 of which agree.\n# Members by bucket: b ? a\nprofiles:\n"
      "  mine:\n    hash: {model: SAI, algorithm: XXH3, fields: [DST_IP], seed: 9, offset: 0, symmetric: true}\n");
}

TEST(HashWords, OfAnIdentifiedHashWarnOfSeedsOnlyIfItIsLinear) {
  constexpr const char* kLinear = "a linear hash: with another seed and another order of members the same flows may";
  EXPECT_THAT(identification_text(found_to_be(IdentifyVerdict::kIdentified, {rtag7(true, true, true)})),
              HasSubstr(kLinear));
  EXPECT_EQ(identification_text(found_to_be(IdentifyVerdict::kIdentified, {sai(false)})),
            "identified: 63 of 64 flows agree; by chance less often than once in 10^30\n"
            "  SAI XXH3, seed 9, offset 0, of DST_IP\n"
            "  members by bucket: b ? a  (?: 1 that no flow has met)\n");
}

analysis::FoundCrc zlibs() {
  return {.crc = analysis::kKnownCrcs[0],
          .reflected = true,
          .from_ones = true,
          .complemented = true,
          .order = {FlowPart::kDestination, FlowPart::kQp},
          .fit = {.agreeing = 60, .of_bucket = {1, 0}}};
}

TEST(HashWords, OfACrcSayAllThatOneHasToKnowToComputeIt) {
  EXPECT_EQ(to_string(zlibs(), 6),
            "CRC-32 as zlib computes it (polynomial 0x04c11db7) of DST_IP, RDMA_BTH_DEST_QP, in this order, modulo 6");
  const std::string fields = " of DST_IP, RDMA_BTH_DEST_QP, in this order, modulo 6";
  analysis::FoundCrc other = zlibs();
  other.reflected = false;
  EXPECT_EQ(to_string(other, 6), "CRC-32 (polynomial 0x04c11db7, not reflected, from ones, complemented)" + fields);
  other = zlibs();
  other.from_ones = false;
  EXPECT_EQ(to_string(other, 6), "CRC-32 (polynomial 0x04c11db7, reflected, from zeros, complemented)" + fields);
  other = zlibs();
  other.complemented = false;
  EXPECT_EQ(to_string(other, 6), "CRC-32 (polynomial 0x04c11db7, reflected, from ones)" + fields);
  other = zlibs();
  other.crc = analysis::kKnownCrcs[5];
  other.little_endian = true;
  other.qp_bytes = 4;
  other.by_ranges = true;
  EXPECT_EQ(to_string(other, 6),
            "CRC-16-CCITT (polynomial 0x1021, reflected, from ones, complemented) of DST_IP, RDMA_BTH_DEST_QP, in this "
            "order, each little-endian, the queue pair in 4 bytes, by 6 ranges of the hash");
  other.order = {FlowPart::kSourcePort};
  EXPECT_THAT(to_string(other, 6), testing::Not(HasSubstr("queue pair"))) << "there is none in it";
}

TEST(HashWords, OfACrcThatNoModelHasComeWithTheMembers) {
  Identification found = found_to_be(IdentifyVerdict::kNoModel);
  found.crc = zlibs();
  EXPECT_EQ(
      identification_text(found),
      "identified, but no model here has it: 60 of 64 flows agree; by chance less often than once in 10^30\n"
      "  CRC-32 as zlib computes it (polynomial 0x04c11db7) of DST_IP, RDMA_BTH_DEST_QP, in this order, modulo 3\n"
      "  members by bucket: b a\n");
  EXPECT_EQ(identification_json(found)["crc"], to_string(zlibs(), 3));
  found.verdict = IdentifyVerdict::kIndistinguishable;
  EXPECT_FALSE(identification_json(found).contains("crc"));
}

// Bits 0xff03 of the source, the upper bit of a port, and the lowest of the destination's last byte.
TEST(HashWords, OfALinearHashAreTheBitsOfItsSums) {
  Identification found = found_to_be(IdentifyVerdict::kNoModel);
  const auto address = [](uint8_t third, uint8_t fourth) {
    std::vector<uint8_t> out(16, 0);
    out[2] = third;
    out[3] = fourth;
    return out;
  };
  const analysis::LinearSum one{{FlowPart::kSource, address(0xff, 3)}, {FlowPart::kSourcePort, {0x80, 0}}};
  const analysis::LinearSum two{{FlowPart::kDestination, address(0, 1)}, {FlowPart::kQp, {0, 1, 2}}};
  found.linear = {.sums = {one, two}, .agreeing = 59};
  EXPECT_EQ(identification_text(found),
            "identified, but no model here has it: 59 of 64 flows agree; by chance less often than once in 10^30\n"
            "  a linear hash: the link follows from 2 sums (exclusive or) of these bits of a flow\n"
            "    SRC_IP 0000ff03, L4_SRC_PORT 8000\n    DST_IP 00000001, RDMA_BTH_DEST_QP 000102\n");
  EXPECT_EQ(identification_json(found)["linear_sums"].dump(),
            R"(["SRC_IP 0000ff03, L4_SRC_PORT 8000","DST_IP 00000001, RDMA_BTH_DEST_QP 000102"])");
  found.linear->sums = {one};
  found.is_ipv6 = true;
  EXPECT_THAT(identification_text(found), HasSubstr("from 1 sum (exclusive or) of these bits of a flow\n    SRC_IP "
                                                    "0000ff03000000000000000000000000, L4_SRC_PORT 8000\n"));
}

TEST(HashWords, OfSeveralKindsNameEightAtMost) {
  const auto text_of = [](size_t kinds, bool is_cut) {
    Identification found = found_to_be(IdentifyVerdict::kIndistinguishable, std::vector<HashConfig>(kinds, sai(false)));
    found.is_cut = is_cut;
    return identification_text(found);
  };
  const std::string one = "  SAI XXH3, seed 9, offset 0, of DST_IP\n";
  const std::string fit = " kinds of hashes fit, which would send other flows differently\n";
  const std::string decide = "  --next-probes N names flows that would decide\n";
  EXPECT_EQ(text_of(0, false), "indistinguishable: there is no flow yet\n");
  EXPECT_EQ(text_of(1, true), "indistinguishable: at least 1" + fit + one + decide);
  EXPECT_EQ(text_of(2, false), "indistinguishable: 2" + fit + one + one + decide);
  const std::string eight = one + one + one + one + one + one + one + one;
  EXPECT_EQ(text_of(8, false), "indistinguishable: 8" + fit + eight + decide);
  EXPECT_EQ(text_of(10, false), "indistinguishable: 10" + fit + eight + "  … 2 more\n" + decide);
}

TEST(HashWords, OfNothingTellOfSeedsThatWereNotTried) {
  Identification found = found_to_be(IdentifyVerdict::kNothingFits);
  const std::string nothing =
      "nothing fits 64 flows on a group of 3: another hash, another number of members, unequal members, or flows of "
      "more than one group\n";
  EXPECT_EQ(identification_text(found),
            nothing + "  of JENKINS, XXH3, LINUX and OVS only likely seeds were tried; --all-seeds tries all\n");
  found.all_seeds = true;
  EXPECT_EQ(identification_text(found), nothing);
}

TEST(HashWords, EndWithWhatTheFlowsDoNotTell) {
  Identification found = found_to_be(IdentifyVerdict::kNothingFits);
  found.all_seeds = true;
  const std::string head = identification_text(found);
  found.constant = {FlowPart::kVlan, FlowPart::kProtocol};
  found.one_way = true;
  found.of_other_version = 2;
  found.on_several_links = 3;
  EXPECT_EQ(identification_text(found).substr(head.size()),
            "  not told, since it does not vary here: whether VLAN_ID, IP_PROTOCOL counts\n"
            "  not told, since of all flows the smaller address is on one side: whether the hash is symmetric\n"
            "  2 flows of the other IP version were not used\n  3 flows took several links\n");
  found.flows = 0;
  EXPECT_THAT(identification_text(found), testing::Not(HasSubstr("not told"))) << "of no flows";
}

TEST(HashWords, AsJsonHaveAllThatWasFound) {
  Identification found = found_to_be(IdentifyVerdict::kIndistinguishable, {linux_router(3), rtag7(false, true, false)});
  found.classes[0].hypotheses.push_back({sai(true), {.agreeing = 62, .of_bucket = {}}});
  found.of_other_version = 2;
  found.on_several_links = 4;
  found.constant = {FlowPart::kVlan};
  found.one_way = true;
  found.is_cut = true;
  EXPECT_EQ(
      identification_json(found).dump(),
      R"({"verdict":"indistinguishable","flows":64,"flows_of_other_ip_version":2,"flows_on_several_links":4,)"
      R"("members":3,"classes":[{"hash":{"model":"LINUX","algorithm":"SIPHASH","fields":["SRC_IP","L4_DST_PORT"],)"
      R"("seed":7,"offset":0,"policy":3},"members":["b",null,"a"],"agreeing":63,"alike":[{"model":"SAI",)"
      R"("algorithm":"XXH3","fields":["DST_IP"],"seed":9,"offset":0,"symmetric":true}]},{"hash":{"model":"RTAG7",)"
      R"("algorithm":"CRC_CCITT","fields":["SRC_IP"],"seed":5,"offset":3,"rtag7":{"a":{"symmetric":true}}},)"
      R"("members":["b",null,"a"],"agreeing":63,"alike":[]}],"did_not_vary":["VLAN_ID"],"one_way":true,)"
      R"("chance_log2":-100.0,"more_fit":true,"interrupted":false})");
}

}  // namespace
}  // namespace softspine::tests
