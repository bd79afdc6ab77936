// SPDX-License-Identifier: Apache-2.0
#include "dataplane/edge/pcap_reader.hpp"

#include <pcap/pcap.h>

#include <algorithm>
#include <limits>

#include "dataplane/units/wide.hpp"

namespace softspine::dataplane {

namespace {

// A pcapng file may carry 64-bit seconds of any size: brought into range, not wrapped.
int64_t nanoseconds(const timeval& stamp) {
  constexpr int64_t kNsPerSecond = 1'000'000'000;
  constexpr int64_t kSecondsLimit = std::numeric_limits<int64_t>::max() / kNsPerSecond - 1;
  return std::clamp<int64_t>(stamp.tv_sec, -kSecondsLimit, kSecondsLimit) * kNsPerSecond +
         std::clamp<int64_t>(stamp.tv_usec, 0, kNsPerSecond);
}

}  // namespace

void PcapReader::Close::operator()(pcap* file) const noexcept {
  pcap_close(file);
}

std::expected<PcapReader, EdgeError> PcapReader::open(const std::string& path) {
  char message[PCAP_ERRBUF_SIZE] = "";
  pcap* file = pcap_open_offline_with_tstamp_precision(path.c_str(), PCAP_TSTAMP_PRECISION_NANO, message);
  if (file == nullptr) return std::unexpected(EdgeError{path, message});
  PcapReader reader{file};
  if (const int type = pcap_datalink(file); type != DLT_EN10MB) {
    const char* name = pcap_datalink_val_to_name(type);
    return std::unexpected(
        EdgeError{path, "holds " + (name != nullptr ? std::string{name} : "link type " + std::to_string(type)) +
                            " frames; Ethernet (EN10MB) is needed"});
  }
  return reader;
}

bool PcapReader::next(RecordedFrame& frame) noexcept {
  if (broken_) return false;
  pcap_pkthdr* header = nullptr;
  const u_char* bytes = nullptr;
  const int got = pcap_next_ex(file_.get(), &header, &bytes);
  if (got != 1) {
    broken_ = got == PCAP_ERROR;
    return false;
  }
  frame.at_ns = nanoseconds(header->ts);
  frame.bytes = bytes;
  frame.captured = header->caplen;
  frame.length = std::max(header->len, header->caplen);
  return true;
}

std::string PcapReader::error() const {
  return broken_ ? pcap_geterr(file_.get()) : "";
}

}  // namespace softspine::dataplane
