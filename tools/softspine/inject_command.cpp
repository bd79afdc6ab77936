// SPDX-License-Identifier: Apache-2.0
#include "tools/softspine/inject_command.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <memory>
#include <optional>
#include <string_view>
#include <thread>

#include "control/model/fault_kinds.hpp"
#include "dataplane/edge/pcap_reader.hpp"
#include "tools/command/hex.hpp"
#include "tools/command/wrong_input.hpp"
#include "tools/softspine/fabric_client.hpp"

namespace softspine::tools {

using control::Client;
using control::FaultKindRow;
using control::Json;
using control::Result;

namespace {

struct InjectArguments : FabricArguments {
  std::string where;
  std::string what;  // a fault, or a file
  std::string lasts;
  std::string drop;
  std::string corrupt;
  std::string direction;
  std::string drain;
  std::string carrier;
  std::string links_after;
  std::vector<std::string> priorities;
};

// Those that can be injected: of cables, ports, hosts, then of links, and what ends them.
std::vector<FaultKindRow> faults() {
  std::vector<FaultKindRow> out;
  std::ranges::copy_if(control::kFaultKinds, std::back_inserter(out),
                       [](const FaultKindRow& row) { return !row.help.empty(); });
  std::ranges::stable_sort(out, {}, &FaultKindRow::target);
  return out;
}

std::string words_with(control::FaultKeys key) {
  return control::fault_words(faults(), [key](const FaultKindRow& row) { return (row.keys & key) != 0; });
}

// The keys of a fault, as a testbed file has them; the fabric reports their errors.
Json fault_of(const InjectArguments& arguments) {
  Json out{{arguments.where.find(':') == std::string::npos ? "node" : "link", arguments.where},
           {"set", arguments.what}};
  const auto add = [&out](const char* key, const std::string& value) {
    if (!value.empty()) out[key] = value;
  };
  add("for", arguments.lasts);
  add("drop", arguments.drop);
  add("corrupt", arguments.corrupt);
  add("direction", arguments.direction);
  add("drain", arguments.drain);
  add("carrier", arguments.carrier);
  add("links_after", arguments.links_after);
  if (!arguments.priorities.empty()) out["priorities"] = arguments.priorities;
  return out;
}

// Until no injected frame is under way any more, so that counters that are read next have all that came of them. Frames
// in a paused queue may stay there: waits for a millisecond of emulated time, and a minute, and no longer.
// Nothing if the run has ended meanwhile: so have they.
std::optional<uint64_t> await_end_of_frames(Client& client, int64_t last_ps) {
  constexpr int64_t kMaxWaitPs = 1'000'000'000;
  const auto give_up = std::chrono::steady_clock::now() + std::chrono::minutes{1};
  for (;;) {
    const Result asked = client.call("injected", Json::object());
    if (!asked) return std::nullopt;
    const uint64_t under_way = asked->at("under_way").get<uint64_t>();
    const bool enough = asked->at("at_ps").get<int64_t>() > last_ps + kMaxWaitPs;
    if (under_way == 0 || enough || std::chrono::steady_clock::now() > give_up) return under_way;
    std::this_thread::sleep_for(std::chrono::milliseconds{10});
  }
}

Status inject_frames(const InjectArguments& arguments) {
  auto file = dataplane::PcapReader::open(arguments.what);
  if (!file) {
    // libpcap names the file in some of its messages only.
    const std::string& why = file.error().message;
    return wrong_input(why.starts_with(arguments.what) ? why : arguments.what + ": " + why);
  }
  auto client = Client::connect_to_fabric(arguments.fabric);
  if (!client) return wrong_input(client.error());
  dataplane::RecordedFrame frame;
  uint64_t injected = 0;
  int64_t last_ps = 0;
  while (file->next(frame)) {
    if (frame.captured < frame.length)
      return wrong_input(fmt::format("{}: frame {} was cut", arguments.what, injected + 1));
    const Result result =
        client->call("inject", {{"port", arguments.where}, {"frame", hex_of({frame.bytes, frame.captured})}});
    if (!result) return wrong_input(fmt::format("frame {}: {}", injected + 1, result.error()));
    last_ps = result->at("at_ps").get<int64_t>();
    ++injected;
  }
  if (!file->error().empty()) return wrong_input(arguments.what + ": " + file->error());
  const uint64_t under_way = injected == 0 ? 0 : await_end_of_frames(*client, last_ps).value_or(0);
  if (arguments.json) {
    fmt::print("{}\n", Json{{"injected_packets", injected}, {"under_way_packets", under_way}}.dump());
  } else {
    fmt::print("{} frames arrived at {}{}\n", injected, arguments.where,
               under_way == 0 ? "" : fmt::format(", {} injected ones are still under way", under_way));
  }
  return Status::kDone;
}

Status inject(const InjectArguments& arguments) {
  const bool is_fault = std::ranges::any_of(faults(), [&what = arguments.what](const FaultKindRow& row) {
    return what == row.word || (!what.empty() && what == row.old_word);
  });
  return is_fault ? ask_fabric(arguments, "fault", fault_of(arguments)) : inject_frames(arguments);
}

void add_fault_options(CLI::App& command, InjectArguments& out) {
  command.add_option("--for", out.lasts, "emulated time after which the fault ends, e.g. 5ms; else it stays");
  command.add_option("--drop", out.drop, "lossy: the share of frames that never arrive, e.g. 1%");
  command.add_option("--corrupt", out.corrupt, "lossy: the share of frames that arrive damaged (a wrong FCS)");
  command
      .add_option("--direction", out.direction,
                  "lossy: both (if not given), or what the port sends: out, or gets: in; one_way: out or in")
      ->check(CLI::IsMember({"both", "out", "in"}));
  command.add_option("--drain", out.drain, "slow_receiver: the rate of its buffer, e.g. 25Gbps; else nothing drains");
  command
      .add_option(
          "--carrier", out.carrier,
          words_with(control::kFaultCarrier) + ": who gets no frames keeps its signal: stays, or loses it: goes")
      ->check(CLI::IsMember({"stays", "goes"}));
  command.add_option("--links-after", out.links_after,
                     "drained: how long after the routes the links go down, e.g. 1ms; else they stay up");
  command.add_option("--priorities", out.priorities, words_with(control::kFaultPriorities) + ": which, e.g. 3,4")
      ->delimiter(',');
}

std::string faults_help() {
  std::string out;
  for (const FaultKindRow& row : faults()) out += fmt::format("  {:<14} {}\n", row.word, row.help);
  return out;
}

}  // namespace

void add_inject_command(CLI::App& app, Status& status) {
  auto arguments = std::make_shared<InjectArguments>();
  CLI::App* command = app.add_subcommand(
      "inject", "let frames of a capture arrive at a port of a running fabric, or make something fail");
  command->footer(
      "Each frame arrives as if it had come over the port's link, one behind the other, as soon as it can. The "
      "command\n"
      "returns when all have come to their end, so that what is shown next counts them; it says how many have not "
      "after\n"
      "1 ms of emulated time.\n"
      "Faults, as `faults:` of a testbed file has them:\n" +
      faults_help() +
      "Links that go down: softspine link. Other thresholds and headroom: softspine profile.\n"
      "Examples:\n"
      "  softspine inject tor1:Ethernet0 odd-frames.pcap\n"
      "  softspine inject tor1:Ethernet16 lossy --drop 0.1% --corrupt 0.01%\n"
      "  softspine inject tor1:Ethernet16 clear\n"
      "  softspine inject tor1:Ethernet0 deaf --priorities 3\n"
      "  softspine inject tor1:Ethernet0 tx_disabled --for 5ms\n"
      "  softspine inject h1 storm --priorities 3,4 --for 5ms\n"
      "  softspine inject h2 slow_receiver --drain 25Gbps\n"
      "  softspine inject tor1:Ethernet16 one_way --direction out\n"
      "  softspine inject spine1 drained --links-after 1ms\n"
      "  softspine inject tor1:Ethernet0 ./clear       a file of that name");
  command->add_option("WHERE", arguments->where, "NODE:PORT, or a NODE")->required();
  command->add_option("WHAT", arguments->what, "pcap or pcapng with whole frames, or a fault: see below")->required();
  add_fault_options(*command, *arguments);
  add_fabric_options(*command, *arguments);
  command->callback([arguments, &status] { status = inject(*arguments); });
}

}  // namespace softspine::tools
