// SPDX-License-Identifier: Apache-2.0
#include "tools/storm/capture_reader.hpp"

#include <algorithm>

#include "dataplane/units/wide.hpp"

namespace softspine::tools::storm {

using dataplane::Instant;

namespace {

constexpr uint32_t kPcapMicroseconds = 0xA1B2C3D4;
constexpr uint32_t kPcapNanoseconds = 0xA1B23C4D;
constexpr uint32_t kByteOrderMagic = 0x1A2B3C4D;
constexpr size_t kPcapHeadBytes = 24;
constexpr size_t kPcapRecordBytes = 16;
constexpr size_t kBlockHeadBytes = 8;
constexpr size_t kSectionHeadBytes = 28;  // with the length at its end
constexpr uint32_t kLeastBlockBytes = 12;
constexpr int64_t kPsPerSecond = 1'000'000'000'000;
constexpr int64_t kLongestSeconds = 50LL * 24 * 3600;  // either way: the difference of two still fits

Way way_of(uint32_t flags) {
  switch (flags & 3) {
    case 1: return Way::kIn;
    case 2: return Way::kOut;
    default: return Way::kUnknown;
  }
}

std::string bytes_text(uint64_t n) {
  return std::to_string(n) + (n == 1 ? " byte" : " bytes");
}

}  // namespace

CaptureError CaptureReader::error(std::string message, size_t beyond) const {
  return {.offset = input_.offset() + beyond, .message = std::move(message)};
}

CaptureError CaptureReader::cut_short(const char* inside) const {
  return {.offset = input_.offset(), .message = std::string{"the file ends inside "} + inside, .cut_short = true};
}

std::expected<bool, CaptureError> CaptureReader::next(CapturedFrame& frame) {
  if (broken_) return std::unexpected(*broken_);
  if (format_ == Format::kNotYet) broken_ = recognise();
  if (!broken_) {
    input_.skip(consumed_);
    consumed_ = 0;
    auto got = format_ == Format::kPcap ? next_in_pcap(frame) : next_in_pcapng(frame);
    if (got) return *got;
    broken_ = got.error();
  }
  return std::unexpected(*broken_);
}

std::optional<CaptureError> CaptureReader::recognise() {
  const auto head = input_.peek(4);
  if (head.empty()) return error("empty: a pcap or pcapng capture is needed");
  const uint32_t magic = head.size() == 4 ? ByteOrder{}.load<uint32_t>(head, 0) : 0;
  if (magic == kSectionBlock) {
    format_ = Format::kPcapng;
    return std::nullopt;
  }
  for (const uint32_t known : {kPcapMicroseconds, kPcapNanoseconds}) {
    if (magic == known || magic == __builtin_bswap32(known)) {
      order_ = ByteOrder{magic != known};
      return open_pcap(known);
    }
  }
  if (head.size() >= 2 && head[0] == 0x1f && head[1] == 0x8b) return error("compressed by gzip: unpack it first");
  return error("not a capture: neither pcap nor pcapng");
}

std::optional<CaptureError> CaptureReader::open_pcap(uint32_t magic) {
  const auto head = input_.peek(kPcapHeadBytes);
  if (head.size() < kPcapHeadBytes) return cut_short("the header");
  interfaces_.push_back({.link_type = static_cast<uint16_t>(order_.load<uint32_t>(head, 20))});  // above it: FCS length
  clocks_.push_back({.ticks_per_second = magic == kPcapNanoseconds ? 1'000'000'000ULL : 1'000'000});
  format_ = Format::kPcap;
  consumed_ = kPcapHeadBytes;
  return std::nullopt;
}

std::expected<bool, CaptureError> CaptureReader::next_in_pcap(CapturedFrame& frame) {
  auto record = input_.peek(kPcapRecordBytes);
  if (record.empty()) return false;
  if (record.size() < kPcapRecordBytes) return std::unexpected(cut_short("a frame's header"));
  const auto seconds = order_.load<uint32_t>(record, 0);
  const auto fraction = order_.load<uint32_t>(record, 4);
  const auto captured = order_.load<uint32_t>(record, 8);
  frame.original_bytes = order_.load<uint32_t>(record, 12);
  if (captured > kMaxBlockBytes) {
    return std::unexpected(error("a frame of " + bytes_text(captured) + ": at most 16 MiB", 8));
  }
  record = input_.peek(kPcapRecordBytes + captured);
  if (record.size() < kPcapRecordBytes + captured) return std::unexpected(cut_short("a frame"));
  const auto at = instant_of(seconds * clocks_[0].ticks_per_second + fraction, clocks_[0]);
  if (!at) return std::unexpected(at.error());
  frame.interface = 0;
  frame.way = Way::kUnknown;
  frame.at = *at;
  frame.missed_before = 0;
  frame.bytes = record.subspan(kPcapRecordBytes);
  consumed_ = record.size();
  return true;
}

std::expected<bool, CaptureError> CaptureReader::next_in_pcapng(CapturedFrame& frame) {
  for (;;) {
    const auto head = input_.peek(kBlockHeadBytes);
    if (head.empty()) return false;
    if (head.size() < kBlockHeadBytes) return std::unexpected(cut_short("a block's header"));
    if (ByteOrder{}.load<uint32_t>(head, 0) == kSectionBlock) {
      if (auto wrong = open_section()) return std::unexpected(*wrong);
    }
    const auto type = order_.load<uint32_t>(input_.peek(kBlockHeadBytes), 0);
    const auto length = order_.load<uint32_t>(input_.peek(kBlockHeadBytes), 4);
    if (length < kLeastBlockBytes || length % 4 != 0) {
      return std::unexpected(error("a block of " + bytes_text(length) + ": at least 12, in fours", 4));
    }
    const bool is_read = type == kInterfaceBlock || type == kEnhancedPacketBlock || type == kObsoletePacketBlock;
    if (!is_read) {
      if (type == kSimplePacketBlock) ++untimed_;
      if (!input_.skip(length)) return std::unexpected(cut_short("a block"));
      continue;
    }
    if (length > kMaxBlockBytes) {
      return std::unexpected(error("a block of " + bytes_text(length) + ": at most 16 MiB", 4));
    }
    const auto block = input_.peek(length);
    if (block.size() < length) return std::unexpected(cut_short("a block"));
    if (const auto again = order_.load<uint32_t>(block, length - 4); again != length) {
      return std::unexpected(error(
          "a block says " + bytes_text(length) + " at its begin and " + bytes_text(again) + " at its end", length - 4));
    }
    const auto is_frame = take_block(type, block.subspan(kBlockHeadBytes, length - kLeastBlockBytes), frame);
    if (!is_frame) return std::unexpected(is_frame.error());
    consumed_ = length;
    if (*is_frame) return true;
    input_.skip(consumed_);
    consumed_ = 0;
  }
}

// The section block itself is passed over by its length, as blocks of no interest are.
std::optional<CaptureError> CaptureReader::open_section() {
  const auto head = input_.peek(kSectionHeadBytes);
  if (head.size() < kSectionHeadBytes) return cut_short("a section's header");
  const auto magic = ByteOrder{}.load<uint32_t>(head, 8);
  if (magic != kByteOrderMagic && magic != __builtin_bswap32(kByteOrderMagic)) {
    return error("a section without its byte-order mark", 8);
  }
  order_ = ByteOrder{magic != kByteOrderMagic};
  if (const auto length = order_.load<uint32_t>(head, 4); length < kSectionHeadBytes) {
    return error("a section's header of " + bytes_text(length) + ": at least 28", 4);
  }
  if (const auto major = order_.load<uint16_t>(head, 12); major != 1) {
    return error("pcapng version " + std::to_string(major) + ": version 1 is known", 12);
  }
  section_interfaces_ = interfaces_.size();
  return std::nullopt;
}

std::expected<bool, CaptureError> CaptureReader::take_block(uint32_t type, std::span<const uint8_t> body,
                                                            CapturedFrame& frame) {
  if (type != kInterfaceBlock) return take_packet(type, body, frame);
  if (auto wrong = add_interface(body)) return std::unexpected(*wrong);
  return false;
}

std::optional<CaptureError> CaptureReader::add_interface(std::span<const uint8_t> body) {
  auto block = interface_block(body, order_);
  if (!block) return error(block.error().message, kBlockHeadBytes + block.error().at);
  if (interfaces_.size() >= kMaxInterfaces) return error("more than 65,536 interfaces");
  interfaces_.push_back({.name = std::move(block->name),
                         .description = std::move(block->description),
                         .speed_bps = block->speed_bps,
                         .mac = block->mac,
                         .link_type = block->link_type});
  clocks_.push_back({.ticks_per_second = block->ticks_per_second, .offset_seconds = block->offset_seconds});
  return std::nullopt;
}

std::expected<bool, CaptureError> CaptureReader::take_packet(uint32_t type, std::span<const uint8_t> body,
                                                             CapturedFrame& frame) {
  const auto packet = packet_block(type, body, order_);
  if (!packet) return std::unexpected(error(packet.error().message, kBlockHeadBytes + packet.error().at));
  if (packet->interface >= interfaces_.size() - section_interfaces_) {
    return std::unexpected(error(
        "a frame of interface " + std::to_string(packet->interface) + ", which was not described", kBlockHeadBytes));
  }
  frame.interface = static_cast<uint32_t>(section_interfaces_ + packet->interface);
  const auto at = instant_of(packet->ticks, clocks_[frame.interface]);
  if (!at) return std::unexpected(at.error());
  frame.at = *at;
  frame.way = way_of(packet->flags);
  frame.bytes = packet->bytes;
  frame.original_bytes = packet->original_bytes;
  frame.missed_before = packet->missed_before;
  return true;
}

std::expected<Instant, CaptureError> CaptureReader::instant_of(uint64_t ticks, const Clock& clock) {
  const uint64_t per_second = clock.ticks_per_second;
  Moment moment;
  if (__builtin_add_overflow(ticks / per_second, clock.offset_seconds, &moment.seconds)) {
    return std::unexpected(error("a time that no clock has", kBlockHeadBytes + 4));
  }
  moment.ps = static_cast<int64_t>(dataplane::Uint128{ticks % per_second} * kPsPerSecond / per_second);
  if (!origin_) {
    const bool emulated = moment.seconds >= 0 && moment.seconds < kLongestSeconds;
    origin_ = emulated ? Moment{} : moment;
  }
  int64_t seconds = 0;
  if (__builtin_sub_overflow(moment.seconds, origin_->seconds, &seconds) || seconds > kLongestSeconds ||
      seconds < -kLongestSeconds) {
    return std::unexpected(error("a time more than 50 days from the first frame's", kBlockHeadBytes + 4));
  }
  return Instant::at_ps(seconds * kPsPerSecond + moment.ps - origin_->ps);
}

}  // namespace softspine::tools::storm
