// SPDX-License-Identifier: Apache-2.0
#include "testbeds/verbs_device/connection_message.hpp"

#include <algorithm>

#include "dataplane/packet/wire.hpp"

namespace softspine::testbeds {

using namespace dataplane;
using Attribute = ConnectionAttribute;

namespace {

constexpr uint32_t kMadHeaderBytes = 24;
constexpr uint8_t kClass = 7;
constexpr uint8_t kClassVersion = 2;
constexpr uint8_t kSend = 3;

struct DataPlace {
  uint32_t at;
  uint32_t bytes;
};
DataPlace place_of(Attribute attribute) {
  switch (attribute) {
    case Attribute::kRequest: return {140, 92};
    case Attribute::kMessageReceived: return {10, 222};
    case Attribute::kReject: return {84, 148};
    case Attribute::kReply: return {36, 196};
    case Attribute::kReadyToUse:
    case Attribute::kDisconnectReply: return {8, 224};
    case Attribute::kDisconnectRequest: return {12, 220};
    case Attribute::kDatagramRequest: return {16, 216};
    case Attribute::kDatagramReply: return {96, 136};
  }
  return {0, 0};
}

// `high` in the upper bits of a byte, `low` in its lower ones.
uint8_t parts(uint32_t high, uint32_t bits_of_low, uint32_t low) {
  return static_cast<uint8_t>(high << bits_of_low | (low & ((1U << bits_of_low) - 1)));
}

void write_request(const ConnectionMessage& m, uint8_t* at) {
  store64(at + 8, m.service);
  store64(at + 16, m.guid);
  store32(at + 28, m.qkey);
  store24(at + 32, m.qp);
  at[35] = m.responder_resources;
  at[39] = m.initiator_depth;
  at[43] = static_cast<uint8_t>(m.peer_timeout << 3 | m.transport << 1);
  store24(at + 44, m.psn);
  at[47] = parts(m.own_timeout, 3, m.retries);
  store16(at + 48, 0xffff);
  at[50] = static_cast<uint8_t>(m.mtu << 4 | m.rnr_retries);
  at[51] = static_cast<uint8_t>(m.message_retries << 4 | m.has_srq << 3);
  store16(at + 52, 0xffff);  // RoCE has no LIDs
  store16(at + 54, 0xffff);
  std::ranges::copy(m.own_gid, at + 56);
  std::ranges::copy(m.peer_gid, at + 72);
  store32(at + 88, m.flow_label << 12);
  at[92] = m.traffic_class;
  at[93] = m.hop_limit;
  at[95] = static_cast<uint8_t>(m.ack_timeout << 3);
}

void read_request(const uint8_t* at, ConnectionMessage& m) {
  m.service = load64(at + 8);
  m.guid = load64(at + 16);
  m.qkey = load32(at + 28);
  m.qp = load32(at + 32) >> 8;
  m.responder_resources = at[35];
  m.initiator_depth = at[39];
  m.peer_timeout = at[43] >> 3;
  m.transport = at[43] >> 1 & 3;
  m.psn = load32(at + 44) >> 8;
  m.own_timeout = at[47] >> 3;
  m.retries = at[47] & 7;
  m.mtu = at[50] >> 4;
  m.rnr_retries = at[50] & 7;
  m.message_retries = at[51] >> 4;
  m.has_srq = at[51] >> 3 & 1;
  std::copy_n(at + 56, 16, m.own_gid.begin());
  std::copy_n(at + 72, 16, m.peer_gid.begin());
  m.flow_label = load32(at + 88) >> 12;
  m.traffic_class = at[92];
  m.hop_limit = at[93];
  m.ack_timeout = at[95] >> 3;
}

void write_reply(const ConnectionMessage& m, uint8_t* at) {
  store32(at + 8, m.qkey);
  store24(at + 12, m.qp);
  store24(at + 20, m.psn);
  at[24] = m.responder_resources;
  at[25] = m.initiator_depth;
  at[27] = static_cast<uint8_t>(m.rnr_retries << 5 | m.has_srq << 4);
  store64(at + 28, m.guid);
}

void read_reply(const uint8_t* at, ConnectionMessage& m) {
  m.qkey = load32(at + 8);
  m.qp = load32(at + 12) >> 8;
  m.psn = load32(at + 20) >> 8;
  m.responder_resources = at[24];
  m.initiator_depth = at[25];
  m.rnr_retries = at[27] >> 5;
  m.has_srq = at[27] >> 4 & 1;
  m.guid = load64(at + 28);
}

void write_datagram_reply(const ConnectionMessage& m, uint8_t* at) {
  at[4] = static_cast<uint8_t>(m.reason);
  store24(at + 8, m.qp);
  store64(at + 12, m.service);
  store32(at + 20, m.qkey);
}

void read_datagram_reply(const uint8_t* at, ConnectionMessage& m) {
  m.reason = at[4];
  m.qp = load32(at + 8) >> 8;
  m.service = load64(at + 12);
  m.qkey = load32(at + 20);
}

}  // namespace

uint32_t private_bytes(Attribute attribute) {
  return place_of(attribute).bytes;
}

void ConnectionMessage::write(std::span<uint8_t, management::kBytes> out) const {
  std::ranges::fill(out, uint8_t{0});
  out[0] = 1;
  out[1] = kClass;
  out[2] = kClassVersion;
  out[3] = kSend;
  store64(out.data() + 8, transaction);
  store16(out.data() + 16, static_cast<uint16_t>(attribute));
  uint8_t* const at = out.data() + kMadHeaderBytes;
  store32(at, local_id);
  const bool is_datagram = attribute == Attribute::kDatagramRequest || attribute == Attribute::kDatagramReply;
  if (!is_datagram && attribute != Attribute::kRequest) store32(at + 4, remote_id);
  switch (attribute) {
    case Attribute::kRequest: write_request(*this, at); break;
    case Attribute::kMessageReceived:
      at[8] = static_cast<uint8_t>(about << 6);
      at[9] = static_cast<uint8_t>(service_timeout << 3);
      break;
    case Attribute::kReject:
      at[8] = static_cast<uint8_t>(about << 6);
      store16(at + 10, reason);
      break;
    case Attribute::kReply: write_reply(*this, at); break;
    case Attribute::kDisconnectRequest: store24(at + 8, qp); break;
    case Attribute::kDatagramRequest:
      store16(at + 4, 0xffff);
      store64(at + 8, service);
      break;
    case Attribute::kDatagramReply: write_datagram_reply(*this, at); break;
    case Attribute::kReadyToUse:
    case Attribute::kDisconnectReply: break;
  }
  const DataPlace place = place_of(attribute);
  std::copy_n(data.begin(), place.bytes, at + place.at);
}

std::optional<ConnectionMessage> ConnectionMessage::read(std::span<const uint8_t, management::kBytes> in) {
  const uint16_t number = load16(in.data() + 16);
  const bool is_known = in[0] == 1 && in[1] == kClass && in[2] == kClassVersion && in[3] == kSend &&
                        number >= static_cast<uint16_t>(Attribute::kRequest) &&
                        number <= static_cast<uint16_t>(Attribute::kDatagramReply);
  if (!is_known) return std::nullopt;
  const uint8_t* const at = in.data() + kMadHeaderBytes;
  ConnectionMessage m;
  m.attribute = static_cast<Attribute>(number);
  m.transaction = load64(in.data() + 8);
  m.local_id = load32(at);
  m.remote_id = load32(at + 4);
  switch (m.attribute) {
    case Attribute::kRequest: read_request(at, m); break;
    case Attribute::kMessageReceived:
      m.about = at[8] >> 6;
      m.service_timeout = at[9] >> 3;
      break;
    case Attribute::kReject:
      m.about = at[8] >> 6;
      m.reason = load16(at + 10);
      break;
    case Attribute::kReply: read_reply(at, m); break;
    case Attribute::kDisconnectRequest: m.qp = load32(at + 8) >> 8; break;
    case Attribute::kDatagramRequest: m.service = load64(at + 8); break;
    case Attribute::kDatagramReply: read_datagram_reply(at, m); break;
    case Attribute::kReadyToUse:
    case Attribute::kDisconnectReply: break;
  }
  const DataPlace place = place_of(m.attribute);
  std::copy_n(at + place.at, place.bytes, m.data.begin());
  return m;
}

}  // namespace softspine::testbeds
