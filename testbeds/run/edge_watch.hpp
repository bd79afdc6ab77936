// SPDX-License-Identifier: Apache-2.0
// Looks at intervals for what has gone wrong with the edges of a running fabric (a file that cannot be written, an
// interface that was deleted, a device that was taken out), and reports it on the error channel. When the outside of an
// edge has gone or has lost its carrier, the edge's link goes down, until the carrier is back. On the virtual clock it
// keeps no run alive, and reports errors as of the instants that edges give for them, so that nothing depends on when
// it looks. Over ranks each looks at its own edges, and tells the others what their links are to follow.
#pragma once

#include <string>
#include <vector>

#include "control/model/testbed.hpp"
#include "control/telemetry/error_channel.hpp"
#include "testbeds/run/incidents.hpp"
#include "testbeds/run/link_control.hpp"
#include "testbeds/run/local_nodes.hpp"
#include "testbeds/run/run_part.hpp"

namespace softspine::testbeds {

class EdgeWatch : public RunPart {
 public:
  // All must outlive the EdgeWatch.
  EdgeWatch(const control::Testbed& testbed, const LocalNodes& nodes, LinkControl& links, Incidents& incidents,
            control::ErrorChannel& errors);

  void start() override;
  void end_soon() noexcept override;
  // Files are closed, and the last errors reported.
  void finish(dataplane::Instant now) override;

 private:
  struct Watched {
    control::LinkEnd end;
    dataplane::Nic& nic;
    size_t reported = 0;   // of its faults
    bool is_lost = false;  // its outside has no carrier
  };
  // An edge whose outside has gone, has lost its carrier, or has it again.
  struct Change {
    control::LinkEnd end;
    bool is_lost = false;
    bool has_changed = false;  // is_lost
    std::string gone;          // how it has gone, if it has now
  };
  void look(dataplane::Instant now);
  Change look_at(Watched& edge, dataplane::Instant now);
  void follow(const Change& change, dataplane::Instant now);
  void report(Watched& edge);

  const control::Testbed& testbed_;
  const LocalNodes& nodes_;
  LinkControl& links_;
  Incidents& incidents_;
  control::ErrorChannel& errors_;
  bool any_outside_ = false;    // of the whole fabric
  std::vector<Watched> edges_;  // that are here
};

}  // namespace softspine::testbeds
