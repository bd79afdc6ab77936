// SPDX-License-Identifier: Apache-2.0
#include "tools/softspine/top_command.hpp"

#include <fmt/format.h>

#include <chrono>
#include <map>
#include <memory>
#include <string>

#include "control/telemetry/json.hpp"
#include "tools/command/complain.hpp"
#include "tools/command/wrong_input.hpp"
#include "tools/softspine/fabric_client.hpp"
#include "tools/softspine/top/top_batch.hpp"
#include "tools/softspine/top/top_screen.hpp"

namespace softspine::tools {

namespace {

using control::RankBy;

constexpr std::chrono::milliseconds kLeastInterval{20};

struct TopArguments : FabricArguments {
  TopSettings settings;
  std::chrono::nanoseconds every = std::chrono::seconds{1};
  bool is_once = false;
  size_t rows = 20;
};

Status print_once(FabricWatch& watch, const TopArguments& arguments) {
  const auto looks = look_twice(watch, arguments.every);
  if (!looks) return wrong_input(looks.error());
  if (looks->is_since_start) complain("softspine: the fabric has ended: rates since its start\n");
  if (arguments.json) {
    print_result(top_json(watch.map(), *looks, arguments.settings, arguments.rows));
  } else {
    fmt::print("{}", top_text(watch.map(), *looks, arguments.settings, arguments.rows));
  }
  return Status::kDone;
}

Status top(const TopArguments& arguments) {
  auto watch = FabricWatch::open(arguments.fabric);
  if (!watch) return wrong_input(watch.error());
  if (arguments.is_once || arguments.json || !is_screen()) return print_once(*watch, arguments);
  const std::string ending = TopScreen{*watch, arguments.settings, arguments.every}.run();
  if (!ending.empty()) fmt::print("{}\n", ending);
  return Status::kDone;
}

void add_options(CLI::App& command, const std::shared_ptr<TopArguments>& arguments) {
  static const std::map<std::string, RankBy> kWords = [] {
    std::map<std::string, RankBy> out;
    for (const RankBy by : {RankBy::kHurt, RankBy::kPaused, RankBy::kDropped, RankBy::kOccupied, RankBy::kUtilised}) {
      out[word_of(by)] = by;
    }
    return out;
  }();
  add_fabric_options(command, *arguments);
  command.add_flag("-b,--once", arguments->is_once, "print one table and end, as where there is no terminal");
  command.add_option_function<std::string>(
      "--every",
      [arguments](const std::string& text) {
        arguments->every =
            std::chrono::nanoseconds{quantity_argument("--every", text, control::kDurationQuantity) / 1'000};
        if (arguments->every < kLeastInterval) throw CLI::ValidationError("--every", "at least 20ms");
      },
      "between two looks, on the wall clock (default: 1s)");
  command
      .add_option_function<std::string>(
          "--sort", [arguments](const std::string& word) { arguments->settings.by = kWords.at(word); },
          "by hurt, paused, drops, occupancy or utilisation (default: hurt)")
      ->check(CLI::IsMember(kWords));
  command.add_option("--filter", arguments->settings.filter, "only ports that have this text in their name or peer's");
  command.add_flag_callback(
      "--queues", [arguments] { arguments->settings.kind = RowKind::kLanes; },
      "a line for each queue and priority group that was used");
  command.add_option("--rows", arguments->rows, "lines of the one table, at most")
      ->check(CLI::Range(1, 10'000'000))
      ->capture_default_str();
}

}  // namespace

void add_top_command(CLI::App& app, Status& status) {
  auto arguments = std::make_shared<TopArguments>();
  CLI::App* command = app.add_subcommand("top", "ports and queues of a running fabric, sorted by what hurts");
  command->footer(
      "Keys: q quit, h p d o u sort, v queues, / filter, space stand still, ? help.\n"
      "Rates are per second of emulated time. Without a terminal it prints one table and ends. NO_COLOR is obeyed.\n"
      "Examples:\n"
      "  softspine top\n"
      "  softspine top --fabric pfc-storm --sort paused\n"
      "  softspine top --once --queues --filter tor1\n"
      "  softspine top --json --every 200ms | jq '.rows[0]'");
  add_options(*command, arguments);
  command->callback([arguments, &status] { status = top(*arguments); });
}

}  // namespace softspine::tools
