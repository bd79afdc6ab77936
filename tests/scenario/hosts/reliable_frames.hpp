// SPDX-License-Identifier: Apache-2.0
// A reliable connection from host 2, which is a puppet, to host 1: what each of them would send.
#pragma once

#include "tests/scenario/hosts/puppet.hpp"

namespace softspine::testbeds {

inline FlowConfig reliable_flow() {
  FlowConfig flow = flow_config();
  flow.transport = TransportKind::kReliable;
  flow.mtu = 1024;
  flow.message_bytes = 8 * 1024;
  flow.first_psn = 100;
  return flow;
}
inline SinkConfig reliable_sink() {
  SinkConfig sink;
  sink.qp = 200;
  sink.first_psn = 100;
  sink.transport = TransportKind::kReliable;
  sink.source = host_config(2).ipv4;
  sink.source_qp = 300;
  sink.cnp_interval = Duration::us(50);
  return sink;
}

// What host 2 would send to the sink of host 1: message after message of 8 packets.
inline Bytes request(uint32_t number, uint8_t ecn = ip::kEct0, uint8_t dscp = 26, uint32_t qp = 200) {
  FlowConfig flow = reliable_flow();
  flow.dscp = dscp;
  flow.destination = host_config(1).ipv4;
  flow.source_qp = 300;
  flow.destination_qp = qp;
  flow.ecn = ecn;
  const auto templates = templates_of(host_config(2), flow);
  const FrameTemplate& frame = templates[number % 8 == 0 ? 0 : number % 8 == 7 ? 2 : 1];
  Bytes bytes(kTemplateBytes);
  frame.write(bytes.data(), (100 + number) & bth::kMask24, static_cast<uint16_t>(number));
  bytes.resize(frame.stored_bytes());
  bytes.insert(bytes.end() - kIcrcBytes, frame.frame_bytes() - frame.stored_bytes(), 0);
  return bytes;
}
// What host 2's responder would send to the flow of host 1.
inline ResponseTemplate responses() {
  SinkConfig sink = reliable_sink();
  sink.source = host_config(1).ipv4;
  sink.source_qp = reliable_flow().source_qp;
  return {host_config(2), sink};
}
inline Bytes response(uint8_t syndrome, uint32_t psn) {
  Bytes bytes(kTemplateBytes);
  bytes.resize(responses().write_ack(bytes.data(), syndrome, psn & bth::kMask24, 0));
  return bytes;
}
inline Bytes cnp() {
  Bytes bytes(kTemplateBytes);
  bytes.resize(responses().write_cnp(bytes.data()));
  return bytes;
}

}  // namespace softspine::testbeds
