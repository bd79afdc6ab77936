// SPDX-License-Identifier: Apache-2.0
// Any bytes as LACPDUs, one after the other, of 128 bytes at most: what is read is written and read the same, and no
// sequence of them, with seconds in between, has a port distribute without a partner in sync.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <span>

#include "dataplane/lacp/lacp_port.hpp"

using namespace softspine::dataplane;

namespace {

void expect(bool holds) {
  if (!holds) std::abort();
}

void expect_same_again(const Lacpdu& pdu) {
  std::array<uint8_t, kLacpFrameBytes> frame;
  write_lacpdu(pdu, {}, frame);
  const auto again = read_lacpdu(frame);
  expect(again && again->actor == pdu.actor && again->partner == pdu.partner);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  LacpConfig config;
  config.actor.state = lacp::kActive | lacp::kShortTimeout | lacp::kAggregation;
  LacpPort port{config};
  Instant now;
  port.set_link(true, now);
  for (std::span rest{data, size}; !rest.empty();) {
    const size_t length = std::min<size_t>(rest.size(), 128);
    const auto pdu = read_lacpdu(rest.first(length));
    now = now + Duration::ms(100) * rest.front();
    rest = rest.subspan(length);
    port.advance(now);
    if (pdu) {
      expect_same_again(*pdu);
      port.receive(*pdu, now);
    } else {
      port.receive_faulty();
    }
    if (port.wants_to_send(now)) expect_same_again(port.take_pdu(now));
    expect(!port.is_distributing() ||
           (port.receive_state() == LacpPort::Receive::kCurrent && port.partner().has(lacp::kSynchronization)));
  }
  return 0;
}
