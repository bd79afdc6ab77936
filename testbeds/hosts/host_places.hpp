// SPDX-License-Identifier: Apache-2.0
// The cache lines that a host's next run reads (Node::set_read_by_run): of one that takes an arrival, and of one that
// sends. Of flows and sinks these are the first ones': most hosts of a large fabric have few.
#pragma once

#include <array>
#include <cstddef>

#include "dataplane/units/prefetch.hpp"
#include "testbeds/hosts/host_flows.hpp"
#include "testbeds/hosts/host_port.hpp"
#include "testbeds/hosts/host_sinks.hpp"
#include "testbeds/hosts/qp_table.hpp"

namespace softspine::testbeds {

class HostPlaces {
 public:
  using Places = std::array<const void*, 12>;

  // `own`: the first of the host's two lines; it also stands for what is not there.
  HostPlaces(const void* own, const HostPort& port) : own_(own), port_(port) {}

  Places of_arrival(const HostSinks& sinks, const QpTable& queue_pairs) const {
    return {own_,
            line(own_, 1),
            &sinks,
            line(&sinks, 1),
            queue_pairs.place(),
            &port_,
            &port_.parked,
            line(sinks.place_of_latencies(), 0),
            line(sinks.place_of_answers(), 0),
            line(sinks.place(), 0),
            line(sinks.place(), 1),
            own_};
  }
  Places of_departure(const HostFlows& flows) const {
    const HostFlows::Places first = flows.places();
    return {own_,
            &flows,
            line(&flows, 1),
            &port_,
            &port_.order,
            &port_.flow_control,
            port_.wire,
            line(first.flow, 0),
            line(first.sender, 0),
            line(first.sender, 1),
            line(first.sender, 3),
            line(first.frame, 0)};
  }

 private:
  const void* line(const void* place, size_t n) const {
    return place == nullptr ? own_ : static_cast<const std::byte*>(place) + n * dataplane::kCacheLine;
  }

  const void* own_;
  const HostPort& port_;
};

}  // namespace softspine::testbeds
