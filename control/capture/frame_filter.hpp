// SPDX-License-Identifier: Apache-2.0
// Which frames a capture takes: an expression in libpcap's syntax (man pcap-filter), compiled once.
//
//   "udp port 4791 and host 10.0.1.2"    "ether proto 0x8808"    "ether[14:2] = 0x0101"    "ip[1] & 3 = 3"
//
// The expression sees what is stored of a frame, not only what the snap length keeps. A payload of zeros is not stored:
// an expression that looks at one of its bytes does not match.
// takes() allocates nothing, and several workers may call it at once.
#pragma once

#include <cstdint>
#include <expected>
#include <memory>
#include <string>

struct bpf_program;

namespace softspine::control {

class FrameFilter {
 public:
  // The default filter takes every frame.
  FrameFilter() = default;
  // The error is libpcap's sentence. An empty expression takes every frame.
  static std::expected<FrameFilter, std::string> compile(const std::string& expression);

  // `bytes` of a frame of `original_bytes`.
  bool takes(const uint8_t* frame, uint32_t bytes, uint32_t original_bytes) const noexcept;

 private:
  struct Free {
    void operator()(bpf_program* program) const;
  };
  std::unique_ptr<bpf_program, Free> program_;
};

}  // namespace softspine::control
