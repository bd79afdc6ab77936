// SPDX-License-Identifier: Apache-2.0
// Which ports of a log are the two ends of a link. The best source comes first, and a port has one neighbour:
//
//   1. the testbed or the list of ports, of every node that has a port in the capture or sent a captured pause frame
//   2. the description that our own captures give an interface
//   3. the frames themselves: a pause frame is never forwarded, and what one port sends its neighbour receives.
//      Where several ports send from one address: a place that a frame left and one that it came in at are ends if
//      they saw the same frames, at most kMaxApart apart, and every other such pair of either is kClearly farther
//      apart. Without ways, two ports that another one pauses in step look like ends, too: there the
//      frames of both ends have to have been seen at both
//
// The testbed also gives the nodes' tiers and their numbers of ports. Where 1 and 2 cannot both be true, the
// log gets the first contradiction, as a sentence's end.
#pragma once

#include <string>
#include <vector>

#include "analysis/storm/port_book.hpp"

namespace softspine::analysis::storm {

class PortLinks {
 public:
  // `captured`: the recorder's ports as ports of the book's log.
  PortLinks(const PauseRecorder& recorded, const KnownFabric& known, const std::vector<uint32_t>& captured,
            PortBook& book)
      : recorded_(recorded), known_(known), captured_(captured), book_(book) {}

  void join();

  static constexpr dataplane::Duration kMaxApart = dataplane::Duration::us(2);
  static constexpr dataplane::Duration kClearly = dataplane::Duration::us(1);

 private:
  void join_known();
  void join_described();
  void join_by_frames();
  void join_by_copies();
  struct Copies {
    uint32_t a = kNone;  // ports of the log
    uint32_t b = kNone;
    dataplane::Duration apart;
  };
  std::vector<Copies> copies() const;
  bool may_be_ends(const Sender& a, const Sender& b) const;
  void note_contradiction(const std::string& what);

  const PauseRecorder& recorded_;
  const KnownFabric& known_;
  const std::vector<uint32_t>& captured_;
  PortBook& book_;
};

}  // namespace softspine::analysis::storm
