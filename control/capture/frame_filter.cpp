// SPDX-License-Identifier: Apache-2.0
#include "control/capture/frame_filter.hpp"

#include <pcap/pcap.h>

namespace softspine::control {

namespace {

constexpr int kWholeFrames = 65'535;

}  // namespace

void FrameFilter::Free::operator()(bpf_program* program) const {
  pcap_freecode(program);
  delete program;
}

std::expected<FrameFilter, std::string> FrameFilter::compile(const std::string& expression) {
  FrameFilter out;
  if (expression.empty()) return out;
  const std::unique_ptr<pcap_t, void (*)(pcap_t*)> ethernet{pcap_open_dead(DLT_EN10MB, kWholeFrames), pcap_close};
  if (!ethernet) return std::unexpected("libpcap gives no handle");
  auto program = std::make_unique<bpf_program>();
  if (pcap_compile(ethernet.get(), program.get(), expression.c_str(), 1, PCAP_NETMASK_UNKNOWN) != 0) {
    return std::unexpected(std::string{pcap_geterr(ethernet.get())});
  }
  out.program_.reset(program.release());
  return out;
}

bool FrameFilter::takes(const uint8_t* frame, uint32_t bytes, uint32_t original_bytes) const noexcept {
  return !program_ || bpf_filter(program_->bf_insns, frame, original_bytes, bytes) != 0;
}

}  // namespace softspine::control
