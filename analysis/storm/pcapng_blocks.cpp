// SPDX-License-Identifier: Apache-2.0
#include "analysis/storm/pcapng_blocks.hpp"

#include <limits>
#include <optional>

namespace softspine::analysis::storm {

namespace {

using Bytes = std::span<const uint8_t>;

constexpr size_t kInterfaceFixedBytes = 8;
constexpr size_t kStatisticsFixedBytes = 12;
constexpr size_t kPacketFixedBytes = 20;
constexpr size_t kOptionHeaderBytes = 4;

constexpr uint16_t kEndOfOptions = 0;
constexpr uint16_t kName = 2;
constexpr uint16_t kDescription = 3;
constexpr uint16_t kMac = 6;
constexpr uint16_t kSpeed = 8;
constexpr uint16_t kResolution = 9;
constexpr uint16_t kFilter = 11;
constexpr uint16_t kOffset = 14;
constexpr uint16_t kReceived = 4;
constexpr uint16_t kInterfaceDrops = 5;
constexpr uint16_t kSystemDrops = 7;
constexpr uint16_t kFlags = 2;
constexpr uint16_t kDropCount = 4;
constexpr uint16_t kObsoleteDropsUnknown = 0xffff;

constexpr size_t padded(size_t n) {
  return (n + 3) & ~size_t{3};
}

BlockError short_by(size_t at, const std::string& what, size_t has, size_t needs) {
  return {at, what + " has " + std::to_string(has) + " bytes, needs " + std::to_string(needs)};
}

// Calls `take(code, value)` for each; take returns what is wrong with it, if anything is.
template <typename Take>
std::optional<BlockError> read_options(Bytes body, size_t at, ByteOrder order, Take take) {
  while (at < body.size()) {
    if (body.size() - at < kOptionHeaderBytes) return short_by(at, "an option", body.size() - at, kOptionHeaderBytes);
    const auto code = order.load<uint16_t>(body, at);
    const auto length = order.load<uint16_t>(body, at + 2);
    if (code == kEndOfOptions) return std::nullopt;
    const size_t left = body.size() - at - kOptionHeaderBytes;
    if (padded(length) > left) {
      return BlockError{at, "option " + std::to_string(code) + " says " + std::to_string(length) +
                                " bytes, its block has " + std::to_string(left) + " left"};
    }
    if (std::string wrong = take(code, body.subspan(at + kOptionHeaderBytes, length)); !wrong.empty()) {
      return BlockError{at, std::move(wrong)};
    }
    at += kOptionHeaderBytes + padded(length);
  }
  return std::nullopt;
}

std::string wrong_length(const char* option, Bytes value, size_t needs) {
  if (value.size() == needs) return {};
  return std::string{option} + " has " + std::to_string(value.size()) + " bytes, needs " + std::to_string(needs);
}

std::string text_of(Bytes value) {
  const std::string text{value.begin(), value.end()};
  return text.substr(0, text.find('\0'));  // some writers count the end
}

// The first byte is the form in which the filter is written: 0 is libpcap's text, 1 its program.
std::string filter_of(Bytes value) {
  if (value.size() <= 1) return {};
  return value[0] == 0 ? text_of(value.subspan(1)) : "?";
}

// 0: no clock that anyone has.
uint64_t ticks_of(uint8_t resolution) {
  const unsigned exponent = resolution & 0x7f;
  if ((resolution & 0x80) != 0) return exponent <= 63 ? uint64_t{1} << exponent : 0;
  if (exponent > 19) return 0;
  uint64_t ticks = 1;
  for (unsigned i = 0; i < exponent; ++i) ticks *= 10;
  return ticks;
}

std::string take_interface_option(InterfaceBlock& out, uint16_t code, Bytes value, ByteOrder order) {
  std::string wrong;
  switch (code) {
    case kName: out.name = text_of(value); break;
    case kDescription: out.description = text_of(value); break;
    case kMac:
      if (wrong = wrong_length("if_MACaddr", value, 6); !wrong.empty()) break;
      for (const uint8_t byte : value) out.mac = out.mac << 8 | byte;
      break;
    case kSpeed:
      if (wrong = wrong_length("if_speed", value, 8); !wrong.empty()) break;
      out.speed_bps = order.load<uint64_t>(value, 0);
      break;
    case kResolution:
      if (wrong = wrong_length("if_tsresol", value, 1); !wrong.empty()) break;
      out.ticks_per_second = ticks_of(value[0]);
      if (out.ticks_per_second == 0) wrong = "if_tsresol " + std::to_string(value[0]) + " is finer than any clock";
      break;
    case kFilter: out.filter = filter_of(value); break;
    case kOffset:
      if (wrong = wrong_length("if_tsoffset", value, 8); !wrong.empty()) break;
      out.offset_seconds = static_cast<int64_t>(order.load<uint64_t>(value, 0));
      break;
    default: break;
  }
  return wrong;
}

std::string take_statistics_option(StatisticsBlock& out, uint16_t code, Bytes value, ByteOrder order) {
  if (code == kReceived) {
    std::string wrong = wrong_length("isb_ifrecv", value, 8);
    if (wrong.empty()) out.received = order.load<uint64_t>(value, 0);
    return wrong;
  }
  if (code != kInterfaceDrops && code != kSystemDrops) return {};
  std::string wrong = wrong_length(code == kInterfaceDrops ? "isb_ifdrop" : "isb_osdrop", value, 8);
  if (!wrong.empty()) return wrong;
  const auto more = order.load<uint64_t>(value, 0);
  if (__builtin_add_overflow(out.dropped, more, &out.dropped)) out.dropped = std::numeric_limits<uint64_t>::max();
  return {};
}

std::string take_packet_option(PacketBlock& out, uint16_t code, Bytes value, ByteOrder order) {
  std::string wrong;
  if (code == kFlags) {
    if (wrong = wrong_length("epb_flags", value, 4); wrong.empty()) out.flags = order.load<uint32_t>(value, 0);
  } else if (code == kDropCount) {
    if (wrong = wrong_length("epb_dropcount", value, 8); wrong.empty()) {
      out.missed_before = order.load<uint64_t>(value, 0);
    }
  }
  return wrong;
}

}  // namespace

std::expected<InterfaceBlock, BlockError> interface_block(Bytes body, ByteOrder order) {
  if (body.size() < kInterfaceFixedBytes) {
    return std::unexpected(short_by(0, "an interface block", body.size(), kInterfaceFixedBytes));
  }
  InterfaceBlock out;
  out.link_type = order.load<uint16_t>(body, 0);
  const auto wrong = read_options(body, kInterfaceFixedBytes, order, [&](uint16_t code, Bytes value) {
    return take_interface_option(out, code, value, order);
  });
  if (wrong) return std::unexpected(*wrong);
  return out;
}

std::expected<StatisticsBlock, BlockError> statistics_block(Bytes body, ByteOrder order) {
  if (body.size() < kStatisticsFixedBytes) {
    return std::unexpected(short_by(0, "a statistics block", body.size(), kStatisticsFixedBytes));
  }
  StatisticsBlock out{.interface = order.load<uint32_t>(body, 0)};
  const auto wrong = read_options(body, kStatisticsFixedBytes, order, [&](uint16_t code, Bytes value) {
    return take_statistics_option(out, code, value, order);
  });
  if (wrong) return std::unexpected(*wrong);
  return out;
}

std::expected<PacketBlock, BlockError> packet_block(uint32_t type, Bytes body, ByteOrder order) {
  if (body.size() < kPacketFixedBytes) {
    return std::unexpected(short_by(0, "a packet block", body.size(), kPacketFixedBytes));
  }
  PacketBlock out;
  if (type == kObsoletePacketBlock) {
    out.interface = order.load<uint16_t>(body, 0);
    const auto drops = order.load<uint16_t>(body, 2);
    out.missed_before = drops == kObsoleteDropsUnknown ? 0 : drops;
  } else {
    out.interface = order.load<uint32_t>(body, 0);
  }
  out.ticks = uint64_t{order.load<uint32_t>(body, 4)} << 32 | order.load<uint32_t>(body, 8);
  const auto captured = order.load<uint32_t>(body, 12);
  out.original_bytes = order.load<uint32_t>(body, 16);
  const size_t left = body.size() - kPacketFixedBytes;
  if (padded(captured) > left) {
    return std::unexpected(BlockError{
        12, "a frame of " + std::to_string(captured) + " bytes in a block with room for " + std::to_string(left)});
  }
  out.bytes = body.subspan(kPacketFixedBytes, captured);
  const auto wrong = read_options(body, kPacketFixedBytes + padded(captured), order, [&](uint16_t code, Bytes value) {
    return take_packet_option(out, code, value, order);
  });
  if (wrong) return std::unexpected(*wrong);
  return out;
}

}  // namespace softspine::analysis::storm
