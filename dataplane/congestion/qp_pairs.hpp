// SPDX-License-Identifier: Apache-2.0
// Learns which queue pair of a host is connected to which one of its peer, for a NIC that only sees their packets: a
// RoCEv2 packet names its destination's queue pair alone. DCQCN needs both: a CNP for a marked packet goes to the
// queue pair that sent it, and a CNP that comes back names the host's own queue pair, whose packets name the peer's.
//
//   stream   (direction, peer, queue pair that it goes to), with the PSN of its latest request
//   A response has the PSN of its request (an acknowledgement may be for several requests, and the responses to a read
//   count on from it). So a response of PSN p answers the stream of the other direction and the same peer whose latest
//   request is nearest to p, within kReach: the two streams are partners until a response no longer fits. The first
//   PSN of a connection is random, one of 2^24: another connection of the same peer is within reach with a probability
//   of 1 : 2,000, and nearer to p with still less.
//
// There are kStreams per direction, in sets of kWays. A new stream replaces the one of its set that was idle for
// longest, of those that the caller does not report as in use. A lookup searches one set; learning a partner searches
// all streams, but only while none is known.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "dataplane/packet/wire.hpp"
#include "dataplane/units/time.hpp"

namespace softspine::dataplane {

enum class Way : uint8_t { kToPeer, kFromPeer };

class QpPairs {
 public:
  static constexpr uint16_t kNone = UINT16_MAX;
  static constexpr uint32_t kWays = 8;
  static constexpr uint32_t kStreams = 1024;
  static constexpr uint32_t kReach = 4096;  // PSNs

  QpPairs() : streams_{std::vector<Stream>(kStreams), std::vector<Stream>(kStreams)} {}

  // The stream's index, made if it is new; kNone if all of its set are in use (`is_in_use(index)`). `on_new(index,
  // was_another)` makes the caller reset what it keeps of that index.
  template <typename InUse, typename OnNew>
  uint16_t find(Way way, const Ipv6Address& peer, uint32_t qp, Instant now, InUse&& is_in_use, OnNew&& on_new) {
    std::vector<Stream>& streams = of(way);
    const uint32_t set = set_of(peer, qp);
    uint32_t oldest = kStreams;
    for (uint32_t i = set; i < set + kWays; ++i) {
      Stream& it = streams[i];
      if (it.is_known && it.qp == qp && it.peer == peer) {
        it.used = now;
        return static_cast<uint16_t>(i);
      }
      if (it.is_known && is_in_use(static_cast<uint16_t>(i))) continue;
      if (oldest == kStreams || age_of(it) < age_of(streams[oldest])) oldest = i;
    }
    if (oldest == kStreams) return kNone;
    const bool was_another = streams[oldest].is_known;
    part(way, static_cast<uint16_t>(oldest));
    streams[oldest] = {.peer = peer, .qp = qp, .used = now, .is_known = true};
    on_new(static_cast<uint16_t>(oldest), was_another);
    return static_cast<uint16_t>(oldest);
  }
  // The stream's index if it is known, else kNone: makes no stream.
  uint16_t known(Way way, const Ipv6Address& peer, uint32_t qp) const {
    const uint32_t set = set_of(peer, qp);
    for (uint32_t i = set; i < set + kWays; ++i) {
      const Stream& it = of(way)[i];
      if (it.is_known && it.qp == qp && it.peer == peer) return static_cast<uint16_t>(i);
    }
    return kNone;
  }

  void saw_request(Way way, uint16_t stream, uint32_t psn) {
    of(way)[stream].psn = psn;
    of(way)[stream].has_requests = true;
  }
  void saw_response(Way way, uint16_t stream, uint32_t psn) {
    const uint16_t partner = of(way)[stream].partner;
    const Way back = other(way);
    if (partner != kNone && of(back)[partner].has_requests && distance(of(back)[partner].psn, psn) < kReach) return;
    part(way, stream);
    const uint16_t found = nearest(back, of(way)[stream].peer, psn);
    if (found == kNone) return;
    part(back, found);
    of(way)[stream].partner = found;
    of(back)[found].partner = stream;
  }
  // The index of the stream's partner; kNone while it is not known.
  uint16_t partner(Way way, uint16_t stream) const { return of(way)[stream].partner; }
  uint32_t qp(Way way, uint16_t stream) const { return of(way)[stream].qp; }

 private:
  struct Stream {
    Ipv6Address peer{};  // IPv4: ::ffff:a.b.c.d
    uint32_t qp = 0;
    uint32_t psn = 0;
    Instant used;
    uint16_t partner = kNone;
    bool is_known = false;
    bool has_requests = false;
  };
  static constexpr Way other(Way way) { return way == Way::kToPeer ? Way::kFromPeer : Way::kToPeer; }
  std::vector<Stream>& of(Way way) { return streams_[static_cast<size_t>(way)]; }
  const std::vector<Stream>& of(Way way) const { return streams_[static_cast<size_t>(way)]; }

  static Instant age_of(const Stream& it) { return it.is_known ? it.used : Instant::at_ps(-1); }
  static uint32_t set_of(const Ipv6Address& peer, uint32_t qp) {
    uint64_t h = load64(peer.data()) * 31 + load64(peer.data() + 8);
    h = (h ^ qp) * 0x9e3779b97f4a7c15;
    return static_cast<uint32_t>(h >> 40) % (kStreams / kWays) * kWays;
  }
  static uint32_t distance(uint32_t a, uint32_t b) {
    const uint32_t ahead = (a - b) & bth::kMask24;
    return std::min(ahead, (b - a) & bth::kMask24);
  }
  uint16_t nearest(Way way, const Ipv6Address& peer, uint32_t psn) const {
    uint16_t found = kNone;
    uint32_t least = kReach;
    for (uint32_t i = 0; i < kStreams; ++i) {
      const Stream& it = of(way)[i];
      if (!it.has_requests || it.peer != peer || distance(it.psn, psn) >= least) continue;
      least = distance(it.psn, psn);
      found = static_cast<uint16_t>(i);
    }
    return found;
  }
  void part(Way way, uint16_t stream) {
    const uint16_t partner = of(way)[stream].partner;
    if (partner != kNone) of(other(way))[partner].partner = kNone;
    of(way)[stream].partner = kNone;
  }

  std::array<std::vector<Stream>, 2> streams_;
};

}  // namespace softspine::dataplane
