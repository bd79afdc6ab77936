// SPDX-License-Identifier: Apache-2.0
#include "tools/softspine/storm_command.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <set>

#include "analysis/reading/storm_input.hpp"
#include "analysis/storm/picture.hpp"
#include "analysis/storm/port_list.hpp"
#include "analysis/storm/storm_report.hpp"
#include "control/telemetry/json.hpp"
#include "tools/command/complain.hpp"
#include "tools/command/picture_file.hpp"
#include "tools/command/reading_progress.hpp"
#include "tools/command/wrong_input.hpp"

namespace softspine::tools {

using dataplane::Duration;
using dataplane::Rate;

namespace {

constexpr size_t kRows = 25;
constexpr auto kVerdictEvery = std::chrono::seconds{1};
constexpr size_t kMaxPausesToLookAt = 100'000;  // what is analysed each second has to be analysed within it

struct StormArguments {
  analysis::StormInput input;
  std::string testbed;
  std::vector<std::string> ports;
  std::string picture;
  std::string events;
  analysis::storm::StormRule rule;
  bool json = false;
  bool all = false;
};

analysis::storm::KnownFabric known_fabric(const control::Testbed& testbed) {
  analysis::storm::KnownFabric known;
  std::set<uint64_t> shared;  // addresses that several ports have: they name no port
  const control::Fabric& fabric = testbed.fabric;
  for (const control::FabricLink& link : fabric.links) {
    known.links.emplace_back(fabric.name_of(link.a), fabric.name_of(link.b));
  }
  for (uint32_t n = 0; n < fabric.nodes.size(); ++n) {
    const control::FabricNode& node = fabric.nodes[n];
    known.tiers.emplace_back(node.name, tier_of(node.role));
    for (uint16_t p = 0; p < node.ports.size(); ++p) {
      uint64_t mac = 0;
      for (const uint8_t byte : node.ports[p].mac.bytes) mac = mac << 8 | byte;
      if (mac != 0 && !known.port_of_mac.emplace(mac, fabric.name_of({n, p})).second) shared.insert(mac);
    }
  }
  for (const uint64_t mac : shared) known.port_of_mac.erase(mac);
  return known;
}

// A testbed of which the capture shows nothing is another fabric's.
bool fits(const analysis::storm::KnownFabric& testbed, const analysis::storm::PauseRecorder& recorded) {
  std::set<std::string> ports;
  for (const auto& [a, b] : testbed.links) ports.insert({a, b});
  return std::ranges::any_of(recorded.ports(),
                             [&](const analysis::storm::RecordedPort& it) { return ports.contains(it.name); }) ||
         std::ranges::any_of(recorded.senders(),
                             [&](const analysis::storm::Sender& it) { return testbed.port_of_mac.contains(it.mac); });
}

// Files given beside the captures.
struct Beside {
  analysis::storm::KnownFabric testbed;
  std::string testbed_name;
  std::vector<analysis::storm::KnownFabric> lists;  // of ports, by their order on the command line
  analysis::storm::KnownFabric all;                 // the testbed and the lists of ports
  std::optional<analysis::storm::EventLog> events;
};

// Notes for the reader on the files given beside the capture.
std::vector<std::string> notes_on(const StormArguments& arguments, const Beside& beside,
                                  const analysis::storm::PauseRecorder& recorded) {
  std::vector<std::string> notes;
  for (size_t i = 0; i < beside.lists.size(); ++i) {
    const std::string lines = analysis::storm::unmatched_lines(beside.lists[i], recorded);
    if (lines.empty()) continue;
    notes.push_back(
        fmt::format("{}: nothing in this capture has these names or addresses: line {}", arguments.ports[i], lines));
  }
  const bool is_mapped = std::ranges::any_of(recorded.ports(), [&](const analysis::storm::RecordedPort& it) {
    return beside.all.port_of_interface.contains(it.name);
  });
  if (!arguments.testbed.empty() && !is_mapped && !fits(beside.testbed, recorded)) {
    notes.push_back(arguments.testbed +
                    ": none of its ports and addresses is in this capture: is it another fabric's?");
  }
  return notes;
}

// A capture, or those on one time line, with what is said of it.
struct Judged {
  analysis::storm::CaptureFacts facts;
  analysis::storm::PauseLog log;
  analysis::storm::Analysis analysis;
};

Judged judge(const StormArguments& arguments, const Beside& beside, analysis::ReadCapture capture) {
  Judged out{.facts = std::move(capture.facts),
             .log = analysis::storm::assemble_log(capture.recorded, beside.all, capture.clocks),
             .analysis = {}};
  std::vector<std::string>& notes = out.facts.notes;
  const auto more = notes_on(arguments, beside, capture.recorded);
  notes.insert(notes.end(), more.begin(), more.end());
  if (!out.log.contradiction.empty()) notes.push_back("capture and testbed do not fit: " + out.log.contradiction);
  if (out.log.copies > 0) {
    notes.push_back(analysis::count_text(out.log.copies,
                                         "pause frame was captured in a second place, too, and counts once",
                                         "pause frames were captured in a second place, too, and count once"));
  }
  out.analysis = analysis::storm::analyse(out.log, arguments.rule);
  if (beside.events) {
    const bool is_emulated = !out.facts.began_unix_seconds;
    out.facts.story = analysis::storm::tell(*beside.events, out.log, out.analysis, beside.testbed_name, is_emulated);
    notes.insert(notes.end(), out.facts.story->notes.begin(), out.facts.story->notes.end());
  }
  return out;
}

// While a capture grows: the verdict so far, whenever it changes.
class VerdictSoFar {
 public:
  VerdictSoFar(const StormArguments& arguments, const analysis::storm::KnownFabric& known)
      : arguments_(arguments), known_(known) {}

  void look(const analysis::storm::PauseRecorder& recorded,
            const std::vector<analysis::storm::CapturedInterface>& interfaces) {
    const auto now = std::chrono::steady_clock::now();
    const bool is_new = recorded.tally().pause_frames != seen_;
    if (!is_new || now - last_ < kVerdictEvery || recorded.pauses().size() > kMaxPausesToLookAt) return;
    last_ = now;
    seen_ = recorded.tally().pause_frames;
    analysis::storm::PauseRecorder copy = recorded;
    copy.finish(interfaces);
    const analysis::storm::PauseLog log = analysis::storm::assemble_log(copy, known_);
    const std::string verdict = analysis::storm::headline(log, analysis::storm::analyse(log, arguments_.rule));
    if (verdict == said_) return;
    said_ = verdict;
    complain("after {}: {}\n", analysis::storm::time_text(log.length()), verdict);
  }

 private:
  const StormArguments& arguments_;
  const analysis::storm::KnownFabric& known_;
  std::chrono::steady_clock::time_point last_;
  uint64_t seen_ = 0;
  std::string said_;
};

void print(const StormArguments& arguments, const std::vector<Judged>& judged, size_t worst) {
  if (!arguments.json) {
    for (const Judged& it : judged) {
      fmt::print("{}{}", &it == &judged.front() ? "" : "\n",
                 analysis::storm::text_report(it.facts, it.log, it.analysis, arguments.all ? SIZE_MAX : kRows));
    }
    return;
  }
  control::Json out;
  if (judged.size() == 1) {
    out = analysis::storm::json_report(judged[0].facts, judged[0].log, judged[0].analysis);
  } else {
    out = {{"verdict", analysis::storm::word_of(analysis::storm::verdict_of(judged[worst].analysis))},
           {"headline", analysis::storm::headline(judged[worst].log, judged[worst].analysis)},
           {"groups", control::Json::array()}};
    for (const Judged& it : judged)
      out["groups"].push_back(analysis::storm::json_report(it.facts, it.log, it.analysis));
  }
  fmt::print("{}\n", out.dump(2, ' ', false, control::Json::error_handler_t::replace));
}

// The worst of several time lines: the one with a root; else with a storm, a deadlock, pauses.
size_t worst_of(const std::vector<Judged>& judged) {
  const auto rank = [](const Judged& it) {
    switch (analysis::storm::verdict_of(it.analysis)) {
      case analysis::storm::Verdict::kStorm: return analysis::storm::known_roots(it.analysis) > 0 ? 5 : 4;
      case analysis::storm::Verdict::kDeadlock: return 3;
      case analysis::storm::Verdict::kUnknown: return 2;
      case analysis::storm::Verdict::kCongestion: return 1;
      case analysis::storm::Verdict::kNoPauses: break;
    }
    return 0;
  };
  return static_cast<size_t>(std::ranges::max_element(judged, {}, rank) - judged.begin());
}

std::expected<Beside, Status> read_beside(const StormArguments& arguments) {
  Beside out;
  if (!arguments.testbed.empty()) {
    const auto testbed = read_testbed(arguments.testbed, {});
    if (!testbed) return std::unexpected(testbed.error());
    out.testbed = known_fabric(*testbed);
    out.testbed_name = testbed->name;
  }
  out.all = out.testbed;
  for (const std::string& path : arguments.ports) {
    analysis::storm::KnownFabric& list = out.lists.emplace_back();
    if (const auto read = analysis::storm::read_port_list(path, list); !read)
      return std::unexpected(wrong_input(read.error()));
    for (const auto& [mac, port] : list.port_of_mac) out.all.port_of_mac.insert_or_assign(mac, port);
    for (const auto& [mac, node] : list.node_of_mac) out.all.node_of_mac.insert_or_assign(mac, node);
    for (const auto& [name, port] : list.port_of_interface) out.all.port_of_interface.insert_or_assign(name, port);
  }
  if (!arguments.events.empty()) {
    auto events = analysis::storm::read_event_log(arguments.events);
    if (!events) return std::unexpected(wrong_input(events.error()));
    out.events = std::move(*events);
  }
  return out;
}

std::expected<std::vector<analysis::ReadCapture>, std::string> read_with_progress(analysis::StormInput input) {
  ReadingProgress shown;
  input.progress = [&shown](const auto&... read) { shown.show(read...); };
  return analysis::read_captures(input);
}

Status run(const StormArguments& arguments) {
  const auto beside = read_beside(arguments);
  if (!beside) return beside.error();
  analysis::StormInput input = arguments.input;
  input.storm_after = arguments.rule.storm_after.value_or(Duration::max());
  VerdictSoFar so_far{arguments, beside->all};
  if (input.follow) {
    input.look = [&so_far](const auto& recorded, const auto& interfaces) { so_far.look(recorded, interfaces); };
  }
  auto captures = read_with_progress(std::move(input));
  if (!captures) return wrong_input(captures.error());
  std::vector<Judged> judged;
  for (analysis::ReadCapture& it : *captures) judged.push_back(judge(arguments, *beside, std::move(it)));
  const size_t worst = worst_of(judged);
  // The picture first: `| head` ends this process while it prints.
  std::expected<void, std::string> drawn;
  if (!arguments.picture.empty()) {
    const Judged& it = judged[worst];
    drawn = write_picture(arguments.picture, analysis::storm::picture(it.facts, it.log, it.analysis));
  }
  print(arguments, judged, worst);
  std::fflush(stdout);
  if (drawn) return Status::kDone;
  complain("softspine: {}\n", drawn.error());
  return Status::kUnexpected;
}

constexpr const char* kFooter =
    "Reads pcapng and pcap: captures of whole fabrics (softspine run --capture), of one port (tcpdump, dumpcap), of "
    "a\n"
    "mirror, of all interfaces of a machine (tcpdump -i any). Only pause frames are kept: PFC (802.1Qbb) and PAUSE "
    "(802.3x).\n"
    "A storm is a pause without XON that lasts a tenth of the capture (at least three timers of 0xFFFF quanta, at "
    "most\n"
    "200 ms), and that nothing which holds its sender explains. --storm-after sets another time. A root is named "
    "only\n"
    "if nothing that was not captured could be the cause: a host, or a switch whose ports were all captured, in a\n"
    "capture that left nothing out (lost or cut frames, a filter).\n"
    "Several captures are put on one time line by the packets that they share. Those that share none are judged "
    "apart.\n"
    "Examples:\n"
    "  softspine storm fabric.pcapng\n"
    "  softspine storm tor1=a.pcap tor2=b.pcap spine1=c.pcap one capture of each switch, by three clocks\n"
    "  tcpdump -w - -U | softspine storm - --follow          a live one\n"
    "  softspine storm fabric.pcapng --picture storm.svg     or storm.png\n"
    "  softspine storm fabric.pcapng --json | jq '.storms[] | .root, .victims'\n"
    "  softspine storm port.pcap --speed 100Gbps             a capture that does not say how fast its link is\n"
    "  softspine storm fabric.pcapng --testbed two-tier.yaml one that does not say where its links lead\n"
    "  softspine storm mirror.pcap --testbed two-tier.yaml --ports macs.txt\n"
    "                                                        one of other machines: whose address is which port's\n"
    "  softspine storm leaf01=a.pcap leaf02=b.pcap --testbed fabric.yaml --ports leaf01.json --ports leaf02.json\n"
    "                                                        of SONiC switches, with their config_db.json\n"
    "  softspine storm fabric.pcapng --events events.jsonl   with what the run itself has logged";

}  // namespace

void add_storm_command(CLI::App& app, Status& status) {
  auto arguments = std::make_shared<StormArguments>();
  CLI::App* command = app.add_subcommand("storm", "who paused whom in a capture, for how long, from which root");
  command->footer(kFooter);
  command
      ->add_option("FILE", arguments->input.captures,
                   "a capture; - reads standard input. Of several, NODE=FILE and NODE:PORT=FILE say where one was made")
      ->required();
  command->add_flag(
      "--follow", arguments->input.follow,
      "wait for more at the end of the file, and say when the verdict changes; Ctrl-C ends it. Of one capture");
  command->add_option_function<std::string>(
      "--clocks-within",
      [arguments](const std::string& text) {
        const int64_t ps = quantity_argument("--clocks-within", text, control::kDurationQuantity);
        if (ps < 0) throw CLI::ValidationError("--clocks-within", "0 or more");
        arguments->input.clocks_within = Duration::ps(ps);
      },
      "the captures' clocks agree to within this (PTP, one machine): they are not compared, e.g. 1us");
  command->add_option("--picture", arguments->picture, "write the fabric and the time line to OUT.svg or OUT.png")
      ->check([](const std::string& path) { return wrong_picture_name(path); });
  command->add_option_function<std::string>(
      "--speed",
      [arguments](const std::string& text) {
        const int64_t bps = quantity_argument("--speed", text, control::kRateQuantity);
        if (bps < static_cast<int64_t>(Rate::min().count_bps())) {
          throw CLI::ValidationError("--speed", "at least 1Mbps");
        }
        arguments->input.speed = Rate::bps(static_cast<uint64_t>(bps));
      },
      "of every link, whatever the capture says, e.g. 100Gbps");
  command->add_option_function<std::string>(
      "--storm-after",
      [arguments](const std::string& text) {
        const int64_t ps = quantity_argument("--storm-after", text, control::kDurationQuantity);
        if (ps <= 0) throw CLI::ValidationError("--storm-after", "more than 0");
        arguments->rule.storm_after = Duration::ps(ps);
      },
      "how long an unexplained pause must last to be a storm, e.g. 2ms");
  command->add_option("--testbed", arguments->testbed, "the testbed's file: its links, roles and MAC addresses");
  command
      ->add_option("--ports", arguments->ports,
                   "a file of lines 'WHAT PORT': WHAT the capture has, an interface's name or a MAC address, is PORT, "
                   "such as tor1:Ethernet4, or a MAC address NODE, that all of its ports send from; or a "
                   "config_db.json; several")
      ->allow_extra_args(false);  // what follows a list may be a capture
  command->add_option(
      "--events", arguments->events,
      "the event log of the same run (softspine run --events): what both tell, and what may be the cause");
  command->add_flag("--json", arguments->json, "for programs: everything, times in picoseconds");
  command->add_flag("--all", arguments->all, "every row of every table");
  command->callback([arguments, &status] { status = run(*arguments); });
}

}  // namespace softspine::tools
