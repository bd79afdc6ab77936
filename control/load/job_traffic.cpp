// SPDX-License-Identifier: Apache-2.0
#include "control/load/job_traffic.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <unordered_map>

#include "control/collectives/collective_work.hpp"
#include "control/document/text_file.hpp"
#include "control/imports/flow_list.hpp"
#include "control/imports/size_file.hpp"
#include "control/load/collective_shapes.hpp"
#include "control/load/listed_flows.hpp"
#include "control/load/training_steps.hpp"
#include "control/placement/place_job.hpp"
#include "control/topology/job_sets.hpp"
#include "control/traces/recorded_work.hpp"
#include "control/traffic/pairs.hpp"

namespace softspine::control {
namespace {

constexpr uint32_t kNoRank = UINT32_MAX;

}  // namespace

// What ranks say to each other, rail by rail.
class JobTraffic::RankSum {
 public:
  RankSum(size_t ranks, std::span<const uint32_t> rail_of) : rail_of_(rail_of), bytes_(ranks) {}

  void add(const Sent& sent) {
    if (sent.is_all) {
      add_all(sent);
    } else {
      for (size_t i = 0; i < std::min(sent.from.size(), sent.to.size()); ++i) {
        if (sent.from[i].rank == kNoRank || sent.to[i].rank == kNoRank) continue;
        if (rail_of_[sent.from[i].nic] == rail_of_[sent.to[i].nic]) add(sent.from[i].rank, sent.to[i].rank, sent.bytes);
      }
    }
    if (pairs_ > kMaxTalkingPairs && !out_.over) out_.over = sent.where;
  }

  ByRank result() && {
    for (const auto& peers : bytes_) {
      std::vector<Talk>& to = out_.talks.emplace_back();
      for (const auto& [peer, bytes] : peers) to.push_back({peer, bytes});
      std::ranges::sort(to, {}, &Talk::peer);
    }
    return std::move(out_);
  }

 private:
  void add(uint32_t a, uint32_t b, double bytes) {
    if (a == b || pairs_ > kMaxTalkingPairs) return;
    const auto [mine, is_new] = bytes_[a].try_emplace(b, 0);
    pairs_ += is_new ? 1 : 0;
    mine->second += bytes;
    bytes_[b][a] += bytes;
  }
  void add_all(const Sent& sent) {
    std::map<uint32_t, std::vector<double>> nics;  // by rail and rank
    for (const Nic& nic : sent.from) {
      if (nic.rank == kNoRank) continue;
      std::vector<double>& of_rail = nics[rail_of_[nic.nic]];
      of_rail.resize(bytes_.size(), 0);
      of_rail[nic.rank] += 1;
    }
    for (uint32_t a = 0; a < bytes_.size(); ++a) {
      for (uint32_t b = 0; b < bytes_.size(); ++b) {
        double pairs = 0;
        for (const auto& [rail, of_rail] : nics) pairs += of_rail[a] * of_rail[b];
        if (pairs > 0) add(a, b, pairs * sent.bytes);
      }
    }
  }

  std::span<const uint32_t> rail_of_;
  std::vector<std::unordered_map<uint32_t, double>> bytes_;  // by rank, to others and from them
  uint64_t pairs_ = 0;
  ByRank out_;
};

// Workloads' hosts as NICs of ranks; kNoRank for those that are not the job's.
class JobTraffic::Reading {
 public:
  Reading(const Job& job, std::span<const Job> jobs, NodeSets& sets, const Fabric& fabric, TraceFiles& files)
      : job_(job), jobs_(jobs), sets_(sets), fabric_(fabric), files_(files) {}

  Sent sent_by(const WorkloadRow& row) {
    Sent out{.where = row.where};
    out.bytes = static_cast<double>(row.message.count) * static_cast<double>(row.messages) *
                (row.scaling == Scaling::kEach ? row.qps : 1);
    const bool two_ends = has_two_ends(row.pattern);
    if (two_ends ? !row.from || !row.to : !row.hosts) return out;
    const std::vector<Nic> first = nics_of(two_ends ? row.from.value().names : *row.hosts);
    const std::vector<Nic> second = two_ends ? nics_of(row.to.value().items) : std::vector<Nic>{};
    pairs_of<Nic>(row.pattern, first, first, second, [&](const Senders<Nic>& senders) {
      if (senders.to.empty()) return;
      out.is_all = senders.among;
      for (const Nic& from : senders.from) {
        out.from.push_back(from);
        if (!senders.among) out.to.push_back(senders.to[0]);
      }
    });
    if (is_drawn(row.pattern) && first.size() > 1) out.bytes /= static_cast<double>(first.size() - 1);
    return out;
  }

  // A list's flows, those of one number of bytes together; what is wrong with it is reported where it becomes a
  // workload. Hosts that it names are of no job.
  std::vector<Sent> sent_by_list(const WorkloadRow& row) {
    if (!row.hosts || !row.file || row.format.value_or(FlowListFormat::kHpcc) != FlowListFormat::kHpcc) return {};
    const std::string path = path_beside(row.where, *row.file);
    const auto text = read_text_file(path, true, kMaxListBytes);
    if (!text) return {};
    const std::vector<Nic> hosts = nics_of(*row.hosts);
    std::map<std::pair<uint32_t, uint32_t>, double> bytes;
    ErrorsByKind ignored(path);
    read_flow_list(*text, FlowListFormat::kHpcc, ignored, [&](const FlowLine& line) {
      const uint32_t from = number_of(line.from);
      const uint32_t to = number_of(line.to);
      if (from < hosts.size() && to < hosts.size()) bytes[{from, to}] += static_cast<double>(line.bytes);
    });
    return sent_of(bytes, hosts, row.where);
  }

  // At a load everybody sends to everybody, as many bytes as are to be expected.
  Sent sent_by_chance(const WorkloadRow& row) {
    std::vector<uint32_t> nodes;
    Sent out{.is_all = true, .from = {}, .to = {}, .where = row.where};
    if (!row.hosts) return out;
    out.from = nics_of(*row.hosts, &nodes);
    const auto hosts = static_cast<double>(nodes.size());
    if (nodes.size() > 1) out.bytes = expected_bytes(row, nodes) / (hosts * (hosts - 1));
    return out;
  }

  // A collective's messages, those of one number of bytes together.
  std::vector<Sent> sent_by(const CollectiveRow& row) {
    if (!row.ranks) return {};
    const auto [hosts, nics] = ranks_of(row);
    std::map<std::pair<uint32_t, uint32_t>, double> bytes;
    for (const Bytes& size : row.size.items) {
      const auto shape = shape_of(row, fabric_, hosts, size.count);
      if (!shape) return {};
      for (uint32_t rank = 0; rank < shape->ranks; ++rank) {
        for (const CollectiveConnection& each : connections_of(*shape, rank))
          bytes[{rank, each.peer}] += static_cast<double>(each.bytes) * row.iterations;
      }
    }
    return sent_of(bytes, nics, row.where);
  }

  // A training's, likewise; what is wrong with it is reported where it is resolved.
  std::vector<Sent> sent_by(const TrainingRow& row) {
    if (!row.ranks) return {};
    const auto [hosts, nics] = ranks_of(row);
    Reader ignored;
    const auto step = step_of(ignored, row, static_cast<uint32_t>(hosts.size()));
    if (!step) return {};
    std::map<std::pair<uint32_t, uint32_t>, double> bytes;
    const auto take = [&](const GroupShape& it) {
      const auto times = static_cast<double>(it.times * row.iterations);
      for (uint32_t rank = 0; rank < it.shape.ranks; ++rank) {
        for (const CollectiveConnection& each : connections_of(it.shape, rank))
          bytes[{it.group.rank(rank), it.group.rank(each.peer)}] += static_cast<double>(each.bytes) * times;
      }
      return true;
    };
    if (!for_each_shape(ignored, row, *step, fabric_, hosts, take)) return {};
    return sent_of(bytes, nics, row.where);
  }

  // A trace's. It is read for this only if its ranks are hosts of the job.
  std::vector<Sent> sent_by(const TraceRow& row) {
    if (!row.ranks) return {};
    const std::vector<Nic> nics = nics_of(row.ranks->items);
    if (std::ranges::none_of(nics, is_ours)) return {};
    const TraceFiles::Read& read = files_.of(row);
    if (!read || (*read)->ranks().size() != nics.size()) return {};
    std::map<std::pair<uint32_t, uint32_t>, double> bytes;
    for (const TracePair& pair : (*read)->pairs) bytes[{pair.from, pair.to}] += static_cast<double>(pair.bytes);
    return sent_of(bytes, nics, row.where);
  }

  static bool is_ours(const Nic& nic) { return nic.rank != kNoRank; }

 private:
  struct Ranks {
    std::vector<uint32_t> hosts;
    std::vector<Nic> nics;  // likewise by rank
  };

  // It names them.
  Ranks ranks_of(const RankKeys& row) {
    std::vector<uint32_t> named;
    const std::vector<Nic> nics = nics_of(row.ranks->items, &named);
    std::map<uint32_t, Nic> nic_of;
    for (size_t i = 0; i < named.size(); ++i) nic_of.emplace(named[i], nics[i]);
    Ranks out{.hosts = in_order_of_ranks(fabric_, named), .nics = {}};
    for (const uint32_t host : out.hosts) out.nics.push_back(nic_of.at(host));
    return out;
  }

  static std::vector<Sent> sent_of(const std::map<std::pair<uint32_t, uint32_t>, double>& bytes,
                                   const std::vector<Nic>& nics, Value where) {
    std::map<double, Sent> by_bytes;
    for (const auto& [pair, sum] : bytes) {
      Sent& into = by_bytes[sum];
      into.from.push_back(nics[pair.first]);
      into.to.push_back(nics[pair.second]);
    }
    std::vector<Sent> out;
    for (auto& [sum, sent] : by_bytes) {
      sent.bytes = sum;
      sent.where = where;
      out.push_back(std::move(sent));
    }
    return out;
  }
  double expected_bytes(const WorkloadRow& row, std::span<const uint32_t> hosts) const {
    const auto sizes = row.sizes && row.flows ? sizes_of(row) : std::nullopt;
    if (sizes) return static_cast<double>(*row.flows) * sizes->mean();
    if (!row.until || !row.load) return 0;
    double bps = 0;
    for (const uint32_t host : hosts) bps += static_cast<double>(rate_of_host(fabric_, host).count_bps());
    return bps / 8 * static_cast<double>(row.load->millionths) / 1e6 * row.until->seconds();
  }
  static std::optional<SizeDistribution> sizes_of(const WorkloadRow& row) {
    if (auto published = published_as(*row.sizes)) return published;
    const std::string path = path_beside(row.where, *row.sizes);
    const auto text = read_text_file(path, true);
    ErrorsByKind ignored(path);
    return text ? read_size_file(*text, ignored) : std::nullopt;
  }
  static uint32_t number_of(const Field& field) {
    uint32_t out = UINT32_MAX;
    const char* end = field.text.data() + field.text.size();
    return std::from_chars(field.text.data(), end, out).ptr == end ? out : UINT32_MAX;
  }

  // `hosts`: their nodes, if it is not null.
  std::vector<Nic> nics_of(const std::vector<std::string>& names, std::vector<uint32_t>* hosts = nullptr) {
    std::vector<Nic> out;
    const auto add = [&](Nic nic, uint32_t node) {
      out.push_back(nic);
      if (hosts != nullptr) hosts->push_back(node);
    };
    for (const std::string& name : names) {
      if (!is_job_set(name)) {
        for (const uint32_t node : sets_.find(name, Among::kHosts).nodes) add({kNoRank, 0}, node);
        continue;
      }
      const JobMembers found = find_in_jobs(name, jobs_, fabric_);
      for (size_t i = 0; i < found.nodes.size(); ++i)
        add(found.job == &job_ ? nic_at(found.ranks[i], found.nodes[i]) : Nic{kNoRank, 0}, found.nodes[i]);
    }
    return out;
  }
  Nic nic_at(uint32_t rank, uint32_t node) const {
    const std::vector<uint32_t>& nics = job_.nics[rank];
    return {rank, static_cast<uint32_t>(std::ranges::find(nics, node) - nics.begin())};
  }

  const Job& job_;
  std::span<const Job> jobs_;
  NodeSets& sets_;
  const Fabric& fabric_;
  TraceFiles& files_;
};

JobTraffic::JobTraffic(const Job& job, std::span<const Job> jobs, const TestbedRow& testbed, NodeSets& sets,
                       const Fabric& fabric, TraceFiles& files)
    : ranks_(job.nics.size()) {
  Reading reading(job, jobs, sets, fabric, files);
  const auto take = [this](Sent sent) {
    if (std::ranges::any_of(sent.from, Reading::is_ours)) sent_.push_back(std::move(sent));
  };
  for (const WorkloadRow& row : testbed.workload) {
    if (!is_listed(row.pattern)) take(reading.sent_by(row));
    if (row.pattern == Pattern::kPoisson) take(reading.sent_by_chance(row));
    if (row.pattern != Pattern::kList) continue;
    for (Sent& sent : reading.sent_by_list(row)) take(std::move(sent));
  }
  for (const CollectiveRow& row : testbed.collectives) {
    for (Sent& sent : reading.sent_by(row)) take(std::move(sent));
  }
  for (const TrainingRow& row : testbed.training) {
    for (Sent& sent : reading.sent_by(row)) take(std::move(sent));
  }
  for (const TraceRow& row : testbed.traces) {
    for (Sent& sent : reading.sent_by(row)) take(std::move(sent));
  }
}

double JobTraffic::bytes() const {
  double out = 0;
  for (const Sent& sent : sent_) out += across_of(sent, [](const Nic& nic) { return nic.rank; });
  return out;
}

double JobTraffic::across(const std::vector<std::vector<uint32_t>>& part_of) const {
  double out = 0;
  for (const Sent& sent : sent_) out += across_of(sent, [&](const Nic& nic) { return part_of[nic.rank][nic.nic]; });
  return out;
}

// Of what everybody says to everybody, what stays on a part and comes from another server is taken away.
template <typename PartOf>
double JobTraffic::across_of(const Sent& sent, PartOf&& part_of) {
  double pairs = 0;
  if (!sent.is_all) {
    for (size_t i = 0; i < std::min(sent.from.size(), sent.to.size()); ++i) {
      const Nic& a = sent.from[i];
      const Nic& b = sent.to[i];
      if (a.rank == kNoRank || b.rank == kNoRank || a.rank == b.rank) continue;
      pairs += part_of(a) != part_of(b) ? 1 : 0;
    }
    return pairs * sent.bytes;
  }
  struct Counted {
    double all = 0;
    std::map<uint32_t, double> by_rank;
  };
  Counted every;
  std::unordered_map<uint32_t, Counted> by_part;
  for (const Nic& nic : sent.from) {
    if (nic.rank == kNoRank) continue;
    for (Counted* counted : {&every, &by_part[part_of(nic)]}) {
      counted->all += 1;
      counted->by_rank[nic.rank] += 1;
    }
  }
  const auto between_servers = [](const Counted& counted) {
    double out = counted.all * counted.all;
    for (const auto& [rank, nics] : counted.by_rank) out -= nics * nics;
    return out;
  };
  pairs = between_servers(every);
  for (const auto& [part, counted] : by_part) pairs -= between_servers(counted);
  return pairs * sent.bytes;
}

JobTraffic::ByRank JobTraffic::by_rank(std::span<const uint32_t> rail_of) const {
  RankSum sum(ranks_, rail_of);
  for (const Sent& sent : sent_) sum.add(sent);
  return std::move(sum).result();
}

}  // namespace softspine::control
