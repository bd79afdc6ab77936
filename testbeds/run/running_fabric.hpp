// SPDX-License-Identifier: Apache-2.0
// A testbed that runs: its nodes, its outside hosts, its captures, and the control over it.
//
//   auto fabric = RunningFabric::make(testbed, options);     everything is built, nothing runs
//   fabric->run();                                           until its end, stop(), or its duration, if it has one
//   fabric->snapshot() …                                     what came of it
//
// When it ends. On the virtual clock: when no event is left, or at `duration`. On the wall clock: when every command of
// an outside host has ended; without commands, at `duration`, or never.
//
// Threads. run() works on the caller's (worker 0) and on one for each further worker. Outside hosts are watched
// by a thread of their own, since stopping them takes time in which the fabric has to go on.
#pragma once

#include <atomic>
#include <expected>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "control/model/testbed.hpp"
#include "control/telemetry/error_channel.hpp"
#include "control/telemetry/snapshot.hpp"
#include "testbeds/run/assembly.hpp"
#include "testbeds/run/captures.hpp"
#include "testbeds/run/counter_series.hpp"
#include "testbeds/run/event_log.hpp"
#include "testbeds/run/fault_control.hpp"
#include "testbeds/run/incidents.hpp"
#include "testbeds/run/link_control.hpp"
#include "testbeds/run/run_part.hpp"

namespace softspine::testbeds {

struct FabricOptions {
  std::filesystem::path run_folder;  // of outside hosts' files; empty if there are none
  std::optional<CaptureRequest> capture;
  bool flat = false;  // one window for all nodes, to compare with
};

class RunningFabric {
 public:
  // The testbed must outlive the RunningFabric. The error is a sentence for a person.
  static std::expected<std::unique_ptr<RunningFabric>, std::string> make(const control::Testbed& testbed,
                                                                         const FabricOptions& options);
  ~RunningFabric();

  // Before run(), when the options named no capture: for a caller that first wants to be sure that the run will begin,
  // since the file is emptied.
  std::expected<void, std::string> open_capture(const CaptureRequest& request);
  // Likewise: counters over time, and the log of events.
  std::expected<void, std::string> open_series(const SeriesRequest& request);
  std::expected<void, std::string> open_events(const std::string& path);

  // Once. The errors: outside hosts that could not be started; too little memory for packets. In the latter case
  // ran_out_of_memory() is true, and the counters are not those of the testbed's fabric.
  std::expected<void, std::string> run();
  bool ran_out_of_memory() const { return assembly_->budget->is_spent(); }
  // From any thread, and from a signal handler.
  void stop() noexcept;
  // From any thread: reports an error after which the run cannot go on.
  void fail(const std::string& who, const std::string& what) {
    errors_.report(who, what);
    stop();
  }
  // True if the run ends with outside hosts' commands, false if with its duration.
  bool waits_for_commands() const { return waits_for_commands_; }
  bool was_stopped() const { return stop_requested_.load(std::memory_order_relaxed); }
  // It was stopped, and would have come to an end by itself.
  bool was_interrupted() const;
  const std::atomic<bool>& stop_requested() const { return stop_requested_; }

  // While it runs, from any thread: `see` is called with a copy of all counters, on a worker's thread between two
  // windows.
  void ask(std::function<void(control::FabricSnapshot)> see);
  // While it runs, from any thread: links of the fabric change between the next two windows.
  void set_links(std::vector<uint32_t> links, bool up);
  // While it runs, from any thread: a switch gets the tables of another profile (LinkControl::use_profile), watermarks
  // of one switch or of all begin again, between two windows.
  void use_profile(uint32_t node, uint32_t profile);
  // While it runs, from any thread but a worker's, since a file is opened: a capture begins between the next two
  // windows. `done` is called on a worker's thread, or, with what is wrong, at once.
  void start_capture(const std::string& name, const CaptureRequest& request,
                     std::function<void(std::expected<void, std::string>)> done);
  // While it runs, from any thread: captures are stopped and listed.
  void with_captures(std::function<void(Captures&, dataplane::Instant)> act);
  // While it runs, from any thread: hosts, ports and cables fail (FaultControl), and links (LinkControl). That links go
  // down and up, and profiles, have calls of their own, too.
  void inject_fault(control::LiveFault fault);
  void clear_watermarks(std::optional<uint32_t> node);
  // While it runs, from any thread: `see` looks at one switch and its routes between two windows.
  using SeeSwitch = std::function<void(const pipelines::Switch&, const control::RouteTable&, dataplane::Instant now)>;
  void ask_switch(uint32_t node, SeeSwitch see);
  // While it runs, from any thread: the frame arrives at the port right behind what is on its way there. `done` is
  // called with the instant, or with what was wrong.
  void inject(control::LinkEnd port, std::vector<uint8_t> frame,
              std::function<void(std::expected<dataplane::Instant, std::string>)> done);
  // While it runs, from any thread: how many injected frames have not come to their end: on links, in queues and
  // buffers.
  void ask_injected(std::function<void(uint64_t under_way, dataplane::Instant now)> see);
  // From ask_switch(): the file's, and the controller's now.
  const std::vector<control::Override>& overrides(uint32_t node) const { return compiler_.overrides_of(node); }
  const std::vector<control::RouteTable>& routes() const { return links_->all_routes(); }
  dataplane::Instant progress() const { return assembly_->engine->progress(); }
  // Any thread may report and read errors, also before and after the run.
  control::ErrorChannel& errors() { return errors_; }

  // While it does not run.
  control::FabricSnapshot snapshot() const { return snapshot_at(assembly_->engine->now()); }
  std::vector<OutsideOutcome> outcomes() const;
  // Differences from the testbed that do not stop the run. At any time.
  std::vector<std::string> notes() const;
  // Sums of counters over time that are not those of the snapshot, a sentence each.
  std::vector<std::string> check_series(const control::FabricSnapshot& end) const { return series_->check(end); }
  // Closes all captures; the totals are those of the capture that began with the run.
  std::expected<control::CaptureTotals, std::string> close_capture();
  // Frees all packets, and returns how many are missing from the pools afterwards: anything but 0 is a leak.
  uint64_t drain();

  const Assembly& assembly() const { return *assembly_; }
  const control::Testbed& testbed() const { return testbed_; }

 private:
  RunningFabric(const control::Testbed& testbed, const FabricOptions& options)
      : testbed_(testbed), options_(options), compiler_(testbed) {}
  std::expected<void, std::string> build();
  std::expected<void, std::string> make_outside();
  std::string memory_error() const;
  control::FabricSnapshot snapshot_at(dataplane::Instant now) const;
  std::expected<dataplane::Instant, std::string> arrive(control::LinkEnd port, const std::vector<uint8_t>& frame,
                                                        dataplane::Instant now);
  // Waits until the outside hosts' commands have ended, the duration is over, or stop(); then ends hosts and engine.
  void watch_outside();
  void report_unasked_ends();

  const control::Testbed& testbed_;
  FabricOptions options_;
  control::Compiler compiler_;
  control::ErrorChannel errors_{[this] { return assembly_ ? progress() : dataplane::Instant{}; }};
  std::unique_ptr<OutsideHosts> outside_;
  std::unique_ptr<dataplane::PacketPool> injected_;  // whole frames; made when the first one is injected
  std::unique_ptr<Assembly> assembly_;
  Incidents incidents_;
  RunParts parts_;
  // Those of the parts that others ask for something.
  LinkControl* links_ = nullptr;
  FaultControl* faults_ = nullptr;
  Captures* captures_ = nullptr;
  CounterSeries* series_ = nullptr;
  EventLog* events_ = nullptr;
  bool waits_for_commands_ = false;
  bool is_watched_ = false;
  std::atomic<bool> stop_requested_{false};
  double wall_seconds_ = 0;
};

}  // namespace softspine::testbeds
