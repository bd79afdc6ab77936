// SPDX-License-Identifier: Apache-2.0
#include "analysis/storm/mirrored_frame.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <array>

#include "analysis/storm/pause_frame.hpp"

namespace softspine::analysis::storm {

namespace {

using Bytes = std::span<const uint8_t>;

constexpr uint16_t kErspan = 0x88be;
constexpr uint16_t kErspanThree = 0x22eb;
constexpr std::array<uint16_t, 4> kMirrors{kErspan, kErspanThree, 0x6558, 0x8949};
constexpr uint8_t kGre = 47;
constexpr size_t kMaxOptionHeaders = 4;
constexpr size_t kGreBytes = 4;
constexpr uint16_t kSequence = 0x1000;

struct InnerPacket {
  Bytes address;
  Bytes gre;
};

std::optional<InnerPacket> of_v4(Bytes ip) {
  if (ip.size() < 20 || ip[9] != kGre || (word_at(ip, 6) & 0x1fff) != 0) return std::nullopt;
  const size_t head = size_t{4} * (ip[0] & 0xf);
  if (head < 20 || ip.size() < head) return std::nullopt;
  return InnerPacket{.address = ip.subspan(12, 4), .gre = ip.subspan(head)};
}

// Linux puts the limit of nested tunnels before GRE, as an option of the destination's.
std::optional<InnerPacket> of_v6(Bytes ip) {
  constexpr size_t kHeadBytes = 40;
  if (ip.size() < kHeadBytes) return std::nullopt;
  uint8_t next = ip[6];
  size_t at = kHeadBytes;
  for (size_t i = 0; i < kMaxOptionHeaders && (next == 0 || next == 60) && ip.size() >= at + 2; ++i) {
    next = ip[at];
    at += (size_t{ip[at + 1]} + 1) * 8;
  }
  if (next != kGre || ip.size() < at) return std::nullopt;
  return InnerPacket{.address = ip.subspan(8, 16), .gre = ip.subspan(at)};
}

bool begins_with_pause(Bytes frame) {
  PauseFrame ignored;
  return read_pause_frame(frame, ignored) != MacControl::kNone;
}

}  // namespace

std::optional<MirroredFrame> read_mirrored(Bytes frame) {
  const size_t type_at = type_after_tags(frame);
  if (frame.size() < type_at + 2) return std::nullopt;
  const uint16_t type = word_at(frame, type_at);
  const Bytes ip = frame.subspan(type_at + 2);
  const auto packet = type == 0x0800 ? of_v4(ip) : type == 0x86dd ? of_v6(ip) : std::nullopt;
  if (!packet || packet->gre.size() < kGreBytes) return std::nullopt;
  const uint16_t flags = word_at(packet->gre, 0);
  const uint16_t protocol = word_at(packet->gre, 2);
  if ((flags & 7) != 0 || std::ranges::find(kMirrors, protocol) == kMirrors.end()) return std::nullopt;
  size_t at = kGreBytes;
  for (const unsigned optional : {0x8000U, 0x2000U, 0x1000U}) at += (flags & optional) != 0 ? 4 : 0;
  if (packet->gre.size() < at) return std::nullopt;
  const Bytes behind = packet->gre.subspan(at);
  MirroredFrame out{.bytes = behind, .address = packet->address};
  const uint8_t version = protocol == kErspanThree ? 2 : protocol == kErspan && (flags & kSequence) != 0 ? 1 : 0;
  if (version != 0 && behind.size() >= 12 && behind[0] >> 4 == version) {
    out.session = word_at(behind, 2) & 0x3ff;
    const size_t more = (behind[11] & 1) != 0 ? 8 : 0;
    out.bytes = behind.subspan(std::min(behind.size(), version == 1 ? 8 : 12 + more));
  }
  if (begins_with_pause(out.bytes)) return out;
  for (size_t i = 0; i < MirroredFrame::kMaxHeaderBytes && behind.size() >= i + kTypeAt + 2; ++i) {
    const Bytes from = behind.subspan(i);
    if (mac_at(from, 0) != kPauseAddress || !begins_with_pause(from)) continue;
    out.bytes = from;
    break;
  }
  return out;
}

std::string MirroredFrame::place() const {
  std::array<char, INET6_ADDRSTRLEN> text{};
  inet_ntop(address.size() == 4 ? AF_INET : AF_INET6, address.data(), text.data(), text.size());
  return std::string{text.data()} + (session ? ":session " + std::to_string(*session) : ":mirror");
}

}  // namespace softspine::analysis::storm
