// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <string>

#include "control/collectives/nccl_topology.hpp"
#include "control/format/quantity.hpp"
#include "control/load/listed_flows.hpp"
#include "control/load/resolve.hpp"

namespace softspine::control {
namespace {

using dataplane::Rate;

class ServerResolver {
 public:
  ServerResolver(Reader& reader, const TopologyRow& topology, NodeFinder& nodes, Fabric& fabric)
      : reader_(reader), topology_(topology), nodes_(nodes), fabric_(fabric) {}

  void resolve(const ServerRow& row) {
    const std::string path = path_beside(row.where, row.file);
    const Value where = row.where.child("file");
    const auto text = reader_.text_of(path, kMaxTopologyBytes);
    if (!text) {
      reader_.fail(where, shown(row.file) + " cannot be read: " + text.error());
      return;
    }
    auto read = read_nccl_topology(*text, path);
    if (!read) {
      for (Error& error : read.error()) reader_.log().add(std::move(error));
      reader_.fail(where, "cannot be used: see what is said of it");
      return;
    }
    for (Error& note : read->notes) reader_.warn(std::move(note));
    if (!nodes_.names_known()) return;
    for (auto& [server, hosts] : servers_of(row)) {
      if (!apply(*read, server, hosts, row)) return;
    }
  }

 private:
  // Each with its NICs, in the fabric's order.
  std::map<std::string, std::vector<uint32_t>> servers_of(const ServerRow& row) {
    std::vector<uint32_t> all;
    const std::vector<Value> places = row.where.child("of").each();
    for (size_t i = 0; row.of && i < row.of->items.size() && i < places.size(); ++i) {
      const std::vector<uint32_t> found = nodes_.find_all(row.of->items[i], places[i], Among::kHosts);
      all.insert(all.end(), found.begin(), found.end());
    }
    for (uint32_t n = 0; !row.of && n < fabric_.nodes.size(); ++n) {
      if (fabric_.nodes[n].kind == NodeKind::kHost && is_builtin(fabric_.nodes[n].attachment)) all.push_back(n);
    }
    std::ranges::sort(all);
    std::map<std::string, std::vector<uint32_t>> out;
    for (const uint32_t host : all) out[fabric_.nodes[host].server].push_back(host);
    if (!row.of) std::erase_if(out, [](const auto& it) { return it.second.size() == 1; });
    if (out.empty() && !row.of) reader_.fail(row.where, "there is no server with several NICs");
    return out;
  }

  bool apply(const ServerTopology& topology, const std::string& server, const std::vector<uint32_t>& hosts,
             const ServerRow& row) {
    if (hosts.size() != topology.nics.size() || hosts.size() != topology.gpus.size()) {
      return reader_.fail(row.where.child("file"), "has " + std::to_string(topology.gpus.size()) + " GPUs and " +
                                                       std::to_string(topology.nics.size()) + " NICs, and server " +
                                                       server + " has " + std::to_string(hosts.size()) +
                                                       " NICs here, each with a GPU");
    }
    for (uint32_t gpu = 0; gpu < hosts.size(); ++gpu) {
      FabricNode& host = fabric_.nodes[hosts[topology.gpus[gpu].nic]];
      host.gpu = gpu;
      if (topology.gpu_nvlink && !says_scale_up(host.name)) host.builtin.scale_up_rate = *topology.gpu_nvlink;
      compare(topology.nics[topology.gpus[gpu].nic], host, hosts[topology.gpus[gpu].nic], row);
    }
    return true;
  }

  bool says_scale_up(const std::string& name) const {
    const auto found = std::ranges::find(topology_.nodes.items, name,
                                         [](const auto& item) -> const std::string& { return item.name; });
    return found != topology_.nodes.items.end() && is_given(found->value.where, "scale_up_rate");
  }

  // Once: the first that differs.
  void compare(const ServerNic& nic, const FabricNode& host, uint32_t node, const ServerRow& row) {
    const Rate here = rate_of_host(fabric_, node);
    const auto text = [](Rate rate) { return print_quantity(static_cast<int64_t>(rate.count_bps()), kRateQuantity); };
    std::string wrong;
    if (!nic.rate.is_zero() && nic.rate != here) {
      wrong = "has a NIC of " + text(nic.rate) + ", and the links of " + host.name + " have " + text(here) +
              ", which is what counts";
    } else if (!nic.pcie.is_zero() && nic.pcie < here) {
      wrong = "has a NIC whose PCIe carries " + text(nic.pcie) + ", less than the " + text(here) + " of the links of " +
              host.name + ": PCIe is not modelled";
    }
    if (!wrong.empty() && !std::exchange(has_warned_, true)) reader_.warn(row.where.child("file"), wrong);
  }

  Reader& reader_;
  const TopologyRow& topology_;
  NodeFinder& nodes_;
  Fabric& fabric_;
  bool has_warned_ = false;
};

}  // namespace

void resolve_servers(Reader& reader, const std::optional<TopologyRow>& row, NodeFinder& nodes, Fabric& fabric) {
  if (!row) return;
  ServerResolver resolver(reader, *row, nodes, fabric);
  for (const ServerRow& each : row->servers) resolver.resolve(each);
}

}  // namespace softspine::control
