// SPDX-License-Identifier: Apache-2.0
// Pause frames as mirrors hand them out: behind tags, and in GRE over IP. Packets are laid out here byte by byte.
#include "analysis/storm/mirrored_frame.hpp"

#include <gtest/gtest.h>

#include <map>

#include "analysis/storm/storm_analysis.hpp"
#include "tests/unit/storm/recording.hpp"

namespace softspine::analysis::storm {
namespace {

using dataplane::Rate;
using tests::CaptureBytes;
using tests::ethernet;
using tests::pauses_of;
using tests::pfc_frame;
using tests::Recording;
using tests::sll;
using tests::Texts;

CaptureBytes joined(std::initializer_list<CaptureBytes> parts) {
  CaptureBytes out;
  for (const CaptureBytes& part : parts) out.insert(out.end(), part.begin(), part.end());
  return out;
}

CaptureBytes tagged(const CaptureBytes& frame, const CaptureBytes& tags) {
  CaptureBytes out = frame;
  out.insert(out.begin() + 12, tags.begin(), tags.end());
  return out;
}

const CaptureBytes kPfc = pfc_frame(0x55, 1 << 3, 0xffff);
const CaptureBytes kMacs{0, 1, 2, 3, 4, 5, 2, 7, 7, 7, 7, 7};
const CaptureBytes kV4{8, 0, 0x45, 0, 0, 0, 0, 0, 0, 0, 64, 47, 0, 0, 10, 0, 0, 1, 10, 9, 9, 9};
// With three words of options.
const CaptureBytes kLongV4{8, 0,  0x48, 0, 0, 0, 0, 0, 0, 0, 64, 47, 0, 0, 10, 0, 0,
                           1, 10, 9,    9, 9, 1, 1, 1, 1, 1, 1,  1,  1, 1, 1,  1, 1};
CaptureBytes v6(uint8_t next, const CaptureBytes& options) {
  CaptureBytes out{0x86, 0xdd, 0x60, 0, 0, 0, 0, 0, next, 64, 0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7};
  out.resize(out.size() + 16);
  out.insert(out.end(), options.begin(), options.end());
  return out;
}
const CaptureBytes kV6 = v6(47, {});
const CaptureBytes kV6WithTunnelLimit = v6(60, {47, 0, 4, 1, 4, 1, 0, 0});

const CaptureBytes kErspanOne{0, 0, 0x88, 0xbe};
const CaptureBytes kErspanTwo{0x10, 0, 0x88, 0xbe, 0, 0, 0, 9, 0x10, 0, 0x02, 0x05, 0, 0, 0, 7};
const CaptureBytes kErspanThree{0x10, 0, 0x22, 0xeb, 0, 0, 0, 9, 0x20, 0, 0, 0x06, 0, 0, 0, 1, 0, 0, 0, 0};
// With GRE's checksum and key, too, and with the 8 bytes of a platform.
const CaptureBytes kLongErspanThree{0xb0, 0,    0x22, 0xeb, 1, 1, 0, 0, 2, 2, 2, 2, 3, 3, 3, 3, 0x20, 0,
                                    0,    0x07, 0,    0,    0, 1, 0, 0, 0, 1, 9, 9, 9, 9, 9, 9, 9,    9};
// 22 bytes that are in no standard.
const CaptureBytes kSpectrum = joined({{0, 0, 0x89, 0x49}, CaptureBytes(22)});
const CaptureBytes kPlainGre{0, 0, 0x65, 0x58};

TEST(MirroredFrame, IsFoundInEachKindOfMirrorAndIpWithItsPlace) {
  const std::map<std::string, CaptureBytes> mirrors{
      {":mirror", kErspanOne},          {":session 517", kErspanTwo}, {":session 6", kErspanThree},
      {":session 7", kLongErspanThree}, {":mirror ", kSpectrum},      {":mirror  ", kPlainGre},
  };
  const std::map<std::string, std::vector<CaptureBytes>> networks{{"10.0.0.1", {kV4, kLongV4}},
                                                                  {"fd00::7", {kV6, kV6WithTunnelLimit}}};
  for (const auto& [address, heads] : networks) {
    for (const auto& [port, mirror] : mirrors) {
      for (const CaptureBytes& head : heads) {
        for (const CaptureBytes& inner :
             {kPfc, tagged(kPfc, {0x81, 0, 0, 5}), tagged(kPfc, {0x88, 0xa8, 0, 1, 0x81, 0, 0, 2})}) {
          const CaptureBytes packet = joined({kMacs, head, mirror, inner});
          for (const CaptureBytes& outer : {packet, tagged(packet, {0x81, 0, 3, 0xe7})}) {
            const auto read = read_mirrored(outer);
            ASSERT_TRUE(read) << address << port;
            EXPECT_EQ(read->place(), address + port.substr(0, port.find_last_not_of(' ') + 1));
            EXPECT_EQ(CaptureBytes(read->bytes.begin(), read->bytes.end()), inner) << address << port;
          }
        }
      }
    }
  }
}

// Not of GRE, a fragment that is not the first, GRE of a later version, and GRE that carries no Ethernet.
TEST(MirroredFrame, IsNoneInOtherPackets) {
  const auto changed = [](size_t at, uint8_t value) {
    CaptureBytes packet = joined({kMacs, kV4, kErspanTwo, kPfc});
    packet.at(at) = value;
    return packet;
  };
  EXPECT_TRUE(read_mirrored(changed(14, 0x45)));
  EXPECT_FALSE(read_mirrored(changed(14, 0x44))) << "shorter than a header";
  EXPECT_FALSE(read_mirrored(changed(23, 17)));
  EXPECT_FALSE(read_mirrored(changed(21, 1)));
  EXPECT_FALSE(read_mirrored(changed(35, 1)));
  EXPECT_FALSE(read_mirrored(changed(37, 0xbf)));
  EXPECT_FALSE(read_mirrored(changed(13, 6)));
}

// Whatever is cut off, nothing is read beyond it, and 18 bytes after the opcode are a pause.
TEST(MirroredFrame, MayBeCutAnywhere) {
  for (const CaptureBytes& head : {kLongV4, kV6WithTunnelLimit}) {
    const CaptureBytes packet = joined({kMacs, head, kLongErspanThree, kPfc});
    const size_t whole = packet.size() - kPfc.size() + 34;
    for (size_t bytes = 0; bytes <= packet.size(); ++bytes) {
      const CaptureBytes some(packet.begin(), packet.begin() + static_cast<ptrdiff_t>(bytes));
      const auto read = read_mirrored(some);
      PauseFrame pause;
      EXPECT_EQ(read && read_pause_frame(read->bytes, pause) == MacControl::kPause, bytes >= whole) << bytes;
    }
  }
}

Recording of_collector() {
  return {.interfaces = {ethernet("eth0")}, .recorder = PauseRecorder{Rate::gbps(100)}};
}

TEST(MirroredPauses, BehindTagsAreAStormAsWithoutThem) {
  for (const CaptureBytes& tags : {CaptureBytes{},
                                   {0x81, 0, 3, 0xe7},
                                   {0x88, 0xa8, 0, 1, 0x81, 0, 0, 2},
                                   {0x91, 0, 0, 1},
                                   {0x92, 0, 0, 1, 0x91, 0, 0, 1, 0x88, 0xa8, 0, 1, 0x81, 0, 0, 2}}) {
    Recording it = of_collector();
    for (int64_t at = 0; at < 10'000; at += 100) it.frame(0, Way::kIn, at, tagged(kPfc, tags));
    const PauseLog log = it.log();
    EXPECT_EQ(it.recorder.tally().pause_frames, 100u);
    EXPECT_EQ(pauses_of(log), Texts{"02:00:00:00:00:55 stops eth0"});
    EXPECT_EQ(analyse(log).storms.size(), 1u);
  }
}

// Two sessions of one switch, and one of another, at one collector: each is a port, whichever way the packets went.
TEST(MirroredPauses, AreOfAPortForEachSwitchAndSession) {
  CaptureBytes other_head = kV4;
  other_head[17] = 2;  // 10.0.0.2
  Recording it = of_collector();
  it.frame(0, Way::kIn, 1, joined({kMacs, kV4, kErspanTwo, kPfc}));
  it.frame(0, Way::kIn, 2, joined({kMacs, kV4, kErspanThree, pfc_frame(0x56, 8, 0xffff)}));
  it.frame(0, Way::kOut, 3, joined({kMacs, other_head, kErspanOne, pfc_frame(0x57, 8, 0xffff)}));
  EXPECT_EQ(pauses_of(it.log()),
            (Texts{"02:00:00:00:00:55 stops 10.0.0.1:session 517", "02:00:00:00:00:56 stops 10.0.0.1:session 6",
                   "02:00:00:00:00:57 stops 10.0.0.2:mirror"}));
  EXPECT_EQ(pauses_of(it.log({.links = {},
                              .tiers = {},
                              .port_of_mac = {},
                              .port_of_interface = {{"10.0.0.1:session 6", "tor1:Ethernet8"}}}))[1],
            "02:00:00:00:00:56 stops tor1:Ethernet8");
}

TEST(MirroredPauses, AreReadInACaptureOfAllInterfaces) {
  Recording it{.interfaces = {{.name = "any", .link_type = 113}}, .recorder = PauseRecorder{Rate::gbps(100)}};
  it.frame(0, Way::kUnknown, 1, sll(0, joined({kMacs, kV6WithTunnelLimit, kLongErspanThree, kPfc})));
  it.frame(0, Way::kUnknown, 60, sll(0, tagged(kPfc, {0x81, 0, 0, 1})));
  EXPECT_EQ(pauses_of(it.log()),
            (Texts{"02:00:00:00:00:55 stops fd00::7:session 7", "02:00:00:00:00:55 at here:any stops here:any"}));
}

// What cannot be read may pause: no all-clear.
TEST(MirroredPauses, ThatCannotBeReadAreNoAllClear) {
  Recording strange = of_collector();
  strange.frame(0, Way::kIn, 1, tagged(kPfc, {0x89, 0x3f, 0, 0}));
  const PauseLog log = strange.log();
  EXPECT_EQ(strange.recorder.tally().strange, 1u);
  EXPECT_EQ(log.gaps.strange, 1u);
  EXPECT_TRUE(log.gaps.any());
  EXPECT_TRUE(analyse(log).hides_pauses);
  const CaptureBytes packet = joined({kMacs, kV4, kErspanTwo, kPfc});
  for (const size_t bytes : {packet.size() - kPfc.size() + 13, packet.size() - kPfc.size() + 33}) {
    Recording cut = of_collector();
    cut.recorder.take({.interface = 0,
                       .way = Way::kIn,
                       .bytes = std::span{packet}.first(bytes),
                       .original_bytes = static_cast<uint32_t>(packet.size())},
                      cut.interfaces);
    EXPECT_TRUE(analyse(cut.log()).hides_pauses) << bytes;
  }
  Recording data = of_collector();
  data.frame(0, Way::kIn, 1, joined({kMacs, kV4, kErspanTwo, kMacs, kV4, CaptureBytes(60)}));
  EXPECT_FALSE(analyse(data.log()).hides_pauses) << "a mirrored frame that pauses nobody";
}

// A frame names its place, and nobody's frames name more than kMaxPorts.
TEST(MirroredPauses, OfTooManyPlacesAreCounted) {
  Recording it = of_collector();
  CaptureBytes packet = joined({kMacs, kV4, kErspanOne, kPfc});
  for (uint32_t i = 0; i < PauseRecorder::kMaxPorts + 5; ++i) {
    packet[27] = static_cast<uint8_t>(i >> 16);
    packet[28] = static_cast<uint8_t>(i >> 8);
    packet[29] = static_cast<uint8_t>(i);
    it.frame(0, Way::kIn, 1, packet);
  }
  EXPECT_EQ(it.recorder.ports().size(), PauseRecorder::kMaxPorts);
  EXPECT_EQ(it.recorder.tally().omitted, 6u) << "one place is the collector's own";
}

}  // namespace
}  // namespace softspine::analysis::storm
