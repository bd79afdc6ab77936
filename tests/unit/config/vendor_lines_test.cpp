// SPDX-License-Identifier: Apache-2.0
// Lines of switches whose words need more than a table: Arista's Sand profiles, SONiC's packet types, Cisco NX-OS.
#include <gtest/gtest.h>

#include <algorithm>

#include "control/vendors/hash_reading.hpp"

namespace softspine::control {
namespace {

using enum HashField;
using Fields = std::vector<HashField>;

bool has_line_note(const std::vector<LineNote>& notes, int line, std::string_view part) {
  return std::ranges::any_of(
      notes, [&](const LineNote& note) { return note.line == line && note.text.find(part) != std::string::npos; });
}

// Of the file as a whole, or of a line that is not taken.
bool note_on(const HashReading& reading, int line, std::string_view part) {
  return has_line_note(line == 0 ? reading.remarks : reading.not_taken, line, part);
}

// Bytes 5 to 7 of a UDP payload to port 4791 are the BTH's destination QP: 8 bytes of UDP's header are before them.
TEST(VendorLines, OfAristasSandProfilesIsWhatIsInForce) {
  const std::string profiles =
      "load-balance policies\n"
      "   load-balance sand profile a\n      ecmp hash key shift 3\n      hash seed 17\n"
      "      fields udp dst-port 4791 payload bytes 5-7 hash\n"
      "   load-balance sand profile b\n      hash seed 18\n      fields udp dst-port 101\n"
      "         payload bytes 10,20\n";
  const dataplane::Udf qp{.offset = 13, .length = 3, .mask = {}, .l2_type = {}, .l3_protocol = 17, .l4_dst_port = 4791};
  const HashReading a =
      read_hash(profiles + "ip load-sharing sand profile a\nport-channel load-balance sand profile a\n");
  EXPECT_EQ(a.vendor, Vendor::kArista);
  EXPECT_EQ(a.seed, 17u);
  EXPECT_EQ(a.udfs, std::vector{qp});
  EXPECT_FALSE(a.lag_seed);
  EXPECT_EQ(a.taken.size(), 4u);
  EXPECT_TRUE(note_on(a, 3, "is not expressed"));
  EXPECT_TRUE(note_on(a, 7, "profile 'b', which is not in force"));
  EXPECT_FALSE(note_on(a, 0, "no line says the seed"));
  const HashReading both =
      read_hash(profiles + "ip load-sharing sand profile b\nport-channel load-balance sand profile a\n");
  EXPECT_EQ(both.seed, 18u);
  EXPECT_EQ(both.lag_seed, 17u);
  EXPECT_EQ(both.lag_udfs, std::vector{qp});
  ASSERT_EQ(both.udfs.size(), 2u);
  EXPECT_EQ(both.udfs[0].offset, 18u);
  EXPECT_EQ(both.udfs[1].offset, 28u);
  EXPECT_EQ(both.udfs[1].length, 1u);
  EXPECT_EQ(both.udfs[1].l4_dst_port, 101u);
  EXPECT_TRUE(note_on(read_hash(profiles), 0, "none is taken"));
  const HashReading one = read_hash(profiles + "port-channel load-balance sand profile b\n");
  EXPECT_EQ(one.seed, 18u);
  EXPECT_TRUE(note_on(one, 0, "no line names the profile of ECMP groups"));
  const HashReading only = read_hash("load-balance policies\n load-balance sand profile x\n  hash seed 5\n");
  EXPECT_EQ(only.seed, 5u);
  EXPECT_TRUE(note_on(only, 0, "taken, as the only one"));
}

TEST(VendorLines, OfAristasPayloadHasBoundsAndConditionsAreNotTaken) {
  const std::string head = "load-balance policies\n load-balance sand profile default\n  fields udp dst-port 4791 ";
  for (const char* bytes : {"payload bytes 0-15", "payload bytes 104-119", "payload bytes 1 2 3,4"})
    EXPECT_EQ(read_hash(head + bytes + "\n").taken.size(), 1u) << bytes;
  for (const char* bytes :
       {"payload bytes 0-16", "payload bytes 7-5", "payload bytes 105-120", "payload bytes 1,2,3,4,5",
        "payload bytes x", "match payload bits 1 pattern 2 hash payload bytes 3"}) {
    const HashReading read = read_hash(head + bytes + "\n");
    EXPECT_TRUE(note_on(read, 3, "is not expressed")) << bytes;
    EXPECT_TRUE(read.udfs.empty()) << bytes;
  }
}

// Words of one line in any number, each of them taken or said not to be.
TEST(VendorLines, OfNxosIsNotAristas) {
  const HashReading read = read_hash(
      "hostname nx1\n"
      "ip load-sharing address source-destination port source-destination universal-id 4711 rotate 32\n"
      "port-channel load-balance src-dst ip-l4port\n");
  EXPECT_EQ(read.vendor, Vendor::kNxos);
  EXPECT_EQ(read.fields, (Fields{kSrcIp, kDstIp, kL4SrcPort, kL4DstPort}));
  EXPECT_EQ(read.lag_fields, (Fields{kSrcIp, kDstIp, kL4SrcPort, kL4DstPort}));
  EXPECT_EQ(read.seed, 4711u);
  EXPECT_EQ(read.taken.size(), 1u);
  EXPECT_TRUE(has_line_note(read.partly, 2, "without rotate 32"));
  EXPECT_TRUE(read.not_taken.empty());
  EXPECT_EQ(read.ignored_count, 1u);
  const HashReading destination = read_hash(
      "ip load-sharing address destination port destination\nport-channel load-balance dst ip-vlan\n"
      "port-channel load-balance ethernet source-dest-port\nip load-sharing address nonsense\n");
  EXPECT_EQ(destination.fields, (Fields{kDstIp, kL4DstPort}));
  EXPECT_EQ(destination.lag_fields, (Fields{kVlanId, kDstIp}));
  EXPECT_TRUE(note_on(destination, 0, "universal-id"));
  EXPECT_TRUE(note_on(destination, 3, "is not known here"));
  EXPECT_TRUE(note_on(destination, 4, "is not known here"));
  EXPECT_EQ(read_hash("ip load-sharing trident 3\n").vendor, Vendor::kArista);
}

// SONiC PR 2100 and sonic-utilities PR 4539: the hash of all packets is another than that of RoCE.
TEST(VendorLines, OfSonicsPacketTypesIsAHashObjectOfTheirOwn) {
  constexpr auto kRdma = static_cast<size_t>(dataplane::HashObjectOf::kIpv4Rdma);
  constexpr auto kInIpv4 = static_cast<size_t>(dataplane::HashObjectOf::kIpv4InIpv4);
  const std::string all = "config switch-hash global ecmp-hash SRC_IP DST_IP\n";
  const std::string global = "sudo config switch-hash global ecmp-hash ";
  for (const std::string& words : {std::string("--packet-type ipv4-rdma SRC_IP RDMA_BTH_DEST_QP"),
                                   std::string("SRC_IP RDMA_BTH_DEST_QP --packet-type=ipv4_rdma"),
                                   std::string("packet-type ipv4-rdma add SRC_IP RDMA_BTH_DEST_QP"),
                                   std::string("--packet-type ipv4-rdma --action add SRC_IP\n") + global +
                                       "--packet-type ipv4-rdma --action add RDMA_BTH_DEST_QP"}) {
    const HashReading read = read_hash(all + global + words + "\n");
    EXPECT_TRUE(read.errors.empty()) << words;
    EXPECT_EQ(read.fields, (Fields{kSrcIp, kDstIp})) << words;
    EXPECT_EQ(read.objects[kRdma], (Fields{kSrcIp, kRdmaBthDestQp})) << words;
    HashConfig hash;
    apply_reading(read, hash);
    EXPECT_EQ(hash.fields, (Fields{kSrcIp, kDstIp}));
    ASSERT_TRUE(hash.objects[kRdma]);
    EXPECT_EQ(hash.objects[kRdma]->fields, (Fields{kSrcIp, kRdmaBthDestQp}));
  }
  const std::string rdma = all + global + "--packet-type ipv4-rdma SRC_IP DST_IP RDMA_BTH_DEST_QP\n";
  EXPECT_EQ(read_hash(rdma + global + "--packet-type ipv4-rdma --action del DST_IP\n").objects[kRdma],
            (Fields{kSrcIp, kRdmaBthDestQp}));
  EXPECT_FALSE(read_hash(rdma + global + "--packet-type ipv4-rdma --action del\n").objects[kRdma]);
  EXPECT_FALSE(read_hash(rdma + global + "packet-type ipv4-rdma del\n").objects[kRdma]);
  EXPECT_EQ(read_hash("config switch-hash global lag-hash --packet-type ipnip INNER_SRC_IP\n").lag_objects[kInIpv4],
            (Fields{kInnerSrcIp}));
  for (const auto& [words, message] : {std::pair{"--packet-type ipv5 SRC_IP", "no packet type 'ipv5'"},
                                       {"--packet-type", "no packet type ''"},
                                       {"--packet-type ipv4 --action set SRC_IP", "expected add or del, found 'set'"},
                                       {"--action add SRC_IP", "goes with --packet-type only"}}) {
    const HashReading read = read_hash(global + words + "\n");
    ASSERT_FALSE(read.errors.empty()) << words;
    EXPECT_NE(read.errors.front().text.find(message), std::string::npos) << read.errors.front().text;
  }
  EXPECT_TRUE(has_line_note(read_hash(global + "SRC_IP TTL\n").partly, 1, "without 'TTL'"));
}

}  // namespace
}  // namespace softspine::control
