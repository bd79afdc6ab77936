// SPDX-License-Identifier: Apache-2.0
// Every packet that the fabric loses, one record each, brought from the workers' buffers to control in one order.
//
//   who records   switches, built-in hosts and the sending ends of all links, from start() on; before that nothing does
//   order         instant, node, then as its node recorded it: the same for any number of workers
//   emptied       whenever the workers stand still; a worker asks for that when it has 65,536 records
// Over ranks, every rank has the records of all.
// The outside edges' own drops (a guest that does not read) are not recorded: they are the outside's.
//
// Everything here happens in engine actions, or while nothing runs.
#pragma once

#include <memory>
#include <vector>

#include "dataplane/packet/loss_buffer.hpp"
#include "testbeds/run/local_nodes.hpp"

namespace softspine::testbeds {

class LossRecording {
 public:
  // The nodes outlive this.
  explicit LossRecording(const LocalNodes& nodes) : nodes_(nodes) {}
  ~LossRecording();

  void start();
  bool has_started() const { return !buffers_.empty(); }

  // The records before this instant that have not been taken yet, in their order.
  std::vector<dataplane::LossRecord> take_before(dataplane::Instant now);

 private:
  void record_into(bool on);

  const LocalNodes& nodes_;
  std::vector<std::unique_ptr<dataplane::LossBuffer>> buffers_;  // by worker
  std::vector<dataplane::LossRecord> waiting_;
};

}  // namespace softspine::testbeds
