// SPDX-License-Identifier: Apache-2.0
#include "tools/softspine/view_command.hpp"

#include <pthread.h>

#include <algorithm>
#include <charconv>
#include <csignal>
#include <functional>
#include <memory>
#include <set>
#include <string>

#include "analysis/playback/playback.hpp"
#include "control/report/sections.hpp"
#include "control/server/server.hpp"
#include "tools/command/complain.hpp"
#include "tools/command/wrong_input.hpp"
#include "tools/page/live_page.hpp"
#include "tools/softspine/views/show_views.hpp"

namespace softspine::tools {

using analysis::Playback;
using control::ArgumentFacts;
using control::CommandFacts;
using control::CommandKind;
using control::Json;
using control::Result;

namespace {

constexpr int64_t kMostEvents = 1'000;
constexpr int64_t kMostFlows = 1'000;
constexpr int64_t kUsualFlows = 20;
constexpr int64_t kMostInstants = 10'000;

struct ViewArguments {
  std::string recording;
  control::WebAddress address{.host = "127.0.0.1", .port = 0, .is_loopback = true};
};

// A number of the query, which is text there.
int64_t number_of(const Json& arguments, const char* key, int64_t otherwise) {
  const auto found = arguments.find(key);
  if (found == arguments.end()) return otherwise;
  if (found->is_number_integer()) return found->get<int64_t>();
  int64_t out = otherwise;
  if (found->is_string()) {
    const auto& text = found->get_ref<const std::string&>();
    std::from_chars(text.data(), text.data() + text.size(), out);
  }
  return out;
}

std::string word_of(const Json& arguments, const char* key) {
  const auto found = arguments.find(key);
  return found != arguments.end() && found->is_string() ? found->get<std::string>() : "";
}

std::set<std::string> words_between_commas(const std::string& text) {
  std::set<std::string> out;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find(',', at), text.size());
    out.insert(text.substr(at, end - at));
    at = end + 1;
  }
  return out;
}

// The commands of a running fabric that a recording can answer; each further view says that it cannot.
class RecordingServer {
 public:
  explicit RecordingServer(Playback& playback) : playback_(playback) {
    add("show map", "nodes by tier, their ports and peers; `recording` says what of", {},
        [this](const Json&) { return playback_.map(); });
    add("show fabric", "its name, clock and last instant", {}, [this](const Json&) { return playback_.fabric(); });
    add("show loads", "what each port of the map sent, waited for, queued and dropped by then", {at_ps()},
        [this](const Json& wanted) { return playback_.loads(instant(wanted)); });
    add("show thresholds", "what queues and priority groups of a switch hold, and where they mark and pause",
        {{.name = "node", .help = "a switch", .required = true}, at_ps()},
        [this](const Json& wanted) { return playback_.thresholds(word_of(wanted, "node"), instant(wanted)); });
    add("show flow paths", "the flows that have sent most by then, or cross a port, and the ports of their ways",
        {{.name = "port", .help = "only flows that leave by it: NODE:PORT"},
         {.name = "node", .help = "only flows from or to this host"},
         {.name = "most", .help = "rows, 1 to 1000; 20 if not given", .type = "integer"},
         at_ps()},
        [this](const Json& wanted) {
          const int64_t most = std::clamp<int64_t>(number_of(wanted, "most", kUsualFlows), 1, kMostFlows);
          return playback_.flow_paths(word_of(wanted, "port"), word_of(wanted, "node"), instant(wanted), most);
        });
    add("show hash groups", "ECMP groups and LAGs of a switch, and what their members had sent by then",
        {{.name = "node", .help = "a switch", .required = true}, at_ps()},
        [this](const Json& wanted) { return playback_.hash_groups(word_of(wanted, "node"), instant(wanted)); });
    add(
        "show rank waits", "the ranks with the longest waits by then; null without `run --steps`", {at_ps()},
        [this](const Json& wanted) { return playback_.rank_waits(instant(wanted)); }, true);
    add(
        "show rank spans",
        "what 16 ranks of each job had done by then, those with the longest waits; null without ranks", {at_ps()},
        [this](const Json& wanted) { return playback_.rank_spans(instant(wanted)); }, true);
    add("recording samples", "instants of samples, at most so many",
        {{.name = "most", .help = "1 to 10000", .type = "integer"}}, [this](const Json& wanted) {
          return playback_.samples(std::clamp<int64_t>(number_of(wanted, "most", kMostInstants), 1, kMostInstants));
        });
    add("recording events", "the last events by then, and how many of each kind",
        {at_ps(),
         {.name = "most", .help = "1 to 1000", .type = "integer"},
         {.name = "without", .help = "kinds that are not listed, between commas"}},
        [this](const Json& wanted) {
          const int64_t most = std::clamp<int64_t>(number_of(wanted, "most", kMostEvents), 1, kMostEvents);
          return playback_.events(instant(wanted), most, words_between_commas(word_of(wanted, "without")));
        });
    add("show report", "the report at the end of the run", {}, [this](const Json&) { return playback_.report(); });
    add_sections();
    add_refusals();
  }

  std::expected<control::WebAddress, std::string> listen(control::WebAddress address) {
    control::WebOptions options{.address = std::move(address)};
    options.title = {.testbed = playback_.testbed(), .version = playback_.version()};
    options.files = live_page();
    return server_.listen_web(std::move(options));
  }

 private:
  static ArgumentFacts at_ps() {
    return {.name = "at_ps", .help = "an instant of emulated time; the end if not given", .type = "integer"};
  }
  int64_t instant(const Json& arguments) const { return number_of(arguments, "at_ps", INT64_MAX); }

  void add(const std::string& command, std::string_view help, std::vector<ArgumentFacts> takes,
           std::function<Json(const Json& wanted)> answer, bool may_be_null = false) {
    known_.insert(command);
    server_.handle(CommandFacts{command, CommandKind::kReading, std::string{help}, std::move(takes)},
                   [this, answer = std::move(answer), may_be_null](const Json& wanted) -> Result {
                     Json out = answer(wanted);
                     if (!playback_.error().empty()) return std::unexpected("the recording: " + playback_.error());
                     if (out.is_null() && !may_be_null) return std::unexpected("the recording does not have this");
                     return out;
                   });
  }
  // As they were at the end.
  void add_sections() {
    for (const control::Section& section : control::sections()) {
      const std::string command = "show " + std::string(section.view.words);
      if (section.view.words.empty() || known_.contains(command)) continue;
      add(command, section.view.help, {},
          [this, key = std::string{section.key}](const Json&) { return playback_.section(key); });
    }
  }
  void add_refusals() {
    for (const View& view : views()) {
      const std::string command = "show " + std::string(view.words);
      if (!known_.contains(command)) add(command, "not of a recording", {}, [](const Json&) { return Json(); });
    }
  }

  Playback& playback_;
  std::set<std::string> known_;
  control::Server server_;
};

// Until SIGINT, SIGTERM or SIGHUP; threads that are started meanwhile leave the signals to this one.
class UntilStopped {
 public:
  UntilStopped() {
    sigemptyset(&set_);
    for (const int each : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&set_, each);
    pthread_sigmask(SIG_BLOCK, &set_, nullptr);
  }
  void wait() const {
    int signal = 0;
    sigwait(&set_, &signal);
  }

 private:
  sigset_t set_{};
};

Status view(const ViewArguments& arguments) {
  const UntilStopped until_stopped;
  auto playback = Playback::open(arguments.recording);
  if (!playback) return wrong_input(playback.error());
  RecordingServer server{**playback};
  const auto where = server.listen(arguments.address);
  if (!where) return wrong_input(where.error());
  complain("softspine: {} is at {} until Ctrl-C\n", arguments.recording, where->url());
  until_stopped.wait();
  return Status::kDone;
}

}  // namespace

void add_view_command(CLI::App& app, Status& status) {
  auto arguments = std::make_shared<ViewArguments>();
  CLI::App* command =
      app.add_subcommand("view", "the page of a recorded run, in a browser, with a slider over the run");
  command->footer(
      "Examples:\n"
      "  softspine run testbeds/pfc-storm.yaml --record storm.sqlite\n"
      "  softspine view storm.sqlite\n"
      "The page is that of `softspine run --http`; only this machine reaches it.");
  command->add_option("RECORDING", arguments->recording, "a file that `softspine run --record` has written")
      ->required();
  command->add_option_function<std::string>(
      "--http",
      [arguments](const std::string& text) {
        auto address = control::parse_web_address(text);
        if (!address) throw CLI::ValidationError("--http", address.error());
        if (!address->is_loopback)
          throw CLI::ValidationError("--http", "only an address of this machine's own, such as 127.0.0.1:8080");
        arguments->address = std::move(*address);
      },
      "address and port; a port that is free at 127.0.0.1 if not given");
  command->callback([arguments, &status] { status = view(*arguments); });
}

}  // namespace softspine::tools
