// SPDX-License-Identifier: Apache-2.0
#include "control/load/job_traffic.hpp"

#include <algorithm>
#include <unordered_map>

#include "control/placement/place_job.hpp"
#include "control/topology/job_sets.hpp"

namespace softspine::control {
namespace {

constexpr uint32_t kNoRank = UINT32_MAX;

class TrafficSum {
 public:
  TrafficSum(const Job& job, std::span<const Job> jobs, NodeSets& sets, const Fabric& fabric)
      : job_(job), jobs_(jobs), sets_(sets), fabric_(fabric), bytes_(job.nics.size()) {}

  void add(const WorkloadRow& row) {
    const double bytes = static_cast<double>(row.message.count) * static_cast<double>(row.messages) *
                         (row.scaling == Scaling::kEach ? row.qps : 1);
    switch (row.pattern) {
      case Pattern::kIncast:
        if (row.from && row.to) add_incast(ranks_of(row.from->names), ranks_of(row.to->items), bytes);
        break;
      case Pattern::kPairs:
        if (row.from && row.to) add_pairs(ranks_of(row.from->names), ranks_of(row.to->items), bytes);
        break;
      case Pattern::kRing:
        if (row.hosts) add_ring(ranks_of(*row.hosts), bytes);
        break;
      case Pattern::kAllToAll:
      case Pattern::kPermutation:
        if (row.hosts) add_all(ranks_of(*row.hosts), bytes, row.pattern == Pattern::kPermutation);
        break;
    }
    if (pairs_ > kMaxTalkingPairs && !out_.over) out_.over = row.where;
  }

  JobTraffic traffic() && {
    for (const auto& peers : bytes_) {
      std::vector<Talk>& to = out_.talks.emplace_back();
      for (const auto& [peer, bytes] : peers) to.push_back({peer, bytes});
      std::ranges::sort(to, {}, &Talk::peer);
    }
    return std::move(out_);
  }

 private:
  // By NIC of the list; kNoRank for those that are not the job's.
  std::vector<uint32_t> ranks_of(const std::vector<std::string>& names) {
    std::vector<uint32_t> out;
    for (const std::string& name : names) {
      if (is_job_set(name)) {
        const JobMembers found = find_in_jobs(name, jobs_, fabric_);
        for (const uint32_t rank : found.ranks) out.push_back(found.job == &job_ ? rank : kNoRank);
      } else {
        out.resize(out.size() + sets_.find(name, Among::kHosts).nodes.size(), kNoRank);
      }
    }
    return out;
  }

  void add(uint32_t a, uint32_t b, double bytes) {
    if (a == b || a == kNoRank || b == kNoRank || pairs_ > kMaxTalkingPairs) return;
    out_.bytes += bytes;
    const auto [mine, is_new] = bytes_[a].try_emplace(b, 0);
    pairs_ += is_new ? 1 : 0;
    mine->second += bytes;
    bytes_[b][a] += bytes;
  }

  void add_incast(const std::vector<uint32_t>& from, const std::vector<uint32_t>& to, double bytes) {
    for (const uint32_t rank : from) add(rank, to.empty() ? kNoRank : to[0], bytes);
  }
  void add_pairs(const std::vector<uint32_t>& from, const std::vector<uint32_t>& to, double bytes) {
    for (size_t i = 0; i < std::min(from.size(), to.size()); ++i) add(from[i], to[i], bytes);
  }
  void add_ring(const std::vector<uint32_t>& ranks, double bytes) {
    for (size_t i = 0; i < ranks.size(); ++i) add(ranks[i], ranks[(i + 1) % ranks.size()], bytes);
  }

  // Everybody to everybody; of a permutation a share of it.
  void add_all(const std::vector<uint32_t>& ranks, double bytes, bool is_drawn) {
    std::vector<uint32_t> nics(job_.nics.size(), 0);
    for (const uint32_t rank : ranks) {
      if (rank != kNoRank) ++nics[rank];
    }
    const double each = is_drawn && ranks.size() > 1 ? bytes / static_cast<double>(ranks.size() - 1) : bytes;
    for (uint32_t a = 0; a < nics.size(); ++a) {
      for (uint32_t b = 0; b < nics.size() && nics[a] > 0; ++b) {
        if (nics[b] > 0) add(a, b, each * nics[a] * nics[b]);
      }
    }
  }

  const Job& job_;
  std::span<const Job> jobs_;
  NodeSets& sets_;
  const Fabric& fabric_;
  std::vector<std::unordered_map<uint32_t, double>> bytes_;  // by rank, to others and from them
  uint64_t pairs_ = 0;
  JobTraffic out_;
};

}  // namespace

JobTraffic traffic_of(const Job& job, std::span<const Job> jobs, const std::vector<WorkloadRow>& rows, NodeSets& sets,
                      const Fabric& fabric) {
  TrafficSum sum(job, jobs, sets, fabric);
  for (const WorkloadRow& row : rows) sum.add(row);
  return std::move(sum).traffic();
}

}  // namespace softspine::control
