// SPDX-License-Identifier: Apache-2.0
// Pauses as HPCC's ns-3 writes them (pfc.txt), for the scripts that read that: a line for each pause or PAUSE frame
// that comes in at a node,
//
//   TIME NODE IS_SWITCH PORT TYPE
//
// in nanoseconds; numbers by ns3_nodes.hpp; TYPE 1 asks to stop, 0 to go on. A frame that asks some priorities for the
// one and others for the other has two lines. A frame that is lost on its link is among them. In the order of time,
// then of node and port: the same for any number of workers.
//
// Ports of the senders are watched by taps; nobody watches unless the user asks. Workers' buffers are emptied whenever
// the workers stand still, as those of event_log.hpp, so memory is bounded. Over ranks rank 0 gets those of all.
#pragma once

#include <atomic>
#include <expected>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "control/model/testbed.hpp"
#include "control/record/line_file.hpp"
#include "control/telemetry/error_channel.hpp"
#include "testbeds/run/captures.hpp"
#include "testbeds/run/local_nodes.hpp"
#include "testbeds/run/run_part.hpp"

namespace softspine::testbeds {

class PfcFile : public RunPart {
 public:
  // All must outlive it.
  PfcFile(const control::Testbed& testbed, const LocalNodes& nodes, Captures& captures, control::ErrorChannel& errors);
  ~PfcFile() override;

  // Called before the first window. Over ranks by all at once. The error is a sentence.
  std::expected<void, std::string> open(const std::string& path);
  // A reader of the file that takes nothing is soon given up.
  void end_soon() noexcept override { ending_.store(true, std::memory_order_relaxed); }
  void finish(dataplane::Instant now) override;

 private:
  struct Pause {
    dataplane::Instant at;
    control::LinkEnd port;  // where it comes in
    bool stops = false;
  };
  using Buffer = std::vector<Pause>;
  class PauseTap;

  std::expected<void, std::string> open_file(const std::string& path);
  void look(dataplane::Instant now);
  void write_before(dataplane::Instant now);

  const control::Testbed& testbed_;
  const LocalNodes& nodes_;
  Captures& captures_;
  control::ErrorChannel& errors_;
  std::string path_;
  std::atomic<bool> ending_{false};
  bool is_open_ = false;
  std::optional<control::LineFile> file_;         // none: it is not open, or rank 0 has it
  std::vector<uint32_t> numbers_;                 // by node
  std::vector<std::unique_ptr<Buffer>> buffers_;  // by worker
  std::vector<std::unique_ptr<PauseTap>> taps_;
  Buffer pauses_;  // not written yet
};

}  // namespace softspine::testbeds
