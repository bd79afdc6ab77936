// SPDX-License-Identifier: Apache-2.0
#include "tools/bench/pause_flood.hpp"

#include <pcap/pcap.h>

#include <algorithm>
#include <memory>
#include <stdexcept>

#include "dataplane/packet/pfc.hpp"
#include "dataplane/units/rng.hpp"

namespace softspine::tools {

using namespace dataplane;

namespace {

constexpr uint32_t kFrames = 4096;

}  // namespace

std::vector<uint8_t> flood_frame(uint32_t index) {
  Rng rng{1, index};
  std::vector<uint8_t> frame(mac_control::kFrameBytes);
  write_pfc(frame.data(), {2, 0, 0, 0, 0, 9}, PfcFrame::of(static_cast<uint8_t>(rng.next()), pfc::kMaxQuanta));
  switch (index % 5) {
    case 0: frame.resize(ethernet::kBytes + rng.below(pfc::kFieldBytes - ethernet::kBytes)); break;  // cut short
    case 1: frame[pfc::kVector] = static_cast<uint8_t>(rng.next() | 1); break;                       // reserved bits
    case 2:
      store16(frame.data() + mac_control::kOpcode, static_cast<uint16_t>(rng.next() | 0x8000));
      break;  // unknown opcode
    case 3: std::fill(frame.begin() + pfc::kVector, frame.end(), uint8_t{0xff}); break;
    default:
      std::generate(frame.begin() + mac_control::kOpcode, frame.end(),
                    [&] { return static_cast<uint8_t>(rng.next()); });
  }
  return frame;
}

void write_flood_pcap(const std::string& path) {
  const std::unique_ptr<pcap_t, void (*)(pcap_t*)> pcap{pcap_open_dead(DLT_EN10MB, 65535), pcap_close};
  const std::unique_ptr<pcap_dumper_t, void (*)(pcap_dumper_t*)> out{pcap_dump_open(pcap.get(), path.c_str()),
                                                                     pcap_dump_close};
  if (out == nullptr) throw std::runtime_error(path + ": " + pcap_geterr(pcap.get()));
  for (uint32_t i = 0; i < kFrames; ++i) {
    const std::vector<uint8_t> frame = flood_frame(i);
    pcap_pkthdr header{};
    header.caplen = header.len = static_cast<uint32_t>(frame.size());
    pcap_dump(reinterpret_cast<u_char*>(out.get()), &header, frame.data());
  }
}

}  // namespace softspine::tools
