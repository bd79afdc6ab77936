// SPDX-License-Identifier: Apache-2.0
#include "tools/softspine/pause_counters_command.hpp"

#include <fmt/format.h>

#include <memory>

#include "analysis/reading/counter_readings.hpp"
#include "control/telemetry/json.hpp"
#include "control/telemetry/text_table.hpp"
#include "tools/command/wrong_input.hpp"

namespace softspine::tools {

namespace {

struct CounterArguments {
  std::vector<std::string> readings;
  std::string testbed;
  bool json = false;
};

const char* word_of(analysis::storm::Suspicion suspicion) {
  switch (suspicion) {
    case analysis::storm::Suspicion::kCan: return "can be";
    case analysis::storm::Suspicion::kCannot: return "cannot be";
    case analysis::storm::Suspicion::kUnknown: break;
  }
  return "cannot be known";
}

std::string headline(const analysis::storm::CountedVerdict& verdict) {
  if (verdict.suspects.empty()) return "No pauses were counted";
  if (!verdict.roots.empty()) {
    std::string out = "The root is ";
    for (const std::string& root : verdict.roots) out += (&root == &verdict.roots.front() ? "" : "; ") + root;
    return out;
  }
  return "Who is the root cannot be known by these counters alone: a capture can tell";
}

constexpr size_t kNames = 8;

// "h2, h3 and 40 more"
std::string names(const std::vector<std::string>& all) {
  std::string out;
  for (size_t i = 0; i < all.size() && i < kNames; ++i) out += (i == 0 ? "" : ", ") + all[i];
  return all.size() <= kNames ? out : fmt::format("{} and {} more", out, all.size() - kNames);
}

void print_text(const analysis::storm::CountedVerdict& verdict, const std::vector<std::string>& watchdog) {
  fmt::print("{}.\n", headline(verdict));
  for (const std::string& note : verdict.notes) fmt::print("note: {}\n", note);
  for (const std::string& line : watchdog) fmt::print("note: {}\n", line);
  if (!verdict.unread.empty()) {
    fmt::print("note: not read, nor was a neighbour, so any of them may be the root: {}\n", names(verdict.unread));
  }
  if (verdict.suspects.empty()) return;
  control::TextTable table{{"<NODE", "PRIO", "<ROOT", "ASKED", "WAS ASKED", "<WHY"}};
  for (const analysis::storm::CountedSuspect& it : verdict.suspects) {
    table.add({it.node, it.priority == analysis::storm::kWholeLink ? "all" : std::to_string(it.priority),
               word_of(it.suspicion), control::grouped(it.asked), control::grouped(it.was_asked), it.why});
  }
  fmt::print("\n{}", table.text());
}

void print_json(const analysis::storm::CountedVerdict& verdict, const std::vector<std::string>& watchdog) {
  control::Json suspects = control::Json::array();
  for (const analysis::storm::CountedSuspect& it : verdict.suspects) {
    suspects.push_back(
        {{"node", it.node},
         {"priority", it.priority == analysis::storm::kWholeLink ? control::Json() : control::Json(it.priority)},
         {"of", analysis::storm::name_of_class(it.priority)},
         {"root", word_of(it.suspicion)},
         {"why", it.why},
         {"asked_frames", it.asked},
         {"was_asked_frames", it.was_asked}});
  }
  const control::Json out = {
      {"headline", headline(verdict)}, {"roots", verdict.roots}, {"suspects", std::move(suspects)},
      {"unread", verdict.unread},      {"watchdog", watchdog},   {"notes", verdict.notes}};
  fmt::print("{}\n", out.dump(2, ' ', false, control::Json::error_handler_t::replace));
}

Status run(const CounterArguments& arguments) {
  analysis::CounterReadings counters;
  for (const std::string& text : arguments.readings) {
    if (const auto added = counters.add(text); !added) return wrong_input(added.error());
  }
  if (!arguments.testbed.empty()) {
    const auto testbed = read_testbed(arguments.testbed, {});
    if (!testbed) return testbed.error();
    if (const auto fits = counters.fit(*testbed); !fits) return wrong_input(fits.error());
  }
  const analysis::storm::CountedVerdict verdict = analysis::storm::judge_counts(counters.fabric());
  (arguments.json ? print_json : print_text)(verdict, counters.watchdog());
  return Status::kDone;
}

}  // namespace

void add_pause_counters_command(CLI::App& app, Status& status) {
  auto arguments = std::make_shared<CounterArguments>();
  CLI::App* command =
      app.add_subcommand("pause-counters", "who can be the root of pauses, by counters that were read twice");
  command->footer(
      "Where nothing could be captured. Of SONiC: the output of 'show pfc counters', with --history or without, and "
      "of\n"
      "'show pfcwd stats' in the same file if wanted. Of a NIC: that of 'ethtool -S' (mlx5, ice, i40e, bnxt): PFC by\n"
      "priority, and link-level PAUSE, whose priority is 'all'. Counters have no order in time: they tell who can be\n"
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
