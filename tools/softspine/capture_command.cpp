// SPDX-License-Identifier: Apache-2.0
#include "tools/softspine/capture_command.hpp"

#include <filesystem>
#include <memory>

#include "tools/command/wrong_input.hpp"
#include "tools/softspine/capture_options.hpp"
#include "tools/softspine/fabric_client.hpp"
#include "tools/softspine/views/capture_requests.hpp"

namespace softspine::tools {

using control::Json;

namespace {

struct CaptureArguments : FabricArguments {
  std::string name;
  testbeds::CaptureRequest request;
};

Status start(const CaptureArguments& arguments) {
  Json wanted = json_of(arguments.request);
  std::error_code wrong;
  const auto path = std::filesystem::absolute(arguments.request.path, wrong);  // the fabric runs in a folder of its own
  if (wrong) return wrong_input(arguments.request.path + ": " + wrong.message());
  wanted["path"] = path.string();
  wanted["name"] = arguments.name;
  return ask_fabric(arguments, "capture start", wanted);
}

Status ask_by_name(const CaptureArguments& arguments, const std::string& command) {
  return ask_fabric(arguments, command, {{"name", arguments.name}, {"format", arguments.json ? "json" : "table"}});
}

void add_start(CLI::App& command, Status& status) {
  auto arguments = std::make_shared<CaptureArguments>();
  CLI::App* start_command = command.add_subcommand("start", "begin to write what crosses the fabric to a pcapng file");
  start_command->add_option("FILE", arguments->request.path, "a pcapng file, made anew")->required();
  start_command->add_option("--name", arguments->name, "what stop and list call it; else the file's, without its end");
  add_capture_options(*start_command, arguments->request, "--", nullptr);
  add_fabric_options(*start_command, *arguments);
  start_command->callback([arguments, &status] { status = start(*arguments); });
}

void add_stop(CLI::App& command, Status& status) {
  auto arguments = std::make_shared<CaptureArguments>();
  CLI::App* stop_command = command.add_subcommand("stop", "end a capture: its file is whole then");
  stop_command->add_option("NAME", arguments->name, "not needed if there is only one");
  add_fabric_options(*stop_command, *arguments);
  stop_command->callback([arguments, &status] { status = ask_by_name(*arguments, "capture stop"); });
}

void add_list(CLI::App& command, Status& status) {
  auto arguments = std::make_shared<CaptureArguments>();
  CLI::App* list_command = command.add_subcommand("list", "captures, what they take, and how much it is so far");
  add_fabric_options(*list_command, *arguments);
  list_command->callback([arguments, &status] { status = ask_by_name(*arguments, "capture list"); });
}

}  // namespace

void add_capture_command(CLI::App& app, Status& status) {
  CLI::App* command = app.add_subcommand("capture", "start, stop and list captures of a running fabric");
  command->footer(
      "While nothing is captured it costs nothing. The one that `softspine run --capture` began is called run.\n"
      "Examples:\n"
      "  softspine capture start pauses.pcapng --filter 'ether proto 0x8808'\n"
      "  softspine capture start tor1.pcapng --port 'tor1:*' --filter 'udp port 4791 and host 10.0.1.2' --snaplen 128\n"
      "  softspine capture start ring.pcapng --rotate 100MiB --keep 10\n"
      "  softspine capture start five.pcapng --duration 5ms --limit 1GiB\n"
      "  softspine capture list\n"
      "  softspine capture stop pauses && softspine storm pauses.pcapng");
  command->require_subcommand(1);
  add_start(*command, status);
  add_stop(*command, status);
  add_list(*command, status);
}

}  // namespace softspine::tools
