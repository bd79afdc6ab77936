// SPDX-License-Identifier: Apache-2.0
// How long the queues of switches' ports were, as HPCC's ns-3 writes it (qlen.txt), for the scripts that read that:
//
//   time: TIME
//   SWITCH PORT COUNT COUNT …      the number of samples that found 0, 1, 2 … kB (of 1,000 bytes) in the port's queues
//
// TIME, in nanoseconds, is the end of the run: there is one such block. Numbers by ns3_nodes.hpp; the counts end with
// the longest queue that was found. The frame on the wire counts, too, which it does not in ns-3.
//
// A sample is taken at the multiples of an interval of emulated time, before what happens at that instant. While no
// event lies between several of them, one look counts for all. So the file is the same for any number of workers. Over
// ranks each counts for its own switches, and rank 0 has the counts of all at the end.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "control/model/testbed.hpp"
#include "testbeds/run/local_nodes.hpp"
#include "testbeds/run/run_part.hpp"

namespace softspine::testbeds {

class QueueLengths : public RunPart {
 public:
  // Both must outlive it.
  QueueLengths(const control::Testbed& testbed, const LocalNodes& nodes) : testbed_(testbed), nodes_(nodes) {}

  // Called before the first window. Over ranks by all at once.
  void begin_every(dataplane::Duration interval);
  void finish(dataplane::Instant now) override;
  // After the run, at rank 0.
  std::string text() const;

 private:
  void sample(dataplane::Instant now);
  void count(uint64_t times);

  const control::Testbed& testbed_;
  const LocalNodes& nodes_;
  dataplane::Duration interval_;
  dataplane::Instant sampled_;  // the last multiple that is counted
  dataplane::Instant end_;
  std::vector<std::vector<std::vector<uint64_t>>> counts_;  // by node, port, kB
};

}  // namespace softspine::testbeds
