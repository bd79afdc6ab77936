// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <unordered_set>

#include "control/load/listed_flows.hpp"
#include "control/load/resolve.hpp"
#include "control/traffic/pairs.hpp"
#include "dataplane/congestion/algorithms.hpp"

namespace softspine::control {
namespace {

using dataplane::Instant;

constexpr uint32_t kLeastMtu = 1'280;  // of a link: a smaller one has been complained about

class WorkloadResolver {
 public:
  WorkloadResolver(Reader& reader, const RunConfig& run, NodeFinder& nodes)
      : reader_(reader), run_(run), nodes_(nodes) {
    const Fabric& fabric = nodes.fabric();
    for (uint32_t n = 0; n < fabric.nodes.size(); ++n) {
      if (fabric.nodes[n].kind == NodeKind::kHost && is_builtin(fabric.nodes[n].attachment)) builtin_.push_back(n);
    }
  }

  Workload resolve(const WorkloadRow& row) {
    Workload out = begun(row);
    if (reader_.is_invalid(row.where.child("pattern"))) return out;
    check_keys(row);
    check_scaling(row);
    if (row.first_qp && row.qp_numbers != QpNumbering::kRxe)
      reader_.fail(row.where.child("first_qp"), "needs 'qp_numbers: rxe'");
    if (has_one_receiver(row.pattern)) {
      resolve_incast(row, out);
    } else if (has_two_ends(row.pattern)) {
      resolve_pairs(row, out);
    } else {
      resolve_group(row.hosts, row.where, "hosts", out);
    }
    if (is_listed(row.pattern)) {
      ListedFlows listed(reader_, run_, nodes_.fabric());
      listed.resolve(row, number_, out);
    }
    check_mtu(row, out);
    ++number_;
    return out;
  }

  Workload resolve(const RankKeys& row) {
    if (row.scaling == Scaling::kEach)
      reader_.fail(row.where.child("scaling"),
                   "must be split, round_robin or least_outstanding: a message is sent once");
    WorkloadRow connections = connections_of(row);
    connections.qps = row.qps;
    connections.scaling = row.scaling.value_or(Scaling::kRoundRobin);
    if (connections.scaling == Scaling::kLeastOutstanding) connections.verb = Verb::kSend;
    Workload out = of_ranks(row, connections);
    out.has_immediates = out.scaling == Scaling::kLeastOutstanding;
    out.ports = row.ports;
    return out;
  }

  // Messages of one rank to another keep their order: one queue pair.
  Workload resolve(const TraceRow& row) {
    WorkloadRow connections = connections_of(row);
    connections.verb = Verb::kSend;
    connections.scaling = Scaling::kRoundRobin;
    Workload out = of_ranks(row, connections);
    out.has_immediates = true;
    return out;
  }

 private:
  // Its ranks are the workload's hosts; who sends to whom is not known yet.
  template <typename Row>
  Workload of_ranks(const Row& row, const WorkloadRow& connections) {
    Workload out = begun(connections);
    const auto ranks = row.ranks ? std::optional(row.ranks->items) : std::nullopt;
    resolve_group(ranks, row.where, "ranks", out);
    check_mtu(connections, out);
    return out;
  }

  template <typename Row>
  static WorkloadRow connections_of(const Row& row) {
    WorkloadRow out{.where = row.where, .name = row.name, .pattern = Pattern::kRing};
    out.mtu = row.mtu;
    out.start = row.start;
    out.dscp = row.dscp;
    out.transport = TransportKind::kReliable;
    out.reliable = row.reliable;
    return out;
  }

  Workload begun(const WorkloadRow& row) {
    Workload out{.name = row.name,
                 .pattern = row.pattern,
                 .message_bytes = row.message.count,
                 .messages = row.messages,
                 .mtu = row.mtu,
                 .qps = row.qps,
                 .scaling = row.scaling,
                 .qp_numbers = row.qp_numbers,
                 .first_qp = row.first_qp.value_or(0),
                 .source_port = row.source_port.port,
                 .start = Instant::at(row.start),
                 .dscp = row.dscp.value_or(kUsualDscp),
                 .dscp_given = row.dscp.has_value(),
                 .ack_dscp_given = row.ack_dscp.has_value(),
                 .transport = transport_of(row),
                 .place = place_of(row.where),
                 .dscp_place = place_of(row.where.child("dscp"))};
    if (row.rate) out.rate = *row.rate;
    check_name(row);
    check_transport(row, out.transport);
    if (row.start >= run_.duration) reader_.fail(row.where.child("start"), "never starts: the run ends before");
    return out;
  }

  void check_name(const WorkloadRow& row) {
    const Value where = row.where.child("name");
    if (!reader_.is_invalid(where) && !names_.insert(row.name).second)
      reader_.fail(where, "a workload " + shown(row.name) + " stands here already");
  }

  static TransportConfig transport_of(const WorkloadRow& row) {
    TransportConfig out{.kind = row.transport,
                        .verb = row.verb,
                        .reliable = row.reliable,
                        .ack_dscp = row.ack_dscp.value_or(row.dscp.value_or(kUsualDscp))};
    ReliableParameters& reliable = out.reliable;
    // A window that nobody chose an interval for must hold one.
    if (!is_given(row.where, "ack_every")) reliable.ack_every = std::min(reliable.ack_every, reliable.window);
    out.cnp_dscp = row.cnp_dscp.value_or(out.cnp_dscp);
    out.cnp_interval = row.cnp_interval.value_or(dataplane::cnp_interval_of(reliable.congestion_control));
    return out;
  }

  void check_transport(const WorkloadRow& row, const TransportConfig& transport) {
    const auto needs = [&](bool given, bool fits, std::string_view key, std::string_view what) {
      if (given && !fits) reader_.fail(row.where.child(key), "needs " + std::string(what));
    };
    const bool reliable = row.transport == TransportKind::kReliable;
    constexpr std::string_view kReliable = "'transport: rc'";
    const ReliableParameters& chosen = transport.reliable;
    dataplane::for_each_key(kReliableKeys, [&](std::string_view key) {
      const bool is_none = key == "congestion_control" && !controls_congestion(chosen.congestion_control);
      needs(is_given(row.where, key) && !is_none, reliable, key, kReliable);  // an open loop has none, too
    });
    needs(row.ack_dscp.has_value(), reliable, "ack_dscp", kReliable);
    const bool notified = uses_cnps(chosen.congestion_control);
    const std::string_view control = controls_congestion(chosen.congestion_control)
                                         ? "a 'congestion_control' that reacts to CNPs"
                                         : "'congestion_control'";
    needs(row.cnp_dscp.has_value(), notified, "cnp_dscp", control);
    needs(row.cnp_interval.has_value(), notified, "cnp_interval", control);
    const bool all_ask = asks_always(chosen.congestion_control);
    if (is_given(row.where, "ack_every") && all_ask && chosen.ack_every != 1)
      reader_.fail(row.where.child("ack_every"), "must be 1: with this congestion control every packet asks");
    if (chosen.ack_every > chosen.window && !reader_.is_invalid(row.where.child("ack_every"))) {
      reader_.fail(row.where.child("ack_every"),
                   "exceeds the window of " + std::to_string(chosen.window) + ": nobody would ever ask");
    }
  }

  // A queue pair without a byte or a message would be none.
  void check_scaling(const WorkloadRow& row) {
    if (row.rate && row.rate->count_bps() / row.qps < dataplane::Rate::min().count_bps())
      reader_.fail(row.where.child("rate"), "is less than 1Mbps for each of its queue pairs");
    if (row.scaling == Scaling::kSplit && row.message.count < row.qps)
      reader_.fail(row.where.child("qps"), "there are not as many bytes in a message to split");
    if (row.scaling == Scaling::kRoundRobin && row.messages < row.qps)
      reader_.fail(row.where.child("qps"), "there are not as many messages to take turns");
    if (row.scaling == Scaling::kLeastOutstanding)
      reader_.fail(row.where.child("scaling"),
                   "must be each, split or round_robin: least_outstanding is of collectives");
  }

  void check_keys(const WorkloadRow& row) {
    const bool pairs = has_two_ends(row.pattern);
    const auto refuse = [&](bool given, std::string_view key) {
      if (given) reader_.fail(row.where.child(key), "is not for this pattern");
    };
    refuse(pairs && row.hosts, "hosts");
    refuse(!pairs && row.from, "from");
    refuse(!pairs && row.to, "to");
    check_keys_of_lists(row, refuse);
    if (pairs && !row.from) reader_.fail(row.where, "the key 'from' is missing: who sends");
    if (pairs && !row.to) reader_.fail(row.where, "the key 'to' is missing: who receives");
  }

  // Each flow of a list is one message of one queue pair.
  static void check_keys_of_lists(const WorkloadRow& row, const auto& refuse) {
    const bool is_list = row.pattern == Pattern::kList;
    const bool is_poisson = row.pattern == Pattern::kPoisson;
    for (const std::string_view key : {"file", "format"}) refuse(!is_list && is_given(row.where, key), key);
    refuse(!is_list && row.zero != dataplane::Duration{}, "zero");
    for (const std::string_view key : {"load", "sizes", "flows", "until"})
      refuse(!is_poisson && is_given(row.where, key), key);
    // What is as if it were not given says nothing.
    const WorkloadRow usual;
    const bool listed = is_listed(row.pattern);
    refuse(listed && row.message.count != usual.message.count, "message");
    refuse(listed && row.messages != usual.messages, "messages");
    refuse(listed && row.qps != usual.qps, "qps");
    refuse(listed && row.scaling != usual.scaling, "scaling");
  }

  bool is_builtin_host(uint32_t node, Value where) {
    const FabricNode& found = nodes_.fabric().nodes[node];
    if (found.kind != NodeKind::kHost)
      return reader_.fail(where, found.name + " is a switch: built-in hosts send and receive");
    return is_builtin(found.attachment) ||
           reader_.fail(where, found.name + " is not a built-in host: what it sends is its own business");
  }

  // Names and sets of hosts. True if all were found.
  bool find_all(const std::vector<std::string>& names, Value list, std::vector<uint32_t>& out) {
    const std::vector<Value> places = list.each();
    if (places.size() != names.size()) return false;  // neither a name nor a list of them
    bool good = true;
    for (size_t i = 0; i < names.size(); ++i) {
      const std::vector<uint32_t> found = nodes_.find_all(names[i], places[i], Among::kHosts);
      good = !found.empty() && good;
      for (const uint32_t node : found) {
        good = is_builtin_host(node, places[i]) && good;
        out.push_back(node);
      }
    }
    return good;
  }

  // `key`: what the row calls them.
  void resolve_group(const std::optional<std::vector<std::string>>& hosts, Value row, std::string_view key,
                     Workload& out) {
    const Value where = hosts ? row.child(key) : row;
    const bool found = !hosts || find_all(*hosts, where, out.hosts);
    if (!hosts) out.hosts = builtin_;
    if (!found || !nodes_.names_known()) return;
    check_distinct(out.hosts, where);
    if (out.hosts.size() < 2) reader_.fail(where, "needs two built-in hosts, has " + std::to_string(out.hosts.size()));
  }

  void check_distinct(const std::vector<uint32_t>& hosts, Value where) {
    std::unordered_set<uint32_t> seen;
    for (size_t i = 0; i < hosts.size(); ++i) {
      if (seen.insert(hosts[i]).second) continue;
      reader_.fail(where, nodes_.fabric().nodes[hosts[i]].name + " stands here twice");
      return;
    }
  }

  void resolve_incast(const WorkloadRow& row, Workload& out) {
    if (!row.from || !row.to) return;
    const Value from = row.where.child("from");
    const Value to = row.where.child("to");
    if (row.to->items.size() == 1 && !find_all(row.to->items, to, out.to)) return;
    if (out.to.size() != 1) {
      reader_.fail(to, "an incast has one receiver");
      return;
    }
    if (row.from->count) {
      spread_senders(*row.from->count, from, out);
      return;
    }
    if (!find_all(row.from->names, from, out.from)) return;
    check_distinct(out.from, from);
    if (out.from.empty()) reader_.fail(from, "names no sender");
    if (std::ranges::find(out.from, out.to[0]) != out.from.end())
      reader_.fail(from, name_of(out.to[0]) + " would send to itself");
  }

  // N senders, evenly over all other built-in hosts in the fabric's order.
  void spread_senders(uint32_t count, Value where, Workload& out) {
    std::vector<uint32_t> others = builtin_;
    std::erase(others, out.to[0]);
    if (count > others.size()) {
      reader_.fail(where, "there are " + std::to_string(others.size()) + " other built-in hosts");
      return;
    }
    for (uint64_t i = 0; i < count; ++i) out.from.push_back(others[i * others.size() / count]);
  }

  void resolve_pairs(const WorkloadRow& row, Workload& out) {
    if (!row.from || !row.to) return;
    const Value from = row.where.child("from");
    const Value to = row.where.child("to");
    if (row.from->count) {
      reader_.fail(from, "pairs need the senders by name");
      return;
    }
    const bool senders = find_all(row.from->names, from, out.from);
    const bool receivers = find_all(row.to->items, to, out.to);
    if (!senders || !receivers) return;
    if (out.from.size() != out.to.size()) {
      reader_.fail(to,
                   std::to_string(out.to.size()) + " receivers for " + std::to_string(out.from.size()) + " senders");
      return;
    }
    if (out.from.empty()) reader_.fail(from, "names no sender");
    const std::vector<Value> places = to.each();
    const bool one_by_one = places.size() == out.to.size();  // else there are sets
    for (size_t i = 0; i < out.from.size(); ++i) {
      if (out.from[i] == out.to[i])
        reader_.fail(one_by_one ? places[i] : to, name_of(out.to[i]) + " would send to itself");
    }
  }

  const std::string& name_of(uint32_t node) const { return nodes_.fabric().nodes[node].name; }

  void check_mtu(const WorkloadRow& row, const Workload& out) {
    for (const auto* list : {&out.hosts, &out.from, &out.to}) {
      for (const uint32_t host : *list) {
        for (const FabricPort& port : nodes_.fabric().nodes[host].ports) {
          const FabricLink& link = nodes_.fabric().links[port.link];
          const bool known = link.mtu >= kLeastMtu && !reader_.is_invalid(row.where.child("mtu"));
          if (!known || row.mtu + kWriteHeaderBytes <= link.mtu) continue;
          reader_.fail(row.where.child("mtu"), "with " + std::to_string(kWriteHeaderBytes) + " bytes of headers, " +
                                                   std::to_string(row.mtu) + " exceeds the link of " +
                                                   nodes_.fabric().nodes[host].name + ": its mtu is " +
                                                   std::to_string(link.mtu));
          return;
        }
      }
    }
  }

  Reader& reader_;
  const RunConfig& run_;
  NodeFinder& nodes_;
  std::vector<uint32_t> builtin_;
  std::unordered_set<std::string> names_;
  uint32_t number_ = 0;  // of the workload: what it draws depends on it
};

}  // namespace

std::vector<Workload> resolve_workloads(Reader& reader, const TestbedRow& testbed, const RunConfig& run,
                                        NodeFinder& nodes) {
  WorkloadResolver resolver(reader, run, nodes);
  std::vector<Workload> out;
  const auto take = [&](const auto& row) {
    if (row.where.kind() != ValueKind::kMap) return;
    Workload workload = resolver.resolve(row);
    if (reader.log().count() == 0) out.push_back(std::move(workload));  // else nobody will have them
  };
  for (const WorkloadRow& row : testbed.workload) take(row);
  for (const TraceRow& row : testbed.traces) take(row);
  for (const CollectiveRow& row : testbed.collectives) take(row);
  for (const TrainingRow& row : testbed.training) take(row);
  return out;
}

}  // namespace softspine::control
