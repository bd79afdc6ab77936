// SPDX-License-Identifier: Apache-2.0
// Captures byte by byte, in either byte order, right or wrong: for tests of the reader, without our encoder.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "analysis/storm/capture_reader.hpp"

namespace softspine::tests {

using CaptureBytes = std::vector<uint8_t>;

class CaptureMaker {
 public:
  explicit CaptureMaker(bool big_endian = false) : big_(big_endian) {}

  CaptureBytes bytes;

  template <typename T>
  void put(T value) {
    for (size_t i = 0; i < sizeof value; ++i) {
      const size_t shift = 8 * (big_ ? sizeof value - 1 - i : i);
      bytes.push_back(static_cast<uint8_t>(static_cast<uint64_t>(value) >> shift));
    }
  }
  void put_bytes(const CaptureBytes& data) {
    bytes.insert(bytes.end(), data.begin(), data.end());
    while (bytes.size() % 4 != 0) bytes.push_back(0);
  }
  void option(uint16_t code, const CaptureBytes& value) {
    put(code);
    put(static_cast<uint16_t>(value.size()));
    put_bytes(value);
  }
  void option(uint16_t code, const std::string& value) { option(code, CaptureBytes{value.begin(), value.end()}); }
  template <typename T>
  void number(uint16_t code, T value) {
    CaptureMaker number{big_};
    number.put(value);
    option(code, number.bytes);
  }
  void block(uint32_t type, const CaptureMaker& body) {
    put(type);
    const auto length = static_cast<uint32_t>(body.bytes.size() + 12);
    put(length);
    put_bytes(body.bytes);
    put(length);
  }
  CaptureMaker part() const { return CaptureMaker{big_}; }

  void section() {
    CaptureMaker body = part();
    body.put(uint32_t{0x1A2B3C4D});
    body.put(uint16_t{1});
    body.put(uint16_t{0});
    body.put(UINT64_MAX);
    block(0x0A0D0D0A, body);
  }
  // With nothing said: no name, no speed, microseconds.
  void interface(const CaptureMaker& options, uint16_t link_type = 1) {
    CaptureMaker body = part();
    body.put(link_type);
    body.put(uint16_t{0});
    body.put(uint32_t{0});
    body.bytes.insert(body.bytes.end(), options.bytes.begin(), options.bytes.end());
    block(1, body);
  }
  void frame(uint32_t interface, uint64_t ticks, const CaptureBytes& data, const CaptureMaker& options) {
    CaptureMaker body = part();
    body.put(interface);
    body.put(static_cast<uint32_t>(ticks >> 32));
    body.put(static_cast<uint32_t>(ticks));
    body.put(static_cast<uint32_t>(data.size()));
    body.put(static_cast<uint32_t>(data.size()));
    body.put_bytes(data);
    body.bytes.insert(body.bytes.end(), options.bytes.begin(), options.bytes.end());
    block(6, body);
  }
  void pcap_header(uint32_t magic, uint32_t link_type = 1) {
    put(magic);
    put(uint16_t{2});
    put(uint16_t{4});
    put(uint64_t{0});
    put(uint32_t{65'535});
    put(link_type);
  }
  void pcap_frame(uint32_t seconds, uint32_t fraction, const CaptureBytes& data) {
    put(seconds);
    put(fraction);
    put(static_cast<uint32_t>(data.size()));
    put(static_cast<uint32_t>(data.size()));
    bytes.insert(bytes.end(), data.begin(), data.end());
  }

 private:
  bool big_;
};

// Hands the bytes out in pieces of at most `piece`.
inline analysis::storm::CaptureInput::Read reading(const CaptureBytes& bytes, size_t piece = SIZE_MAX) {
  return [&bytes, piece, at = size_t{0}](std::span<uint8_t> into) mutable {
    const size_t n = std::min({into.size(), bytes.size() - at, piece});
    if (n > 0) std::memcpy(into.data(), bytes.data() + at, n);
    at += n;
    return n;
  };
}

// 802.1Qbb: 60 bytes. Their source is kSourceBase + `source`.
inline constexpr uint64_t kSourceBase = 0x020000000000;
inline CaptureBytes pfc_frame(uint8_t source, uint8_t enabled, uint16_t quanta) {
  CaptureBytes out = {0x01, 0x80, 0xc2, 0, 0, 1, 2, 0, 0, 0, 0, source, 0x88, 0x08, 1, 1, 0, enabled};
  for (int i = 0; i < 8; ++i) {
    const uint16_t time = (enabled >> i & 1) != 0 ? quanta : uint16_t{0};
    out.push_back(static_cast<uint8_t>(time >> 8));
    out.push_back(static_cast<uint8_t>(time));
  }
  out.resize(60);
  return out;
}

// The first header of tcpdump -i any, which has one place for all interfaces.
inline CaptureBytes sll(uint8_t packet_type, const CaptureBytes& ethernet) {
  CaptureBytes out{0, packet_type, 0, 1, 0, 6};
  out.insert(out.end(), ethernet.begin() + 6, ethernet.begin() + 12);
  out.resize(14);
  out.insert(out.end(), ethernet.begin() + 12, ethernet.end());
  return out;
}

}  // namespace softspine::tests
