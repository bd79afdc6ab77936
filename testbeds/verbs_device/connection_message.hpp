// SPDX-License-Identifier: Apache-2.0
// Messages of the connection manager, as datagrams of queue pair 1 carry them (IBA 1.4, 12.6 and 16.7; RDMA IP CM
// service, annex A11).
//
//   256 bytes = header 24 (class 7, method Send, transaction, attribute) + fields and private data 232
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>

namespace softspine::testbeds {

namespace management {
inline constexpr uint32_t kBytes = 256;
inline constexpr uint32_t kAddressBytes = 36;  // of the private data of a request, before the program's
inline constexpr uint32_t kQp = 1;
inline constexpr uint32_t kQkey = 0x80010000;
}  // namespace management

enum class ConnectionAttribute : uint16_t {
  kRequest = 0x10,
  kMessageReceived = 0x11,  // "give me time"
  kReject = 0x12,
  kReply = 0x13,
  kReadyToUse = 0x14,
  kDisconnectRequest = 0x15,
  kDisconnectReply = 0x16,
  kDatagramRequest = 0x17,  // SIDR: which queue pair has this service?
  kDatagramReply = 0x18,
};

// Reasons of a rejection.
namespace reject {
inline constexpr uint16_t kTimeout = 4;
inline constexpr uint16_t kInvalidServiceId = 8;
inline constexpr uint16_t kConsumerDefined = 28;
}  // namespace reject
inline constexpr uint8_t kDatagramUnsupported = 1;  // statuses of a datagram reply
inline constexpr uint8_t kDatagramRejected = 2;

// The fields of all messages. Those that a message does not have mean nothing.
struct ConnectionMessage {
  ConnectionAttribute attribute = ConnectionAttribute::kRequest;
  uint64_t transaction = 0;
  uint32_t local_id = 0;   // of who sends it; of datagrams: the request's
  uint32_t remote_id = 0;  // of who receives it
  uint64_t service = 0;
  uint64_t guid = 0;
  uint32_t qkey = 0;
  uint32_t qp = 0;
  uint32_t psn = 0;
  uint8_t responder_resources = 0;
  uint8_t initiator_depth = 0;
  uint8_t retries = 0;
  uint8_t rnr_retries = 0;
  uint8_t has_srq = 0;
  // Of a request.
  uint8_t transport = 0;  // 0: RC, 1: UC
  uint8_t mtu = 0;
  uint8_t own_timeout = 0;
  uint8_t peer_timeout = 0;
  uint8_t message_retries = 0;
  uint8_t ack_timeout = 0;
  std::array<uint8_t, 16> own_gid{};
  std::array<uint8_t, 16> peer_gid{};
  uint32_t flow_label = 0;
  uint8_t traffic_class = 0;
  uint8_t hop_limit = 0;
  // Of others.
  uint8_t about = 0;  // 0: a request, 1: a reply, 2: other
  uint8_t service_timeout = 0;
  uint16_t reason = 0;  // of a rejection; of a datagram reply its status
  std::array<uint8_t, 224> data{};

  void write(std::span<uint8_t, management::kBytes> out) const;
  // None: no message of the connection manager.
  static std::optional<ConnectionMessage> read(std::span<const uint8_t, management::kBytes> in);
};

// How much private data a message carries.
uint32_t private_bytes(ConnectionAttribute attribute);

}  // namespace softspine::testbeds
