// SPDX-License-Identifier: Apache-2.0
// The meeting of the workers of one process. Each worker writes a report into its own slot (no read-modify-write, no
// lock) and waits until all have done so. A slot has two reports, used in turn, since a fast worker may write its next
// one while a slow worker still reads the last. Outboxes have two sides for the same reason (link/outbox.hpp).
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "dataplane/engine/meeting.hpp"
#include "dataplane/link/node.hpp"

namespace softspine::dataplane {

class WorkerMeeting final : public Meeting {
 public:
  // `nodes`: by NodeId; they outlive the meeting.
  WorkerMeeting(uint32_t workers, const std::vector<std::unique_ptr<Node>>& nodes);

  Outbox& outbox(uint32_t from, uint32_t to) override;
  WindowReport meet(uint32_t worker, const WindowReport& mine) noexcept override {
    return workers_ == 1 ? mine : meet_others(worker, mine);
  }
  void wait(uint32_t worker) noexcept override {
    if (workers_ > 1) await_others(worker, {});
  }
  void deliver_all() noexcept override;
  Instant share_action(Instant next) noexcept override {
    deliver_all();
    return next;
  }
  void take_back(NodeId, PortNo, const std::function<void(Packet)>&) noexcept override {}
  void drain() noexcept override {}
  void see_messages(const std::function<void(const Message&)>& see) const override;

 private:
  WindowReport meet_others(uint32_t worker, WindowReport mine) noexcept;
  WindowReport await_others(uint32_t worker, const WindowReport& mine) noexcept;
  void deliver(Message& message) const noexcept {
    nodes_[message.to.value()]->deliver(message.port, std::move(message.packet), message.at);
  }

  // State that other workers read.
  struct alignas(64) Slot {
    std::atomic<uint64_t> round{0};
    std::array<WindowReport, 2> reports;
  };
  // State that no other worker touches.
  struct alignas(64) Own {
    std::vector<Outbox*> incoming;
    std::vector<Outbox*> outgoing;
    uint64_t round = 0;     // meetings
    uint64_t closings = 0;  // times the outboxes were closed
  };
  const std::vector<std::unique_ptr<Node>>& nodes_;
  uint32_t workers_;
  int spins_before_yield_;
  std::unique_ptr<Slot[]> slots_;
  std::unique_ptr<Own[]> own_;
  std::vector<std::unique_ptr<Outbox>> outboxes_;  // [from × workers + to]
};

}  // namespace softspine::dataplane
