// SPDX-License-Identifier: Apache-2.0
// What a reliable connection's sender goes by (testbeds/hosts/reliable_sender.hpp). Workloads and flows hold it whole.
//
// To add a parameter: its member with its default, its line in kReliableKeys, and the code that obeys it.
#pragma once

#include <cstdint>
#include <tuple>

#include "dataplane/congestion/congestion_parameters.hpp"
#include "dataplane/units/parameter_key.hpp"
#include "dataplane/units/time.hpp"

namespace softspine::control {

// Packets and PSNs are one to one.
struct ReliableParameters {
  uint32_t window = 1024;    // packets under way at most: 4 MiB at a path MTU of 4096
  uint32_t ack_every = 16;   // an acknowledgement is asked for at least so often, and at the end of a message
  uint8_t ack_timeout = 14;  // 4.096 µs × 2^n without progress: 67 ms; 0: for ever
  uint8_t retries = 7;       // timeouts in a row without progress, after which the next one is the end
  // The first timeout; each in a row is twice the one before it, up to ack_timeout's, and the end comes when `retries`
  // of that have passed. Zero: all are ack_timeout's.
  dataplane::Duration adaptive_retransmission;
  dataplane::CongestionParameters congestion_control;  // none: as fast as the window lets
};

// The largest window is far below half of the PSNs, which tells old from new.
inline constexpr std::tuple kReliableKeys{
    dataplane::parameter(
        "congestion_control", &ReliableParameters::congestion_control,
        "rc: none, or one by the name of its parameters, or a map: that name as 'kind', and what differs")
        .without_default(),
    dataplane::parameter("window", &ReliableParameters::window, "rc: packets under way of a queue pair", 1, 1U << 20)
        .without_default(),
    dataplane::parameter("ack_every", &ReliableParameters::ack_every,
                         "rc: packets after which an acknowledgement is asked for", 1, 1U << 20)
        .without_default(),
    dataplane::parameter(
        "adaptive_retransmission", &ReliableParameters::adaptive_retransmission,
        "rc: the first timeout (2ms on ConnectX adapters), whatever ack_timeout is; each in a row is twice the one "
        "before it, up to ack_timeout's, and the connection ends when `retries` of that have passed; none if not "
        "given: all timeouts are ack_timeout's",
        dataplane::Duration::us(4), dataplane::Duration::s(10))
        .without_default(),
    dataplane::parameter("ack_timeout", &ReliableParameters::ack_timeout,
                         "rc: 4.096 us x 2^this without progress; 0: for ever", 0, 31)
        .without_default(),
    dataplane::parameter("retries", &ReliableParameters::retries, "rc: timeouts without progress before it gives up", 0,
                         7)
        .without_default()};

}  // namespace softspine::control
