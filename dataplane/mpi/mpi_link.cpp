// SPDX-License-Identifier: Apache-2.0
#include "dataplane/mpi/mpi_link.hpp"

#include <mpi.h>
#include <sched.h>
#include <time.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <thread>

namespace softspine::dataplane {

namespace {

constexpr int kLotTag = 1;
constexpr int kLifeTag = 2;
constexpr std::chrono::milliseconds kTick{500};
constexpr uint32_t kSilence = 12;                  // ticks: 6 s
constexpr size_t kPieceBytes = size_t{256} << 20;  // MPI counts in int
constexpr uint32_t kYields = 2'000;                // ≈ 2 ms of polls; who waits longer waits for work
constexpr uint32_t kLongWait = 80'000;             // back_off()s: 5 to 10 s
constexpr timespec kNap{.tv_sec = 0, .tv_nsec = 50'000};

class MpiLink final : public RankLink {
 public:
  MpiLink() {
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    int rank = 0;
    int ranks = 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    rank_ = static_cast<uint32_t>(rank);
    ranks_ = static_cast<uint32_t>(ranks);
    signs_.resize(ranks_, MPI_REQUEST_NULL);
    silent_ = std::make_unique<std::atomic<uint32_t>[]>(ranks_);
    if (ranks_ > 1) life_ = std::jthread{[this](const std::stop_token& stop) { live(stop); }};
  }
  // Ranks end together. Each has sent its last sign of life before it comes, so that none is left unread.
  ~MpiLink() override {
    if (life_.joinable()) {
      life_.request_stop();
      life_.join();
    }
    MPI_Request all = MPI_REQUEST_NULL;
    MPI_Ibarrier(MPI_COMM_WORLD, &all);
    const bool are_here = wait_until([&] {
      take_signs();
      return is_done(all) && are_done(signs_);
    });
    take_signs();
    if (are_here) MPI_Finalize();  // else it would wait for whom we have waited for
  }
  MpiLink(const MpiLink&) = delete;
  MpiLink& operator=(const MpiLink&) = delete;

  uint32_t rank() const noexcept override { return rank_; }
  uint32_t ranks() const noexcept override { return ranks_; }

  std::optional<LostRank> exchange(const std::vector<RankBytes>& to, std::vector<RankBytes>& from) noexcept override {
    begin(to, from);
    uint32_t waits = 0;
    for (;;) {
      {
        const std::lock_guard guard{lock_};
        if (fails_) return LostRank{first_open(), LostRank::Why::kGone};
        if (go_on(to, from)) return std::nullopt;
      }
      for (uint32_t r = 0; r < ranks_; ++r) {
        if (open_[r].any() && silent_[r].load(std::memory_order_relaxed) >= kSilence) {
          return LostRank{r, LostRank::Why::kSilent};
        }
      }
      back_off(++waits);
    }
  }

 private:
  // What an exchange still has to do with one rank. Lots go in pieces; one that is not full is the last.
  struct Open {
    bool sends = false;
    bool receives = false;
    size_t sent = 0;
    bool sends_last = false;
    MPI_Request sending = MPI_REQUEST_NULL;
    bool any() const { return sends || receives; }
  };

  void begin(const std::vector<RankBytes>& to, std::vector<RankBytes>& from) {
    open_.assign(ranks_, {});
    const std::lock_guard guard{lock_};
    for (uint32_t r = 0; r < ranks_; ++r) {
      if (r == rank_) continue;
      from[r].clear();
      open_[r].sends = open_[r].receives = true;
      send_piece(to[r], r);
    }
  }

  void send_piece(const RankBytes& lot, uint32_t to) {
    Open& open = open_[to];
    const size_t bytes = std::min(lot.size() - open.sent, kPieceBytes);
    check(MPI_Isend(lot.data() + open.sent, static_cast<int>(bytes), MPI_BYTE, static_cast<int>(to), kLotTag,
                    MPI_COMM_WORLD, &open.sending));
    open.sent += bytes;
    open.sends_last = bytes < kPieceBytes;
  }

  // True when all is done.
  bool go_on(const std::vector<RankBytes>& to, std::vector<RankBytes>& from) {
    bool all = true;
    for (uint32_t r = 0; r < ranks_; ++r) {
      Open& open = open_[r];
      if (open.sends && is_done(open.sending)) {
        if (open.sends_last) {
          open.sends = false;
        } else {
          send_piece(to[r], r);
        }
      }
      if (open.receives) receive_piece(from[r], r);
      all = all && !open.any();
    }
    return all;
  }

  void receive_piece(RankBytes& lot, uint32_t from) {
    int is_there = 0;
    MPI_Message message = MPI_MESSAGE_NULL;
    MPI_Status status;
    check(MPI_Improbe(static_cast<int>(from), kLotTag, MPI_COMM_WORLD, &is_there, &message, &status));
    if (is_there == 0) return;
    int bytes = 0;
    check(MPI_Get_count(&status, MPI_BYTE, &bytes));
    const size_t before = lot.size();
    lot.resize(before + static_cast<size_t>(bytes));
    // It has been matched: this waits for its bytes alone.
    MPI_Request receiving = MPI_REQUEST_NULL;
    check(MPI_Imrecv(lot.data() + before, bytes, MPI_BYTE, &message, &receiving));
    while (!is_done(receiving) && !fails_ && silent_[from].load(std::memory_order_relaxed) < kSilence) {
    }
    open_[from].receives = static_cast<size_t>(bytes) == kPieceBytes;
  }

  // Twice a second: a sign to each rank that has taken the last one, and what has come of theirs.
  void live(const std::stop_token& stop) {
    std::mutex none;
    std::condition_variable_any never;
    while (!stop.stop_requested()) {
      {
        const std::lock_guard guard{lock_};
        for (uint32_t r = 0; r < ranks_; ++r) {
          if (r == rank_) continue;
          silent_[r].fetch_add(1, std::memory_order_relaxed);
          if (is_done(signs_[r])) {
            check(MPI_Isend(nullptr, 0, MPI_BYTE, static_cast<int>(r), kLifeTag, MPI_COMM_WORLD, &signs_[r]));
          }
        }
        take_signs();
      }
      std::unique_lock guard{none};
      never.wait_for(guard, stop, kTick, [] { return false; });
    }
  }

  void take_signs() {
    for (int is_there = 1; is_there != 0 && !fails_;) {
      MPI_Status status;
      check(MPI_Iprobe(MPI_ANY_SOURCE, kLifeTag, MPI_COMM_WORLD, &is_there, &status));
      if (is_there == 0) return;
      check(MPI_Recv(nullptr, 0, MPI_BYTE, status.MPI_SOURCE, kLifeTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
      silent_[static_cast<size_t>(status.MPI_SOURCE)].store(0, std::memory_order_relaxed);
    }
  }

  bool is_done(MPI_Request& request) {
    int done = 0;
    check(MPI_Test(&request, &done, MPI_STATUS_IGNORE));
    return done != 0;
  }
  bool are_done(std::vector<MPI_Request>& requests) {
    return std::ranges::all_of(requests, [this](MPI_Request& each) { return is_done(each); });
  }
  void check(int result) {
    if (result != MPI_SUCCESS) fails_ = true;
  }
  uint32_t first_open() const {
    uint32_t r = 0;
    while (r + 1 < ranks_ && (r == rank_ || !open_[r].any())) ++r;
    return r;
  }
  static void back_off(uint32_t waits) {
    if (waits < kYields) {
      sched_yield();
    } else {
      nanosleep(&kNap, nullptr);
    }
  }
  // False: it is not done after some seconds.
  template <typename Done>
  bool wait_until(Done&& done) {
    for (uint32_t waits = 0; waits < kLongWait && !fails_; back_off(++waits)) {
      if (done()) return true;
    }
    return false;
  }

  uint32_t rank_ = 0;
  uint32_t ranks_ = 1;
  std::vector<Open> open_;  // by rank
  std::mutex lock_;         // the library is called by one thread at a time
  bool fails_ = false;      // it has returned an error
  std::vector<MPI_Request> signs_;
  std::unique_ptr<std::atomic<uint32_t>[]> silent_;  // by rank: ticks since its last sign of life
  std::jthread life_;
};

}  // namespace

std::expected<std::unique_ptr<RankLink>, NoMpi> start_mpi() {
  int provided = MPI_THREAD_SINGLE;
  if (MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &provided) != MPI_SUCCESS) {
    return std::unexpected(NoMpi::kOtherError);
  }
  if (provided < MPI_THREAD_SERIALIZED) return std::unexpected(NoMpi::kNoThreads);
  return std::make_unique<MpiLink>();
}

}  // namespace softspine::dataplane
