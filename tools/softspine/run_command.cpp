// SPDX-License-Identifier: Apache-2.0
#include "tools/softspine/run_command.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <optional>

#include "testbeds/run/running_fabric.hpp"
#include "tools/softspine/fabric_server.hpp"
#include "tools/softspine/interrupt.hpp"

namespace softspine::tools {

namespace {

struct RunArguments {
  std::string file;
  control::Overrides overrides;
  std::string capture;
  std::vector<std::string> capture_ports;
  uint32_t snaplen = 256;
  std::string capture_limit;
  std::string report;
  std::string folder;
  bool json = false;
  bool quiet = false;
  bool no_server = false;
};

std::unexpected<Status> wrong(const std::string& message) {
  fmt::print(stderr, "softspine: {}\n", message);
  return std::unexpected(Status::kWrongInput);
}

bool has_outside_hosts(const control::Testbed& testbed) {
  return std::ranges::any_of(testbed.fabric.nodes, [](const control::FabricNode& node) {
    return node.kind == control::NodeKind::kHost && !control::is_builtin(node.attachment);
  });
}

// Where outside hosts put their files: as asked for, or a new folder of our own.
std::expected<std::filesystem::path, Status> run_folder(const RunArguments& arguments,
                                                        const control::Testbed& testbed) {
  if (!has_outside_hosts(testbed)) return std::filesystem::path{};
  if (!arguments.folder.empty()) return std::filesystem::absolute(arguments.folder);
  std::string made = "/tmp/softspine-run-XXXXXX";
  if (mkdtemp(made.data()) == nullptr) return wrong("cannot make a folder in /tmp for the outside hosts' files");
  return std::filesystem::path{made};
}

class Run {
 public:
  Run(const RunArguments& arguments, const control::Testbed& testbed) : arguments_(arguments), testbed_(testbed) {}

  Status operator()() {
    if (const auto made = make(); !made) return made.error();
    if (const auto ran = run(); !ran) return ran.error();
    return finish();
  }

 private:
  std::expected<void, Status> make() {
    const auto folder = run_folder(arguments_, testbed_);
    if (!folder) return std::unexpected(folder.error());
    testbeds::FabricOptions options{.run_folder = *folder, .capture = std::nullopt};
    if (!arguments_.capture.empty()) {
      options.capture = {.path = arguments_.capture, .ports = arguments_.capture_ports, .snaplen = arguments_.snaplen};
      if (!arguments_.capture_limit.empty()) {
        options.capture->max_bytes = static_cast<uint64_t>(
            quantity_argument("--capture-limit", arguments_.capture_limit, control::kBytesQuantity));
      }
    }
    auto fabric = testbeds::RunningFabric::make(testbed_, options);
    if (!fabric) return wrong(fabric.error());
    fabric_ = std::move(*fabric);
    return {};
  }

  std::expected<void, Status> run() {
    FabricServer server{*fabric_};
    if (!arguments_.no_server) {
      if (const auto listening = server.listen(); !listening) return wrong(listening.error());
    }
    const StopOnInterrupt on_interrupt{*fabric_};
    if (const auto ran = fabric_->run(); !ran) return wrong(ran.error());
    server.stop();
    return {};
  }

  Status finish() {
    const auto capture = fabric_->close_capture();
    if (!capture) fmt::print(stderr, "softspine: {}: {}\n", arguments_.capture, capture.error());
    const control::FabricSnapshot snapshot = fabric_->snapshot();
    uint64_t sent = 0;
    uint64_t received = 0;
    for (const auto& flow : snapshot.flows) {
      sent += flow.sent_packets;
      received += flow.received_packets;
    }
    uint64_t hops = 0;
    uint64_t drops = 0;
    for (const auto& s : snapshot.switches) {
      for (const auto& p : s.ports) {
        hops += p.counters.rx_packets;
        drops += p.counters.dropped_packets();
      }
    }
    fmt::print("{}: {} of {} packets arrived, {} hops, {} drops, {} s, {:.2f} M hops/s\n", testbed_.name, received,
               sent, hops, drops, snapshot.engine.wall_seconds,
               static_cast<double>(hops) / snapshot.engine.wall_seconds / 1e6);
    if (const uint64_t leaked = fabric_->drain(); leaked != 0) {
      fmt::print(stderr, "softspine: {} packets were not given back: a defect, please report it\n", leaked);
      return Status::kUnexpected;
    }
    return capture ? Status::kDone : Status::kUnexpected;
  }

  const RunArguments& arguments_;
  const control::Testbed& testbed_;
  std::unique_ptr<testbeds::RunningFabric> fabric_;
};

Status run(const RunArguments& arguments) {
  const auto testbed = read_testbed(arguments.file, arguments.overrides);
  if (!testbed) return testbed.error();
  return Run(arguments, *testbed)();
}

}  // namespace

void add_run_command(CLI::App& app, Status& status) {
  auto arguments = std::make_shared<RunArguments>();
  CLI::App* command = app.add_subcommand("run", "build a testbed, run it, and say what it did");
  command->footer(
      "Examples:\n"
      "  softspine run testbeds/two-tier.yaml\n"
      "  softspine run two-tier.yaml --capture fabric.pcapng --report report.json\n"
      "  softspine run two-tier.yaml --capture tor1.pcapng --capture-port 'tor1:*' --snaplen 128\n"
      "  softspine run two-tier.yaml --workers 2 --seed 3 --json | jq .workloads\n"
      "Ctrl-C ends it: files are closed and what was counted is printed.");
  command->add_option("FILE", arguments->file, "a testbed file")->required();
  add_overrides(*command, arguments->overrides);
  command->add_option("--capture", arguments->capture, "write what crosses the fabric to this pcapng file");
  command->add_option("--capture-port", arguments->capture_ports,
                      "only ports that match, e.g. 'tor1:*' (repeatable): what they send, and of switches also what "
                      "they receive; else what every port sends");
  command->add_option("--snaplen", arguments->snaplen, "bytes kept of a captured frame")
      ->check(CLI::Range(1, 65'535))
      ->capture_default_str();
  command->add_option("--capture-limit", arguments->capture_limit, "size of the capture at most, e.g. 1GiB");
  command->add_option("--report", arguments->report, "write the report to this JSON file");
  command->add_option("--folder", arguments->folder, "for the files of guests and namespaces; else one in /tmp");
  command->add_flag("--json", arguments->json, "the report on stdout instead of tables");
  command->add_flag("--quiet", arguments->quiet, "no progress");
  command->add_flag("--no-server", arguments->no_server, "no control socket: `softspine show` will not find it");
  command->callback([arguments, &status] { status = run(*arguments); });
}

}  // namespace softspine::tools
