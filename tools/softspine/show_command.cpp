// SPDX-License-Identifier: Apache-2.0
#include "tools/softspine/show_command.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <thread>
#include <vector>

#include "control/document/words.hpp"
#include "tools/command/complain.hpp"
#include "tools/command/wrong_input.hpp"
#include "tools/softspine/fabric_client.hpp"
#include "tools/softspine/views/show_views.hpp"

namespace softspine::tools {

using control::Client;
using control::Json;
using control::Result;

namespace {

// The text of a view in the answer to `views`; empty if a server answers something else.
std::string text_in(const Json& view, const char* key) {
  const auto found = view.is_object() ? view.find(key) : view.end();
  return found != view.end() && found->is_string() ? found->get<std::string>() : "";
}

std::string list_of(const Json& views) {
  std::string out = "What can be shown:\n";
  for (const Json& view : views) out += fmt::format("  {:<33}  {}\n", text_in(view, "view"), text_in(view, "help"));
  return out;
}

std::vector<std::string> view_words(const Json& views) {
  std::vector<std::string> out;
  for (const Json& view : views) out.push_back(text_in(view, "view"));
  return out;
}

bool has_view(const Json& views, const std::string& what) {
  const std::vector<std::string> known = view_words(views);
  return std::ranges::find(known, what) != known.end();
}

Status no_such_view(const Json& views, const std::string& what) {
  const std::vector<std::string> known = view_words(views);
  const std::vector<std::string_view> words(known.begin(), known.end());
  const Status status =
      wrong_input("there is no " + control::shown(what) + " to show" + control::Guesser{}.guess(what, words));
  complain("{}", list_of(views));
  return status;
}

struct ShowArguments : FabricArguments {
  std::vector<std::string> words;
  std::string node;
  std::string port;
  uint32_t most = 0;                  // rows; 0: as many as the fabric likes
  std::chrono::nanoseconds every{0};  // 0: once

  std::string what() const { return CLI::detail::join(words, " "); }
};

// The fabric knows its views better than this program does, which may be older or newer.
Status refused(Client& client, const std::string& what, const std::string& why) {
  const Result views = client.call("views");
  return views && !has_view(*views, what) ? no_such_view(*views, what) : wrong_input(why);
}

// Until the fabric ends or the user has seen enough.
Status show_again_and_again(Client& client, const ShowArguments& arguments, const Json& wanted) {
  const bool terminal = isatty(STDOUT_FILENO) != 0;
  for (bool answered = false;; answered = true) {
    const Result result = client.call("show " + arguments.what(), wanted);
    if (!result) {
      const bool ended = answered && !Client::connect_to_fabric(arguments.fabric);
      return ended ? Status::kDone : refused(client, arguments.what(), result.error());
    }
    if (terminal) fmt::print("\x1b[H\x1b[2J");
    print_result(*result);
    std::fflush(stdout);
    std::this_thread::sleep_for(arguments.every);
  }
}

// `show views`: what the fabric can show; without one, what this program knows.
Status show_views(const ShowArguments& arguments) {
  auto client = Client::connect_to_fabric(arguments.fabric);
  if (!client && !arguments.fabric.empty()) return wrong_input(client.error());
  const Result views = client ? client->call("views") : Result(views_json());
  if (!views) return wrong_input(views.error());
  if (arguments.json) {
    print_result(*views);
  } else {
    fmt::print("{}", list_of(*views));
  }
  return Status::kDone;
}

Status show(const ShowArguments& arguments) {
  const std::string what = arguments.what();
  if (what == "views") return show_views(arguments);
  if (what != "flow paths" && (!arguments.port.empty() || arguments.most > 0))
    return wrong_input("--port and --most go with 'flow paths'");
  auto client = Client::connect_to_fabric(arguments.fabric);
  if (!client) {
    const Json known = views_json();
    return has_view(known, what) ? wrong_input(client.error()) : no_such_view(known, what);
  }
  Json wanted{{"format", arguments.json ? "json" : "table"}};
  if (!arguments.node.empty()) wanted["node"] = arguments.node;
  if (!arguments.port.empty()) wanted["port"] = arguments.port;
  if (arguments.most > 0) wanted["most"] = arguments.most;
  if (arguments.every.count() > 0) return show_again_and_again(*client, arguments, wanted);
  const Result answered = ask_and_print(*client, "show " + what, wanted);
  return answered ? Status::kDone : refused(*client, what, answered.error());
}

}  // namespace

void add_show_command(CLI::App& app, Status& status) {
  auto arguments = std::make_shared<ShowArguments>();
  CLI::App* command = app.add_subcommand("show", "what a running fabric has counted, learned and decided");
  command->footer(list_of(views_json()) +
                  "Examples:\n"
                  "  softspine show interfaces counters --node tor1\n"
                  "  softspine show drops --every 1s\n"
                  "  softspine show flow paths --port tor1:Ethernet16\n"
                  "  softspine show counters | jq '.tor1.Ethernet0'\n"
                  "  softspine show views                  what the running fabric can show");
  command->add_option("WORDS", arguments->words, "what: see below")->required();
  add_fabric_options(*command, *arguments);
  command->add_option("--node", arguments->node, "only this node");
  command->add_option("--port", arguments->port, "of 'flow paths': only flows that leave by NODE:PORT");
  command->add_option("--most", arguments->most, "of 'flow paths': rows")->check(CLI::Range(1, 1000));
  command->add_option_function<std::string>(
      "--every",
      [arguments](const std::string& text) {
        arguments->every =
            std::chrono::nanoseconds{quantity_argument("--every", text, control::kDurationQuantity) / 1'000};
      },
      "again and again, e.g. 1s; Ctrl-C ends it");
  command->callback([arguments, &status] { status = show(*arguments); });
}

}  // namespace softspine::tools
