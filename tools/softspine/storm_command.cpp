// SPDX-License-Identifier: Apache-2.0
#include "tools/softspine/storm_command.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <memory>
#include <set>

#include "control/telemetry/text_table.hpp"
#include "dataplane/edge/owned_fd.hpp"
#include "tools/softspine/picture_file.hpp"
#include "tools/softspine/reading_progress.hpp"
#include "tools/storm/picture.hpp"
#include "tools/storm/port_list.hpp"
#include "tools/storm/storm_report.hpp"

namespace softspine::tools {

using dataplane::Duration;
using dataplane::Rate;

namespace {

constexpr size_t kRows = 25;
constexpr uint64_t kLookEvery = 1 << 16;  // frames between two looks at the clock

struct StormArguments {
  std::string file;
  std::string testbed;
  std::string ports;
  std::string picture;
  Rate speed;
  storm::StormRule rule;
  bool json = false;
  bool all = false;
};

volatile std::sig_atomic_t interrupted = 0;

void on_interrupt(int number) {
  interrupted = 1;
  std::signal(number, SIG_DFL);
}

// The first SIGINT or SIGTERM ends the reading; what was read is analysed. The second ends the process.
class StopReadingOnInterrupt {
 public:
  StopReadingOnInterrupt() {
    interrupted = 0;
    struct sigaction action{};
    action.sa_handler = on_interrupt;  // no SA_RESTART: a read from a pipe returns, too
    sigaction(SIGINT, &action, nullptr);
    sigaction(SIGTERM, &action, nullptr);
  }
  ~StopReadingOnInterrupt() {
    std::signal(SIGINT, SIG_DFL);
    std::signal(SIGTERM, SIG_DFL);
  }
  StopReadingOnInterrupt(const StopReadingOnInterrupt&) = delete;
  StopReadingOnInterrupt& operator=(const StopReadingOnInterrupt&) = delete;
};

struct ReadCapture {
  storm::CaptureFacts facts;
  storm::PauseRecorder recorded;
};

std::string progress_text(const storm::Tally& tally) {
  return fmt::format("{} frames, {} pause frames", control::grouped(tally.frames),
                     control::grouped(tally.pause_frames));
}

std::string count_text(uint64_t n, const char* one, const char* many) {
  return control::grouped(n) + " " + (n == 1 ? one : many);
}

// What the reader of the report should know of its source.
std::vector<std::string> notes_on(const storm::PauseRecorder& recorded) {
  const storm::Tally& tally = recorded.tally();
  std::vector<std::string> notes;
  const auto note = [&notes](uint64_t n, const char* one, const char* many) {
    if (n > 0) notes.push_back(count_text(n, one, many));
  };
  note(tally.missed, "frame is missing: the capture says so", "frames are missing: the capture says so");
  note(tally.cut_pause_frames, "pause frame was captured too short to be read: take at least 34 bytes of each",
       "pause frames were captured too short to be read: take at least 34 bytes of each");
  note(tally.cut_frames, "frame was captured too short to tell whether it pauses",
       "frames were captured too short to tell whether they pause: take at least 34 bytes of each");
  note(tally.other_links, "frame that is not Ethernet was passed over",
       "frames that are not Ethernet were passed over");
  note(tally.timeless, "frame without a time that can be was left out",
       "frames without a time that can be were left out");
  note(tally.disordered, "frame is older than the one before it on its port: the capture is out of order",
       "frames are older than the one before them on their port: the capture is out of order");
  note(tally.omitted, "pause frame is beyond what can be analysed, and was left out",
       "pause frames are beyond what can be analysed, and were left out");
  if (tally.is_filtered) notes.emplace_back("a filter chose what was captured, and may have left out pause frames");
  size_t unknown_speeds = 0;
  for (const auto& sender : recorded.senders()) unknown_speeds += recorded.ports()[sender.port].speed.is_zero() ? 1 : 0;
  if (unknown_speeds > 0) {
    notes.emplace_back(
        "the capture does not say how fast the link is, so nobody can tell when a pause runs out: pauses are counted "
        "from XOFF to XON, or to the last refresh. With --speed (say, 100Gbps) they are exact");
  }
  bool any_way = false;
  for (const auto& sender : recorded.senders()) any_way = any_way || sender.way != storm::Way::kUnknown;
  if (!any_way && !recorded.senders().empty()) {
    notes.emplace_back("the capture does not say which way frames went: who paused whom is taken from their sources");
  }
  return notes;
}

std::expected<ReadCapture, std::string> read_capture(const StormArguments& arguments) {
  const bool is_stdin = arguments.file == "-";
  const dataplane::OwnedFd opened{is_stdin ? -1 : ::open(arguments.file.c_str(), O_RDONLY | O_CLOEXEC)};
  const int file = is_stdin ? STDIN_FILENO : opened.get();
  struct stat about{};
  if (file < 0 || fstat(file, &about) != 0) return std::unexpected(arguments.file + ": " + std::strerror(errno));
  if (S_ISDIR(about.st_mode)) return std::unexpected(arguments.file + ": is a directory, not a capture");
  int read_error = 0;
  storm::CaptureReader reader{[&](std::span<uint8_t> into) -> size_t {
    for (;;) {
      const ssize_t n = ::read(file, into.data(), into.size());
      if (n >= 0) return static_cast<size_t>(n);
      if (errno == EINTR && interrupted == 0) continue;
      read_error = errno == EINTR ? 0 : errno;
      return 0;
    }
  }};
  ReadCapture out{.facts = {.file = arguments.file}, .recorded = storm::PauseRecorder{arguments.speed}};
  ReadingProgress progress{arguments.file, file};
  const StopReadingOnInterrupt stop;
  storm::CapturedFrame frame;
  for (uint64_t n = 0; interrupted == 0; ++n) {
    const auto got = reader.next(frame);
    if (read_error != 0) return std::unexpected(arguments.file + ": " + std::strerror(read_error));
    if (!got && !(got.error().cut_short && (n > 0 || interrupted != 0))) {
      return std::unexpected(fmt::format("{}: offset {}: {}", arguments.file, got.error().offset, got.error().message));
    }
    if (!got && interrupted == 0) {
      out.facts.notes.push_back(
          fmt::format("cut short: {} (offset {}); what came before is used", got.error().message, got.error().offset));
    }
    if (!got || !*got) break;
    out.recorded.take(frame, reader.interfaces());
    if (n % kLookEvery == 0) progress.show(reader.offset(), progress_text(out.recorded.tally()));
  }
  out.recorded.finish(reader.interfaces(), reader.untimed_frames() + reader.mistimed_frames());
  if (interrupted != 0) out.facts.notes.push_back(fmt::format("interrupted at offset {}", reader.offset()));
  const auto more = notes_on(out.recorded);
  out.facts.notes.insert(out.facts.notes.end(), more.begin(), more.end());
  out.facts.tally = out.recorded.tally();
  out.facts.ports = out.recorded.ports().size();
  if (reader.origin_seconds() != 0) out.facts.began_unix_seconds = reader.origin_seconds();
  if (out.facts.tally.frames > 0 && out.facts.tally.other_links == out.facts.tally.frames) {
    return std::unexpected(arguments.file + ": none of its frames is Ethernet: pauses cannot be in it");
  }
  return out;
}

storm::KnownFabric known_fabric(const control::Testbed& testbed) {
  storm::KnownFabric known;
  std::set<uint64_t> shared;  // addresses that several ports have: they tell no port
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
bool fits(const storm::KnownFabric& testbed, const storm::PauseRecorder& recorded) {
  std::set<std::string> ports;
  for (const auto& [a, b] : testbed.links) ports.insert({a, b});
  return std::ranges::any_of(recorded.ports(),
                             [&](const storm::RecordedPort& it) { return ports.contains(it.name); }) ||
         std::ranges::any_of(recorded.senders(),
                             [&](const storm::Sender& it) { return testbed.port_of_mac.contains(it.mac); });
}

// What the reader should know of the things that were told beside the capture.
std::vector<std::string> notes_on(const StormArguments& arguments, const storm::KnownFabric& testbed,
                                  const storm::KnownFabric& known, const storm::PauseRecorder& recorded) {
  std::vector<std::string> notes;
  if (const std::string lines = storm::unmatched_lines(known, recorded); !lines.empty()) {
    notes.push_back(
        fmt::format("{}: nothing in this capture has these names or addresses: line {}", arguments.ports, lines));
  }
  const bool is_mapped = std::ranges::any_of(
      recorded.ports(), [&](const storm::RecordedPort& it) { return known.port_of_interface.contains(it.name); });
  if (!arguments.testbed.empty() && !is_mapped && !fits(testbed, recorded)) {
    notes.push_back(arguments.testbed +
                    ": none of its ports and addresses is in this capture: is it another fabric's?");
  }
  return notes;
}

Status run(const StormArguments& arguments) {
  storm::KnownFabric known;
  if (!arguments.testbed.empty()) {
    const auto testbed = read_testbed(arguments.testbed, {});
    if (!testbed) return testbed.error();
    known = known_fabric(*testbed);
  }
  const storm::KnownFabric of_testbed = known;
  if (!arguments.ports.empty()) {
    if (const auto read = storm::read_port_list(arguments.ports, known); !read) {
      fmt::print(stderr, "softspine: {}\n", read.error());
      return Status::kWrongInput;
    }
  }
  auto capture = read_capture(arguments);
  if (!capture) {
    fmt::print(stderr, "softspine: {}\n", capture.error());
    return Status::kWrongInput;
  }
  const storm::PauseLog log = storm::assemble_log(capture->recorded, known);
  std::vector<std::string>& notes = capture->facts.notes;
  const auto more = notes_on(arguments, of_testbed, known, capture->recorded);
  notes.insert(notes.end(), more.begin(), more.end());
  if (!log.contradiction.empty()) notes.push_back("capture and testbed do not fit: " + log.contradiction);
  if (log.copies > 0) {
    notes.push_back(count_text(log.copies, "pause frame was captured in a second place, too, and counts once",
                               "pause frames were captured in a second place, too, and count once"));
  }
  const storm::Analysis analysis = storm::analyse(log, arguments.rule);
  // The picture first: `| head` ends this process while it prints.
  std::expected<void, std::string> drawn;
  if (!arguments.picture.empty())
    drawn = write_picture(arguments.picture, storm::picture(capture->facts, log, analysis));
  if (arguments.json) {
    fmt::print(
        "{}\n",
        storm::json_report(capture->facts, log, analysis).dump(2, ' ', false, control::Json::error_handler_t::replace));
  } else {
    fmt::print("{}", storm::text_report(capture->facts, log, analysis, arguments.all ? SIZE_MAX : kRows));
  }
  std::fflush(stdout);
  if (drawn) return Status::kDone;
  fmt::print(stderr, "softspine: {}\n", drawn.error());
  return Status::kUnexpected;
}

}  // namespace

void add_storm_command(CLI::App& app, Status& status) {
  auto arguments = std::make_shared<StormArguments>();
  CLI::App* command = app.add_subcommand("storm", "who paused whom in a capture, for how long, from which root");
  command->footer(
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
      "Examples:\n"
      "  softspine storm fabric.pcapng\n"
      "  softspine storm fabric.pcapng --picture storm.svg     or storm.png\n"
      "  softspine storm fabric.pcapng --json | jq '.storms[] | .root, .victims'\n"
      "  softspine storm port.pcap --speed 100Gbps             a capture that does not say how fast its link is\n"
      "  softspine storm fabric.pcapng --testbed two-tier.yaml one that does not say where its links lead\n"
      "  softspine storm mirror.pcap --testbed two-tier.yaml --ports macs.txt\n"
      "                                                        one of other machines: whose address is which port's");
  command->add_option("FILE", arguments->file, "a capture; - reads standard input")->required();
  command->add_option("--picture", arguments->picture, "write the fabric and the time line to OUT.svg or OUT.png")
      ->check([](const std::string& path) { return wrong_picture_name(path); });
  command->add_option_function<std::string>(
      "--speed",
      [arguments](const std::string& text) {
        const int64_t bps = quantity_argument("--speed", text, control::kRateQuantity);
        if (bps < static_cast<int64_t>(Rate::min().count_bps())) {
          throw CLI::ValidationError("--speed", "at least 1Mbps");
        }
        arguments->speed = Rate::bps(static_cast<uint64_t>(bps));
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
  command->add_option(
      "--ports", arguments->ports,
      "a file of lines 'WHAT PORT': WHAT the capture has, an interface's name or a MAC address, is PORT, "
      "such as tor1:Ethernet4");
  command->add_flag("--json", arguments->json, "for programs: everything, times in picoseconds");
  command->add_flag("--all", arguments->all, "every row of every table");
  command->callback([arguments, &status] { status = run(*arguments); });
}

}  // namespace softspine::tools
