// SPDX-License-Identifier: Apache-2.0
#include "tools/softspine/pause_counters_command.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>

#include "control/model/role.hpp"
#include "control/telemetry/json.hpp"
#include "control/telemetry/text_table.hpp"
#include "tools/storm/counted_roots.hpp"

namespace softspine::tools {

namespace {

struct CounterArguments {
  std::vector<std::string> readings;
  std::string testbed;
  bool json = false;
};

struct ReadingFiles {
  std::string node;
  std::string port;  // of ethtool's counters; empty: a switch's
  std::string before;
  std::string after;
};

std::expected<ReadingFiles, std::string> files_of(const std::string& text) {
  const size_t equals = text.find('=');
  const size_t comma = text.find(',', equals == std::string::npos ? 0 : equals);
  if (equals == 0 || equals == std::string::npos || comma == std::string::npos) {
    return std::unexpected("'" + text + "': write NODE=BEFORE,AFTER or NODE:PORT=BEFORE,AFTER");
  }
  const std::string place = text.substr(0, equals);
  const size_t colon = place.rfind(':');
  return ReadingFiles{.node = place.substr(0, colon),
                      .port = colon == std::string::npos ? "" : place.substr(colon + 1),
                      .before = text.substr(equals + 1, comma - equals - 1),
                      .after = text.substr(comma + 1)};
}

void know(storm::CountedFabric& fabric, const control::Testbed& testbed) {
  const control::Fabric& known = testbed.fabric;
  for (const control::FabricLink& link : known.links) {
    fabric.peers.emplace(known.name_of(link.a), known.name_of(link.b));
    fabric.peers.emplace(known.name_of(link.b), known.name_of(link.a));
  }
}

class Counters {
 public:
  // The error is a sentence.
  std::expected<void, std::string> add(const std::string& text) {
    const auto files = files_of(text);
    if (!files) return std::unexpected(files.error());
    const auto before = storm::read_counts(files->before, files->port);
    if (!before) return std::unexpected(before.error());
    const auto after = storm::read_counts(files->after, files->port);
    if (!after) return std::unexpected(after.error());
    const auto counted = storm::difference(*before, *after);
    if (!counted) return std::unexpected(text + ": " + counted.error());
    if (counted->ports.contains(""))
      return std::unexpected(text + ": ethtool's counters are of a port: write NODE:PORT=");
    storm::CountedNode& node = node_of(files->node);
    // A NIC's counters are of one port, a switch shows all that it has.
    node.is_host = !files->port.empty();
    for (const auto& [port, counts] : counted->ports) {
      if (!node.ports.emplace(port, counts).second) return std::unexpected(text + ": " + port + " is counted twice");
    }
    if (!node.is_host) node.known_ports = static_cast<uint32_t>(node.ports.size());
    for (const auto& [queue, storms] : counted->watchdog) {
      if (!storms.is_stormed && storms.detected == 0) continue;
      watchdog_.push_back(fmt::format("the watchdog of {}:{} found {} storm{} of queue {}{}", files->node, queue.first,
                                      storms.detected, storms.detected == 1 ? "" : "s", queue.second,
                                      storms.is_stormed ? ", and one is not over" : ""));
    }
    return {};
  }

  // The error is a sentence: a testbed of another fabric tells nothing of this one.
  std::expected<void, std::string> fit(const control::Testbed& testbed) {
    for (storm::CountedNode& node : fabric_.nodes) {
      const auto known = std::ranges::find(testbed.fabric.nodes, node.name, &control::FabricNode::name);
      if (known == testbed.fabric.nodes.end()) return std::unexpected(node.name + " is no node of " + testbed.name);
      node.is_host = control::tier_of(known->role) == control::kHostTier;
      node.known_ports = static_cast<uint32_t>(known->ports.size());
      // What no cable is at asks nobody, and counts for nothing.
      std::erase_if(node.ports, [&](const auto& it) {
        return std::ranges::find(known->ports, it.first, &control::FabricPort::name) == known->ports.end();
      });
    }
    know(fabric_, testbed);
    return {};
  }

  const storm::CountedFabric& fabric() const { return fabric_; }
  const std::vector<std::string>& watchdog() const { return watchdog_; }

 private:
  storm::CountedNode& node_of(const std::string& name) {
    const auto known = std::ranges::find(fabric_.nodes, name, &storm::CountedNode::name);
    return known != fabric_.nodes.end() ? *known
                                        : fabric_.nodes.emplace_back(storm::CountedNode{.name = name, .ports = {}});
  }

  storm::CountedFabric fabric_;
  std::vector<std::string> watchdog_;
};

const char* word_of(storm::Suspicion suspicion) {
  switch (suspicion) {
    case storm::Suspicion::kCan: return "can be";
    case storm::Suspicion::kCannot: return "cannot be";
    case storm::Suspicion::kUnknown: break;
  }
  return "cannot be known";
}

std::string headline(const storm::CountedVerdict& verdict) {
  if (verdict.suspects.empty()) return "No pauses were counted";
  if (!verdict.roots.empty()) {
    std::string out = "The root is ";
    for (const std::string& root : verdict.roots) out += (&root == &verdict.roots.front() ? "" : "; ") + root;
    return out;
  }
  return "Who is the root cannot be known by these counters alone: a capture can tell";
}

void print_text(const storm::CountedVerdict& verdict, const std::vector<std::string>& watchdog) {
  fmt::print("{}.\n", headline(verdict));
  for (const std::string& note : verdict.notes) fmt::print("note: {}\n", note);
  for (const std::string& line : watchdog) fmt::print("note: {}\n", line);
  if (verdict.suspects.empty()) return;
  control::TextTable table{{"<NODE", "PRIO", "<ROOT", "ASKED", "WAS ASKED", "<WHY"}};
  for (const storm::CountedSuspect& it : verdict.suspects) {
    table.add({it.node, std::to_string(it.priority), word_of(it.suspicion), control::grouped(it.asked),
               control::grouped(it.was_asked), it.why});
  }
  fmt::print("\n{}", table.text());
}

void print_json(const storm::CountedVerdict& verdict, const std::vector<std::string>& watchdog) {
  control::Json suspects = control::Json::array();
  for (const storm::CountedSuspect& it : verdict.suspects) {
    suspects.push_back({{"node", it.node},
                        {"priority", it.priority},
                        {"root", word_of(it.suspicion)},
                        {"why", it.why},
                        {"asked_frames", it.asked},
                        {"was_asked_frames", it.was_asked}});
  }
  const control::Json out = {{"headline", headline(verdict)},
                             {"roots", verdict.roots},
                             {"suspects", std::move(suspects)},
                             {"watchdog", watchdog},
                             {"notes", verdict.notes}};
  fmt::print("{}\n", out.dump(2, ' ', false, control::Json::error_handler_t::replace));
}

Status run(const CounterArguments& arguments) {
  const auto refused = [](const std::string& why) {
    fmt::print(stderr, "softspine: {}\n", why);
    return Status::kWrongInput;
  };
  Counters counters;
  for (const std::string& text : arguments.readings) {
    if (const auto added = counters.add(text); !added) return refused(added.error());
  }
  if (!arguments.testbed.empty()) {
    const auto testbed = read_testbed(arguments.testbed, {});
    if (!testbed) return testbed.error();
    if (const auto fits = counters.fit(*testbed); !fits) return refused(fits.error());
  }
  const storm::CountedVerdict verdict = storm::judge_counts(counters.fabric());
  (arguments.json ? print_json : print_text)(verdict, counters.watchdog());
  return Status::kDone;
}

}  // namespace

void add_pause_counters_command(CLI::App& app, Status& status) {
  auto arguments = std::make_shared<CounterArguments>();
  CLI::App* command =
      app.add_subcommand("pause-counters", "who can be the root of pauses, by counters that were read twice");
  command->footer(
      "Where nothing could be captured. Of SONiC: the output of 'show pfc counters', and of 'show pfcwd stats' in the\n"
      "same file if wanted. Of a NIC: that of 'ethtool -S' (mlx5). Counters have no order in time: they tell who can "
      "be\n"
      "the root and who cannot, seldom who it is.\n"
      "Examples:\n"
      "  softspine pause-counters tor1=t1.before,t1.after tor2=t2.before,t2.after --testbed two-tier.yaml\n"
      "  softspine pause-counters tor1=t1.before,t1.after h1:eth0=h1.before,h1.after");
  command
      ->add_option("READING", arguments->readings,
                   "NODE=BEFORE,AFTER of a switch, NODE:PORT=BEFORE,AFTER of a NIC's port: two files each")
      ->required();
  command->add_option("--testbed", arguments->testbed,
                      "the testbed's file: its links, its hosts, how many ports a node has");
  command->add_flag("--json", arguments->json, "for programs");
  command->callback([arguments, &status] { status = run(*arguments); });
}

}  // namespace softspine::tools
