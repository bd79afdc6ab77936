// SPDX-License-Identifier: Apache-2.0
// The captures of a running fabric: one that began with it, and those that are started and stopped while it runs.
// Each has a name of its own and a file of its own; several may watch one port.
//
// Everything here happens in engine actions, or while nothing runs. What takes long (the last bytes to the disk) is
// left to the caller: Ended::close().
#pragma once

#include <expected>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "testbeds/run/fabric_capture.hpp"

namespace softspine::testbeds {

class Captures {
 public:
  // Both outlive it.
  Captures(const control::Testbed& testbed, Assembly& assembly)
      : testbed_(testbed), assembly_(assembly), board_(assembly) {}

  // The error: a sentence. A name or a file that is in use is refused.
  std::expected<void, std::string> start(const std::string& name, const CaptureRequest& request,
                                         dataplane::Instant now);
  // No port tells it anything any more. An empty name: the only one. What is returned is to be closed, which may
  // wait for the disk: not in an action.
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
    bool running = false;  // false: its time is over, and it waits to be stopped
    control::CaptureTotals so_far;
  };
  // What is on its way to the files by then counts in the next one.
  std::vector<Row> list(dataplane::Instant now);

  // After the last window: all of them. The totals are of the named one; zeros if there is none.
  std::expected<control::CaptureTotals, std::string> close_all(const std::string& name);

 private:
  void flush_now_and_then();

  const control::Testbed& testbed_;
  Assembly& assembly_;
  TapBoard board_;
  std::map<std::string, std::unique_ptr<FabricCapture>> running_;
  bool is_flushing_ = false;
};

}  // namespace softspine::testbeds
