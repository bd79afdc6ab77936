// SPDX-License-Identifier: Apache-2.0
#include "tools/softspine/lab_commands.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <ctime>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "control/server/client.hpp"
#include "control/server/socket_path.hpp"
#include "control/telemetry/text_table.hpp"
#include "tools/command/complain.hpp"
#include "tools/command/wrong_input.hpp"
#include "tools/softspine/labs/lab_folder.hpp"

// glibc 2.36's header does not declare its functions as C.
extern "C" {
#include <sys/pidfd.h>
}

namespace softspine::tools {

using control::Json;
using dataplane::OwnedFd;

namespace {

constexpr std::chrono::milliseconds kLookEvery{200};
constexpr size_t kHostsShown = 8;

// The lab of that name; without a name, the only one.
std::expected<Lab, std::string> lab_meant(const std::string& name) {
  if (!name.empty()) {
    auto lab = lab_named(name);
    if (!lab) return std::unexpected("no lab is named " + name + "; softspine ls lists them");
    return *lab;
  }
  std::vector<Lab> all = labs();
  if (all.size() == 1) return all.front();
  return std::unexpected(all.empty() ? "no lab is up" : "several labs are up; name one of them: softspine ls");
}

// What has come to the log since `from`; its new end.
std::streamoff print_log(const Lab& lab, std::streamoff from) {
  std::ifstream log{lab.log(), std::ios::binary};
  log.seekg(from);
  std::string text(1 << 16, '\0');
  while (log.read(text.data(), static_cast<std::streamsize>(text.size())) || log.gcount() > 0) {
    fmt::print("{}", text.substr(0, static_cast<size_t>(log.gcount())));
    from += log.gcount();
  }
  std::fflush(stdout);
  return from;
}

struct DownArguments {
  std::string lab;
  unsigned seconds = 60;
  bool is_brief = false;
};

bool ends_within(const OwnedFd& process, std::chrono::milliseconds time) {
  pollfd polled{process.get(), POLLIN, 0};
  int ready = 0;
  do {
    ready = poll(&polled, 1, static_cast<int>(time.count()));
  } while (ready < 0 && errno == EINTR);
  return ready > 0;
}

// True if it has ended as it should.
bool end_process(const Lab& lab, std::chrono::seconds patience) {
  if (!lab.process) return true;
  const OwnedFd process{pidfd_open(*lab.process, 0)};
  const auto still = lab_named(lab.name);  // the number is its own while the lock is held
  if (!process || !still || still->process != lab.process) return true;
  pidfd_send_signal(process.get(), SIGTERM, nullptr, 0);
  if (ends_within(process, patience)) return true;
  complain("softspine: {} does not end within {} s, and is killed\n", lab.name, patience.count());
  pidfd_send_signal(process.get(), SIGKILL, nullptr, 0);
  ends_within(process, std::chrono::seconds{10});
  return false;
}

Status down(const DownArguments& arguments) {
  const auto lab = lab_meant(arguments.lab);
  if (!lab) return wrong_input(lab.error());
  std::error_code none;
  const auto said = lab->is_up ? static_cast<std::streamoff>(std::filesystem::file_size(lab->log(), none)) : 0;
  const bool ended_well = end_process(*lab, std::chrono::seconds{arguments.seconds});
  const auto after = lab_named(lab->name);
  if (!arguments.is_brief) print_log(*lab, said);
  const int status = after && after->status ? *after->status : static_cast<int>(Status::kUnexpected);
  forget_lab(lab->name);
  return ended_well ? static_cast<Status>(status) : Status::kUnexpected;
}

void add_down(CLI::App& app, Status& status) {
  auto arguments = std::make_shared<DownArguments>();
  CLI::App* command = app.add_subcommand("down", "end a lab, and leave nothing of it");
  command->footer(
      "It waits for the end, and prints what `softspine run` prints then; its exit status is that of the run. What is\n"
      "left of a lab whose process was killed goes as well (status 1).\n"
      "Examples:\n"
      "  softspine down\n"
      "  softspine down namespaces");
  command->add_option("LAB", arguments->lab, "the testbed's name; not needed if only one is up");
  command->add_option("--patience", arguments->seconds, "seconds until it is killed; 60 if not given")
      ->check(CLI::Range(1U, 86'400U));
  command->add_flag("--quiet", arguments->is_brief, "print nothing but errors");
  command->callback([arguments, &status] { status = down(*arguments); });
}

double seconds_since(const std::filesystem::path& path) {
  struct stat about{};
  timespec now{};
  if (stat(path.c_str(), &about) != 0 || clock_gettime(CLOCK_REALTIME, &now) != 0) return 0;
  return static_cast<double>(now.tv_sec - about.st_mtim.tv_sec) +
         static_cast<double>(now.tv_nsec - about.st_mtim.tv_nsec) * 1e-9;
}

// A row for each lab, and each other run that answers.
Json rows_of_all() {
  std::vector<std::string> names = control::fabrics_in_folder();
  for (const Lab& lab : labs()) names.push_back(lab.name);
  std::ranges::sort(names);
  names.erase(std::ranges::unique(names).begin(), names.end());
  Json rows = Json::array();
  for (const std::string& name : names) {
    const auto lab = lab_named(name);
    const auto socket = control::socket_path(name);
    auto client = control::Client::connect(*socket);
    const auto facts = client ? client->call("show fabric", {{"format", "json"}}) : std::unexpected(client.error());
    if (!lab && !facts) continue;  // a leftover
    const bool is_up = facts.has_value() || (lab && lab->is_up);
    const auto fact = [&facts](const char* key) { return facts && facts->contains(key) ? (*facts)[key] : Json(); };
    rows.push_back({{"name", name},
                    {"state", !is_up              ? "ended"
                              : lab && lab->is_up ? "up"
                                                  : "run"},
                    {"status", lab && lab->status ? Json(*lab->status) : Json()},
                    {"process", lab && lab->process ? Json(*lab->process) : fact("process")},
                    {"age_seconds", seconds_since(lab ? lab->folder / "pid" : *socket)},
                    {"clock", fact("clock")},
                    {"dilation", fact("dilation")},
                    {"now_ps", fact("now_ps")},
                    {"lateness_p99_ps", fact("lateness_p99_ps")},
                    {"errors", facts ? Json((*facts)["errors"].size()) : Json()},
                    {"hosts", fact("hosts_outside")},
                    {"socket", facts ? Json(socket->string()) : Json()},
                    {"folder", lab ? Json(lab->folder.string()) : Json()},
                    {"file", fact("file")}});
  }
  return rows;
}

std::string age_text(double seconds) {
  const auto whole = static_cast<uint64_t>(std::max(0.0, seconds));
  if (whole < 100) return fmt::format("{} s", whole);
  if (whole < 6'000) return fmt::format("{} min", whole / 60);
  return whole < 172'800 ? fmt::format("{} h", whole / 3'600) : fmt::format("{} d", whole / 86'400);
}

std::string clock_text(const Json& row) {
  if (!row["clock"].is_string()) return "-";
  const auto dilation = row["dilation"].get<int64_t>();
  return row["clock"].get<std::string>() + (dilation == 1 ? "" : fmt::format(" / {}", dilation));
}

std::string hosts_text_of(const Json& row) {
  if (!row["hosts"].is_array() || row["hosts"].empty()) return "-";
  std::string out;
  for (size_t i = 0; i < std::min(kHostsShown, row["hosts"].size()); ++i) {
    out += (out.empty() ? "" : " ") + row["hosts"][i].get<std::string>();
  }
  const size_t more = row["hosts"].size() - std::min(kHostsShown, row["hosts"].size());
  return more == 0 ? out : fmt::format("{} and {} more", out, more);
}

std::string state_text(const Json& row) {
  const auto state = row["state"].get<std::string>();
  return row["status"].is_number() ? fmt::format("{}: {}", state, row["status"].get<int>()) : state;
}

// "1.234 s" of emulated time; "-" without an answer.
std::string time_text(const Json& ps, double unit, const char* word) {
  return ps.is_number() ? fmt::format("{:.3f} {}", static_cast<double>(ps.get<int64_t>()) * unit, word) : "-";
}

Status list(bool as_json) {
  const Json rows = rows_of_all();
  if (as_json) {
    fmt::print("{}\n", rows.dump(2));
    return Status::kDone;
  }
  control::TextTable table({"<NAME", "<STATE", "AGE", "<CLOCK", "TIME", "LATE(p99)", "<HOSTS", "<SOCKET"});
  for (const Json& row : rows) {
    table.add({row["name"], state_text(row), age_text(row["age_seconds"]), clock_text(row),
               time_text(row["now_ps"], 1e-12, "s"), time_text(row["lateness_p99_ps"], 1e-6, "us"), hosts_text_of(row),
               row["socket"].is_string() ? row["socket"].get<std::string>() : "-"});
  }
  fmt::print("{}", table.text());
  return Status::kDone;
}

void add_list(CLI::App& app, Status& status) {
  auto as_json = std::make_shared<bool>(false);
  CLI::App* command = app.add_subcommand("ls", "the labs and runs of this user");
  command->footer(
      "STATE: up (a lab), run (softspine run), ended: STATUS (a lab that ended by itself; softspine logs says why).\n"
      "TIME and LATE are emulated: how far it is, and how late its windows were.\n"
      "Examples:\n"
      "  softspine ls\n"
      "  softspine ls --json | jq -r '.[].name'");
  command->add_flag("--json", *as_json, "for programs");
  command->callback([as_json, &status] { status = list(*as_json); });
}

struct LogsArguments {
  std::string lab;
  bool follow = false;
};

Status logs(const LogsArguments& arguments) {
  const auto lab = lab_meant(arguments.lab);
  if (!lab) return wrong_input(lab.error());
  std::streamoff end = print_log(*lab, 0);
  while (arguments.follow) {
    const auto still = lab_named(lab->name);
    end = print_log(*lab, end);
    if (!still || !still->is_up) break;
    std::this_thread::sleep_for(kLookEvery);
  }
  return Status::kDone;
}

void add_logs(CLI::App& app, Status& status) {
  auto arguments = std::make_shared<LogsArguments>();
  CLI::App* command = app.add_subcommand("logs", "what a lab has printed: errors, notes, and its summary at the end");
  command->footer(
      "Examples:\n"
      "  softspine logs namespaces\n"
      "  softspine logs --follow");
  command->add_option("LAB", arguments->lab, "the testbed's name; not needed if only one is up");
  command->add_flag("--follow,-f", arguments->follow, "until the lab has ended");
  command->callback([arguments, &status] { status = logs(*arguments); });
}

}  // namespace

void add_lab_commands(CLI::App& app, Status& status) {
  add_down(app, status);
  add_list(app, status);
  add_logs(app, status);
}

}  // namespace softspine::tools
