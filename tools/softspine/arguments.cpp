// SPDX-License-Identifier: Apache-2.0
#include "tools/softspine/arguments.hpp"

#include <fmt/format.h>

#include "control/compile/compile.hpp"
#include "control/load/expectation_check.hpp"
#include "control/record/series.hpp"
#include "control/telemetry/json.hpp"
#include "tools/command/complain.hpp"
#include "tools/softspine/error_list.hpp"
#include "tools/softspine/views/run_report.hpp"

namespace softspine::tools {

int64_t quantity_argument(const std::string& option, const std::string& text, const control::QuantityKind& kind) {
  const auto value = control::parse_quantity(text, kind);
  if (!value) throw CLI::ValidationError(option, value.error());
  return *value;
}

void add_overrides(CLI::App& app, control::Overrides& out) {
  app.add_option_function<std::string>(
         "--clock",
         [&out](const std::string& text) {
           out.clock = text == "wall" ? control::ClockKind::kWall : control::ClockKind::kVirtual;
         },
         "wall: packets are real, time is the machine's; virtual: time jumps to the next event")
      ->check(CLI::IsMember({"wall", "virtual"}));
  app.add_option_function<uint64_t>(
      "--seed", [&out](uint64_t seed) { out.seed = seed; }, "seed of all random numbers of the run");
  app.add_option_function<std::string>(
      "--duration",
      [&out](const std::string& text) {
        out.duration = dataplane::Duration::ps(quantity_argument("--duration", text, control::kDurationQuantity));
      },
      "emulated time at most, e.g. 20ms");
  app.add_option_function<uint32_t>(
         "--workers", [&out](uint32_t workers) { out.workers = workers; },
         fmt::format("threads that move packets, 1 to {}", control::kMaxWorkers))
      ->check(CLI::Range(uint32_t{1}, control::kMaxWorkers));
  app.add_option_function<uint32_t>(
         "--dilation", [&out](uint32_t times) { out.dilation = times; },
         "wall clock: how many times slower than configured")
      ->check(CLI::Range(1, 1'000'000));
  app.add_option_function<uint32_t>(
         "--clock-ppm", [&out](uint32_t ppm) { out.clock_ppm = ppm; },
         fmt::format("how far nodes' clocks may be off, 0 (all agree) to {}", dataplane::kMaxClockPpm))
      ->check(CLI::Range(uint32_t{0}, dataplane::kMaxClockPpm));
  app.add_option_function<std::string>(
      "--start-jitter",
      [&out](const std::string& text) {
        out.start_jitter =
            control::Share{static_cast<uint64_t>(quantity_argument("--start-jitter", text, control::kShareQuantity))};
      },
      "how late built-in hosts may start a packet, of its time on the wire: 0% (never) to 100%");
  app.add_option_function<std::vector<std::string>>(
         "--set",
         [&out](const std::vector<std::string>& texts) {
           for (const std::string& text : texts) {
             const auto setting = control::setting_of(text);
             if (!setting) throw CLI::ValidationError("--set", setting.error());
             out.settings.push_back(*setting);
           }
         },
         "PATH=VALUE in the testbed, e.g. workloads[0].qps=4 or profiles.*.mtu=9000; can be given several times")
      ->expected(1)
      ->take_all();
}

std::string no_such_counter(const std::string& name) {
  std::string out = "no counter over time is named " + name + ": there are";
  for (const std::string& each : control::series_names()) out += " " + each;
  return out;
}

namespace {

control::Errors check_telemetry(const control::Testbed& testbed) {
  const control::TelemetryConfig& given = testbed.run.telemetry;
  control::Errors out;
  for (const std::string& name : given.counters) {
    if (control::names_a_series(name)) continue;
    out.push_back({testbed.file, "run.telemetry.counters", given.line, given.column, no_such_counter(name)});
  }
  return out;
}

}  // namespace

std::expected<control::Testbed, control::Refused> checked_testbed(const std::string& file,
                                                                  const control::Overrides& overrides) {
  auto testbed = control::load_testbed_or_fabric(file, overrides);
  if (!testbed) return testbed;
  control::Errors errors = control::unsupported_in(*testbed);
  if (errors.empty()) errors = check_telemetry(*testbed);
  if (errors.empty() && !testbed->expectations.empty()) {
    errors = control::check_expectations(testbed->expectations, report_outline(*testbed), testbed->file);
  }
  if (errors.empty()) return testbed;
  return std::unexpected(control::Refused{.errors = std::move(errors), .fabric = std::move(testbed->fabric)});
}

Status print_errors(const control::Errors& errors, const std::string& file) {
  print_list(errors);
  complain("softspine: {} error{} in {}; nothing was started\n", errors.size(), errors.size() == 1 ? "" : "s", file);
  return Status::kWrongInput;
}

std::expected<control::Testbed, Status> read_testbed(const std::string& file, const control::Overrides& overrides) {
  auto testbed = checked_testbed(file, overrides);
  if (!testbed) return std::unexpected(print_errors(testbed.error().errors, file));
  return std::move(*testbed);
}

}  // namespace softspine::tools
