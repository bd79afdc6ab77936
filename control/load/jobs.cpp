// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "control/load/job_traffic.hpp"
#include "control/load/resolve.hpp"
#include "control/placement/place_job.hpp"
#include "control/topology/name_patterns.hpp"

namespace softspine::control {
namespace {

class JobResolver {
 public:
  JobResolver(Reader& reader, const TestbedRow& row, uint64_t seed, const Fabric& fabric, TraceFiles& files)
      : reader_(reader),
        files_(files),
        row_(row),
        seed_(seed),
        fabric_(fabric),
        servers_(servers_of(fabric)),
        tiers_(islands_of(fabric, servers_)),
        taken_by_(servers_.size(), nullptr) {
    for (uint32_t s = 0; s < servers_.size(); ++s) by_name_.emplace(servers_[s].name, s);
  }

  // Those that are listed first, since nothing else will do for them; the others in the file's order.
  std::vector<Job> resolve() {
    jobs_.reserve(row_.jobs.size());
    for (const JobRow& row : row_.jobs) {
      if (row.where.kind() != ValueKind::kMap || reader_.is_invalid(row.where.child("name"))) continue;
      add(row);
    }
    for (size_t j = 0; j < jobs_.size(); ++j) {
      if (!rows_[j]->servers.count) take_listed(j);
    }
    for (size_t j = 0; j < jobs_.size(); ++j) {
      if (rows_[j]->servers.count) reserve(j);
    }
    if (!good_) return names_alone();
    NodeSets sets(fabric_);
    sets.set_jobs(jobs_);
    for (size_t j = 0; j < jobs_.size(); ++j) place(j, sets);
    for (size_t j = 0; j < jobs_.size(); ++j) show(j);
    return std::move(jobs_);
  }

 private:
  bool fail(Value where, const std::string& why) {
    good_ = false;
    return reader_.fail(where, why);
  }

  // For guesses at names, and so that a workload's use of a job that was refused is no further mistake.
  std::vector<Job> names_alone() const {
    std::vector<Job> out;
    for (const JobRow& row : row_.jobs) {
      if (row.where.kind() == ValueKind::kMap && !reader_.is_invalid(row.where.child("name")))
        out.emplace_back().name = row.name;
    }
    return out;
  }

  void add(const JobRow& row) {
    if (!names_.insert(row.name).second)
      return void(fail(row.where.child("name"), "a job " + shown(row.name) + " stands here already"));
    if (reader_.is_invalid(row.where.child("servers"))) return void(good_ = false);
    const bool listed = !row.servers.count;
    if (listed && row.placement) fail(row.where.child("placement"), "is for a number of servers");
    if (listed && row.of) fail(row.where.child("of"), "is for a number of servers");
    jobs_.push_back({.name = row.name,
                     .placement = listed ? Placement::kAsListed : row.placement.value_or(Placement::kPacked),
                     .servers = {},
                     .nics = {},
                     .tiers = {},
                     .place = place_of(row.where)});
    rows_.push_back(&row);
    servers_of_job_.emplace_back();
    pools_.emplace_back();
  }

  // Servers of these names, in this order; * stands for any letters.
  std::vector<uint32_t> named(const std::vector<std::string>& names, Value list) {
    const std::vector<Value> places = list.each();
    std::vector<uint32_t> out;
    for (size_t i = 0; i < names.size() && i < places.size(); ++i) {
      const size_t before = out.size();
      if (const auto found = by_name_.find(names[i]); found != by_name_.end()) {
        out.push_back(found->second);
      } else if (names[i].find('*') != std::string::npos) {
        for (uint32_t s = 0; s < servers_.size(); ++s) {
          if (is_like(servers_[s].name, names[i])) out.push_back(s);
        }
      }
      if (out.size() == before) fail(places[i], "there is no server " + shown(names[i]) + guess(names[i]));
    }
    return out;
  }
  std::string guess(const std::string& name) {
    std::vector<std::string_view> known;
    for (const PlacedServer& server : servers_) known.push_back(server.name);
    return guess_at(reader_, name, known);
  }

  void take_listed(size_t j) {
    const Value where = rows_[j]->where.child("servers");
    std::vector<uint32_t> listed = named(rows_[j]->servers.names, where);
    for (const uint32_t server : listed) {
      if (taken_by_[server] != nullptr) {
        fail(where, std::string(servers_[server].name) + " is in job " + taken_by_[server]->name +
                        (taken_by_[server] == &jobs_[j] ? " already" : ""));
        break;
      }
      taken_by_[server] = &jobs_[j];
    }
    if (listed.empty() && good_) fail(where, "names no server");
    servers_of_job_[j] = std::move(listed);
    show(j);
  }

  // Any of its servers, so that there are as many as it asks for.
  void reserve(size_t j) {
    const JobRow& row = *rows_[j];
    std::vector<uint32_t>& pool = pools_[j];
    if (row.of) {
      pool = named(row.of->items, row.where.child("of"));
      std::ranges::sort(pool);
      const auto repeated = std::ranges::unique(pool);
      pool.erase(repeated.begin(), repeated.end());
    } else {
      for (uint32_t s = 0; s < servers_.size(); ++s) pool.push_back(s);
    }
    std::erase_if(pool, [&](uint32_t server) { return taken_by_[server] != nullptr; });
    check_pool(j);
    if (!good_) return;
    servers_of_job_[j].assign(pool.begin(), pool.begin() + *row.servers.count);
    show(j);
  }

  // Whoever counts NICs by rank must find the same ones at each server.
  bool check_pool(size_t j) {
    const JobRow& row = *rows_[j];
    const std::vector<uint32_t>& pool = pools_[j];
    const Value where = row.where.child("servers");
    if (!good_) return false;
    if (pool.size() < *row.servers.count)
      return fail(where, "there are " + std::to_string(pool.size()) + (row.of ? " such" : "") + " servers for it");
    const auto nics = [&](uint32_t server) { return servers_[server].nics.size(); };
    for (const uint32_t server : pool) {
      if (nics(server) == nics(pool[0])) continue;
      return fail(where, "its servers would differ: " + std::string(servers_[pool[0]].name) + " has " +
                             std::to_string(nics(pool[0])) + " NICs, " + std::string(servers_[server].name) + " " +
                             std::to_string(nics(server)) + ": say by 'of' which it may get");
    }
    return true;
  }

  void place(size_t j, NodeSets& sets) {
    Job& job = jobs_[j];
    const JobTraffic traffic(job, jobs_, row_, sets, fabric_, files_);
    const Value where = rows_[j]->where.child("servers");
    if (rows_[j]->servers.count) {
      std::vector<uint32_t> free = pools_[j];
      std::erase_if(free, [&](uint32_t server) { return taken_by_[server] != nullptr; });
      const size_t count = *rows_[j]->servers.count;
      if (free.size() < count) {
        fail(where, "the jobs before it leave it " + std::to_string(free.size()) + " servers");
        return;
      }
      servers_of_job_[j] = chosen(j, traffic, free);
      for (const uint32_t server : servers_of_job_[j]) taken_by_[server] = &job;
    }
    job.bytes = traffic.bytes();
    for (const TierIslands& tier : tiers_) job.tiers.push_back(crossing(tier, traffic, servers_of_job_[j]));
  }

  static TierCrossing crossing(const TierIslands& tier, const JobTraffic& traffic,
                               const std::vector<uint32_t>& servers) {
    TierCrossing out{.role = tier.role, .oversubscription = 0};
    std::vector<std::vector<uint32_t>> part_of;
    std::unordered_set<uint32_t> used;
    for (const uint32_t server : servers) {
      for (const uint32_t part : part_of.emplace_back(tier.part_of[server])) {
        used.insert(part);
        out.oversubscription = std::max(out.oversubscription, tier.oversubscribed[part]);
      }
    }
    out.islands = static_cast<uint32_t>(used.size());
    out.bytes = traffic.across(part_of);
    return out;
  }

  std::vector<uint32_t> chosen(size_t j, const JobTraffic& traffic, const std::vector<uint32_t>& free) {
    const size_t count = *rows_[j]->servers.count;
    const Job& job = jobs_[j];
    if (job.placement == Placement::kRandom) return drawn_servers(count, free, seed_, job.name);
    if (job.placement == Placement::kPacked) return packed_servers(count, free);
    const Value where = rows_[j]->where.child("placement");
    if (traffic.bytes() <= 0) reader_.warn(where, "has nothing to cut: nothing sends between the servers of this job");
    std::vector<TierTalks> tiers;
    for (const TierIslands& tier : tiers_) {
      JobTraffic::ByRank by_rank = traffic.by_rank(rails_of(tier, free));
      if (by_rank.over) {
        fail(where, "is for at most " + std::to_string(kMaxTalkingPairs) +
                        " pairs of servers that talk: more do with the workload of line " +
                        std::to_string(by_rank.over->at().line));
        return packed_servers(count, free);
      }
      tiers.push_back({&tier, std::move(by_rank.talks)});
    }
    return min_cut_servers(tiers, count, free);
  }

  // The servers that a job has become those of the model.
  void show(size_t j) {
    jobs_[j].nics.clear();
    jobs_[j].servers.clear();
    for (const uint32_t server : servers_of_job_[j]) {
      jobs_[j].servers.emplace_back(servers_[server].name);
      jobs_[j].nics.push_back(servers_[server].nics);
    }
  }

  Reader& reader_;
  TraceFiles& files_;
  const TestbedRow& row_;
  uint64_t seed_;
  const Fabric& fabric_;
  std::vector<PlacedServer> servers_;
  std::vector<TierIslands> tiers_;
  std::vector<const Job*> taken_by_;  // by server
  std::unordered_map<std::string_view, uint32_t> by_name_;
  std::unordered_set<std::string_view> names_;  // of jobs, also of those that were refused
  std::vector<Job> jobs_;
  std::vector<const JobRow*> rows_;                    // by job
  std::vector<std::vector<uint32_t>> pools_;           // by job: servers that it may get
  std::vector<std::vector<uint32_t>> servers_of_job_;  // by job and rank
  bool good_ = true;
};

}  // namespace

std::vector<Job> resolve_jobs(Reader& reader, const TestbedRow& row, uint64_t seed, const Fabric& fabric,
                              TraceFiles& files) {
  return row.jobs.empty() ? std::vector<Job>{} : JobResolver(reader, row, seed, fabric, files).resolve();
}

}  // namespace softspine::control
