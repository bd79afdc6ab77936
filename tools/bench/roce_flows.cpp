// SPDX-License-Identifier: Apache-2.0
#include "tools/bench/roce_flows.hpp"

#include <pcap/pcap.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <stdexcept>

#include "dataplane/packet/checksum.hpp"
#include "dataplane/packet/wire.hpp"
#include "dataplane/units/rng.hpp"

namespace softspine::tools {

using namespace dataplane;

std::vector<uint8_t> roce_frame(const RoceFlows& flows, uint32_t index) {
  constexpr uint32_t kLeast = ethernet::kBytes + ipv4::kMinBytes + udp::kBytes + bth::kBytes + kIcrcBytes;
  if (flows.frame_bytes < kLeast) throw std::runtime_error("a RoCEv2 frame has at least 58 bytes");
  std::vector<uint8_t> frame(flows.frame_bytes, 0);
  uint8_t* data = frame.data();
  store_mac(data + ethernet::kDestination, flows.destination_mac);
  store_mac(data + ethernet::kSource, flows.source_mac);
  store16(data + ethernet::kType, ethernet::kTypeIpv4);
  uint8_t* l3 = data + ethernet::kBytes;
  const auto l3_bytes = static_cast<uint16_t>(flows.frame_bytes - ethernet::kBytes);
  l3[ipv4::kVersionIhl] = 0x45;
  l3[ipv4::kTos] = 26 << 2 | ip::kEct0;
  store16(l3 + ipv4::kTotalLength, l3_bytes);
  store16(l3 + ipv4::kFragment, ipv4::kDontFragment);
  l3[ipv4::kTtl] = 64;
  l3[ipv4::kProtocol] = ip::kUdp;
  store32(l3 + ipv4::kSource, 0x0a010000 | (index & 0xffff));
  store32(l3 + ipv4::kDestination, 0x0a020000 | (index * 7 & 0xffff));
  store16(l3 + ipv4::kChecksum, ipv4_checksum(l3, ipv4::kMinBytes));
  uint8_t* l4 = l3 + ipv4::kMinBytes;
  store16(l4 + udp::kSourcePort, static_cast<uint16_t>(0xc000 | (index * 2654435761U >> 18)));
  store16(l4 + udp::kDestinationPort, udp::kRoceV2Port);
  store16(l4 + udp::kLength, static_cast<uint16_t>(l3_bytes - ipv4::kMinBytes));
  uint8_t* base = l4 + udp::kBytes;
  base[bth::kOpcode] = bth::kSendOnly;
  store16(base + bth::kPartitionKey, bth::kDefaultPartitionKey);
  store24(base + bth::kDestinationQp, 0x100 + index);
  return frame;
}

void write_roce_pcap(const std::string& path, const RoceFlows& flows) {
  const std::unique_ptr<pcap_t, decltype(&pcap_close)> pcap{pcap_open_dead(DLT_EN10MB, 65535), pcap_close};
  const std::unique_ptr<pcap_dumper_t, decltype(&pcap_dump_close)> out{pcap_dump_open(pcap.get(), path.c_str()),
                                                                       pcap_dump_close};
  if (out == nullptr) throw std::runtime_error(path + ": " + pcap_geterr(pcap.get()));
  std::vector<uint32_t> order(flows.frames);
  std::iota(order.begin(), order.end(), 0);
  Rng rng{1, 0};
  for (uint32_t i = flows.frames; i > 1; --i) std::swap(order[i - 1], order[rng.below(i)]);
  for (const uint32_t i : order) {
    const std::vector<uint8_t> frame = roce_frame(flows, i % flows.flows);
    pcap_pkthdr header{};
    header.caplen = header.len = static_cast<uint32_t>(frame.size());
    pcap_dump(reinterpret_cast<u_char*>(out.get()), &header, frame.data());
  }
}

}  // namespace softspine::tools
