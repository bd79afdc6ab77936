// SPDX-License-Identifier: Apache-2.0
// An af_packet edge takes frames as the kernel has them, and for speed the kernel leaves frames unfinished. From the
// other end of a veth they come without TCP and UDP checksums and up to 64 KiB long, since no device between the two
// ends would need either; a NIC merges what it receives. So while a PacketOffload lives, the interface merges nothing
// (rx-gro, rx-lro), and the other end of a veth computes checksums and cuts frames itself, as after `ethtool -K PEER tx
// off`. Its destructor restores both; a process that is killed does not.
#pragma once

#include <string>

#include "testbeds/outside/offload_features.hpp"

namespace softspine::testbeds {

class PacketOffload {
 public:
  explicit PacketOffload(std::string interface);
  ~PacketOffload();
  PacketOffload(const PacketOffload&) = delete;
  PacketOffload& operator=(const PacketOffload&) = delete;

  // Offloads that could not be switched off, with the command that does; empty if there are none.
  const std::string& problem() const { return problem_; }

 private:
  void switch_off_own();
  void switch_off_peer();

  std::string interface_;
  FeatureNames own_;
  FeatureNames of_peer_;
  std::string problem_;
};

}  // namespace softspine::testbeds
