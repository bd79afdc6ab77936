// SPDX-License-Identifier: Apache-2.0
// An rdma_cm identifier of a program: what it is bound to, and how far its connection is.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "dataplane/units/time.hpp"
#include "testbeds/hosts/host_config.hpp"
#include "testbeds/verbs_device/connection_message.hpp"

namespace softspine::testbeds {

// By <rdma/rdma_user_cm.h>; their numbers are rdma_cm_event_type's.
enum class ConnectionEventKind : uint32_t {
  kAddressResolved = 0,
  kRouteResolved = 2,
  kRequest = 4,
  kResponse = 5,
  kUnreachable = 7,
  kRejected = 8,
  kEstablished = 9,
  kDisconnected = 10,
  kTimewaitExit = 15,
};
inline constexpr uint16_t kTcpSpace = 0x0106;
inline constexpr uint16_t kUdpSpace = 0x0111;

// What both sides tell each other of their queue pairs.
struct ConnectionParameters {
  uint32_t qp = 0;
  uint32_t qkey = 0;
  uint8_t has_srq = 0;
  uint8_t responder_resources = 0;
  uint8_t initiator_depth = 0;
  uint8_t retries = 0;
  uint8_t rnr_retries = 0;
  uint8_t data_bytes = 0;
  std::array<uint8_t, 256> data{};
};

struct ConnectionEvent {
  ConnectionEventKind kind;
  uint64_t uid = 0;
  uint32_t connection = 0;  // whose event it is
  uint32_t named = 0;       // of a request: the new one; else the same
  int32_t status = 0;
  ConnectionParameters parameters{};
};

struct Connection {
  enum class State : uint8_t {
    kIdle,
    kListening,
    kRequestSent,
    kRequestAnswered,  // the peer asks for time
    kRequestArrived,
    kReplySent,
    kReplyArrived,
    kEstablished,
    kDisconnectSent,
    kDisconnectArrived,
    kTimewait,
  };
  uint32_t number = 0;
  uint32_t client = 0;
  uint32_t channel = 0;  // handle
  uint64_t uid = 0;      // 0: the program does not know of it yet, or no longer
  uint16_t space = kTcpSpace;
  uint8_t type = 0;  // ibv_qp_type
  State state = State::kIdle;
  bool is_bound = false;
  bool is_active = false;
  bool has_route = false;
  bool reuses_address = false;
  IpAddress source;
  IpAddress destination;
  uint16_t source_port = 0;
  uint16_t destination_port = 0;
  uint32_t backlog = 0;
  uint32_t waiting = 0;   // requests that its program has not answered
  uint32_t listener = 0;  // whose waiting it counts for; 0: none
  uint32_t events_reported = 0;
  // The peer's and ours.
  uint32_t remote_id = 0;
  uint64_t transaction = 0;
  uint32_t own_psn = 0;
  uint32_t remote_psn = 0;
  uint32_t flow_label = 0;
  uint8_t traffic_class = 0;
  uint8_t ack_timeout = 0;
  uint8_t mtu = 0;
  ConnectionParameters own;
  ConnectionParameters remote;
  // The message that is sent until it is answered.
  std::optional<ConnectionMessage> pending;
  uint32_t sends_left = 0;
  dataplane::Instant timer_at = dataplane::Instant::never();

  bool is_datagram() const { return space == kUdpSpace; }
  uint64_t service(uint16_t port) const { return uint64_t{space} << 16 | port; }
};

}  // namespace softspine::testbeds
