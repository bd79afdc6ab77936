// SPDX-License-Identifier: Apache-2.0
// A testbed's fabric without its traffic, driven with frames of the test's own, and the ways that they took.
//
// Each frame carries a number in its last bytes, by which taps at every switch's transmitters know it again.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <utility>
#include <vector>

#include "dataplane/link/tap.hpp"
#include "dataplane/packet/pool.hpp"
#include "testbeds/run/assembly.hpp"
#include "testbeds/run/link_control.hpp"

namespace softspine::tests {

// The switches a frame left, and by which port.
using Way = std::vector<control::LinkEnd>;

// The same fabric with built-in hosts that keep quiet, no faults of its own, and routes that follow a link all at once.
inline control::Testbed without_traffic(control::Testbed testbed, dataplane::Duration convergence) {
  for (control::FabricNode& node : testbed.fabric.nodes) node.attachment = {};
  testbed.workloads.clear();
  testbed.faults.clear();
  testbed.run = {};
  testbed.convergence = convergence;
  testbed.detection.reset();
  testbed.convergence_per_hop.reset();
  return testbed;
}

class DrivenFabric {
 public:
  static constexpr uint32_t kTagBytes = 8;
  static constexpr uint32_t kMagic = 0x50C0FFEE;

  explicit DrivenFabric(const control::Testbed& testbed)
      : testbed_(testbed), compiler_(testbed), pool_("driven", 16'383, 2'048) {
    auto made = testbeds::assemble(testbed_, compiler_, nullptr);
    if (!made) {
      ADD_FAILURE() << made.error();
      return;
    }
    assembly_ = std::move(*made);
    losses_ = std::make_unique<testbeds::LossWindows>(testbed_, *assembly_->nodes, assembly_->flows);
    links_ = std::make_unique<testbeds::LinkControl>(testbed_, compiler_, *assembly_->nodes, *losses_, incidents_);
    links_->start();
    watch();
  }
  ~DrivenFabric() { assembly_->engine->drain(); }

  // At `at` the frame arrives from a host's port. Its last eight bytes are overwritten. Returns its number.
  uint32_t send(dataplane::Instant at, control::LinkEnd host, std::vector<uint8_t>& frame) {
    const auto number = static_cast<uint32_t>(ways_.size());
    ways_.emplace_back();
    dataplane::store32(frame.data() + frame.size() - kTagBytes, kMagic);
    dataplane::store32(frame.data() + frame.size() - 4, number);
    due_.push_back({at, testbed_.fabric.peer_of(host), frame});
    return number;
  }
  void set_link(dataplane::Instant at, uint32_t link, bool up) {
    assembly_->engine->at(at, [this, link, up](dataplane::Instant now) { links_->set({link}, up, now); });
  }

  void run(dataplane::Instant end) {
    for (size_t i = 0; i < due_.size();) {
      const dataplane::Instant at = due_[i].at;
      size_t last = i;
      while (last < due_.size() && due_[last].at == at) ++last;
      assembly_->engine->at(at, [this, i, last](dataplane::Instant now) { deliver(i, last, now); });
      i = last;
    }
    assembly_->engine->run(end);
  }
  const Way& way(uint32_t number) const { return ways_[number]; }
  const control::Testbed& testbed() const { return testbed_; }

 private:
  struct Due {
    dataplane::Instant at;
    control::LinkEnd port;
    std::vector<uint8_t> frame;
  };
  class WayTap final : public dataplane::Tap {
   public:
    WayTap(std::vector<Way>& ways, control::LinkEnd port) : ways_(ways), port_(port) {}
    void frame(dataplane::Direction, const dataplane::Packet& packet, dataplane::Instant,
               const char*) noexcept override {
      const uint32_t bytes = packet.stored_bytes();
      const uint8_t* tag = packet.data() + bytes - kTagBytes;
      if (bytes < kTagBytes || dataplane::load32(tag) != kMagic || is_icmp(packet.data())) return;
      ways_[dataplane::load32(tag + 4)].push_back(port_);
    }

   private:
    // A switch's answer, which quotes the frame and its number.
    static bool is_icmp(const uint8_t* frame) {
      uint16_t type = dataplane::load16(frame + dataplane::ethernet::kType);
      const uint8_t* l3 = frame + dataplane::ethernet::kBytes;
      if (type == dataplane::ethernet::kTypeVlan) {
        type = dataplane::load16(l3 + 2);
        l3 += dataplane::ethernet::kTagBytes;
      }
      return type == dataplane::ethernet::kTypeIpv4 ? l3[dataplane::ipv4::kProtocol] == dataplane::ip::kIcmp
                                                    : l3[dataplane::ipv6::kNextHeader] == dataplane::ip::kIcmp6;
    }

    std::vector<Way>& ways_;
    control::LinkEnd port_;
  };

  void watch() {
    assembly_->nodes->for_each_port([this](control::LinkEnd end, dataplane::Transmitter& sender) {
      if (assembly_->nodes->switch_at(end.node) == nullptr) return;
      taps_.push_back(std::make_unique<WayTap>(ways_, end));
      sender.set_tap(taps_.back().get());
    });
  }
  void deliver(size_t first, size_t last, dataplane::Instant now) {
    for (size_t i = first; i < last; ++i) {
      const Due& due = due_[i];
      dataplane::Packet packet = pool_.make(static_cast<uint32_t>(due.frame.size()));
      ASSERT_TRUE(packet);
      std::ranges::copy(due.frame, packet.data());
      packet.meta().born = now;
      dataplane::Node& node = assembly_->engine->node(dataplane::NodeId{due.port.node});
      const dataplane::PortNo port{due.port.port};
      node.deliver(port, std::move(packet), std::max(now, node.inbox().last(port)));
    }
  }

  const control::Testbed& testbed_;
  control::Compiler compiler_;
  dataplane::PacketPool pool_;
  std::unique_ptr<testbeds::Assembly> assembly_;
  testbeds::Incidents incidents_;
  std::unique_ptr<testbeds::LossWindows> losses_;
  std::unique_ptr<testbeds::LinkControl> links_;
  std::vector<std::unique_ptr<WayTap>> taps_;
  std::vector<Due> due_;
  std::vector<Way> ways_;
};

}  // namespace softspine::tests
