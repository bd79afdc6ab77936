// SPDX-License-Identifier: Apache-2.0
#include "testbeds/run/rank_process.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "dataplane/mpi/mpi_link.hpp"
#include "testbeds/run/struct_bytes.hpp"

namespace softspine::testbeds {

using dataplane::LostRank;
using dataplane::NoMpi;

namespace {

// The link, and how long one waits at it.
class TimedLink final : public dataplane::RankLink {
 public:
  explicit TimedLink(std::unique_ptr<dataplane::RankLink> link) : link_(std::move(link)) {}
  uint32_t rank() const noexcept override { return link_->rank(); }
  uint32_t ranks() const noexcept override { return link_->ranks(); }
  std::chrono::nanoseconds waited() const noexcept override { return waited_; }
  std::optional<LostRank> exchange(const std::vector<dataplane::RankBytes>& to,
                                   std::vector<dataplane::RankBytes>& from) noexcept override {
    const auto since = std::chrono::steady_clock::now();
    const auto lost = link_->exchange(to, from);
    waited_ += std::chrono::steady_clock::now() - since;
    return lost;
  }

 private:
  std::unique_ptr<dataplane::RankLink> link_;
  std::chrono::nanoseconds waited_{};
};

std::string text_of(const LostRank& lost) {
  switch (lost.why) {
    case LostRank::Why::kSilent:
      return fmt::format("rank {} has given no sign of life for 6 s: it hangs, or the network to it is cut", lost.rank);
    case LostRank::Why::kGone: return fmt::format("rank {} is gone", lost.rank);
    case LostRank::Why::kOutOfStep:
      return fmt::format("rank {} does something else than this one: a defect, please report it", lost.rank);
  }
  return {};
}

std::string text_of(NoMpi why) {
  switch (why) {
    case NoMpi::kNotBuilt: return "this softspine was built without MPI: a fabric runs in one process";
    case NoMpi::kNoThreads: return "this MPI does not let two threads call it by turns (MPI_THREAD_SERIALIZED)";
    case NoMpi::kOtherError: return "MPI does not start";
  }
  return {};
}

// By rank; a rank whose bytes end early gets what there is.
template <typename T>
std::vector<T> gather_all(dataplane::RankTalk& talk, const T& mine) {
  dataplane::RankBytes bytes;
  put_struct(bytes, mine);
  std::vector<T> out;
  for (const dataplane::RankBytes& each : talk.gather(std::move(bytes))) {
    dataplane::RankReader in{each};
    take_struct(in, out.emplace_back());
  }
  return out;
}

}  // namespace

std::expected<std::unique_ptr<RankProcess>, std::string> RankProcess::start(
    std::function<void(const std::string&)> on_loss) {
  if (!dataplane::is_started_by_mpi()) return nullptr;
  auto link = dataplane::start_mpi();
  if (!link) return std::unexpected(text_of(link.error()));
  if ((*link)->ranks() == 1) return nullptr;
  return std::make_unique<RankProcess>(std::move(*link), std::move(on_loss));
}

RankProcess::RankProcess(std::unique_ptr<dataplane::RankLink> link, std::function<void(const std::string&)> on_loss)
    : link_(std::make_unique<TimedLink>(std::move(link))),
      talk_(*link_, [on_loss = std::move(on_loss)](const LostRank& lost) { on_loss(text_of(lost)); }) {}

std::string RankProcess::disagreement(const std::vector<RankFact>& mine) {
  const std::vector<std::vector<RankFact>> all = gather_all(talk_, mine);
  for (size_t r = 1; r < all.size(); ++r) {
    if (all[0].empty() || all[r].empty()) continue;
    const auto [first, its] = std::ranges::mismatch(all[0], all[r]);
    if (first == all[0].end() && its == all[r].end()) continue;
    return fmt::format("rank {} has another {} than rank 0", r, first == all[0].end() ? its->what : first->what);
  }
  return {};
}

std::vector<RankWord> RankProcess::gather(const RankWord& mine) {
  return gather_all(talk_, mine);
}

}  // namespace softspine::testbeds
