// SPDX-License-Identifier: Apache-2.0
// A testbed: everything a file describes, expanded and validated. The other rooms work from this alone:
// names are resolved to indices, defaults are filled in, nothing can be missing or contradict itself.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "control/document/error.hpp"
#include "control/model/clos.hpp"
#include "control/model/collective_run.hpp"
#include "control/model/engineering.hpp"
#include "control/model/expectation.hpp"
#include "control/model/fabric.hpp"
#include "control/model/fault_kinds.hpp"
#include "control/model/job.hpp"
#include "control/model/profile.hpp"
#include "control/model/trace_run.hpp"
#include "control/model/training_run.hpp"
#include "control/model/workload.hpp"
#include "dataplane/units/clock_offset.hpp"
#include "dataplane/units/rate.hpp"
#include "dataplane/units/time.hpp"

namespace softspine::control {

enum class ClockKind : uint8_t { kVirtual, kWall };

inline constexpr uint32_t kMaxWorkers = 128;  // threads that DPDK, as Debian builds it, gives a packet cache
inline constexpr uint32_t kMaxDilation = 1'000'000;

// The files that are written while a testbed runs.
struct TelemetryConfig {
  std::string counters_file;  // empty: none
  dataplane::Duration sample_interval = dataplane::Duration::us(10);
  std::vector<std::string> counters;  // patterns; none: all
  std::string events_file;            // empty: none
  int line = 0;                       // where the testbed names `counters`
  int column = 0;
};

struct RunConfig {
  ClockKind clock = ClockKind::kVirtual;  // wall if the file has no clock and has outside hosts
  // Emulated time; max(): until it is stopped, or the outside hosts' commands have ended.
  dataplane::Duration duration = dataplane::Duration::ms(10);
  uint64_t seed = 1;
  uint32_t workers = 1;
  uint32_t dilation = 1;                         // wall clock: emulated time = wall time / dilation
  uint32_t clock_ppm = dataplane::kMaxClockPpm;  // bound of the nodes' clock offsets (clock_offset.hpp)
  uint32_t start_jitter_millionths = 1'000'000;  // of a packet's time on the wire, at built-in hosts
  uint64_t memory_bytes = 0;                     // of packets at most; 0: what the machine has
  TelemetryConfig telemetry = {};

  bool is_limited() const { return duration != dataplane::Duration::max(); }
};

// A switch that has the maps, buffers and queues of another profile from some instant on.
struct ProfileChange {
  uint32_t node = 0;
  uint32_t profile = 0;  // of Testbed::profiles
};

// One change at one instant: of links (a node's fault changes all of its links), or of a switch's profile.
struct Fault {
  dataplane::Instant at;
  dataplane::Instant until = dataplane::Instant::never();  // one_way, dead
  std::vector<uint32_t> links;                             // of the fabric, ascending
  std::vector<LinkEnd> ports = {};                         // one_way, dead: those whose frames die
  FaultKind kind = FaultKind::kDown;
  bool carrier_goes = false;                            // one_way, dead: the receiving end has no signal
  std::optional<dataplane::Duration> links_after = {};  // drained: when the links go down after the routes
  std::optional<ProfileChange> profile = {};
};

// How long a state of a link must last until routing takes notice of it.
struct Detection {
  std::optional<dataplane::Duration> loss_of_signal;  // none: not detected by loss of signal
  std::optional<dataplane::Duration> hellos;          // BFD: its interval times its multiplier
};

// A built-in host that fails, at all of its ports, from an instant until another one. Clear: the host no longer fails.
struct HostFault {
  dataplane::Instant at;
  dataplane::Instant until = dataplane::Instant::never();
  uint32_t node = 0;
  FaultKind kind = FaultKind::kStorm;
  uint8_t priorities = 0x18;  // bit n: priority n
  dataplane::Rate drain;      // slow receiver; zero: not at all
};

// In which direction a link loses frames, as the named end sees it.
enum class LossyWay : uint8_t { kBoth, kOut, kIn };

// Cables that lose frames, ports that do not react to PFC, and switch ports whose queues send nothing, from an instant
// until another one. A fault replaces an earlier one of its kind at the same port; clear ends whatever fault the port
// has.
struct PortFault {
  dataplane::Instant at;
  dataplane::Instant until = dataplane::Instant::never();
  FaultKind kind = FaultKind::kLossy;
  std::vector<LinkEnd> ports;  // the ports whose frames are lost, or that are deaf or disabled
  uint64_t lost_millionths = 0;
  uint64_t damaged_millionths = 0;
  uint8_t priorities = 0xff;  // deaf: bit n: priority n
};

struct Testbed {
  std::string name;
  std::string file;                   // where it was read from; relative paths in it start at its folder
  std::vector<std::string> inputs;    // the files beside it that it was made of, each once, in the order of reading
  std::vector<std::string> settings;  // PATH=VALUE: what the command line put into it
  RunConfig run;
  std::vector<Profile> profiles;  // at least one
  Fabric fabric;
  Place fabric_place;                // of its parameters, or the file
  std::vector<StagedFabric> staged;  // three-stage Clos networks and crossbars among its fabrics
  std::vector<Job> jobs;
  std::vector<Workload> workloads;  // those of traces, collectives and trainings behind all others
  std::vector<TraceRun> traces;
  std::vector<CollectiveRun> collectives;
  std::vector<TrainingRun> trainings;
  std::vector<Override> overrides;               // in the file's order
  std::optional<EngineeringConfig> engineering;  // none: no controller computes any
  std::vector<Fault> faults;                     // by instant, then as written
  std::vector<HostFault> host_faults;            // likewise
  std::vector<PortFault> port_faults;            // likewise
  dataplane::Duration convergence;               // how long routes take to follow a link event
  // Without it switches notice at once that a link goes down or up, and never that frames die on a link that is up.
  std::optional<Detection> detection;
  std::optional<dataplane::Duration> convergence_per_hop;  // in place of `convergence`: from one switch to the next
  std::vector<Expectation> expectations;
  Errors warnings;                   // parts of the file that have no effect, in its order
  std::vector<IgnoredPart> ignored;  // of files of other systems
};

}  // namespace softspine::control
