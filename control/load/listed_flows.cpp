// SPDX-License-Identifier: Apache-2.0
#include "control/load/listed_flows.hpp"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <string_view>
#include <unordered_map>

#include "control/document/words.hpp"
#include "control/format/quantity.hpp"
#include "control/imports/flow_list.hpp"
#include "control/imports/size_file.hpp"
#include "control/traffic/poisson.hpp"

namespace softspine::control {

using dataplane::Duration;
using dataplane::Rate;

namespace {

constexpr uint64_t kArrivalsRngStream = uint64_t{2} << 32;  // beside those of workloads and queue pair numbers

std::string time_text(Duration time) {
  return print_quantity(time.count_ps(), kDurationQuantity);
}

// The hosts of a list, as its format calls them.
class ListHosts {
 public:
  ListHosts(const Fabric& fabric, FlowListFormat format, const std::vector<uint32_t>& hosts, ErrorsByKind& errors)
      : fabric_(fabric), hosts_(hosts), by_number_(format == FlowListFormat::kHpcc), errors_(errors) {
    for (uint32_t n = 0; n < fabric.nodes.size() && !by_number_; ++n) names_.emplace(fabric.nodes[n].name, n);
  }

  std::optional<uint32_t> find(const Field& field) {
    const auto found = by_number_ ? by_number(field) : by_name(field);
    return found && is_good(field, *found) ? found : std::nullopt;
  }

 private:
  std::optional<uint32_t> by_number(const Field& field) {
    uint32_t number = 0;
    const char* end = field.text.data() + field.text.size();
    const auto [stop, error] = std::from_chars(field.text.data(), end, number);
    if (error == std::errc{} && stop == end && number < hosts_.size()) return hosts_[number];
    errors_.fail("host", field,
                 "there is no host " + shown(field.text) + ": 'hosts' of the workload are 0 to " +
                     std::to_string(hosts_.size() - 1));
    return std::nullopt;
  }
  std::optional<uint32_t> by_name(const Field& field) {
    const auto found = names_.find(field.text);
    if (found != names_.end()) return found->second;
    errors_.fail("host", field, "there is no host " + shown(field.text));
    return std::nullopt;
  }
  bool is_good(const Field& field, uint32_t node) {
    const FabricNode& found = fabric_.nodes[node];
    if (found.kind == NodeKind::kHost && is_builtin(found.attachment)) return true;
    return errors_.fail("kind", field, found.name + " is not a built-in host: those alone send and receive");
  }

  const Fabric& fabric_;
  const std::vector<uint32_t>& hosts_;
  bool by_number_;
  ErrorsByKind& errors_;
  std::unordered_map<std::string_view, uint32_t> names_;
};

}  // namespace

std::string path_beside(Value row, const std::string& name) {
  return (std::filesystem::path(row.file()).parent_path() / name).string();
}

Rate rate_of_host(const Fabric& fabric, uint32_t host) {
  uint64_t bps = 0;
  for (const FabricPort& port : fabric.nodes[host].ports) bps += fabric.links[port.link].rate.count_bps();
  return Rate::bps(bps);
}

void ListedFlows::resolve(const WorkloadRow& row, uint32_t number, Workload& out) {
  if (out.hosts.size() < 2) return;
  if (row.pattern == Pattern::kList) read_list(row, out);
  if (row.pattern == Pattern::kPoisson) draw(row, number, out);
  out.hosts.clear();
  if (out.flows.empty()) return;
  out.messages = 1;
  out.message_bytes = std::ranges::min_element(out.flows, {}, &ListedFlow::bytes)->bytes;
}

// `known`: what might stand there instead of a path.
std::optional<std::string> ListedFlows::text_of(Value key, const std::string& path, const std::string& name,
                                                size_t most, const std::string& known) {
  auto text = reader_.text_of(path, most);
  if (!text) {
    reader_.fail(key, shown(name) + " " + text.error() + known);
  } else if (text->size() > most) {
    reader_.fail(key, shown(name) + " is larger than " + std::to_string(most >> 20) + " MiB, the most that is read");
  } else {
    return std::move(*text);
  }
  return std::nullopt;
}

void ListedFlows::read_list(const WorkloadRow& row, Workload& out) {
  if (!row.file) return void(reader_.fail(row.where, "the key 'file' is missing: its flows"));
  const FlowListFormat format = row.format.value_or(FlowListFormat::kHpcc);
  if (format == FlowListFormat::kCsv && row.hosts)
    return void(reader_.fail(row.where.child("hosts"), "are for numbers: this format names its hosts"));
  const std::string path = path_beside(row.where, *row.file);
  const auto text = text_of(row.where.child("file"), path, *row.file, kMaxListBytes, "");
  if (!text) return;
  ErrorsByKind errors(path);
  ListHosts hosts(fabric_, format, out.hosts, errors);
  const auto more = read_flow_list(*text, format, errors, [&](const FlowLine& line) {
    const auto from = hosts.find(line.from);
    const auto to = hosts.find(line.to);
    const Duration after = Duration::ps(line.start_ps) - row.zero;
    if (after < Duration{}) {
      errors.fail("zero", line.start, "starts before " + time_text(row.zero) + ", the workload's zero");
    } else if (after >= run_.duration - row.start) {
      errors.fail("end", line.start,
                  "starts " + time_text(after) + " after the workload: the run ends before (zero: " +
                      time_text(Duration::ps(line.start_ps)) + " would start this flow at once)");
    } else if (from && to) {
      out.from.push_back(*from);
      out.to.push_back(*to);
      out.flows.push_back({line.bytes, out.start + after, out.dscp_given ? std::nullopt : line.dscp});
    }
  });
  if (more) reader_.warn({path, "", more->line, 1, "what stands after the declared flows is not read"});
  if (out.flows.empty() && !errors.any()) reader_.fail(row.where.child("file"), "has no flow");
  errors.put_into(reader_.log());
}

std::optional<SizeDistribution> ListedFlows::sizes_of(const WorkloadRow& row) {
  if (auto published = published_as(*row.sizes)) return published;
  std::string known;
  for (const PublishedSizes& each : published_sizes())
    known += (known.empty() ? "; without a file there are " : ", ") + std::string(each.word);
  const std::string path = path_beside(row.where, *row.sizes);
  const auto text = text_of(row.where.child("sizes"), path, *row.sizes, kMaxTextBytes, known);
  if (!text) return std::nullopt;
  ErrorsByKind errors(path);
  auto out = read_size_file(*text, errors);
  errors.put_into(reader_.log());
  return out;
}

bool ListedFlows::has_keys_to_draw(const WorkloadRow& row, const Workload& out) {
  if (!row.load) return reader_.fail(row.where, "the key 'load' is missing: a share of the hosts' link rates");
  if (!row.sizes) return reader_.fail(row.where, "the key 'sizes' is missing: how large flows are");
  if (row.flows.has_value() == row.until.has_value())
    return reader_.fail(row.where, row.flows ? "has 'flows' and 'until': one of them ends it"
                                             : "needs 'flows', how many, or 'until', for how long");
  for (const std::string_view key : {"load", "flows", "until"}) {
    if (reader_.is_invalid(row.where.child(key))) return false;
  }
  const bool ends = !row.until || *row.until <= run_.duration - row.start;
  return out.start < dataplane::Instant::at(run_.duration) &&
         (ends || reader_.fail(row.where.child("until"), "the run ends before"));
}

void ListedFlows::draw(const WorkloadRow& row, uint32_t number, Workload& out) {
  if (!has_keys_to_draw(row, out)) return;
  const auto sizes = sizes_of(row);
  if (!sizes) return;
  PoissonTraffic traffic{.sizes = *sizes,
                         .load_millionths = row.load->millionths,
                         .rates = {},
                         .until = row.until.value_or(Duration::max()),
                         .flows = row.flows.value_or(kMaxListedFlows + 1)};
  for (const uint32_t host : out.hosts) traffic.rates.push_back(rate_of_host(fabric_, host));
  if (std::ranges::any_of(traffic.rates, &Rate::is_zero)) return;  // a host without a link: its own mistake
  const auto drawn = draw_poisson(traffic, dataplane::Rng{run_.seed, kArrivalsRngStream + number});
  if (drawn.size() > kMaxListedFlows)
    return void(reader_.fail(row.where.child("until"),
                             "until then there are more than " + std::to_string(kMaxListedFlows) + " flows"));
  if (drawn.empty()) return void(reader_.fail(row.where, "no flow arrives in this time"));
  if (drawn.back().start >= run_.duration - row.start)
    return void(reader_.fail(row.where.child("flows"), "the last of them starts " + time_text(drawn.back().start) +
                                                           " after the workload: the run ends before"));
  for (const ArrivedFlow& flow : drawn) {
    out.from.push_back(out.hosts[flow.from]);
    out.to.push_back(out.hosts[flow.to]);
    out.flows.push_back({flow.bytes, out.start + flow.start, std::nullopt});
  }
}

}  // namespace softspine::control
