// SPDX-License-Identifier: Apache-2.0
#include "tools/softspine/run_ranks.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <utility>

#include "tools/command/complain.hpp"
#include "tools/command/whole_file.hpp"
#include "tools/softspine/views/file_clashes.hpp"

namespace softspine::tools {

namespace {

// FNV-1a over words of eight bytes, the last filled up with zeros: against mistakes, not against anybody.
std::string fingerprint_of_file(const std::string& file) {
  std::ifstream in{file, std::ios::binary};
  if (!in) return "cannot be opened";
  uint64_t out = 0xcbf29ce484222325;
  uint64_t size = 0;
  std::vector<char> block(size_t{1} << 16);
  while (in) {
    in.read(block.data(), static_cast<std::streamsize>(block.size()));
    const auto read = static_cast<size_t>(in.gcount());
    size += read;
    for (size_t at = 0; at < read; at += sizeof(uint64_t)) {
      uint64_t word = 0;
      std::memcpy(&word, block.data() + at, std::min(sizeof word, read - at));
      out = (out ^ word) * 0x100000001b3;
    }
  }
  return fmt::format("{:016x} of {} bytes", out, size);
}

testbeds::RankFact fact_of(const std::string& file) {
  return {"file " + file, fingerprint_of_file(file)};
}

std::expected<void, Status> same_everywhere(testbeds::RankProcess& ranks, const std::vector<testbeds::RankFact>& mine) {
  const std::string why = ranks.disagreement(mine);
  if (why.empty()) return {};
  if (ranks.is_first()) complain("softspine: {}\n", why);
  return std::unexpected(Status::kWrongInput);
}

// What goes with the run: this rank's control socket, a folder of its own.
std::vector<std::string>& paths_of_run() {
  static std::vector<std::string> paths;
  return paths;
}

void put_in_place_of(int what, int with) {
  if (with >= 0) dup2(with, what);
}

}  // namespace

QuietOutput::QuietOutput(bool is_quiet) {
  if (!is_quiet) return;
  std::fflush(nullptr);
  const int nothing = open("/dev/null", O_WRONLY | O_CLOEXEC);
  stdout_ = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
  stderr_ = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
  errors_ = memfd_create("errors", MFD_CLOEXEC);
  put_in_place_of(STDOUT_FILENO, nothing);
  put_in_place_of(STDERR_FILENO, errors_);
  close(nothing);
}

QuietOutput::~QuietOutput() {
  std::fflush(nullptr);
  put_in_place_of(STDOUT_FILENO, stdout_);
  put_in_place_of(STDERR_FILENO, stderr_);
  for (const int each : {stdout_, stderr_, errors_}) {
    if (each >= 0) close(each);
  }
}

std::string QuietOutput::release_errors() {
  if (errors_ < 0) return {};
  std::fflush(stderr);
  put_in_place_of(STDERR_FILENO, stderr_);
  std::string out(static_cast<size_t>(std::max<off_t>(lseek(errors_, 0, SEEK_END), 0)), '\0');
  const ssize_t read = pread(errors_, out.data(), out.size(), 0);
  out.resize(static_cast<size_t>(std::max<ssize_t>(read, 0)));
  close(std::exchange(errors_, -1));
  return out;
}

// Nobody is waited for: the others find out by themselves, and the launcher ends whoever is left.
std::expected<std::unique_ptr<testbeds::RankProcess>, Status> start_ranks() {
  auto ranks = testbeds::RankProcess::start([](const std::string& why) {
    complain("softspine: {}; the run cannot go on\n", why);
    std::error_code ignored;
    for (const std::string& path : paths_of_run()) std::filesystem::remove_all(path, ignored);
    _exit(static_cast<int>(Status::kWrongInput));
  });
  if (ranks) return std::move(*ranks);
  complain("softspine: {}\n", ranks.error());
  return std::unexpected(Status::kWrongInput);
}

void remove_when_lost(const std::string& path) {
  paths_of_run().push_back(path);
}

std::expected<void, Status> agree(testbeds::RankProcess& ranks, const RunArguments& arguments) {
  return same_everywhere(ranks, {{"program", fingerprint_of_file("/proc/self/exe")},
                                 {"command line", bytes_of_file("/proc/self/cmdline")},
                                 fact_of(arguments.file)});
}

std::expected<void, Status> agree_on_files(testbeds::RankProcess& ranks, const control::Testbed* testbed) {
  std::vector<testbeds::RankFact> files;
  if (testbed != nullptr) {
    files.push_back({"testbed", testbed->file});
    for (const std::string& file : testbed->inputs) files.push_back(fact_of(file));
    for (const std::string& file : files_that_hosts_send(*testbed)) files.push_back(fact_of(file));
  }
  return same_everywhere(ranks, files);
}

std::expected<void, Status> all_are_ready(testbeds::RankProcess& ranks, std::expected<void, Status> mine,
                                          QuietOutput& output) {
  const Status status = mine ? Status::kDone : mine.error();
  const auto words = ranks.gather({static_cast<int>(status), output.release_errors()});
  const auto worst = std::ranges::max(words, {}, &testbeds::RankWord::status);
  if (worst.status == 0) return {};
  if (ranks.is_first() && mine) {
    for (size_t r = 0; r < words.size(); ++r) {
      if (words[r].status == 0) continue;
      complain("softspine: rank {} cannot begin:\n{}", r, words[r].text);
      break;
    }
  }
  return std::unexpected(static_cast<Status>(worst.status));
}

Status joint_status(testbeds::RankProcess& ranks, Status mine) {
  const auto words = ranks.gather({static_cast<int>(mine), {}});
  return static_cast<Status>(std::ranges::max(words, {}, &testbeds::RankWord::status).status);
}

std::optional<testbeds::RankNetwork> measured_network(testbeds::RankProcess& ranks, const control::Testbed* testbed) {
  const bool is_wall = testbed != nullptr && testbed->run.clock == control::ClockKind::kWall;
  const auto words = ranks.gather({is_wall ? 0 : 1, {}});
  if (!std::ranges::all_of(words, [](const testbeds::RankWord& each) { return each.status == 0; })) return std::nullopt;
  return testbeds::measure_network(ranks.talk());
}

std::expected<void, Status> able_over_ranks(const testbeds::RankProcess& ranks, const RunArguments& arguments,
                                            const control::Testbed& testbed,
                                            const std::optional<testbeds::RankNetwork>& network) {
  const std::vector<std::string> not_there = testbeds::not_over_ranks(testbed);
  for (const std::string& each : not_there) complain("softspine: {}: {}\n", arguments.file, each);
  if (!not_there.empty()) return std::unexpected(Status::kWrongInput);
  if (!network) return {};
  const std::string why =
      testbeds::too_slow_for(*network, testbeds::plan_ranks(testbed, ranks.ranks()), testbed.run.dilation);
  if (why.empty()) return {};
  if (ranks.is_first()) complain("softspine: {}: {}\n", arguments.file, why);
  return std::unexpected(Status::kWrongInput);
}

}  // namespace softspine::tools
