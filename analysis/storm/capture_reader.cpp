// SPDX-License-Identifier: Apache-2.0
#include "analysis/storm/capture_reader.hpp"

#include <algorithm>

#include "dataplane/units/wide.hpp"

namespace softspine::analysis::storm {

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
  if (!has_read_ahead_) read_ahead();
  for (;;) {
    Moment moment;
    if (!early_.empty()) {
      frame = early_.front().frame;
      moment = early_.front().moment;
      given_ = std::move(early_.front().bytes);
      frame.bytes = given_;
      early_.pop_front();
    } else {
      const auto got = next_timed(frame, moment);
      if (!got || !*got) return got;
    }
    if (!origin_) choose_origin(moment);
    if (is_near(moment, *origin_)) {
      frame.at = Instant::at_ps((moment.seconds - origin_->seconds) * kPsPerSecond + moment.ps - origin_->ps);
      return true;
    }
    ++mistimed_;
  }
}

void CaptureReader::read_ahead() {
  has_read_ahead_ = true;
  Early it;
  while (early_.size() < kReadAhead) {
    const auto got = next_timed(it.frame, it.moment);
    if (!got || !*got) break;  // an error sticks, and comes again behind these frames
    it.bytes.assign(it.frame.bytes.begin(), it.frame.bytes.end());
    early_.push_back(it);
  }
  size_t most = 0;
  for (const Early& candidate : early_) {
    const auto agreeing = static_cast<size_t>(
        std::ranges::count_if(early_, [&](const Early& other) { return is_near(other.moment, candidate.moment); }));
    if (agreeing > most) choose_origin(candidate.moment);
    most = std::max(most, agreeing);
  }
}

void CaptureReader::choose_origin(const Moment& first) {
  const bool is_emulated = first.seconds >= 0 && first.seconds < kLongestSeconds;
  origin_ = is_emulated ? Moment{} : first;
}

bool CaptureReader::is_near(const Moment& a, const Moment& b) {
  int64_t seconds = 0;
  return !__builtin_sub_overflow(a.seconds, b.seconds, &seconds) && seconds <= kLongestSeconds &&
         seconds >= -kLongestSeconds;
}

std::expected<bool, CaptureError> CaptureReader::next_timed(CapturedFrame& frame, Moment& moment) {
  if (!broken_ && format_ == Format::kNotYet) broken_ = recognise();
  while (!broken_) {
    input_.skip(consumed_);
    consumed_ = 0;
    auto got = format_ == Format::kPcap ? next_in_pcap(frame) : next_in_pcapng(frame);
    if (!got) {
      broken_ = got.error();
    } else if (!*got || moment_) {
      moment = moment_.value_or(Moment{});
      return *got;
    } else {
      ++mistimed_;
    }
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
  note_time(seconds * clocks_[0].ticks_per_second + fraction, clocks_[0]);
  frame.interface = 0;
  frame.way = Way::kUnknown;
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
    const bool is_read = type == kInterfaceBlock || type == kEnhancedPacketBlock || type == kObsoletePacketBlock ||
                         type == kStatisticsBlock;
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
  if (type != kInterfaceBlock && type != kStatisticsBlock) return take_packet(type, body, frame);
  if (auto wrong = type == kInterfaceBlock ? add_interface(body) : take_statistics(body))
    return std::unexpected(*wrong);
  return false;
}

// Each one counts from the capture's begin, so the last one of an interface has the others in it.
std::optional<CaptureError> CaptureReader::take_statistics(std::span<const uint8_t> body) {
  const auto block = statistics_block(body, order_);
  if (!block) return error(block.error().message, kBlockHeadBytes + block.error().at);
  if (block->interface >= interfaces_.size() - section_interfaces_) {
    return error("statistics of interface " + std::to_string(block->interface) + ", which was not described",
                 kBlockHeadBytes);
  }
  CapturedInterface& it = interfaces_[section_interfaces_ + block->interface];
  it.dropped = std::max(it.dropped, block->dropped);
  if (block->received) it.received = std::max(it.received.value_or(0), *block->received);
  return std::nullopt;
}

std::optional<CaptureError> CaptureReader::add_interface(std::span<const uint8_t> body) {
  auto block = interface_block(body, order_);
  if (!block) return error(block.error().message, kBlockHeadBytes + block.error().at);
  if (interfaces_.size() >= kMaxInterfaces) return error("more than 262,144 interfaces");
  interfaces_.push_back({.name = std::move(block->name),
                         .description = std::move(block->description),
                         .filter = std::move(block->filter),
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
  note_time(packet->ticks, clocks_[frame.interface]);
  frame.way = way_of(packet->flags);
  frame.bytes = packet->bytes;
  frame.original_bytes = packet->original_bytes;
  frame.missed_before = packet->missed_before;
  return true;
}

void CaptureReader::note_time(uint64_t ticks, const Clock& clock) {
  const uint64_t per_second = clock.ticks_per_second;
  Moment moment;
  const bool is_beyond = __builtin_add_overflow(ticks / per_second, clock.offset_seconds, &moment.seconds);
  moment.ps = static_cast<int64_t>(dataplane::Uint128{ticks % per_second} * kPsPerSecond / per_second);
  moment_ = is_beyond ? std::nullopt : std::optional{moment};
}

}  // namespace softspine::analysis::storm
