// SPDX-License-Identifier: Apache-2.0
#include "tests/scenario/random/drawn_testbed.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "control/load/load.hpp"
#include "tests/scenario/random/drawn_files.hpp"
#include "tests/scenario/random/paced_incast.hpp"
#include "tests/scenario/random/testbed_growth.hpp"
#include "tests/scenario/random/testbed_starts.hpp"

namespace softspine::tests {
namespace {

constexpr size_t kGoals = 3;
constexpr uint64_t kAtRandom = 4;

// Tables of which every run should have more than its turn: what users write most, and what reaches furthest.
constexpr std::array<std::string_view, 12> kOften{"workload", "workload",  "workload", "fault", "fault",   "neighbours",
                                                  "hash",     "link_kind", "groups",   "node",  "profile", "testbed"};

bool is_of_several_fabrics(const SchemaKey& goal) {
  return goal.key == "servers_of" || goal.key == "fabrics";
}

class Frame {
 public:
  explicit Frame(uint64_t seed) : rng_(seed, 3), growth_(rng_, Json::object()) {}

  DrawnTestbed with(std::vector<SchemaKey> goals, uint64_t at_random);

 private:
  enum class Mood : uint8_t { kShort, kSlow, kPaced, kFlood };

  uint64_t below(uint64_t n) { return rng_.below(n); }
  uint64_t from_to(uint64_t least, uint64_t most) { return least + below(most - least + 1); }
  bool one_in(uint64_t n) { return below(n) == 0; }
  template <typename T, size_t N>
  T one_of(const std::array<T, N>& all) {
    return all[below(N)];
  }
  Json& testbed() { return growth_.testbed(); }
  std::string instant() { return fmt::format("{}ps", below(duration_ps_)); }

  void draw_run();
  std::string kind_for(const std::vector<SchemaKey>& goals);
  Json link();
  void draw_fabric(const std::string& kind);
  void find_fabric(const std::string& kind);
  void put_start(const SchemaKey& goal, bool of_fabric);
  void double_fabric();
  void flood();
  void read_names();
  void draw_profiles();
  void draw_workloads();
  Json workload(uint64_t number);
  void choose_ends(Json& workload);
  void draw_faults();
  std::string one_name(const char* of);
  Json fault();
  SchemaKey any_key();

  dataplane::Rng rng_;
  TestbedGrowth growth_;
  Mood mood_ = Mood::kShort;
  uint64_t duration_ps_ = 0;
  bool one_is_silent_ = false;  // all send to a host that says nothing, so that its MAC ages
};

void Frame::draw_run() {
  constexpr uint64_t kPsPerMicro = 1'000'000;
  const uint64_t mood = below(48);
  mood_ = mood == 0 ? Mood::kFlood : mood < 8 ? Mood::kSlow : mood < 16 ? Mood::kPaced : Mood::kShort;
  duration_ps_ = from_to(30, 120) * kPsPerMicro + below(kPsPerMicro);
  if (mood_ == Mood::kSlow) duration_ps_ = from_to(4'000, 24'000) * kPsPerMicro + below(kPsPerMicro);
  if (mood_ == Mood::kFlood) duration_ps_ = 2'000 * kPsPerMicro;
  testbed() = {{"name", "drawn"}, {"run", {{"duration", fmt::format("{}ps", duration_ps_)}, {"seed", below(1000)}}}};
}

Json Frame::link() {
  constexpr std::array<uint64_t, 7> kFast{10, 25, 40, 100, 100, 200, 400};
  constexpr std::array<uint64_t, 3> kSlow{10, 10, 25};
  constexpr std::array<std::string_view, 6> kLengths{"1m", "3m", "3m", "40m", "86.4m", "300m"};
  const uint64_t rate = mood_ == Mood::kSlow ? one_of(kSlow) : one_of(kFast);
  return {{"rate", fmt::format("{}Gbps", rate)}, {"length", one_of(kLengths)}};
}

// Of the kinds that `fabric` may be, one in which the goals can be: bonds are keys of few.
std::string Frame::kind_for(const std::vector<SchemaKey>& goals) {
  std::vector<std::string> kinds;
  for (const Json& each : schema().table("testbed")["properties"]["fabric"]["oneOf"])
    kinds.push_back(Schema::table_of(each));
  for (const SchemaKey& goal : goals) {
    if (const Json start = start_of(goal); start.contains("fabric") && start["fabric"].is_object())
      return start["fabric"]["kind"].get<std::string>();
    std::vector<std::string> with;
    for (const std::string& kind : kinds) {
      if (schema().distance({{"$ref", "#/$defs/" + kind}}, goal.table) < Schema::kFar) with.push_back(kind);
    }
    if (!with.empty() && with.size() < kinds.size()) return with[below(with.size())];
  }
  return one_in(4) ? "leaf-spine" : kinds[below(kinds.size())];
}

void Frame::draw_fabric(const std::string& kind) {
  const Json& table = schema().table(kind);
  Json fabric = Json::object();
  for (const auto& [key, of] : table["properties"].items()) {
    const bool is_number = of.contains("type") && of["type"].is_array() && of["type"][0] == "integer";
    if (key == "kind") fabric[key] = kind;
    if (key.ends_with("_link")) fabric[key] = link();
    if (is_number)
      fabric[key] = key == "k" ? 2 : std::max(from_to(1, key == "hosts" ? 6 : 2), of["minimum"].get<uint64_t>());
  }
  testbed()["fabric"] = std::move(fabric);
}

// One that loads, and in which somebody has somebody to send to.
void Frame::find_fabric(const std::string& kind) {
  constexpr int kFabrics = 6;
  for (int i = 0; i < kFabrics; ++i) {
    draw_fabric(kind);
    if (growth_.mend() && growth_.hosts() >= 2) return;
  }
  draw_fabric("leaf-spine");
  testbed()["fabric"].update({{"tors", 2}, {"spines", 2}, {"hosts_per_tor", 2}});
  growth_.mend();
}

// The start of a goal's table, in place of what stands there.
void Frame::put_start(const SchemaKey& goal, bool of_fabric) {
  const Json start = start_of(goal);
  for (const auto& [key, value] : start.items()) {
    const bool is_first = key == "fabric" || key == "topology";
    if (is_first != of_fabric) continue;
    if (value.is_null()) {
      testbed().erase(key);
    } else if (key == "profiles") {
      testbed()[key].merge_patch(value);
    } else {
      testbed()[key] = value;
    }
  }
}

// Two of its kind: the hosts of one may be NICs of the other's servers.
void Frame::double_fabric() {
  const Json fabric = testbed()["fabric"];
  testbed().erase("fabric");
  testbed()["fabrics"] = {{"one", fabric}, {"two", fabric}};
  growth_.names()["fabric"] = {"one"};
}

// More is lost at one instant than any worker's buffer holds: two cables of 100 km, full of the smallest packets.
void Frame::flood() {
  const Json host{{"rate", "400Gbps"}, {"length", "3m"}};
  const Json far{{"rate", "400Gbps"}, {"length", "100km"}};
  testbed()["fabric"] = {{"kind", "leaf-spine"}, {"tors", 2},         {"spines", 1},
                         {"hosts_per_tor", 1},   {"host_link", host}, {"fabric_link", far}};
  testbed()["workload"] = {{{"name", "w0"}, {"pattern", "ring"}, {"message", "1MiB"}, {"messages", 200}, {"mtu", 256}}};
  const std::string at = fmt::format("{}us", from_to(1'050, 1'250));
  testbed()["faults"] = {{{"at", at}, {"node", "spine1"}, {"set", "down"}}};
}

void Frame::read_names() {
  const auto loaded = control::parse_testbed(testbed().dump(), drawn_testbed_file(), {});
  Names& names = growth_.names();
  if (loaded) {
    for (const control::FabricNode& node : loaded->fabric.nodes) {
      const bool is_host = node.kind == control::NodeKind::kHost;
      names[is_host ? "host" : "switch"].push_back(node.name);
      names["node"].push_back(node.name);
      if (node.role == control::Role::kTor) names["tor"].push_back(node.name);
      if (is_host) names["server"].push_back(node.server);
      for (const control::FabricPort& port : node.ports) {
        names["port"].push_back(node.name + ":" + port.name);
        names["port_name"].push_back(port.name);
        if (!is_host) names["switch_port"].push_back(port.name);
      }
    }
  }
  names["port_or_switch"] = names["switch_port"];
  names["port_or_switch"].insert(names["port_or_switch"].end(), names["switch"].begin(), names["switch"].end());
  names["profile"] = {"default", "other"};
  names["base"] = {"lossless", "azure", "sonic-tomahawk-100g-5m"};
  names["pool"] = {"ingress_lossless_pool", "egress_lossless_pool", "egress_lossy_pool"};
  names["buffer_profile"] = {"pg_lossless_auto_profile", "ingress_lossy_profile", "egress_lossless_profile",
                             "egress_lossy_profile"};
  names["scheduler"] = {"scheduler.0", "scheduler.1"};
  names["wred"] = {"AZURE_LOSSLESS"};
  names["row"] = {"AZURE",
                  "AZURE_LOSSLESS",
                  "ingress_lossless_pool",
                  "egress_lossy_pool",
                  "pg_lossless_auto_profile",
                  "egress_lossy_profile",
                  "scheduler.0",
                  "one"};
  add_file_names(names);
  names["free"] = {"default", "other", "one", "AZURE"};
  for (const char* of : {"host", "switch", "port", "profile", "row"})
    names["any"].insert(names["any"].end(), names[of].begin(), names[of].end());
}

void Frame::draw_profiles() {
  constexpr std::array<std::string_view, 4> kLimits{"4KiB", "32KiB", "256KiB", "1MiB"};
  Json lossless{{"base", "lossless"}};
  constexpr std::array<int, 5> kTight{-7, -6, -3, 0, 2};
  if (one_in(2)) lossless["BUFFER_PROFILE"] = {{"pg_lossless_auto_profile", {{"dynamic_th", one_of(kTight)}}}};
  Json profile = one_in(3) ? Json{{"queue_limit", one_of(kLimits)}} : std::move(lossless);
  if (one_in(3)) {
    constexpr std::array<std::string_view, 6> kMisses{"flood",     "flood_all",     "flood",
                                                      "flood_all", "drop_lossless", "drop"};
    const auto miss = one_of(kMisses);
    one_is_silent_ = miss.starts_with("flood") && one_in(2);
    profile["neighbours"] = {{"fdb_aging_time", fmt::format("{}us", from_to(5, 60))}, {"fdb_unicast_miss", miss}};
  }
  if (one_in(4)) profile["hash"] = {{"fields", {"SRC_MAC", "DST_MAC", "SRC_IP", "DST_IP", "L4_SRC_PORT"}}};
  testbed()["profiles"] = {{"default", profile}, {"other", profile}};
}

void Frame::choose_ends(Json& workload) {
  const auto& hosts = growth_.names()["host"];
  const auto host = [&] { return hosts[below(hosts.size())]; };
  // A classic Clos network and a crossbar have hosts that send and others that receive.
  const auto is_in = [](const std::string& name) { return name.starts_with("in"); };
  const Json others(std::vector(hosts.begin() + 1, hosts.end()));
  if (one_is_silent_ && std::ranges::none_of(hosts, is_in)) {
    workload.update({{"pattern", "incast"}, {"from", others}, {"to", hosts[0]}});
    return;
  }
  if (std::ranges::any_of(hosts, is_in) || mood_ == Mood::kSlow || one_in(2)) {
    const bool ends = std::ranges::any_of(hosts, is_in);
    Json from = Json::array();
    Json to = Json::array();
    for (uint64_t i = 0, n = from_to(1, 3); i < n; ++i) {
      const std::string a = host();
      const std::string b = host();
      if (a == b || (ends && (!is_in(a) || is_in(b)))) continue;
      from.push_back(a);
      to.push_back(b);
    }
    workload.update({{"pattern", "pairs"}, {"from", from}, {"to", to}});
  } else if (one_in(2) || hosts.size() > 8) {
    workload["pattern"] = one_in(2) ? "permutation" : "ring";
  } else if (one_in(3)) {
    workload["pattern"] = "all_to_all";
  } else {
    workload.update({{"pattern", "incast"}, {"from", others}, {"to", hosts[0]}});
  }
}

Json Frame::workload(uint64_t number) {
  constexpr std::array<uint64_t, 5> kMtus{256, 1024, 1024, 4096, 4096};
  constexpr std::array<std::string_view, 6> kMessages{"4B", "700B", "4096B", "30000B", "64KiB", "1MiB"};
  constexpr std::array<uint64_t, 7> kDscps{3, 3, 4, 0, 0, 26, 46};
  constexpr std::array<std::string_view, 4> kRates{"5Gbps", "5Gbps", "5Gbps", "20Gbps"};
  Json out{{"name", fmt::format("w{}", number)}, {"pattern", "ring"}};
  choose_ends(out);
  out.update(
      {{"message", one_of(kMessages)}, {"messages", from_to(4, 40)}, {"mtu", one_of(kMtus)}, {"dscp", one_of(kDscps)}});
  if (mood_ == Mood::kSlow) {
    out["rate"] = fmt::format("{}Mbps", from_to(200, 3'000));
    out.update({{"message", "64KiB"}, {"messages", 100'000}, {"mtu", 1024 << (2 * below(2))}});
  } else if (one_in(2)) {
    out["rate"] = one_of(kRates);
    out["messages"] = 1000;
  }
  if (one_in(4)) out["start"] = fmt::format("{}ps", below(duration_ps_ / 4));
  if (one_in(4) && !one_is_silent_) out["transport"] = "rc";
  return out;
}

void Frame::draw_workloads() {
  if (growth_.names()["host"].size() < 2) return;
  Json all = Json::array();
  for (uint64_t i = 0, n = from_to(1, 3); i < n; ++i) all.push_back(workload(i));
  testbed()["workload"] = std::move(all);
}

std::string Frame::one_name(const char* of) {
  const auto& all = growth_.names()[of];
  return all.empty() ? std::string("none") : all[below(all.size())];
}

Json Frame::fault() {
  const auto name = [&](const char* of) { return one_name(of); };
  Json out{{"at", instant()}};
  const std::string until = instant();
  switch (below(6)) {
    case 0: out.update({{"link", name("port")}, {"set", "down"}}); break;
    case 1: out.update({{"link", name("port")}, {"set", "dead"}, {"until", until}}); break;
    case 2: out.update({{"link", name("port")}, {"set", "one_way"}, {"direction", one_in(2) ? "in" : "out"}}); break;
    case 3: out.update({{"node", name("host")}, {"set", "storm"}, {"priorities", {3}}}); break;
    case 4: out.update({{"node", name("switch")}, {"set", "down"}}); break;
    default: out.update({{"link", name("port")}, {"set", "up"}}); break;
  }
  return out;
}

// Of a link that goes down, often the end: a fault that lasts.
void Frame::draw_faults() {
  const bool slow = mood_ == Mood::kSlow;
  if (!slow && one_in(3)) return;
  Json all = Json::array();
  for (uint64_t i = 0, n = from_to(1, 3); i < n; ++i) {
    Json one = fault();
    if (slow && i == 0) one = {{"link", one_name("port")}, {"set", "down"}};
    if (one["set"] == "down" && one.contains("link") && (slow || one_in(2))) {
      one["at"] = fmt::format("{}ps", below(duration_ps_ / 4));
      Json end = one;
      end["set"] = "up";
      end["at"] = fmt::format("{}ps", duration_ps_ / 2 + below(duration_ps_ / 2));
      all.push_back(std::move(end));
    }
    all.push_back(std::move(one));
  }
  testbed()["faults"] = std::move(all);
}

SchemaKey Frame::any_key() {
  const std::vector<SchemaKey>& all = schema().keys();
  if (one_in(2)) return all[below(all.size())];
  const std::string_view table = one_of(kOften);
  std::vector<SchemaKey> of_table;
  std::ranges::copy_if(all, std::back_inserter(of_table), [&](const SchemaKey& key) { return key.table == table; });
  return of_table[below(of_table.size())];
}

bool is_of_fabric(const SchemaKey& goal, const std::string& kind) {
  return goal.table == kind || goal.table == "link_kind";
}

DrawnTestbed Frame::with(std::vector<SchemaKey> goals, uint64_t at_random) {
  DrawnTestbed out;
  draw_run();
  const std::string kind = kind_for(goals);
  const auto add = [&](const SchemaKey& goal) {
    if (!growth_.add(goal)) out.refused.push_back({goal, growth_.why()});
  };
  if (mood_ == Mood::kFlood) {
    flood();
    growth_.mend();
    read_names();
  } else {
    find_fabric(kind);
    for (const SchemaKey& goal : goals) put_start(goal, true);
    if (std::ranges::any_of(goals, is_of_several_fabrics)) double_fabric();
    for (const SchemaKey& goal : goals) {
      if (is_of_fabric(goal, kind)) add(goal);
    }
    read_names();
    draw_profiles();
    draw_workloads();
    if (mood_ != Mood::kPaced || one_in(3)) draw_faults();
    if (mood_ == Mood::kPaced && growth_.names()["host"].size() >= 2)
      draw_paced_incast(rng_, growth_.names()["host"], testbed());
    for (const SchemaKey& goal : goals) put_start(goal, false);
    growth_.mend();
  }
  for (const SchemaKey& goal : goals) {
    if (mood_ == Mood::kFlood || !is_of_fabric(goal, kind)) add(goal);
  }
  if (mood_ != Mood::kFlood) {
    for (uint64_t i = 0; i < at_random; ++i) {
      goals.push_back(any_key());
      add(goals.back());
    }
  }
  out.floods = mood_ == Mood::kFlood;
  out.text = testbed().dump(1);
  out.keys = keys_in(testbed());
  out.goals = std::move(goals);
  out.loads = growth_.loads();
  return out;
}

}  // namespace

DrawnTestbed drawn_testbed(uint64_t seed) {
  std::vector<SchemaKey> goals;
  const std::vector<SchemaKey>& all = schema().keys();
  for (size_t i = 0; i < kGoals; ++i) goals.push_back(all[(seed * kGoals + i) % all.size()]);
  return Frame(seed).with(std::move(goals), kAtRandom);
}

DrawnTestbed drawn_testbed_with(const SchemaKey& goal, uint64_t seed) {
  return Frame(seed).with({goal}, 0);
}

}  // namespace softspine::tests
