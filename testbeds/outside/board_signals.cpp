// SPDX-License-Identifier: Apache-2.0
#include "testbeds/outside/board_signals.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <system_error>
#include <utility>

#include "testbeds/guests/owned_folder.hpp"

namespace softspine::testbeds {

namespace fs = std::filesystem;

namespace {

// Files that are still being written begin with a dot.
bool is_signal_name(const std::string& name) {
  return !name.empty() && name.front() != '.' && name.find('/') == std::string::npos;
}

}  // namespace

BoardSignals::BoardSignals(fs::path board) : board_(std::move(board)) {
  for_each_new([](const std::string&, const fs::path&) {});
}

BoardSignals::Seen BoardSignals::look_at(const fs::path& file) {
  struct stat about{};
  if (lstat(file.c_str(), &about) != 0 || !S_ISREG(about.st_mode)) return {};
  return {.inode = about.st_ino, .changed_ns = about.st_mtim.tv_sec * 1'000'000'000 + about.st_mtim.tv_nsec};
}

template <typename See>
void BoardSignals::for_each_new(See&& see) {
  std::error_code none;
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(board_, none)) files.push_back(entry.path());
  std::ranges::sort(files);
  for (const fs::path& file : files) {
    const std::string name = file.filename();
    const Seen now = look_at(file);
    if (!is_signal_name(name) || now == Seen{} || std::exchange(seen_[name], now) == now) continue;
    see(name, file);
  }
}

std::vector<BoardSignal> BoardSignals::take_new(std::vector<Error>& errors) {
  std::vector<BoardSignal> out;
  for_each_new([&](const std::string& name, const fs::path& file) {
    auto text = read_file_end(file, kMostBytes + 1);
    if (!text) return;  // it has gone again
    if (text->size() > kMostBytes) {
      errors.push_back({file.string(), "is larger than a signal may be, and reaches no other rank"});
      return;
    }
    ++own_[name];
    out.push_back({name, std::move(*text)});
  });
  return out;
}

void BoardSignals::see_own(const BoardSignal& signal) {
  if (const auto its = own_.find(signal.name); its != own_.end() && --its->second == 0) own_.erase(its);
}

// One that has not been taken yet, or whose turn comes later.
bool BoardSignals::has_newer(const std::string& name) const {
  if (own_.contains(name)) return true;
  const Seen there = look_at(board_ / name);
  const auto seen = seen_.find(name);
  return there != Seen{} && (seen == seen_.end() || seen->second != there);
}

// Aside under a short name of its own: the signal's may be as long as names of files can be.
std::expected<void, Error> BoardSignals::put(const BoardSignal& signal) {
  if (!is_signal_name(signal.name) || has_newer(signal.name)) return {};
  const fs::path aside = board_ / ".elsewhere";
  if (auto written = write_new_file(aside, signal.text); !written) return written;
  const Seen put = look_at(aside);
  std::error_code error;
  fs::rename(aside, board_ / signal.name, error);
  if (error) return std::unexpected(Error{(board_ / signal.name).string(), error.message()});
  seen_[signal.name] = put;
  return {};
}

}  // namespace softspine::testbeds
