// SPDX-License-Identifier: Apache-2.0
#include "tools/softspine/identify_command.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <memory>

#include "analysis/identify/identify_report.hpp"
#include "analysis/identify/observation_text.hpp"
#include "analysis/identify/probes.hpp"
#include "analysis/identify/traceroute_text.hpp"
#include "analysis/reading/port_captures.hpp"
#include "control/document/text_file.hpp"
#include "control/model/address.hpp"
#include "control/telemetry/json.hpp"
#include "dataplane/edge/pcap_writer.hpp"
#include "dataplane/packet/scratch_packet.hpp"
#include "tools/command/complain.hpp"
#include "tools/command/whole_file.hpp"
#include "tools/command/wrong_input.hpp"
#include "tools/softspine/error_list.hpp"

namespace softspine::tools {

using analysis::Flow;
using analysis::Identification;
using analysis::Observations;
using control::Json;

namespace {

constexpr uint32_t kMaxMembers = 4'096;
constexpr uint32_t kMaxAskedProbes = 2'048;
constexpr size_t kMaxObservationBytes = size_t{64} << 20;  // of one file of observations: a million flows
constexpr const char* kProfile = "identified";
constexpr const char* kOfPerftest =
    "ib_write_bw runs at the source, with -d and -x of its address. It sets no queue pair: in what was observed "
    "dest_qp "
    "is the\nQPN that it prints as the remote one. Its source port is the flow's where the driver makes it of the flow "
    "label.\n";

struct IdentifyArguments {
  std::vector<std::string> csv;
  analysis::PortCaptures captures;
  std::vector<std::string> traceroutes;
  uint32_t hop = 0;
  std::string counters;
  std::string sent;
  uint32_t members = 0;
  uint32_t next_probes = 0;
  std::string probes;
  std::string probes_csv;
  std::string from;
  std::string to;
  std::string profile;
  std::string name = kProfile;
  bool all_seeds = false;
  bool json = false;

  bool has_observations() const {
    return !csv.empty() || !captures.ports.empty() || !captures.files.empty() || !counters.empty() ||
           !traceroutes.empty();
  }
};

Status not_written(const std::string& why) {
  complain("softspine: {}\n", why);
  return Status::kUnexpected;
}

volatile std::sig_atomic_t search_interrupted = 0;

void on_search_interrupt(int number) {
  search_interrupted = 1;
  std::signal(number, SIG_DFL);
}

// The first SIGINT or SIGTERM ends the search; what fits so far is printed. The second ends the process.
class StopSearchingOnInterrupt {
 public:
  StopSearchingOnInterrupt() {
    search_interrupted = 0;
    std::signal(SIGINT, on_search_interrupt);
    std::signal(SIGTERM, on_search_interrupt);
  }
  ~StopSearchingOnInterrupt() {
    std::signal(SIGINT, SIG_DFL);
    std::signal(SIGTERM, SIG_DFL);
  }
  StopSearchingOnInterrupt(const StopSearchingOnInterrupt&) = delete;
  StopSearchingOnInterrupt& operator=(const StopSearchingOnInterrupt&) = delete;
};

// A line on stderr now and then: on a terminal the same one.
class SearchProgress {
 public:
  ~SearchProgress() {
    if (shown_ && terminal_) complain("\r\x1b[K");
  }
  void show(const char* what, double share) {
    const auto now = std::chrono::steady_clock::now();
    if (now - last_ < std::chrono::milliseconds{terminal_ ? 500 : 5'000}) return;
    last_ = now;
    shown_ = true;
    complain("{}identify: {}, {:.0f} %{}", terminal_ ? "\r\x1b[K" : "", what, 100 * share, terminal_ ? "" : "\n");
  }

 private:
  bool terminal_ = isatty(STDERR_FILENO) != 0;
  bool shown_ = false;
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

std::expected<std::string, std::string> text_of(const std::string& file) {
  auto text = control::read_text_file(file, false, kMaxObservationBytes);
  if (!text) return std::unexpected(file + ": " + text.error());
  if (text->size() > kMaxObservationBytes)
    return std::unexpected(fmt::format("{}: is larger than {} MiB", file, kMaxObservationBytes >> 20));
  return text;
}

Status report(const control::Errors& errors) {
  print_list(errors);
  return Status::kWrongInput;
}

std::expected<void, Status> read_counters(const IdentifyArguments& arguments, analysis::ObservationCollector& out) {
  if (arguments.counters.empty() != arguments.sent.empty())
    return std::unexpected(
        wrong_input("--counters and --sent go together: the counters, and which probe is which flow"));
  if (arguments.counters.empty()) return {};
  const auto counters = text_of(arguments.counters);
  const auto sent = text_of(arguments.sent);
  if (!counters || !sent) return std::unexpected(wrong_input(!counters ? counters.error() : sent.error()));
  const auto unsure = analysis::read_counters({*counters, arguments.counters}, {*sent, arguments.sent}, out);
  if (!unsure) return std::unexpected(report(unsure.error()));
  if (*unsure > 0) complain("softspine: {} probes raised no counter clearly, and are not used\n", *unsure);
  return {};
}

std::expected<void, Status> read_captures(const IdentifyArguments& arguments, analysis::ObservationCollector& out) {
  if (arguments.captures.ports.empty() && arguments.captures.files.empty()) return {};
  const auto read = analysis::read_port_captures(arguments.captures, out);
  if (!read) return std::unexpected(wrong_input(read.error()));
  for (const std::string& note : read->notes) complain("softspine: {}\n", note);
  if (read->came_in + read->not_routed + read->other_interfaces > 0)
    complain("softspine: of {} frames {} came in, {} are no routed IP, and {} are of other interfaces: not used\n",
             read->frames, read->came_in, read->not_routed, read->other_interfaces);
  return {};
}

std::expected<void, Status> read_traces(const IdentifyArguments& arguments, analysis::ObservationCollector& out) {
  if (arguments.traceroutes.empty() != (arguments.hop == 0))
    return std::unexpected(
        wrong_input("--traceroute and --hop go together: the outputs, and how far away the switch's next hops are"));
  for (const std::string& file : arguments.traceroutes) {
    const auto text = text_of(file);
    if (!text) return std::unexpected(wrong_input(text.error()));
    const auto read = analysis::read_traceroutes(*text, file, arguments.hop, out);
    if (!read) return std::unexpected(report(read.error()));
    if (read->without_flow > 0)
      fmt::print(
          stderr,
          "softspine: {}: {} of {} traces do not say their flow, and are not used: traceroute needs -s, --sport, "
          "-p, and -U or -T, in a line with the command\n",
          file, read->without_flow, read->traces);
  }
  return {};
}

std::expected<Observations, Status> observations_for(const IdentifyArguments& arguments) {
  analysis::ObservationCollector out;
  for (const std::string& file : arguments.csv) {
    const auto text = text_of(file);
    if (!text) return std::unexpected(wrong_input(text.error()));
    if (const auto read = analysis::read_observations(*text, file, out); !read)
      return std::unexpected(report(read.error()));
  }
  if (const auto read = read_captures(arguments, out); !read) return std::unexpected(read.error());
  if (const auto read = read_counters(arguments, out); !read) return std::unexpected(read.error());
  if (const auto read = read_traces(arguments, out); !read) return std::unexpected(read.error());
  if (out.flows() == 0) return std::unexpected(wrong_input("there is no flow in the input"));
  return std::move(out).take();
}

std::expected<analysis::AddressRange, std::string> range_of(const std::string& option, const std::string& text) {
  analysis::AddressRange out;
  if (const auto v4 = control::parse_ipv4_prefix(text)) {
    out = {.base = {}, .prefix_bits = v4->length};
    dataplane::store32(out.base.data(), v4->address.value);
    return out;
  }
  if (const auto v6 = control::parse_ipv6_prefix(text)) return analysis::AddressRange{v6->address.bytes, v6->length};
  return std::unexpected(option + ": expected a prefix such as 10.1.0.0/16, not '" + text + "'");
}

std::expected<analysis::ProbeRanges, std::string> ranges_for(const IdentifyArguments& arguments,
                                                             analysis::ProbeRanges out) {
  for (const auto& [option, text, range] :
       {std::tuple{"--from", arguments.from, &out.sources}, std::tuple{"--to", arguments.to, &out.destinations}}) {
    if (text.empty()) continue;
    const auto read = range_of(option, text);
    if (!read) return std::unexpected(read.error());
    *range = *read;
  }
  return out;
}

std::expected<void, std::string> write_probes(const std::string& file, const std::vector<Flow>& flows) {
  auto out = dataplane::PcapWriter::open(file);
  if (!out) return std::unexpected(file + ": " + out.error().message);
  dataplane::ScratchPacket scratch;
  dataplane::Instant at;
  for (const Flow& flow : flows) {
    const auto frame = frame_of(flow);
    out->write(scratch.load(frame, static_cast<uint32_t>(frame.size())), at);
    at = at + dataplane::Duration::ms(1);
  }
  out->finish();
  if (out->failed()) return std::unexpected(file + ": " + out->error());
  return {};
}

std::expected<void, std::string> write_files(const IdentifyArguments& arguments, const Identification* found,
                                             const std::vector<Flow>& probes) {
  if (!arguments.probes.empty()) {
    if (const auto written = write_probes(arguments.probes, probes); !written) return written;
  }
  const auto write = [](const std::string& file, const std::string& text) -> std::expected<void, std::string> {
    if (const auto written = write_whole(file, text); !written) return std::unexpected(file + ": " + written.error());
    return {};
  };
  if (!arguments.probes_csv.empty()) {
    if (const auto written = write(arguments.probes_csv, analysis::probes_csv(probes)); !written) return written;
  }
  const bool has_profile = found != nullptr && found->verdict == analysis::IdentifyVerdict::kIdentified;
  if (arguments.profile.empty() || !has_profile) return {};
  return write(arguments.profile, profile_yaml(*found, arguments.name));
}

void print(const IdentifyArguments& arguments, const Identification* found, const std::vector<Flow>& probes) {
  if (arguments.json) {
    Json out = found != nullptr ? identification_json(*found) : Json::object();
    if (arguments.next_probes > 0) out["next_probes"] = Json::array();
    for (const Flow& flow : probes)
      out["next_probes"].push_back({{"flow", to_string(flow)},
                                    {"iperf3", analysis::iperf3_line(flow)},
                                    {"ib_write_bw", analysis::ib_write_bw_line(flow)}});
    fmt::print("{}\n", out.dump(2, ' ', false, Json::error_handler_t::replace));
    return;
  }
  if (found != nullptr) fmt::print("{}", identification_text(*found));
  if (!probes.empty()) fmt::print("next probes:\n");
  bool has_roce = false;
  for (const Flow& flow : probes) {
    const std::string roce = analysis::ib_write_bw_line(flow);
    has_roce = has_roce || !roce.empty();
    const std::string line = roce.empty() ? analysis::iperf3_line(flow) : roce + "    # " + to_string(flow);
    fmt::print("  {}\n", line.empty() ? to_string(flow) : line);
  }
  if (has_roce) fmt::print("{}", kOfPerftest);
}

Status conclude(const IdentifyArguments& arguments, const Identification* found, const std::vector<Flow>& probes) {
  const auto written = write_files(arguments, found, probes);
  print(arguments, found, probes);
  if (!written) return not_written(written.error());
  if (found == nullptr || found->verdict == analysis::IdentifyVerdict::kIdentified) return Status::kDone;
  if (found->verdict != analysis::IdentifyVerdict::kNoModel) return Status::kUnexpected;
  if (arguments.profile.empty()) return Status::kDone;
  return not_written(arguments.profile + ": not written, since no profile can have this hash");
}

Status first_probes(const IdentifyArguments& arguments) {
  if (arguments.next_probes == 0)
    return wrong_input(
        "identify needs observations (--csv, --port, --pcap, --traceroute, --counters), or --next-probes N to begin "
        "with");
  const auto ranges = ranges_for(arguments, {});
  if (!ranges) return wrong_input(ranges.error());
  return conclude(arguments, nullptr, analysis::first_probes(arguments.next_probes, *ranges, 1));
}

Status identify(const IdentifyArguments& arguments) {
  if (arguments.next_probes == 0 && !(arguments.probes.empty() && arguments.probes_csv.empty()))
    return wrong_input("--probes and --probes-csv go with --next-probes N");
  if (!arguments.has_observations() && arguments.sent.empty()) return first_probes(arguments);
  const auto observations = observations_for(arguments);
  if (!observations) return observations.error();
  const auto links = static_cast<uint32_t>(observations->links.size());
  const uint32_t members = arguments.members > 0 ? arguments.members : links;
  if (members < links) return wrong_input(fmt::format("--members {}: there are {} links", members, links));
  if (members < 2 || members > kMaxMembers)
    return wrong_input(fmt::format("a group has 2 to {} members, not {}", kMaxMembers, members));
  const auto ranges = ranges_for(arguments, analysis::observed_ranges(*observations));
  if (!ranges) return wrong_input(ranges.error());
  const StopSearchingOnInterrupt stop;
  SearchProgress progress;
  const Identification found =
      analysis::identify(*observations, members, {arguments.all_seeds, [&](const char* what, double share) {
                                                    progress.show(what, share);
                                                    return search_interrupted == 0;
                                                  }});
  std::vector<Flow> probes;
  if (arguments.next_probes > 0) probes = analysis::next_probes(*observations, found, *ranges, arguments.next_probes);
  return conclude(arguments, &found, probes);
}

constexpr const char* kFooter =
    "Exit status: 0 identified (an ordinary CRC and any linear hash, too), or probes made; 1 indistinguishable,\n"
    "nothing fits, interrupted, or a file could not be written; 2 the input was wrong.\n"
    "Examples:\n"
    "  softspine identify --next-probes 64 --from 10.1.0.0/24 --to 10.2.0.0/24 --probes p.pcap     what to send first\n"
    "  softspine identify --port Ethernet0=e0.pcap --port Ethernet4=e4.pcap --profile mine.yaml\n"
    "  softspine identify --pcap fabric.pcapng --port tor1:Ethernet16 --port tor1:Ethernet20\n"
    "  softspine identify --traceroute traces.txt --hop 2\n"
    "  softspine identify --csv seen.csv --members 16 --json | jq .verdict\n"
    "  softspine identify --csv seen.csv --next-probes 8      which flows would decide\n"
    "A CSV names its columns in its first line: src,dst,proto,sport,dport,dest_qp,link.\n"
    "sflowtool -l and nfdump -o csv are read, too.\n"
    "All members count once: weighted and resilient groups are not found.";

void add_input(CLI::App& command, IdentifyArguments& out) {
  command.add_option("--csv", out.csv, "flows and links as text: CSV, sflowtool -l, nfdump -o csv; several");
  command.add_option("--port", out.captures.ports,
                     "NAME=FILE: a capture at this port; or an interface of --pcap; several");
  command.add_option("--pcap", out.captures.files, "a capture of several ports, by interface; several");
  command.add_option("--traceroute", out.traceroutes,
                     "outputs of traceroute with its commands, paris-traceroute, or dublin-traceroute's JSON; several");
  command.add_option("--hop", out.hop, "of traceroutes: the distance at which the group's next hops answer")
      ->check(CLI::Range(1U, 255U));
  command.add_option("--counters", out.counters, "CSV: probe,link,before,after");
  command.add_option("--sent", out.sent, "CSV: which flow was which probe; as --probes-csv writes it");
  command.add_option("--members", out.members, "of the group; as many as links are named, if not given");
}

}  // namespace

void add_identify_command(CLI::App& app, Status& status) {
  auto arguments = std::make_shared<IdentifyArguments>();
  CLI::App* command = app.add_subcommand("identify", "which hash a switch uses, from flows and the links they took");
  command->footer(kFooter);
  add_input(*command, *arguments);
  command->add_flag("--all-seeds", arguments->all_seeds,
                    "of hashes that are not linear all 2^32 seeds: minutes to hours");
  CLI::Option* profile =
      command->add_option("--profile", arguments->profile, "if it is identified: the profile for testbed files");
  command->add_option("--name", arguments->name, "of the profile")->needs(profile)->check([](const std::string& name) {
    const bool is_name =
        !name.empty() &&
        name.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") == std::string::npos;
    return is_name ? std::string{} : "a profile's name has letters, digits, - and _";
  });
  CLI::Option* next_probes =
      command
          ->add_option("--next-probes", arguments->next_probes, "propose so many flows, those that would decide most")
          ->check(CLI::Range(1U, kMaxAskedProbes));
  command->add_option("--probes", arguments->probes, ".pcap: the proposed flows, a frame each");
  command->add_option("--probes-csv", arguments->probes_csv, "the proposed flows as CSV");
  command->add_option("--from", arguments->from, "the prefix that probes come from")->needs(next_probes);
  command->add_option("--to", arguments->to, "the prefix that probes go to")->needs(next_probes);
  command->add_flag("--json", arguments->json, "for programs");
  command->callback([arguments, &status] { status = identify(*arguments); });
}

}  // namespace softspine::tools
