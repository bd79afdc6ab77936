// SPDX-License-Identifier: Apache-2.0
#include "testbeds/outside/packet_offload.hpp"

#include <utility>

#include "testbeds/outside/veth_peer.hpp"

namespace softspine::testbeds {

PacketOffload::PacketOffload(std::string interface) : interface_(std::move(interface)) {
  switch_off_own();
  switch_off_peer();
}

void PacketOffload::switch_off_own() {
  auto switched = switch_off_features(interface_, merges_received_frames);
  if (switched) {
    own_ = std::move(*switched);
  } else {
    problem_ = "received frames may come merged (" + switched.error().message + "): ethtool -K " + interface_ +
               " gro off lro off";
  }
}

void PacketOffload::switch_off_peer() {
  std::string obstacle;
  const auto peer = veth_peer_of(interface_);
  if (!peer) {
    obstacle = peer.error().message;
  } else if (*peer) {
    const auto done = (*peer)->within([&] {
      auto switched = switch_off_features((*peer)->interface, leaves_work_to_the_receiver);
      if (switched) of_peer_ = std::move(*switched);
      if (!switched) obstacle = switched.error().path + ": " + switched.error().message;
    });
    if (!done) obstacle = done.error().message;
  }
  if (obstacle.empty()) return;
  problem_ += (problem_.empty() ? "" : "; ") +
              std::string("TCP and UDP from the other end of the veth have no checksums (") + obstacle +
              "): run there: ethtool -K INTERFACE tx off";
}

// The peer is looked for anew: to hold its namespace open would keep it, and the veth, alive.
PacketOffload::~PacketOffload() {
  switch_on_features(interface_, own_);
  if (of_peer_.empty()) return;
  const auto peer = veth_peer_of(interface_);
  if (!peer || !*peer) return;
  static_cast<void>((*peer)->within([&] { switch_on_features((*peer)->interface, of_peer_); }));
}

}  // namespace softspine::testbeds
