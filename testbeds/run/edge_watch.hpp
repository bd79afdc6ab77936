// SPDX-License-Identifier: Apache-2.0
// Looks at intervals for what has gone wrong with the edges of a running fabric (a file that cannot be written, an
// interface that was deleted, a device that was taken out), and reports it on the error channel. When the outside of an
// edge has gone or has lost its carrier, the edge's link goes down, until the carrier is back. On the virtual clock it
// keeps no run alive, and reports errors as of the instants that edges give for them, so that nothing depends on when
// it looks.
#pragma once

#include <vector>

#include "control/telemetry/error_channel.hpp"
#include "testbeds/run/assembly.hpp"
#include "testbeds/run/incidents.hpp"
#include "testbeds/run/link_control.hpp"
#include "testbeds/run/run_part.hpp"

namespace softspine::testbeds {

class EdgeWatch : public RunPart {
 public:
  // All must outlive the EdgeWatch.
  EdgeWatch(const control::Testbed& testbed, Assembly& assembly, LinkControl& links, Incidents& incidents,
            control::ErrorChannel& errors)
      : testbed_(testbed),
        assembly_(assembly),
        links_(links),
        incidents_(incidents),
        errors_(errors),
        reported_(assembly.edges.size(), 0),
        lost_(assembly.edges.size(), false) {}

  void start() override;
  void end_soon() noexcept override;
  // Files are closed, and the last errors reported.
  void finish(dataplane::Instant now) override;

 private:
  void look(dataplane::Instant now);
  void look_at(size_t edge, dataplane::Instant now);
  void follow_carrier(size_t edge, dataplane::Instant now);
  void report(size_t edge);

  const control::Testbed& testbed_;
  Assembly& assembly_;
  LinkControl& links_;
  Incidents& incidents_;
  control::ErrorChannel& errors_;
  std::vector<size_t> reported_;  // faults, by edge
  std::vector<bool> lost_;        // whether the outside has no carrier, by edge
};

}  // namespace softspine::testbeds
