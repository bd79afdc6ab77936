// SPDX-License-Identifier: Apache-2.0
// In-band telemetry (INT): the field of a RoCEv2 packet in which each switch on its way writes one record.
//
//   | hop 0 | hop 1 | … | hop 4 | count |      5 × 8 bytes and 2: 42, as HPCC has it; big-endian
//   a hop, from its highest bit on:
//     rate    3 bits     of the link: 25, 50, 100, 200, 400 Gb/s (0 … 4, HPCC's); 10, 40, 800 Gb/s (5 … 7, ours)
//     time   24 bits     ns at which the packet began to leave; wraps after 16.8 ms
//     bytes  20 bits     × 128: sent by the port before the packet, as its wire counts them; wraps after 134 MB
//     queue  17 bits     × 80: bytes that wait at the port behind the packet; at most 10.5 MB
//   count: hops that wrote. The sixth overwrites the first, and so on: who reads it uses no field of more than five
//
// In a request the field is the first of the payload: behind the BTH and its extension (RETH, ImmDt). A bit of the BTH
// that is reserved, and left out of the ICRC, says that it is there. An acknowledgement carries what its packet had
// behind the AETH, with two bytes of padding and without the bit: switches do not write there. Lengths count the field,
// and it is covered by the ICRC, as any payload; who writes it mends the ICRC by the bits that it has changed, so
// that damage done before stays damage.
// Source: Li et al., HPCC (SIGCOMM 2019), section 4.1 and figure 7; the widths are those of its simulator, which has
// one bit more for the queue and one less for the rate.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

#include "dataplane/packet/wire.hpp"
#include "dataplane/units/rate.hpp"
#include "dataplane/units/time.hpp"

namespace softspine::dataplane::telemetry {

inline constexpr uint32_t kHops = 5;
inline constexpr uint32_t kHopBytes = 8;
inline constexpr uint32_t kCount = kHops * kHopBytes;
inline constexpr uint32_t kBytes = kCount + 2;
inline constexpr uint32_t kAckPadding = 2;
inline constexpr uint8_t kBthBit = 0x01;  // of bth::kCongestion
inline constexpr uint32_t kByteUnit = 128;
inline constexpr uint32_t kQueueUnit = 80;
inline constexpr int kTimeBits = 24;
inline constexpr int kByteBits = 20;
inline constexpr int kQueueBits = 17;

inline constexpr std::array kRates{Rate::gbps(25),  Rate::gbps(50), Rate::gbps(100), Rate::gbps(200),
                                   Rate::gbps(400), Rate::gbps(10), Rate::gbps(40),  Rate::gbps(800)};

constexpr std::optional<uint8_t> code_of(Rate rate) {
  const auto* const found = std::ranges::find(kRates, rate);
  if (found == kRates.end()) return std::nullopt;
  return static_cast<uint8_t>(found - kRates.begin());
}

// In the field's units.
struct Hop {
  uint8_t rate = 0;  // of kRates
  uint32_t time = 0;
  uint32_t bytes = 0;
  uint32_t queue = 0;

  Rate line() const { return kRates[rate]; }
  uint64_t queue_bytes() const { return uint64_t{queue} * kQueueUnit; }
  // Since an earlier record of the same port, each less than one wrap ago.
  uint32_t ns_since(const Hop& before) const { return (time - before.time) & ((1U << kTimeBits) - 1); }
  uint64_t bytes_since(const Hop& before) const {
    return uint64_t{(bytes - before.bytes) & ((1U << kByteBits) - 1)} * kByteUnit;
  }
  friend bool operator==(const Hop&, const Hop&) = default;
};

constexpr Hop hop_of(uint8_t rate, Instant at, uint64_t wire_bytes, uint64_t queue_bytes) {
  return {.rate = rate,
          .time = static_cast<uint32_t>(at.count_ps() / 1000) & ((1U << kTimeBits) - 1),
          .bytes = static_cast<uint32_t>(wire_bytes / kByteUnit) & ((1U << kByteBits) - 1),
          .queue = static_cast<uint32_t>(std::min<uint64_t>(queue_bytes / kQueueUnit, (1U << kQueueBits) - 1))};
}

constexpr uint64_t packed(const Hop& hop) {
  uint64_t out = hop.rate;
  out = out << kTimeBits | hop.time;
  out = out << kByteBits | hop.bytes;
  return out << kQueueBits | hop.queue;
}
constexpr Hop unpacked(uint64_t word) {
  const auto take = [&word](int bits) {
    const auto out = static_cast<uint32_t>(word & ((1U << bits) - 1));
    word >>= bits;
    return out;
  };
  Hop out;
  out.queue = take(kQueueBits);
  out.bytes = take(kByteBits);
  out.time = take(kTimeBits);
  out.rate = static_cast<uint8_t>(word);
  return out;
}

// One more hop, into a field at `field`.
inline void push(uint8_t* field, const Hop& hop) {
  const uint16_t count = load16(field + kCount);
  store64(field + size_t{count % kHops} * kHopBytes, packed(hop));
  store16(field + kCount, static_cast<uint16_t>(count + 1));
}

// A field that was read.
struct Record {
  uint16_t count = 0;
  std::array<Hop, kHops> hops{};
};
inline Record read(const uint8_t* field) {
  Record out{.count = load16(field + kCount), .hops = {}};
  for (uint32_t i = 0; i < std::min<uint32_t>(out.count, kHops); ++i)
    out.hops[i] = unpacked(load64(field + size_t{i} * kHopBytes));
  return out;
}

// Bytes between a request's BTH and its payload.
constexpr uint32_t extension_of(uint8_t opcode) {
  switch (opcode) {
    case bth::kWriteFirst:
    case bth::kWriteOnly: return reth::kBytes;
    case bth::kSendLastImmediate:
    case bth::kSendOnlyImmediate:
    case bth::kWriteLastImmediate: return immdt::kBytes;
    case bth::kWriteOnlyImmediate: return reth::kBytes + immdt::kBytes;
    default: return 0;
  }
}

}  // namespace softspine::dataplane::telemetry
