// SPDX-License-Identifier: Apache-2.0
// The carriers of outside hosts: a thread that shows each edge's outside whether its link is up, as links change.
//
//   an action: LinkControl → Engine::set_link → Nic::link_changed ─ bell ─► this thread: Nic::give_carrier
//
// The work has a thread of its own since setting an interface waits for the kernel's lock on all of them, and no worker
// may. On the virtual clock an outside is a file, and knows no carrier. Changes faster than it follows are one change.
// A refusal of an outside's system is reported once for each edge.
#pragma once

#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

#include "control/model/testbed.hpp"
#include "control/telemetry/error_channel.hpp"
#include "testbeds/run/local_nodes.hpp"
#include "testbeds/run/run_part.hpp"

namespace softspine::testbeds {

class Carriers : public RunPart {
 public:
  // All three must outlive it.
  Carriers(const control::Testbed& testbed, const LocalNodes& nodes, control::ErrorChannel& errors);
  ~Carriers() override { end(); }

  void start() override;
  void let_go() override { end(); }

 private:
  void end();
  void serve();
  // An edge, and what this thread has shown it.
  struct Shown {
    control::LinkEnd end;
    dataplane::Nic& nic;
    bool carrier = true;
    bool is_refused = false;  // and reported
  };
  void show(Shown& edge);

  const control::Testbed& testbed_;
  const LocalNodes& nodes_;
  control::ErrorChannel& errors_;
  std::atomic<uint32_t> bell_{0};
  std::atomic<bool> ends_{false};
  std::vector<Shown> edges_;
  std::thread thread_;
};

}  // namespace softspine::testbeds
