// SPDX-License-Identifier: Apache-2.0
// The segment of a dual ToR: two ToRs that are no stack carry nothing between their hosts at layer 2. A host reaches
// another one by its ToR's own MAC, which answers for every address (proxy ARP), and is routed. A stack bridges.
#include <fmt/format.h>

#include "control/compile/compile.hpp"
#include "tests/scenario/edge/reference_capture.hpp"
#include "tests/scenario/run/running_testbed.hpp"

namespace softspine::testbeds {
namespace {

using Bytes = std::vector<uint8_t>;
using dataplane::MacAddress;

constexpr MacAddress kH1{0x02, 0, 0, 0, 0xaa, 0x01};
constexpr MacAddress kH2{0x02, 0, 0, 0, 0xaa, 0x02};
constexpr MacAddress kNobody{0x02, 0, 0, 0, 0xbb, 0x99};
constexpr MacAddress kBroadcast{0xff, 0xff, 0xff, 0xff, 0xff, 0xff};

void append(Bytes& to, std::initializer_list<uint8_t> bytes) {
  to.insert(to.end(), bytes);
}
void append(Bytes& to, const auto& bytes) {
  to.insert(to.end(), bytes.begin(), bytes.end());
}
void append_ip(Bytes& to, uint32_t ip) {
  for (const int shift : {24, 16, 8, 0}) to.push_back(static_cast<uint8_t>(ip >> shift));
}

// Of h1, as short as Ethernet has them.
Bytes frame(const MacAddress& to, std::initializer_list<uint8_t> type, const Bytes& payload = {}) {
  Bytes out;
  append(out, to);
  append(out, kH1);
  append(out, type);
  append(out, payload);
  out.resize(std::max<size_t>(out.size(), 60));
  return out;
}
// "Who has `target`? Tell `sender`."
Bytes arp_request(uint32_t sender, uint32_t target) {
  Bytes body{0, 1, 8, 0, 6, 4, 0, 1};
  append(body, kH1);
  append_ip(body, sender);
  append(body, MacAddress{});
  append_ip(body, target);
  return frame(kBroadcast, {0x08, 0x06}, body);
}
// UDP of no port, 8 bytes.
Bytes ipv4(const MacAddress& to, uint32_t source, uint32_t target) {
  Bytes ip{0x45, 0, 0, 28, 0, 0, 0, 0, 64, 17, 0, 0};
  append_ip(ip, source);
  append_ip(ip, target);
  uint32_t sum = 0;
  for (size_t i = 0; i < ip.size(); i += 2) sum += uint32_t{ip[i]} << 8 | ip[i + 1];
  while (sum > 0xffff) sum = (sum & 0xffff) + (sum >> 16);
  ip[10] = static_cast<uint8_t>(~sum >> 8);
  ip[11] = static_cast<uint8_t>(~sum);
  append(ip, {0x12, 0x34, 0x56, 0x78, 0, 8, 0, 0});
  return frame(to, {0x08, 0x00}, ip);
}
bool is_arp(const Bytes& frame, uint8_t operation) {
  return frame.size() > 21 && frame[12] == 0x08 && frame[13] == 0x06 && frame[21] == operation;
}
MacAddress source_of(const Bytes& frame) {
  MacAddress out;
  std::copy_n(frame.begin() + 6, 6, out.begin());
  return out;
}

// h1 and h2, each at tor1 and tor2. h1's frames come by tor1, 10 us apart.
class Segment {
 public:
  explicit Segment(const std::string& stacks, const std::string& profile = "{}")
      : text_(fmt::format(R"(
name: segment
run: {{duration: 2ms}}
topology:
  nodes:
    tor1: {{kind: switch, role: tor}}
    tor2: {{kind: switch, role: tor}}
    spine1: {{kind: switch, role: aggregation}}
    h1: {{kind: host, mac: "02:00:00:00:aa:01", edge: [{{pcap: {{in: "{}", out: "{}"}}}}, {{pcap: {{out: "{}"}}}}], bond: {{mode: balance-xor}}}}
    h2: {{kind: host, mac: "02:00:00:00:aa:02", edge: [{{pcap: {{out: "{}"}}}}, {{pcap: {{out: "{}"}}}}], bond: {{mode: balance-xor}}}}
  links:
    - {{endpoints: [tor1, h1], rate: 10Gbps}}
    - {{endpoints: [tor2, h1], rate: 10Gbps}}
    - {{endpoints: [tor1, h2], rate: 10Gbps}}
    - {{endpoints: [tor2, h2], rate: 10Gbps}}
    - {{endpoints: [tor1, spine1], rate: 40Gbps}}
    - {{endpoints: [tor2, spine1], rate: 40Gbps}}
{}
profiles: {{default: {}}}
)",
                          in_, to_h1_[0], to_h1_[1], to_h2_[0], to_h2_[1], stacks, profile)),
        testbed_(testbed_of(text_)) {}

  uint32_t ip_of(const std::string& host) const { return node(host).ipv4.value; }
  MacAddress router() const {
    const auto tor1 = static_cast<uint32_t>(&node("tor1") - testbed_.fabric.nodes.data());
    return control::Compiler(testbed_).router_mac(tor1);
  }
  Outcome run(const std::vector<Bytes>& sent) {
    std::vector<dataplane::CapturedFrame> frames;
    for (const Bytes& each : sent) {
      const auto number = static_cast<int64_t>(frames.size() + 1);
      frames.push_back({10'000 * number, each, static_cast<uint32_t>(each.size())});
    }
    const Bytes file = dataplane::pcap_bytes(frames);
    std::ofstream{in_, std::ios::binary}.write(reinterpret_cast<const char*>(file.data()),
                                               static_cast<std::streamsize>(file.size()));
    return run_whole(testbed_);
  }
  std::vector<Bytes> at_h1() const { return frames_of(to_h1_); }
  std::vector<Bytes> at_h2() const { return frames_of(to_h2_); }

 private:
  const control::FabricNode& node(const std::string& name) const {
    return *std::ranges::find(testbed_.fabric.nodes, name, &control::FabricNode::name);
  }
  static std::vector<Bytes> frames_of(const std::array<std::string, 2>& files) {
    std::vector<Bytes> out;
    for (const std::string& file : files) {
      for (const auto& each : dataplane::parse_pcap(dataplane::TemporaryFiles::content(file)))
        out.push_back(each.bytes);
    }
    return out;
  }

  dataplane::TemporaryFiles files_;
  std::string in_ = files_.with(dataplane::pcap_bytes({}));
  std::array<std::string, 2> to_h1_{files_.path(), files_.path()};
  std::array<std::string, 2> to_h2_{files_.path(), files_.path()};
  std::string text_;
  control::Testbed testbed_;
};

constexpr const char* kStacked =
    "    - {endpoints: [tor1, tor2], rate: 40Gbps}\n  stacks: {rack: {switches: [tor1, tor2]}}\n";

std::vector<Bytes> of_layer2() {
  return {frame(kH2, {0x88, 0xb5}), frame(kBroadcast, {0x88, 0xb5}), frame(kNobody, {0x88, 0xb5})};
}
uint64_t dropped(const Outcome& out, const char* reason) {
  const control::Json& drops = out.report["totals"]["drops"];
  return drops.contains(reason) ? drops[reason].get<uint64_t>() : 0;
}

TEST(DualTorSegment, CarriesNoLayer2) {
  Segment segment("");
  auto frames = of_layer2();
  frames.push_back(arp_request(segment.ip_of("h1"), segment.ip_of("h1")));  // gratuitous
  const Outcome out = segment.run(frames);
  EXPECT_EQ(dropped(out, "no_layer_2"), 3u);
  EXPECT_EQ(segment.at_h2().size(), 0u);
  EXPECT_EQ(segment.at_h1().size(), 0u);
}

TEST(DualTorSegment, IsBridgedWhereItsTorsAreAStack) {
  Segment segment(kStacked);
  auto frames = of_layer2();
  frames.push_back(arp_request(segment.ip_of("h1"), segment.ip_of("h1")));
  const Outcome out = segment.run(frames);
  EXPECT_EQ(dropped(out, "no_layer_2"), 0u);
  EXPECT_EQ(segment.at_h2(), frames);
}

TEST(DualTorSegment, RoutesBetweenItsHostsByTheMacOfTheirTor) {
  Segment segment("");
  const uint32_t h1 = segment.ip_of("h1");
  const uint32_t h2 = segment.ip_of("h2");
  const Outcome out = segment.run({arp_request(h1, h2), ipv4(segment.router(), h1, h2)});
  EXPECT_EQ(dropped(out, "no_layer_2"), 0u);
  ASSERT_EQ(segment.at_h1().size(), 1u);
  EXPECT_TRUE(is_arp(segment.at_h1()[0], 2)) << "the ToR answers for h2";
  EXPECT_EQ(source_of(segment.at_h1()[0]), segment.router());
  ASSERT_EQ(segment.at_h2().size(), 1u);
  EXPECT_EQ(source_of(segment.at_h2()[0]), segment.router());
  EXPECT_EQ(segment.at_h2()[0][22], 63) << "its TTL: it was routed";
}

// With an entry that is too old the ToR asks for the host again; its own question goes out.
TEST(DualTorSegment, HearsTheQuestionsOfItsTors) {
  Segment segment("", "{neighbours: {arp_timeout: 5us}}");
  // The file's first frame is at instant 0, when no entry is too old.
  const Outcome out = segment.run({of_layer2()[2], ipv4(segment.router(), segment.ip_of("h1"), segment.ip_of("h2"))});
  EXPECT_EQ(dropped(out, "neighbour_incomplete"), 1u);
  ASSERT_EQ(segment.at_h2().size(), 1u);
  EXPECT_TRUE(is_arp(segment.at_h2()[0], 1));
  EXPECT_EQ(source_of(segment.at_h2()[0]), segment.router());
}

}  // namespace
}  // namespace softspine::testbeds
