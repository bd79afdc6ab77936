// SPDX-License-Identifier: Apache-2.0
// pcapng blocks as bytes (draft-ietf-opsawg-pcapng): section header, interface description, enhanced
// packet, interface statistics. Little endian, sections of unstated length, so that a file can be written as it comes
// and cut anywhere between blocks.
//
// Time: emulated time counts from 0, so readers show the year 1970. The resolution is
// 100 ps (if_tsresol 10), rounded down. The resolution is not 12, because tshark 4.0 multiplies the fraction by 10^9 in
// 64 bits, where picoseconds overflow from 18 ms on; 10 is the finest resolution that it reads correctly.
// Frames carry no FCS, and if_fcslen is 0: otherwise readers guess.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dataplane/units/rate.hpp"
#include "dataplane/units/time.hpp"

namespace softspine::control::pcapng {

using Bytes = std::vector<uint8_t>;

// How our captures describe an interface (if_description): "link to tor1:Ethernet0, one of 32 ports". So a reader of
// the file alone can draw the fabric, and can see whether all ports of a switch were captured.
inline constexpr std::string_view kLinkTo = "link to ";
inline constexpr std::string_view kOneOf = ", one of ";
// `node_ports` 0: left out, since not every frame is captured.
std::string link_description(std::string_view peer, size_t node_ports);

struct Section {
  std::string hardware;     // empty: left out
  std::string application;  // empty: left out
  std::string comment;      // empty: left out
};

struct Interface {
  std::string name;
  dataplane::Rate speed;
  uint32_t snaplen = 0;     // 0: no limit
  std::string description;  // empty: left out
  std::string filter;       // in libpcap's syntax; empty: left out
};

enum class Way : uint8_t { kIn = 1, kOut = 2 };  // as epb_flags counts them

struct Frame {
  uint32_t interface = 0;  // in the order of the interface blocks, from 0
  Way way = Way::kIn;
  dataplane::Instant at;
  uint32_t original_bytes = 0;
  std::span<const uint8_t> bytes;
  uint32_t zeros_at = 0;       // where in the frame the zeros belong that `bytes` leaves out
  uint32_t zeros = 0;          // how many: the file has them
  uint64_t missed_before = 0;  // frames of this interface that were not captured since the last one
  std::string_view comment;    // empty: left out
};

// An interface's counts of frames, up to `at`.
struct Statistics {
  uint32_t interface = 0;
  dataplane::Instant at;
  uint64_t received = 0;  // written or dropped
  uint64_t dropped = 0;
};
inline constexpr size_t kStatisticsBytes = 52;

void append(Bytes& out, const Section& section);
void append(Bytes& out, const Interface& interface);
void append(Bytes& out, const Frame& frame);
void append(Bytes& out, const Statistics& statistics);

// The number of bytes that append(out, frame) adds.
size_t encoded_bytes(const Frame& frame);

}  // namespace softspine::control::pcapng
