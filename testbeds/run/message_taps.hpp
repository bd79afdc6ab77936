// SPDX-License-Identifier: Apache-2.0
// What messages of ranks meet at the ports that they leave by: a record for each message's part and port, written when
// the part's last packet leaves (control/steps/step_record.hpp).
//
//   stay        in a switch: last bit left − its time on the wire − last bit arrived
//   paused      the port stood still for the queue's priorities, since the part's first packet arrived there; at the
//               host that sends, since it was posted, or the flow's last part has left if that was later
//   longest     the longest stay of any flow's packet at each port, for control/steps/port_looks.hpp
//
// A packet belongs to the part whose last packet is the next of its flow to leave. So what is sent again may count for
// the part before it.
//
// A node's taps belong to its worker. Memory: a place for each flow at each port that it has left by, and for each port
// and priority kMarks instants of its pauses.
#pragma once

#include <array>
#include <memory>
#include <unordered_map>
#include <vector>

#include "control/steps/port_looks.hpp"
#include "control/steps/step_record.hpp"
#include "dataplane/link/tap.hpp"
#include "testbeds/run/local_nodes.hpp"
#include "testbeds/run/run_flows.hpp"

namespace softspine::testbeds {

// Of a host's queue pair.
struct PostedParts {
  uint64_t packets = 0;  // of all parts
  bool have_left = true;
};

// Of one worker: what it has recorded since control last took it, and what its hosts have posted.
struct StepBuffer {
  std::vector<control::StepRecord> steps;
  std::vector<control::HopRecord> hops;
  std::unordered_map<uint32_t, PostedParts> posted;  // by flow
};

class MessageTap final : public dataplane::Tap {
 public:
  // All outlive it; `watched`: by flow. One of `node` and `host` is null.
  struct Place {
    const control::Fabric& fabric;
    const RunFlows& flows;
    const std::vector<bool>& watched;
    control::LinkEnd port;
    const dataplane::Transmitter& wire;
    const pipelines::Switch* node = nullptr;
    const RoceHost* host = nullptr;
    StepBuffer& buffer;
  };
  explicit MessageTap(const Place& place) : at_(place) {}

  void frame(dataplane::Direction direction, const dataplane::Packet& packet, dataplane::Instant at,
             const char* comment) noexcept override;
  // At a host that has nothing of `flow` to send: a part is posted. Pauses that were over before did not hold it.
  void begin(uint32_t flow, dataplane::Instant now) noexcept;
  // Between windows: what is known of the port by `now`.
  control::PortLook take_look(dataplane::Instant now) noexcept;
  control::LinkEnd port() const { return at_.port; }

 private:
  static constexpr size_t kMarks = 64;
  // For how long the port has been stopped, each time that this was seen to have changed.
  struct PauseMarks {
    struct Mark {
      dataplane::Instant at;
      dataplane::Duration stopped;
    };
    std::array<Mark, kMarks> ring;
    uint64_t count = 0;

    void add(dataplane::Instant at, dataplane::Duration stopped) noexcept;
    dataplane::Duration at(dataplane::Instant when) const noexcept;
  };
  struct FlowHere {
    uint64_t packets = 0;
    dataplane::Duration stay;
    dataplane::Instant first_came = dataplane::Instant::never();
    dataplane::Duration stopped;  // at a host, by the last part's end, or when it was posted if that is later
    control::RequesterCounts sent;
  };

  uint8_t priorities_of(uint8_t queue, uint32_t flow) const noexcept;
  dataplane::Duration stopped(uint8_t priority, dataplane::Instant now) const noexcept;
  dataplane::Duration stopped_since(uint8_t priorities, dataplane::Instant from, dataplane::Instant now) noexcept;
  void end_part(const control::HopRecord& record, FlowHere& here) noexcept;

  Place at_;
  dataplane::Duration longest_stay_;
  std::unordered_map<uint32_t, FlowHere> flows_;
  std::array<std::unique_ptr<PauseMarks>, dataplane::kPriorities> marks_;
};

}  // namespace softspine::testbeds
