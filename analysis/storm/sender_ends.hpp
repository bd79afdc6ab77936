// SPDX-License-Identifier: Apache-2.0
// Which link each sender's pauses are of: from the port that sent them, to the port at the other end. Known facts come
// first, in this order:
//
//   the place   a frame that left a captured port is that port's. One that came in is of the other end of its link,
//               if that end is known.
//   the MAC     is some port's, by the testbed, a list of ports, or an interface's own address. If such a frame
//               came in at a port without a neighbour, these two are neighbours.
//   neither     a port is made up for the MAC and the place where it was captured, one for each pair of them. That port
//               is the captured port's neighbour if it is the first; a second MAC there stands for itself. Its node is
//               the one whose address it is (node_macs.hpp), or is made up, too.
//
// Where neither the capture nor the nodes' addresses show which way frames went: one source at a place
// pauses the captured port, two are the ends of its link and pause each other. More, or a source that was captured
// elsewhere too: partners are unknown.
//
// Frames that were captured in several places count in one (copy_log.hpp). At a link that is the end that captured more
// of them while both captures were on: where they left, if there were as many. While its capture was not
// on, those of the other end count. Elsewhere it is the place where most of them were captured.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <vector>

#include "analysis/storm/node_macs.hpp"
#include "analysis/storm/port_book.hpp"

namespace softspine::analysis::storm {

class SenderEnds {
 public:
  struct Ends {
    uint32_t from = kNone;  // kNone: copies of frames that count elsewhere
    uint32_t to = kNone;
    std::optional<CapturedTime> elsewhere = {};  // in which they count at the other end of the link
  };

  // `captured`: ports of the book, by the recorder's. All neighbours that are known must have been joined.
  SenderEnds(const PauseRecorder& recorded, const KnownFabric& known, const std::vector<uint32_t>& captured,
             PortBook& book);

  // The ends, by sender.
  std::vector<Ends> find();

 private:
  using Frames = std::vector<double>;  // by sender

  const Sender& sender(uint32_t index) const { return macs_.senders()[index]; }
  uint32_t place_of(const Sender& sender) const { return captured_[sender.port]; }
  bool is_shared(const Sender& sender) const {
    const RecordedPort& port = recorded_.ports()[sender.port];
    return port.is_shared && !known_.port_of_interface.contains(port.name);
  }
  const std::string* known_port(uint64_t mac) const {
    const auto it = port_of_mac_.find(mac);
    return it == port_of_mac_.end() ? nullptr : &it->second;
  }
  uint32_t peer(uint32_t port) const { return book_.log.ports[port].peer; }
  dataplane::Rate speed(uint32_t port) const { return book_.log.ports[port].speed; }

  bool is_outgoing(const Sender& sender) const;
  bool goes_by_mac(const Sender& sender) const;
  void find_copies();
  bool are_of_one_node(uint32_t a, uint32_t b) const;
  void compare_ends();
  Frames frames_beside(const std::map<uint32_t, uint32_t>& partners) const;
  const CapturedTime& time_of(uint32_t index) const { return recorded_.ports()[sender(index).port].time; }
  void join_known_senders();
  Ends ends_of(uint32_t index);
  Ends ends_by_mac(const Sender& sender);
  Ends ends_of_incoming(const Sender& sender);
  Ends ends_of_unknown(const Sender& sender);
  uint32_t own_port(const Sender& sender);
  uint32_t port_of_mac(uint64_t mac, uint32_t place);
  uint32_t made_up(uint64_t mac, uint32_t place);
  uint32_t peer_of(uint32_t port);

  const PauseRecorder& recorded_;
  const KnownFabric& known_;
  const std::vector<uint32_t>& captured_;
  PortBook& book_;
  NodeMacs macs_;
  std::unordered_map<uint64_t, std::string> port_of_mac_;
  std::vector<bool> by_mac_;  // by sender: its MAC decides, not its place
  std::vector<bool> is_copy_;
  std::map<uint32_t, uint32_t> counted_by_;                    // senders of one link: who counts in place of whom
  std::set<uint64_t> is_of_several_places_;                    // MACs
  std::map<std::pair<uint32_t, uint64_t>, uint32_t> sends_;    // by port and MAC: the sender whose frames left there
  std::map<uint32_t, std::vector<uint64_t>> unknown_way_;      // by recorded port: MACs that go who knows where
  std::map<std::pair<uint64_t, uint32_t>, uint32_t> made_up_;  // by MAC and place
  std::map<uint32_t, uint64_t> stands_for_;                    // made-up neighbours: the MAC they took
};

}  // namespace softspine::analysis::storm
