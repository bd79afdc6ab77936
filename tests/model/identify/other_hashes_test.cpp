// SPDX-License-Identifier: Apache-2.0
// Hashes that no model here has: CRCs as Boost computes them, and sums of bits that were drawn.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <boost/crc.hpp>
#include <functional>
#include <numeric>

#include "analysis/identify/identification.hpp"
#include "analysis/identify/identify_report.hpp"
#include "dataplane/units/rng.hpp"
#include "tests/harness/seed.hpp"

namespace softspine::tests {
namespace {

using analysis::Flow;
using analysis::FlowPart;
using analysis::Identification;
using analysis::IdentifyVerdict;
using analysis::Observations;
using dataplane::Rng;

std::vector<Flow> drawn_flows(Rng& rng, size_t count) {
  std::vector<Flow> out;
  while (out.size() < count) {
    Flow flow;
    flow.source = {static_cast<uint8_t>(10 + rng.below(2)), 0, static_cast<uint8_t>(rng.below(256)),
                   static_cast<uint8_t>(rng.below(256))};
    flow.destination = {10, 1, static_cast<uint8_t>(rng.below(256)), static_cast<uint8_t>(rng.below(256))};
    flow.source_port = static_cast<uint16_t>(49'152 + rng.below(16'384));
    flow.destination_port = dataplane::udp::kRoceV2Port;
    flow.qp = static_cast<uint32_t>(rng.below(1 << 24));
    out.push_back(flow);
  }
  return out;
}

// Members have drawn names.
Observations observed(Rng& rng, const std::vector<Flow>& flows, uint32_t members,
                      const std::function<uint32_t(const Flow&)>& member_of) {
  std::vector<uint32_t> names(members);
  std::iota(names.begin(), names.end(), 0U);
  for (size_t i = members; i > 1; --i) std::swap(names[i - 1], names[rng.below(i)]);
  Observations out;
  for (uint32_t link = 0; link < members; ++link) out.links.push_back("e" + std::to_string(link));
  for (const Flow& flow : flows) out.flows.push_back({flow, names[member_of(flow)]});
  return out;
}

void append(std::vector<uint8_t>& out, uint64_t value, int bytes) {
  for (int i = bytes; i-- > 0;) out.push_back(static_cast<uint8_t>(value >> 8 * i));
}
std::vector<uint8_t> bytes_in(const Flow& flow, const std::string& order) {
  std::vector<uint8_t> out;
  for (const char field : order) {
    const int address_bytes = flow.is_ipv6 ? 16 : 4;
    if (field == 's') out.insert(out.end(), flow.source.begin(), flow.source.begin() + address_bytes);
    if (field == 'd') out.insert(out.end(), flow.destination.begin(), flow.destination.begin() + address_bytes);
    if (field == 'S') append(out, flow.source_port, 2);
    if (field == 'D') append(out, flow.destination_port, 2);
    if (field == 'p') append(out, flow.protocol, 1);
    if (field == 'q') append(out, flow.qp, 3);
  }
  return out;
}
template <typename Crc>
uint32_t crc_of(const std::vector<uint8_t>& bytes) {
  Crc crc;
  crc.process_bytes(bytes.data(), bytes.size());
  return static_cast<uint32_t>(crc.checksum());
}

void expect_all_named(const Identification& found, const std::vector<std::string>& words) {
  ASSERT_EQ(found.verdict, IdentifyVerdict::kNoModel) << identification_text(found);
  ASSERT_TRUE(found.crc) << identification_text(found);
  EXPECT_EQ(found.crc->fit.agreeing, found.flows);
  EXPECT_LT(found.chance, -200);
  for (const std::string& part : words) EXPECT_THAT(identification_text(found), testing::HasSubstr(part));
}

// Fields in front of which nothing varies may be named, too: they only rename members.
TEST(OtherHashes, OfZlibAreNamedWhateverTheOrderOfFieldsAndTheNumberOfLinks) {
  Rng rng{seed(), 93};
  struct Case {
    std::string order;
    std::string words;
    uint32_t members;
  };
  for (const auto& [order, words, members] :
       {Case{"sdpSD", "SRC_IP, DST_IP, IP_PROTOCOL, L4_SRC_PORT, L4_DST_PORT", 8},
        Case{"sdpSD", "SRC_IP, DST_IP, IP_PROTOCOL, L4_SRC_PORT, L4_DST_PORT", 6},
        Case{"sdSDp", "SRC_IP, DST_IP, L4_SRC_PORT, L4_DST_PORT, IP_PROTOCOL", 16},
        Case{"sdSDp", "SRC_IP, DST_IP, L4_SRC_PORT, L4_DST_PORT, IP_PROTOCOL", 5},
        Case{"dsDS", "DST_IP, SRC_IP, L4_DST_PORT, L4_SRC_PORT", 4},
        Case{"sdSq", "SRC_IP, DST_IP, L4_SRC_PORT, RDMA_BTH_DEST_QP", 12}}) {
    SCOPED_TRACE(order + " " + std::to_string(members));
    const auto seen = observed(rng, drawn_flows(rng, 400), members, [&](const Flow& flow) {
      return crc_of<boost::crc_32_type>(bytes_in(flow, order)) % members;
    });
    expect_all_named(identify(seen, members, {}), {"CRC-32 as zlib computes it (polynomial 0x04c11db7) of ",
                                                   words + ", in this order, modulo " + std::to_string(members)});
  }
}

TEST(OtherHashes, OfOtherCrcsAreNamedToo) {
  Rng rng{seed(), 94};
  const auto by_ranges = observed(rng, drawn_flows(rng, 400), 12, [](const Flow& flow) {
    return static_cast<uint32_t>(uint64_t{crc_of<boost::crc_32_type>(bytes_in(flow, "sdSD"))} * 12 >> 32);
  });
  expect_all_named(identify(by_ranges, 12, {}),
                   {"CRC-32 as zlib computes it", "in this order, by 12 ranges of the hash"});
  const auto ccitt = observed(rng, drawn_flows(rng, 400), 12, [](const Flow& flow) {
    return crc_of<boost::crc_ccitt_false_t>(bytes_in(flow, "sdSDp")) % 12;
  });
  expect_all_named(identify(ccitt, 12, {}), {"CRC-16-CCITT (polynomial 0x1021, not reflected, from ones)"});
}

// As a host's memory has them: each field with its last byte first.
TEST(OtherHashes, OfLittleEndianFieldsAreNamedToo) {
  Rng rng{seed(), 98};
  const auto seen = observed(rng, drawn_flows(rng, 400), 8, [](const Flow& flow) {
    std::vector<uint8_t> bytes;
    for (const char field : std::string{"sdSD"}) {
      const std::vector<uint8_t> one = bytes_in(flow, {field});
      bytes.insert(bytes.end(), one.rbegin(), one.rend());
    }
    return crc_of<boost::crc_32_type>(bytes) % 8;
  });
  const auto crc = analysis::find_crc(analysis::sample_of(seen, 8));
  ASSERT_TRUE(crc);
  EXPECT_EQ(crc->fit.agreeing, 400u);
  EXPECT_TRUE(crc->little_endian);
}

// A host's word of 32 bits; behind the addresses, so that its zero byte is no byte in front. CRC-32C of Castagnoli;
// its complement only renames members, and is named as zlib has it.
TEST(OtherHashes, OfQueuePairsInFourBytesAreNamedToo) {
  Rng rng{seed(), 92};
  const auto seen = observed(rng, drawn_flows(rng, 400), 12, [](const Flow& flow) {
    std::vector<uint8_t> bytes = bytes_in(flow, "sd");
    append(bytes, flow.qp, 4);
    return crc_of<boost::crc_optimal<32, 0x1edc6f41, 0, 0, true, true>>(bytes) % 12;
  });
  const auto crc = analysis::find_crc(analysis::sample_of(seen, 12));
  ASSERT_TRUE(crc);
  EXPECT_EQ(crc->fit.agreeing, 400u);
  EXPECT_EQ(crc->qp_bytes, 4u);
  EXPECT_EQ(to_string(*crc, 12),
            "CRC-32C (polynomial 0x1edc6f41, reflected, from zeros, complemented) of SRC_IP, DST_IP, RDMA_BTH_DEST_QP, "
            "in this order, "
            "the queue pair in 4 bytes, modulo 12");
}

// Two /64 prefixes, and drawn interface identifiers.
std::vector<Flow> drawn_ipv6_flows(Rng& rng, size_t count) {
  std::vector<Flow> out = drawn_flows(rng, count);
  for (Flow& flow : out) {
    flow.is_ipv6 = true;
    flow.source = {0xfd, 0, 0, 1};
    flow.destination = {0xfd, 0, 0, 2};
    for (size_t i = 8; i < flow.source.size(); ++i) {
      flow.source[i] = static_cast<uint8_t>(rng.below(256));
      flow.destination[i] = static_cast<uint8_t>(rng.below(256));
    }
  }
  return out;
}

TEST(OtherHashes, OfIpv6FlowsAreNamedToo) {
  Rng rng{seed(), 97};
  const auto seen = observed(rng, drawn_ipv6_flows(rng, 400), 8,
                             [](const Flow& flow) { return crc_of<boost::crc_32_type>(bytes_in(flow, "sdpSD")) % 8; });
  const auto crc = analysis::find_crc(analysis::sample_of(seen, 8));
  ASSERT_TRUE(crc);
  EXPECT_EQ(crc->fit.agreeing, 400u);
}

// All models, too, where observations are wrong: minutes under a sanitizer.
bool tries_all_models() {
  return to_draw(100) == 100;
}

// A chain of reads as a wrong observation: the flow next to it, three in a hundred.
TEST(OtherHashes, AreFoundThoughSomeObservationsAreWrong) {
  Rng rng{seed(), 95};
  auto seen = observed(rng, drawn_flows(rng, 400), 6,
                       [](const Flow& flow) { return crc_of<boost::crc_32_type>(bytes_in(flow, "sdpSD")) % 6; });
  for (size_t i = 0; i < 12; ++i) seen.flows[33 * i].link = (seen.flows[33 * i].link + 1) % 6;
  const auto crc = analysis::find_crc(analysis::sample_of(seen, 6));
  ASSERT_TRUE(crc);
  EXPECT_EQ(crc->fit.agreeing, 388u);
  if (!tries_all_models()) return;
  const Identification found = identify(seen, 6, {});
  EXPECT_EQ(found.verdict, IdentifyVerdict::kNoModel) << identification_text(found);
  ASSERT_TRUE(found.crc);
  EXPECT_EQ(found.crc->fit.agreeing, 388u);
}

// Three sums of bits of addresses and source port, drawn. What was found is evaluated here, bit by bit.
using Mask = std::vector<uint8_t>;  // of source, destination, source port: 4, 4 and 2 bytes
bool sum_of(const Mask& mask, const Flow& flow) {
  const std::vector<uint8_t> bytes = bytes_in(flow, "sdS");
  int ones = 0;
  for (size_t i = 0; i < bytes.size(); ++i) ones += std::popcount(static_cast<uint8_t>(bytes[i] & mask[i]));
  return ones % 2 != 0;
}
Mask mask_of(const analysis::LinearSum& sum) {
  Mask out(10, 0);
  for (const analysis::SumPart& part : sum) {
    const size_t at = part.part == FlowPart::kSource ? 0 : part.part == FlowPart::kDestination ? 4 : 8;
    EXPECT_TRUE(at < 8 || part.part == FlowPart::kSourcePort);
    for (size_t i = 0; i < part.mask.size() && at + i < out.size(); ++i) out[at + i] |= part.mask[i];
  }
  return out;
}

TEST(OtherHashes, ThatAreLinearAreFoundWithoutAName) {
  Rng rng{seed(), 96};
  for (const uint32_t wrong : {0U, 4U}) {
    std::vector<Mask> drawn(3, Mask(10));
    for (Mask& mask : drawn) {
      for (uint8_t& byte : mask) byte = static_cast<uint8_t>(rng.below(256));
    }
    const auto member_of = [&](const Flow& flow) {
      return 4U * sum_of(drawn[0], flow) + 2U * sum_of(drawn[1], flow) + sum_of(drawn[2], flow);
    };
    auto seen = observed(rng, drawn_flows(rng, 600), 8, member_of);
    for (uint32_t i = 0; i < wrong; ++i) seen.flows[100 * i].link = (seen.flows[100 * i].link + 1) % 8;
    const auto linear = analysis::solve_linear(analysis::sample_of(seen, 8));
    ASSERT_TRUE(linear);
    EXPECT_EQ(linear->agreeing, 600 - wrong);
    ASSERT_EQ(linear->sums.size(), 3u);
    // Flows that nobody has seen share all sums that were found if and only if they share a member.
    const auto others = drawn_flows(rng, 300);
    const auto found_of = [&](const Flow& flow) {
      uint32_t out = 0;
      for (const analysis::LinearSum& sum : linear->sums) out = 2 * out + sum_of(mask_of(sum), flow);
      return out;
    };
    for (size_t i = 1; i < others.size(); ++i)
      EXPECT_EQ(found_of(others[i]) == found_of(others[0]), member_of(others[i]) == member_of(others[0]));
    if (wrong != 0 && !tries_all_models()) continue;
    const Identification found = identify(seen, 8, {});
    ASSERT_EQ(found.verdict, IdentifyVerdict::kNoModel) << identification_text(found);
    EXPECT_THAT(identification_text(found), testing::HasSubstr("the link follows from 3 sums (exclusive or)"));
  }
}

TEST(OtherHashes, AreNoneWhereLinksAreDrawn) {
  Rng rng{seed(), 97};
  const auto seen =
      observed(rng, drawn_flows(rng, 300), 8, [&](const Flow&) { return static_cast<uint32_t>(rng.below(8)); });
  EXPECT_FALSE(analysis::solve_linear(analysis::sample_of(seen, 8)));
  EXPECT_FALSE(analysis::find_crc(analysis::sample_of(seen, 8)));
}

}  // namespace
}  // namespace softspine::tests
