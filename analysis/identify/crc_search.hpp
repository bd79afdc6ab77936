// SPDX-License-Identifier: Apache-2.0
// Ordinary CRCs that no model here has: zlib's and its like, over a flow's fields in any order.
//
// Tried are: the polynomials of kKnownCrcs, reflected and not; all orders of all choices of addresses, ports, protocol
// and queue pair, each field's bytes as in the packet or the other way round, the queue pair in three bytes or four;
// beginning with zeros or ones, and with or without the complement at the end; the member by the remainder, or by
// ranges of the hash.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/identify/fit.hpp"
#include "analysis/identify/sample.hpp"

namespace softspine::analysis {

struct KnownCrc {
  const char* name;
  uint32_t width;
  uint32_t polynomial;  // the highest term left out, not reflected
};
inline constexpr std::array kKnownCrcs{KnownCrc{"CRC-32", 32, 0x04c11db7},  KnownCrc{"CRC-32C", 32, 0x1edc6f41},
                                       KnownCrc{"CRC-32K", 32, 0x741b8cd7}, KnownCrc{"CRC-32D", 32, 0xa833982b},
                                       KnownCrc{"CRC-32Q", 32, 0x814141ab}, KnownCrc{"CRC-16-CCITT", 16, 0x1021},
                                       KnownCrc{"CRC-16-IBM", 16, 0x8005}};

struct FoundCrc {
  KnownCrc crc;
  bool reflected = true;
  bool from_ones = false;     // the register begins with ones
  bool complemented = false;  // the result is
  bool by_ranges = false;     // the member is hash × members / 2^width; else hash modulo members
  bool little_endian = false;
  std::vector<FlowPart> order;
  uint32_t qp_bytes = 3;
  Fit fit;
  double tried = 0;  // log2 of how many
};

// The first that explains the flows (15 % may be wrong), those without surprises before others.
std::optional<FoundCrc> find_crc(const Sample& sample);

// "zlib's CRC-32 of SRC_IP, DST_IP, in this order, modulo 6"
std::string to_string(const FoundCrc& found, uint32_t members);

}  // namespace softspine::analysis
