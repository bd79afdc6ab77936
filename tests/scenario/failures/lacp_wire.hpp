// SPDX-License-Identifier: Apache-2.0
// What is seen of LACP on the wire: at both ends of each link that runs it, the LACPDUs and the flows' packets that are
// sent, whether each arrives, and when the link has its carrier. Nothing is asked of what runs LACP.
//
// Whether a frame arrives is told by the link's own counters, the next time that its end sends. Carriers are looked at
// every 5 ms. Propagation, nanoseconds, counts for nothing.
#pragma once

#include <memory>
#include <vector>

#include "control/model/testbed.hpp"
#include "dataplane/lacp/lacpdu.hpp"
#include "dataplane/link/tap.hpp"
#include "testbeds/run/running_fabric.hpp"

namespace softspine::tests {

inline constexpr dataplane::Duration kCarrierLooks = dataplane::Duration::ms(5);

struct SentPdu {
  dataplane::Instant at;
  bool arrives = true;
  dataplane::Lacpdu pdu;
};

struct SentData {
  dataplane::Instant at;
  uint32_t flow = 0;
  uint32_t psn = 0;
  bool arrives = true;
  bool has_carrier = true;
};

// One end of a link, as what it sends.
class WireEnd final : public dataplane::Tap {
 public:
  WireEnd(control::LinkEnd end, dataplane::Transmitter& wire) : end_(end), wire_(wire) { wire.set_tap(this); }
  void frame(dataplane::Direction direction, const dataplane::Packet& packet, dataplane::Instant at,
             const char* comment) noexcept override;
  // After the run.
  void finish();

  control::LinkEnd end() const { return end_; }
  bool has_carrier() const { return wire_.up(); }
  const std::vector<SentPdu>& pdus() const { return pdus_; }
  const std::vector<SentData>& data() const { return data_; }

 private:
  void judge_last() noexcept;

  control::LinkEnd end_;
  dataplane::Transmitter& wire_;
  std::vector<SentPdu> pdus_;
  std::vector<SentData> data_;
  bool* last_arrives_ = nullptr;
  uint64_t lost_ = 0;
};

struct WireLink {
  uint32_t link = 0;
  bool runs_lacp = false;
  std::unique_ptr<WireEnd> a;
  std::unique_ptr<WireEnd> b;
  struct Outage {
    dataplane::Instant from;
    dataplane::Instant until = dataplane::Instant::never();  // or to the end
  };
  std::vector<Outage> outages;

  const WireEnd& at(bool second) const { return second ? *b : *a; }
};

// All links that run LACP, and those of hosts.
class LacpWire {
 public:
  // Before the run. Both outlive this.
  LacpWire(const control::Testbed& testbed, testbeds::RunningFabric& fabric);
  ~LacpWire();
  void finish();

  const std::vector<WireLink>& links() const { return links_; }

 private:
  void look(dataplane::Instant now);
  static void note_cut(WireLink& link, dataplane::Instant at);

  const control::Testbed& testbed_;
  testbeds::RunningFabric& fabric_;
  std::vector<WireLink> links_;
};

}  // namespace softspine::tests
