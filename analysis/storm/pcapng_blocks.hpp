// SPDX-License-Identifier: Apache-2.0
// The bodies of pcapng blocks (draft-ietf-opsawg-pcapng), read from memory: interface description, interface
// statistics, enhanced and obsolete packet. A body is what stands between a block's two lengths. Every length in it is
// checked against the body; what does not fit is an error with its place in the body. The clock of an interface: 10^-n
// s for n ≤ 19, 2^-n s for n ≤ 63; finer ones are of no use.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <expected>
#include <optional>
#include <span>
#include <string>

namespace softspine::analysis::storm {

inline constexpr uint32_t kSectionBlock = 0x0A0D0D0A;  // the same in both orders
inline constexpr uint32_t kInterfaceBlock = 1;
inline constexpr uint32_t kObsoletePacketBlock = 2;
inline constexpr uint32_t kSimplePacketBlock = 3;
inline constexpr uint32_t kStatisticsBlock = 5;
inline constexpr uint32_t kEnhancedPacketBlock = 6;

// Numbers as the file's writer wrote them.
class ByteOrder {
 public:
  constexpr ByteOrder() = default;
  constexpr explicit ByteOrder(bool swapped) : swapped_(swapped) {}

  // The caller must have checked that the bytes are there.
  template <typename T>
  T load(std::span<const uint8_t> bytes, size_t at) const {
    T value{};
    std::memcpy(&value, bytes.data() + at, sizeof value);
    return swapped_ ? static_cast<T>(swap(value)) : value;
  }

 private:
  static uint16_t swap(uint16_t v) { return __builtin_bswap16(v); }
  static uint32_t swap(uint32_t v) { return __builtin_bswap32(v); }
  static uint64_t swap(uint64_t v) { return __builtin_bswap64(v); }
  bool swapped_ = false;
};

struct BlockError {
  size_t at = 0;  // in the body
  std::string message;
};

struct InterfaceBlock {
  uint16_t link_type = 0;
  std::string name;
  std::string description;
  std::string filter;      // as libpcap writes it; "?" in another form; empty: none
  uint64_t speed_bps = 0;  // 0: not said
  uint64_t mac = 0;        // 0: not said
  uint64_t ticks_per_second = 1'000'000;
  int64_t offset_seconds = 0;
};

struct PacketBlock {
  uint32_t interface = 0;
  uint64_t ticks = 0;
  std::span<const uint8_t> bytes;
  uint32_t original_bytes = 0;
  uint32_t flags = 0;
  uint64_t missed_before = 0;
};

// A capture's statistics of an interface, at its end or in between: totals since it began.
struct StatisticsBlock {
  uint32_t interface = 0;
  uint64_t dropped = 0;                // by the interface and by the operating system
  std::optional<uint64_t> received{};  // by the interface
};

std::expected<InterfaceBlock, BlockError> interface_block(std::span<const uint8_t> body, ByteOrder order);
std::expected<StatisticsBlock, BlockError> statistics_block(std::span<const uint8_t> body, ByteOrder order);
// `type`: enhanced or obsolete.
std::expected<PacketBlock, BlockError> packet_block(uint32_t type, std::span<const uint8_t> body, ByteOrder order);

}  // namespace softspine::analysis::storm
