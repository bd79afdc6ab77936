// SPDX-License-Identifier: Apache-2.0
// The captures of a running fabric: one that began with it, and those that are started and stopped while it runs.
// Each has a name of its own and a file of its own; several may watch one port.
//
// Everything but open() happens in engine actions, or while nothing runs. Slow work is left to the caller, on a
// thread that may wait: opening the file (open()), the last bytes to the disk (Ended::close()).
// A file that cannot be written any further is an error of the run; its capture has failed, and waits to be stopped.
// Over ranks each call is made by all of them, and rank 0 has the files; a capture that one rank cannot open begins on
// none.
// But one that is for its reader (CaptureRequest::for_reader) is stopped when the reader has left, and nothing is said.
#pragma once

#include <expected>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "control/model/testbed.hpp"
#include "control/telemetry/error_channel.hpp"
#include "testbeds/run/fabric_capture.hpp"
#include "testbeds/run/rank_requests.hpp"
#include "testbeds/run/run_part.hpp"

namespace softspine::testbeds {

class Captures : public RunPart {
 public:
  // All must outlive the Captures.
  Captures(const control::Testbed& testbed, const LocalNodes& nodes, RankRequests& requests,
           control::ErrorChannel& errors)
      : testbed_(testbed), nodes_(nodes), requests_(requests), errors_(errors), board_(nodes) {}
  void start() override;

  // Before the run: the capture that begins with it. The file is emptied, so a caller first makes sure that the run
  // will begin. The error is a sentence. A name or a file that is in use is refused.
  using Done = std::expected<void, std::string>;
  Done open_for_run(const CaptureRequest& request);
  // While the fabric runs, from any thread but a worker's, since a file is opened: a capture begins between the next
  // two windows. `done` is called on a worker's thread, or, with what is wrong, at once.
  // `refused`: why the caller does not want it; empty: he does.
  void start_live(const std::string& name, const CaptureRequest& request, std::function<void(Done)> done,
                  const std::string& refused = {});
  // While it runs, from any thread: `act` stops and lists captures between two windows.
  void ask(std::function<void(Captures&, dataplane::Instant now)> act);

  // From an action, as list().
  // Takes the capture off its ports. An empty name means the only capture. The caller closes what is returned; closing
  // may wait for the disk, so not in an action. Over ranks it has what others have seen: they rest before a request.
  struct Ended {
    std::string name;
    std::unique_ptr<FabricCapture> capture;
    std::expected<control::CaptureTotals, std::string> close() { return capture->capture().close(); }
  };
  std::expected<Ended, std::string> stop(const std::string& name);

  struct Row {
    std::string name;
    std::string file;
    std::string filter;
    size_t ports = 0;
    bool running = false;  // false: its time is over, or it has failed, and it waits to be stopped
    std::string failure;   // why nothing more can be written; empty while it can
    control::CaptureTotals so_far;
  };
  // Frames that are on their way to the files are counted by the next call.
  std::vector<Row> list(dataplane::Instant now);

  // After the last window: closes all captures. The totals are those of the one that began with the run; zeros if there
  // is none.
  std::expected<control::CaptureTotals, std::string> close_all();

  // For others who watch ports. From an action, or while nothing runs.
  TapBoard& board() { return board_; }

 private:
  using Opened = std::expected<std::unique_ptr<FabricCapture>, std::string>;
  Opened open(const std::string& name, const CaptureRequest& request);
  Opened open_on_all(const std::string& name, const CaptureRequest& request, const std::string& refused);
  // Starts what open() returned for that name.
  void begin_one(const std::string& name, std::unique_ptr<FabricCapture> capture, dataplane::Instant now);
  void flush_now_and_then();
  void reader_has_left(const std::string& name, const FabricCapture* capture);
  void end_without_reader(const std::string& name, const FabricCapture* capture);
  std::expected<void, std::string> reserve(const std::string& name, const std::string& path);
  void release(const std::string& name);

  const control::Testbed& testbed_;
  const LocalNodes& nodes_;
  RankRequests& requests_;
  control::ErrorChannel& errors_;
  TapBoard board_;
  std::mutex names_lock_;
  std::map<std::string, std::string> names_;  // of open ones: name → file
  std::map<std::string, std::unique_ptr<FabricCapture>> running_;
  bool is_flushing_ = false;
};

}  // namespace softspine::testbeds
