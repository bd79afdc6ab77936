// SPDX-License-Identifier: Apache-2.0
#include "tools/softspine/run_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <initializer_list>
#include <system_error>
#include <utility>

#include "dataplane/edge/owned_fd.hpp"
#include "testbeds/run/run_recording.hpp"
#include "testbeds/run/trace_file.hpp"
#include "tools/softspine/summary/summary_words.hpp"

namespace softspine::tools {

namespace {

std::string line(const std::string& file, const char* what) {
  return file.empty() ? "" : fmt::format("  {}  {}\n", file, what);
}

std::string capture_line(const std::string& file, bool is_numbered, const control::CaptureTotals& capture) {
  return fmt::format("  {}  {} frames, {}{}{}\n", file, capture.frames,
                     short_number(static_cast<double>(capture.bytes), "B"),
                     is_numbered ? fmt::format(" in {} numbered files", capture.files) : "",
                     capture.missed + capture.omitted == 0
                         ? ""
                         : fmt::format("; {} missed, {} beyond its limit", capture.missed, capture.omitted));
}

}  // namespace

std::expected<void, std::string> open_trace(const testbeds::RunningFabric& fabric, const RunArguments& arguments) {
  if (arguments.trace.empty()) return {};
  const dataplane::Duration usual = testbeds::usual_record_interval(fabric.testbed().run);
  return fabric.part<testbeds::TraceFile>().open({arguments.trace, arguments.trace_interval.value_or(usual)});
}

std::expected<void, std::string> make_file_for_page(std::string& path) {
  std::error_code none;
  std::string made = (std::filesystem::temp_directory_path(none) / "softspine-page-XXXXXX").string();
  const dataplane::OwnedFd file{mkstemp(made.data())};
  if (!file) return std::unexpected("cannot make " + made + " for the page: " + std::strerror(errno));
  path = std::move(made);
  return {};
}

std::string files_text(const RunArguments& arguments, const TelemetryFiles& telemetry,
                       const std::expected<control::CaptureTotals, std::string>& capture) {
  std::string out = line(arguments.report, "the report");
  out += line(arguments.junit, "test cases");
  out += line(telemetry.counters, "counters over time");
  out += line(arguments.flow_series, "flows over time");
  out += line(telemetry.events, "events");
  out += line(arguments.record, "the recording");
  out += line(arguments.html, "the page");
  out += line(arguments.trace, "the trace");
  out += arguments.pictures.list();
  out += line(arguments.flows, "each flow");
  out += line(arguments.fct_file, "completion times");
  out += line(arguments.pfc_file, "pauses");
  out += line(arguments.qlen_file, "queue lengths");
  if (!arguments.capture.path.empty() && capture)
    out += capture_line(arguments.capture.path, arguments.capture.rotation.any(), *capture);
  return out;
}

bool waits_for_reader(const RunArguments& arguments, const FileUse& use) {
  std::error_code none;
  const RunPictures& drawn = arguments.pictures;
  const std::initializer_list<std::filesystem::path> late{arguments.report,    arguments.flows, arguments.fct_file,
                                                          arguments.qlen_file, drawn.timeline,  drawn.busbw,
                                                          drawn.steps,         arguments.html,  arguments.junit};
  return use.writes && std::ranges::find(late, use.path) == late.end() &&
         std::filesystem::symlink_status(use.path, none).type() == std::filesystem::file_type::fifo;
}

}  // namespace softspine::tools
