// SPDX-License-Identifier: Apache-2.0
#include "control/capture/pcapng.hpp"

#include <algorithm>
#include <bit>

namespace softspine::control::pcapng {

static_assert(std::endian::native == std::endian::little);

namespace {

constexpr uint32_t kSectionBlock = 0x0A0D0D0A;
constexpr uint32_t kInterfaceBlock = 1;
constexpr uint32_t kStatisticsBlock = 5;
constexpr uint32_t kPacketBlock = 6;
constexpr uint32_t kByteOrderMagic = 0x1A2B3C4D;
constexpr uint64_t kUnstatedLength = UINT64_MAX;
constexpr uint16_t kEthernet = 1;  // LINKTYPE_ETHERNET

constexpr uint16_t kEndOfOptions = 0;
constexpr uint16_t kComment = 1;
constexpr uint16_t kSectionHardware = 2;
constexpr uint16_t kSectionApplication = 4;
constexpr uint16_t kInterfaceName = 2;
constexpr uint16_t kInterfaceDescription = 3;
constexpr uint16_t kInterfaceSpeed = 8;
constexpr uint16_t kInterfaceResolution = 9;
constexpr uint16_t kInterfaceFilter = 11;
constexpr uint16_t kInterfaceFcsBytes = 13;
constexpr uint16_t kStatisticsReceived = 4;
constexpr uint16_t kStatisticsDropped = 5;
constexpr uint16_t kPacketFlags = 2;
constexpr uint16_t kPacketDropCount = 4;

constexpr uint8_t kResolution = 10;  // 10^-10 s
constexpr int64_t kPsPerTick = 100;

constexpr size_t kFrameFixedBytes = 12 + 20 + 8 + 4;  // block, packet fields, flags, end of options
constexpr size_t kDropCountBytes = 12;
constexpr size_t kOptionHeaderBytes = 4;
constexpr size_t kMaxOptionBytes = UINT16_MAX;

constexpr size_t padded(size_t n) {
  return (n + 3) & ~size_t{3};
}

std::string_view cut(std::string_view text) {
  return text.substr(0, kMaxOptionBytes);
}

template <typename T>
void put(Bytes& out, T value) {
  const auto* p = reinterpret_cast<const uint8_t*>(&value);
  out.insert(out.end(), p, p + sizeof value);
}

void put_time(Bytes& out, dataplane::Instant at) {
  const auto ticks = static_cast<uint64_t>(at.count_ps() / kPsPerTick);
  put(out, static_cast<uint32_t>(ticks >> 32));
  put(out, static_cast<uint32_t>(ticks));
}

void put_padded(Bytes& out, const void* data, size_t n) {
  const auto* p = static_cast<const uint8_t*>(data);
  out.insert(out.end(), p, p + n);
  out.resize(out.size() + padded(n) - n);
}

void put_option(Bytes& out, uint16_t code, const void* data, size_t n) {
  put(out, code);
  put(out, static_cast<uint16_t>(n));
  put_padded(out, data, n);
}

void put_text(Bytes& out, uint16_t code, std::string_view text) {
  if (!text.empty()) put_option(out, code, cut(text).data(), cut(text).size());
}

template <typename T>
void put_number(Bytes& out, uint16_t code, T value) {
  put_option(out, code, &value, sizeof value);
}

// Opens a block; close() writes its length at both ends.
class Block {
 public:
  Block(Bytes& out, uint32_t type) : out_(out), start_(out.size()) {
    put(out_, type);
    put(out_, uint32_t{0});
  }
  void close() {
    put(out_, kEndOfOptions);
    put(out_, uint16_t{0});
    const auto length = static_cast<uint32_t>(out_.size() - start_ + sizeof(uint32_t));
    put(out_, length);
    std::copy_n(reinterpret_cast<const uint8_t*>(&length), sizeof length,
                out_.begin() + static_cast<ptrdiff_t>(start_) + 4);
  }

 private:
  Bytes& out_;
  size_t start_;
};

}  // namespace

std::string link_description(std::string_view peer, size_t node_ports) {
  std::string link = std::string{kLinkTo} + std::string{peer};
  if (node_ports == 0) return link;
  return link + std::string{kOneOf} + std::to_string(node_ports) + (node_ports == 1 ? " port" : " ports");
}

void append(Bytes& out, const Section& section) {
  Block block{out, kSectionBlock};
  put(out, kByteOrderMagic);
  put(out, uint16_t{1});  // version 1.0
  put(out, uint16_t{0});
  put(out, kUnstatedLength);
  put_text(out, kComment, section.comment);
  put_text(out, kSectionHardware, section.hardware);
  put_text(out, kSectionApplication, section.application);
  block.close();
}

void append(Bytes& out, const Interface& interface) {
  Block block{out, kInterfaceBlock};
  put(out, kEthernet);
  put(out, uint16_t{0});
  put(out, interface.snaplen);
  put_text(out, kInterfaceName, interface.name);
  put_text(out, kInterfaceDescription, interface.description);
  put_number(out, kInterfaceSpeed, interface.speed.count_bps());
  put_number(out, kInterfaceResolution, kResolution);
  // The first byte is the form of the filter that follows: 0 is libpcap's text.
  if (!interface.filter.empty()) put_text(out, kInterfaceFilter, std::string(1, '\0') + interface.filter);
  put_number(out, kInterfaceFcsBytes, uint8_t{0});
  block.close();
}

void append(Bytes& out, const Statistics& statistics) {
  Block block{out, kStatisticsBlock};
  put(out, statistics.interface);
  put_time(out, statistics.at);
  put_number(out, kStatisticsReceived, statistics.received);
  put_number(out, kStatisticsDropped, statistics.dropped);
  block.close();
}

void append(Bytes& out, const Frame& frame) {
  Block block{out, kPacketBlock};
  put(out, frame.interface);
  put_time(out, frame.at);
  const size_t captured = frame.bytes.size() + frame.zeros;
  put(out, static_cast<uint32_t>(captured));
  put(out, frame.original_bytes);
  const auto split = frame.bytes.begin() + std::min<size_t>(frame.zeros_at, frame.bytes.size());
  out.insert(out.end(), frame.bytes.begin(), split);
  out.resize(out.size() + frame.zeros);
  out.insert(out.end(), split, frame.bytes.end());
  out.resize(out.size() + padded(captured) - captured);
  put_number(out, kPacketFlags, static_cast<uint32_t>(frame.way));
  if (frame.missed_before != 0) put_number(out, kPacketDropCount, frame.missed_before);
  put_text(out, kComment, frame.comment);
  block.close();
}

size_t encoded_bytes(const Frame& frame) {
  const size_t comment = frame.comment.empty() ? 0 : kOptionHeaderBytes + padded(cut(frame.comment).size());
  return kFrameFixedBytes + padded(frame.bytes.size() + frame.zeros) +
         (frame.missed_before != 0 ? kDropCountBytes : 0) + comment;
}

}  // namespace softspine::control::pcapng
