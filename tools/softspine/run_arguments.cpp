// SPDX-License-Identifier: Apache-2.0
#include "tools/softspine/run_arguments.hpp"

#include "control/record/series.hpp"
#include "tools/softspine/capture_options.hpp"

namespace softspine::tools {

namespace {

void add_interval(CLI::App& command, const std::string& name, std::optional<dataplane::Duration>& out,
                  const std::string& help) {
  command.add_option_function<std::string>(
      name,
      [&out, name](const std::string& text) {
        const int64_t ps = quantity_argument(name, text, control::kDurationQuantity);
        if (ps < dataplane::Duration::ns(100).count_ps()) throw CLI::ValidationError(name, "must be at least 100ns");
        out = dataplane::Duration::ps(ps);
      },
      help);
}

void add_telemetry_options(CLI::App& command, RunArguments& out) {
  command.add_option("--counters-file", out.series.path,
                     "write counters over time to this file, as JSON lines; also run: telemetry: counters_file");
  add_interval(command, "--sample-interval", out.sample_interval,
               "emulated time from one sample of counters or flows to the next; 10us if not given");
  command
      .add_option("--counters", out.series.counters,
                  "only these counters, by name, with * for anything, separated by commas; all if not given")
      ->delimiter(',')
      ->each([](const std::string& name) {
        if (!control::names_a_series(name)) throw CLI::ValidationError("--counters", no_such_counter(name));
      });
  command.add_option("--flow-series", out.flow_series,
                     "write the rates, windows, round-trip times, CNPs and marks of reliable flows over time to this "
                     "file, as JSON lines, every --sample-interval");
  command.add_option("--events", out.events,
                     "write what happens, and when, to this file, as JSON lines: XOFF, pauses, storms, drops, links, "
                     "routes, faults; also run: telemetry: events_file");
  command.add_option("--record", out.record,
                     "record the run to this SQLite database: fabric, counters, events, flows, results "
                     "(docs/recording.md)");
  command.add_option("--html", out.html,
                     "write one HTML page about the run, to be mailed: verdict, pictures, the slowest flows' causes");
  add_interval(command, "--record-interval", out.record_interval,
               "emulated time from one sample of the recording to the next; if not given, a thousandth of the "
               "duration, but at least 10us");
  command.add_option("--trace", out.trace,
                     "write pauses and who asked for them, occupancies, drops, marks, events and the operations of "
                     "ranks to this file, as a Perfetto trace for ui.perfetto.dev (docs/perfetto.md)");
  add_interval(
      command, "--trace-interval", out.trace_interval,
      "emulated time from one sample of the trace's occupancies to the next; as --record-interval if not given");
}

void add_http_options(CLI::App& command, RunArguments& out) {
  CLI::Option* http = command.add_option_function<std::string>(
      "--http",
      [&out](const std::string& text) {
        auto address = control::parse_web_address(text);
        if (!address) throw CLI::ValidationError("--http", address.error());
        out.http = std::move(*address);
      },
      "serve a page, /metrics for Prometheus, /api and /events at this address and port (docs/http.md); an address "
      "that other machines reach needs --http-token");
  command.add_option("--http-token", out.http_token, "a file of ours alone, with the token that requests have to have")
      ->needs(http);
  command.add_flag("--http-control", out.http_control, "over HTTP also what changes the fabric; needs --http-token")
      ->needs(http);
}

}  // namespace

void add_run_arguments(CLI::App& command, RunArguments& out) {
  command.add_option("FILE", out.file, "a testbed file")->required();
  add_overrides(command, out.overrides);
  add_run_files(command, out);
  command.add_flag("--json", out.json, "the report on stdout instead of tables");
  command.add_flag("--quiet", out.quiet, "no progress");
  command.add_flag("--no-server", out.no_server, "no control socket: `softspine show` will not find it");
}

void add_run_files(CLI::App& command, RunArguments& out) {
  CLI::Option* capture =
      command.add_option("--capture", out.capture.path, "write what crosses the fabric to this pcapng file");
  add_capture_options(command, out.capture, "--capture-", capture);
  command.add_option("--report", out.report, "write the report to this JSON file");
  command.add_option("--junit", out.junit,
                     "write expectations and commands as test cases to this XML file, as CI systems read JUnit's");
  command.add_flag("--idle-rows", out.idle_rows, "in the report also the rows of hosts and links that carried nothing");
  command.add_option("--flows", out.flows, "write a line for each flow to this CSV file: completion times, losses");
  command.add_option("--fct-file", out.fct_file,
                     "write a line for each flow that has ended to this file, as HPCC's ns-3 has it in fct.txt");
  command.add_option(
      "--pfc-file", out.pfc_file,
      "write a line for each pause that comes in anywhere to this file, as HPCC's ns-3 has it in pfc.txt");
  command.add_option("--qlen-file", out.qlen_file,
                     "write how long the queues of switches' ports were, every --sample-interval, to this file, as "
                     "HPCC's ns-3 has it in qlen.txt");
  add_telemetry_options(command, out);
  add_picture_options(command, out.pictures);
  add_http_options(command, out);
  command.add_flag("--flat", out.flat,
                   "all nodes in windows as short as the shortest cable, instead of windows that nest: slower, to the "
                   "same result");
  command.add_option("--folder", out.folder,
                     "for the files of guests and namespaces, and kept; else one that goes at the end");
}

}  // namespace softspine::tools
