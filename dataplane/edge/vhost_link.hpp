// SPDX-License-Identifier: Apache-2.0
// How a guest's driver learns the state and speed of its link. virtio-net has both in its configuration space (virtio
// 1.1, 5.1.4), which DPDK's vhost library does not serve; so the gate before the socket does, for one conversation:
//
//   the guest sends                 DPDK gets                  the guest gets
//   GET_FEATURES                    the same                   DPDK's features, STATUS and SPEED_DUPLEX
//   SET_FEATURES                    without these two          DPDK's answer
//   GET_PROTOCOL_FEATURES           the same                   DPDK's, CONFIG and SLAVE_REQ
//   SET_PROTOCOL_FEATURES           without these two          DPDK's answer
//   SET_SLAVE_REQ_FD                nothing                    what it asks for: an acknowledgement, or nothing
//   GET_CONFIG                      nothing                    status, speed and duplex; all other fields are 0
//   SET_CONFIG                      nothing                    as SET_SLAVE_REQ_FD; nothing changes
//
// When the link changes, CONFIG_CHANGE_MSG goes over the descriptor of SET_SLAVE_REQ_FD, and the driver asks again.
// A driver without these features (DPDK's, QEMU's, which shows its guest the link itself) is served as before.
#pragma once

#include <cstdint>

#include "dataplane/edge/owned_fd.hpp"
#include "dataplane/edge/vhost_message.hpp"

namespace softspine::dataplane {

class VhostLink {
 public:
  struct State {
    bool up = true;
    uint32_t speed_mbps = 0;
  };

  // Changes DPDK's answer to the guest by the table.
  static void amend(VhostMessage& answer) noexcept;
  // True: the request ends here; if `answer` is then whole, it is for the guest. False: the request is for DPDK.
  bool take(VhostMessage& request, const State& state, VhostMessage& answer) noexcept;

  // The link has changed. The notice is sent when the guest has room for it; one is enough for any number of changes.
  void changed() noexcept { owes_notice_ = static_cast<bool>(notices_); }
  // The descriptor that must be ready for writing before the notice can be sent; -1: no notice is due.
  int waits_on() const noexcept { return owes_notice_ ? notices_.get() : -1; }
  void notify() noexcept;

 private:
  static VhostMessage configuration(const VhostMessage& request, const State& state) noexcept;

  OwnedFd notices_;
  bool owes_notice_ = false;
};

}  // namespace softspine::dataplane
