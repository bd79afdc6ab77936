// SPDX-License-Identifier: Apache-2.0
#include "control/placement/place_job.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <random>

namespace softspine::control {
namespace {

// Servers of one island, and those of the job's ranks that go there.
class Cutter {
 public:
  Cutter(const std::vector<TierTalks>& tiers, size_t ranks) : tiers_(tiers), servers_(ranks) {}

  void place(std::vector<uint32_t> ranks, std::vector<uint32_t> free, size_t tier) {
    if (tier == tiers_.size() || ranks.size() < 2) {
      for (size_t i = 0; i < ranks.size(); ++i) servers_[ranks[i]] = free[i];
      return;
    }
    std::map<uint32_t, std::vector<uint32_t>> islands;
    for (const uint32_t server : free) islands[tiers_[tier].tier->island_of[server]].push_back(server);
    std::vector<uint32_t> room;
    for (const auto& [island, servers] : islands) room.push_back(static_cast<uint32_t>(servers.size()));
    const std::vector<uint32_t> island_of =
        room.size() == 1 ? std::vector<uint32_t>(ranks.size(), 0) : min_cut(tiers_[tier].talks, ranks, room);
    uint32_t number = 0;
    for (auto& [island, servers] : islands) {
      std::vector<uint32_t> here;
      for (size_t i = 0; i < ranks.size(); ++i) {
        if (island_of[i] == number) here.push_back(ranks[i]);
      }
      if (!here.empty()) place(std::move(here), std::move(servers), tier + 1);
      ++number;
    }
  }

  std::vector<uint32_t> servers() && { return std::move(servers_); }

 private:
  const std::vector<TierTalks>& tiers_;
  std::vector<uint32_t> servers_;
};

}  // namespace

std::vector<uint32_t> packed_servers(size_t ranks, std::span<const uint32_t> free) {
  return {free.begin(), free.begin() + static_cast<ptrdiff_t>(ranks)};
}

std::vector<uint32_t> drawn_servers(size_t ranks, std::span<const uint32_t> free, uint64_t seed,
                                    std::string_view name) {
  std::vector<uint32_t> out(free.begin(), free.end());
  std::seed_seq words(name.begin(), name.end());
  std::vector<uint32_t> mixed(2);
  words.generate(mixed.begin(), mixed.end());
  std::mt19937_64 random(seed ^ (uint64_t{mixed[0]} << 32 | mixed[1]));
  for (size_t i = 0; i < ranks; ++i) std::swap(out[i], out[i + random() % (out.size() - i)]);
  out.resize(ranks);
  return out;
}

std::vector<uint32_t> min_cut_servers(const std::vector<TierTalks>& tiers, size_t ranks,
                                      std::span<const uint32_t> free) {
  Cutter cutter(tiers, ranks);
  std::vector<uint32_t> all(ranks);
  std::iota(all.begin(), all.end(), 0U);
  cutter.place(std::move(all), {free.begin(), free.end()}, 0);
  return std::move(cutter).servers();
}

}  // namespace softspine::control
