// SPDX-License-Identifier: Apache-2.0
// Capture files made and read byte by byte from the formats' documents: a reference apart from libpcap and ours.
#pragma once

#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace softspine::dataplane {

struct CapturedFrame {
  int64_t at_ns;
  std::vector<uint8_t> bytes;
  uint32_t length;
  friend bool operator==(const CapturedFrame&, const CapturedFrame&) = default;
};

class ByteWriter {
 public:
  explicit ByteWriter(bool big_endian = false) : big_endian_(big_endian) {}
  ByteWriter& u16(uint32_t v) { return number(v, 2); }
  ByteWriter& u32(uint64_t v) { return number(v, 4); }
  ByteWriter& raw(const std::vector<uint8_t>& v) {
    bytes.insert(bytes.end(), v.begin(), v.end());
    return *this;
  }
  std::vector<uint8_t> bytes;

 private:
  ByteWriter& number(uint64_t v, int width) {
    for (int i = 0; i < width; ++i) bytes.push_back(static_cast<uint8_t>(v >> 8 * (big_endian_ ? width - 1 - i : i)));
    return *this;
  }
  bool big_endian_;
};

struct PcapKind {
  bool big_endian = false;
  bool nanoseconds = true;
  uint32_t link_type = 1;
};

inline std::vector<uint8_t> pcap_bytes(const std::vector<CapturedFrame>& frames, PcapKind kind = {}) {
  ByteWriter out{kind.big_endian};
  out.u32(kind.nanoseconds ? 0xA1B23C4D : 0xA1B2C3D4).u16(2).u16(4).u32(0).u32(0).u32(262144).u32(kind.link_type);
  for (const CapturedFrame& frame : frames) {
    const int64_t fraction = frame.at_ns % 1'000'000'000;
    out.u32(frame.at_ns / 1'000'000'000).u32(kind.nanoseconds ? fraction : fraction / 1000);
    out.u32(frame.bytes.size()).u32(frame.length).raw(frame.bytes);
  }
  return out.bytes;
}

// One section, one Ethernet interface with nanosecond times, one enhanced packet block a frame.
inline std::vector<uint8_t> pcapng_bytes(const std::vector<CapturedFrame>& frames) {
  ByteWriter out;
  out.u32(0x0A0D0D0A).u32(28).u32(0x1A2B3C4D).u16(1).u16(0).u32(0xFFFFFFFF).u32(0xFFFFFFFF).u32(28);
  out.u32(1).u32(32).u16(1).u16(0).u32(0).u16(9).u16(1).u32(9).u16(0).u16(0).u32(32);
  for (const CapturedFrame& frame : frames) {
    const uint64_t padded = (frame.bytes.size() + 3) / 4 * 4;
    out.u32(6)
        .u32(32 + padded)
        .u32(0)
        .u32(static_cast<uint64_t>(frame.at_ns) >> 32)
        .u32(static_cast<uint64_t>(frame.at_ns));
    out.u32(frame.bytes.size()).u32(frame.length).raw(frame.bytes);
    out.bytes.resize(out.bytes.size() + padded - frame.bytes.size());
    out.u32(32 + padded);
  }
  return out.bytes;
}

// A nanosecond pcap file in this machine's byte order, as PcapWriter promises.
inline std::vector<CapturedFrame> parse_pcap(const std::vector<uint8_t>& file) {
  const auto u32 = [&file](size_t at) {
    uint32_t v = 0;
    std::memcpy(&v, &file.at(at), sizeof v);
    return v;
  };
  std::vector<CapturedFrame> frames;
  if (file.size() < 24 || u32(0) != 0xA1B23C4D || u32(20) != 1) return frames;
  for (size_t at = 24; at + 16 <= file.size();) {
    const auto begin = file.begin() + static_cast<std::ptrdiff_t>(at + 16);
    frames.push_back({int64_t{u32(at)} * 1'000'000'000 + u32(at + 4), {begin, begin + u32(at + 8)}, u32(at + 12)});
    at += 16 + u32(at + 8);
  }
  return frames;
}

// Files of one test, gone with it.
class TemporaryFiles {
 public:
  ~TemporaryFiles() {
    for (const std::string& path : paths_) unlink(path.c_str());
  }
  std::string path() {
    std::string path = "/tmp/softspine-edge-XXXXXX";
    close(mkstemp(path.data()));
    paths_.push_back(path);
    return path;
  }
  std::string with(const std::vector<uint8_t>& bytes) {
    std::string file = path();
    std::ofstream{file, std::ios::binary}.write(reinterpret_cast<const char*>(bytes.data()),
                                                static_cast<std::streamsize>(bytes.size()));
    return file;
  }
  static std::vector<uint8_t> content(const std::string& path) {
    std::ifstream file{path, std::ios::binary};
    return {std::istreambuf_iterator<char>{file}, {}};
  }

 private:
  std::vector<std::string> paths_;
};

}  // namespace softspine::dataplane
