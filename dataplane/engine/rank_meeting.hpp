// SPDX-License-Identifier: Apache-2.0
// The meeting of the workers of all ranks. Workers are numbered over all of them: rank × workers + worker.
//
//   meet     the workers of this rank meet (worker_meeting.hpp); then worker 0 sends to every other rank one lot: what
//            this rank reports, and the messages for its nodes. So all ranks have all reports after one way through the
//            network, and no second one for the minimum. Each worker then delivers what came for its nodes
//   action   messages that an action has sent travel likewise
//
// On the wall clock each lot says when it was sent, and when the last one of the other rank was here: by that each
// rank's clock follows rank 0's (following_clock.hpp).
//
// Costs: ranks − 1 lots a window and rank. A window is as long as the links that are cut allow (window_nest.hpp).
#pragma once

#include <memory>
#include <vector>

#include "dataplane/engine/following_clock.hpp"
#include "dataplane/engine/worker_meeting.hpp"
#include "dataplane/packet/pool.hpp"
#include "dataplane/ranks/rank_bytes.hpp"
#include "dataplane/ranks/rank_talk.hpp"

namespace softspine::dataplane {

class RankMeeting final : public Meeting {
 public:
  // All outlive it. `owner`: each node's worker, over all ranks. Packets that come are of `pool`. `clock`: the rank's,
  // if it follows rank 0's; of all ranks or of none.
  RankMeeting(RankTalk& talk, uint32_t workers, const std::vector<std::unique_ptr<Node>>& nodes,
              const std::vector<uint32_t>& owner, PacketPool& pool, FollowingClock* clock = nullptr);

  Outbox& outbox(uint32_t from, uint32_t to) override;
  void start_clock(Clock& clock, Instant origin) noexcept override;
  WindowReport meet(uint32_t worker, const WindowReport& mine) noexcept override;
  void wait(uint32_t worker) noexcept override { here_.wait(worker); }
  void deliver_all() noexcept override { here_.deliver_all(); }
  Instant share_action(Instant next) noexcept override;
  void take_back(NodeId to, PortNo port, const std::function<void(Packet)>& end) noexcept override;
  void drain() noexcept override;
  void see_messages(const std::function<void(const Message&)>& see) const override { here_.see_messages(see); }

 private:
  bool is_here(uint32_t worker) const { return worker / workers_ == talk_.rank(); }
  Outbox& leaving(uint32_t worker, uint32_t rank) { return leaving_[size_t{worker} * talk_.ranks() + rank]; }
  // By own clocks.
  struct ClockStamp {
    Instant sent;
    Instant last_came;  // all lots of the exchange before
  };
  void exchange_stamps() noexcept;
  void begin_stamps() noexcept;
  void end_stamps() noexcept;
  void take_stamp(RankReader& in, uint32_t rank) noexcept;
  WindowReport exchange(const WindowReport& here) noexcept;
  void take_messages(RankReader& in, uint32_t rank) noexcept;
  void deliver(std::vector<Message>& messages) noexcept;

  RankTalk& talk_;
  uint32_t workers_;  // of each rank
  const std::vector<std::unique_ptr<Node>>& nodes_;
  const std::vector<uint32_t>& owner_;
  PacketPool& pool_;
  WorkerMeeting here_;
  std::vector<Outbox> leaving_;             // [worker × ranks + rank]
  std::vector<std::vector<Message>> came_;  // by worker
  WindowReport all_;
  FollowingClock* clock_;
  ClockStamp stamp_;       // of this exchange
  Instant sent_before_;    // its lots
  bool has_sent_ = false;  // any
  uint64_t closings_ = 0;  // worker 0's: times the outboxes were closed
};

}  // namespace softspine::dataplane
