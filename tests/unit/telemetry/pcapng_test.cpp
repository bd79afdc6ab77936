// SPDX-License-Identifier: Apache-2.0
// Golden bytes: made from the pcapng draft by an independent encoder (Python's struct), not by ours.
#include "control/capture/pcapng.hpp"

#include <gtest/gtest.h>

#include <string>

namespace softspine::control::pcapng {
namespace {

using dataplane::Instant;
using dataplane::Rate;

std::string hex(const Bytes& bytes) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const uint8_t byte : bytes) {
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

constexpr uint8_t kCounting[] = {0, 1, 2, 3, 4, 5, 6, 7};

TEST(Pcapng, WritesTheBytesThatTheDraftPrescribes) {
  Bytes out;
  append(out, Section{.hardware = "emulated switch fabric", .application = "softspine", .comment = "seed 7"});
  append(out, Interface{.name = "tor1:Ethernet0", .speed = Rate::gbps(400), .snaplen = 8});
  append(out, Interface{.name = "tor1:Ethernet4", .speed = Rate::gbps(25), .snaplen = 8});
  append(out,
         Frame{.interface = 0, .way = Way::kIn, .at = Instant::at_ps(1680), .original_bytes = 64, .bytes = kCounting});
  append(out, Frame{.interface = 1,
                    .way = Way::kOut,
                    .at = Instant::at_ps(500'000'000'000'199),
                    .original_bytes = 1086,
                    .bytes = std::span{kCounting}.first(5),
                    .missed_before = 3,
                    .comment = "XOFF raised"});
  EXPECT_EQ(hex(out),
            "0a0d0d0a580000004d3c2b1a01000000ffffffffffffffff0100060073656564"
            "2037000002001600656d756c6174656420737769746368206661627269630000"
            "04000900736f66747370696e6500000000000000580000000100000048000000"
            "010000000800000002000e00746f72313a45746865726e657430000008000800"
            "00a0db215d000000090001000a0000000d000100000000000000000048000000"
            "0100000048000000010000000800000002000e00746f72313a45746865726e65"
            "743400000800080000ba1dd205000000090001000a0000000d00010000000000"
            "0000000048000000060000003400000000000000000000001000000008000000"
            "4000000000010203040506070200040001000000000000003400000006000000"
            "50000000010000008c04000001503927050000003e0400000001020304000000"
            "020004000200000004000800030000000000000001000b00584f464620726169"
            "736564000000000050000000");
}

TEST(Pcapng, SaysInAnInterfacesDescriptionWhereItsLinkLeads) {
  Bytes out;
  append(out, Interface{.name = "h1:eth0", .speed = Rate::gbps(100), .description = "link to tor1:Ethernet4"});
  EXPECT_EQ(hex(out),
            "010000005c00000001000000000000000200070068313a657468300003001600"
            "6c696e6b20746f20746f72313a45746865726e65743400000800080000e87648"
            "17000000090001000a0000000d00010000000000000000005c000000");
}

TEST(Pcapng, SaysByWhichFilterAnInterfacesFramesWereChosen) {
  Bytes out;
  append(out, Interface{.name = "h1:eth0", .speed = Rate::gbps(100), .description = "", .filter = "udp port 4791"});
  EXPECT_EQ(hex(out),
            "010000005400000001000000000000000200070068313a657468300008000800"
            "00e8764817000000090001000a0000000b000e000075647020706f7274203437"
            "393100000d000100000000000000000054000000");
}

TEST(Pcapng, SaysOfAnInterfaceHowManyFramesItReceivedAndDropped) {
  Bytes out;
  append(out, Statistics{
                  .interface = 1, .at = Instant::at_ps(500'000'000'000'199), .received = 100'100, .dropped = 100'000});
  EXPECT_EQ(hex(out),
            "0500000034000000010000008c04000001503927040008000487010000000000"
            "05000800a0860100000000000000000034000000");
  EXPECT_EQ(out.size(), kStatisticsBytes);
}

TEST(Pcapng, KnowsTheSizeOfAFrameBeforeItIsEncoded) {
  for (size_t bytes = 0; bytes <= 8; ++bytes) {
    for (const uint64_t missed : {0, 1}) {
      for (const char* comment : {"", "a", "four", "five5"}) {
        const Frame frame{.bytes = std::span{kCounting}.first(bytes), .missed_before = missed, .comment = comment};
        Bytes out;
        append(out, frame);
        EXPECT_EQ(encoded_bytes(frame), out.size())
            << bytes << " bytes, " << missed << " missed, comment '" << comment << "'";
        EXPECT_EQ(out.size() % 4, 0u);
      }
    }
  }
}

TEST(Pcapng, WritesAFrameWithoutItsZerosAsOneThatHasThem) {
  const std::vector<uint8_t> left_out{1, 2, 3, 9, 9, 9, 9};
  for (uint32_t zeros = 0; zeros <= 5; ++zeros) {
    std::vector<uint8_t> whole = left_out;
    whole.insert(whole.begin() + 3, zeros, 0);
    const Frame sparse{.original_bytes = 7 + zeros, .bytes = left_out, .zeros_at = 3, .zeros = zeros, .comment = "c"};
    const Frame full{.original_bytes = 7 + zeros, .bytes = whole, .comment = "c"};
    Bytes a;
    Bytes b;
    append(a, sparse);
    append(b, full);
    EXPECT_EQ(a, b);
    EXPECT_EQ(encoded_bytes(sparse), a.size());
  }
}

TEST(Pcapng, CutsACommentAtTheLengthThatAnOptionCanState) {
  const std::string comment(70'000, 'x');
  const Frame frame{.bytes = kCounting, .comment = comment};
  Bytes out;
  append(out, frame);
  EXPECT_EQ(encoded_bytes(frame), out.size());
  EXPECT_EQ(out.size(), 12u + 20 + 8 + 8 + 4 + 65'536 + 4);
}

}  // namespace
}  // namespace softspine::control::pcapng
