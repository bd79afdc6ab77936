// SPDX-License-Identifier: Apache-2.0
#include "analysis/reading/capture_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

namespace softspine::analysis {

namespace {

constexpr int kLookForMoreMs = 100;

volatile std::sig_atomic_t interrupted = 0;

void on_interrupt(int number) {
  interrupted = 1;
  std::signal(number, SIG_DFL);
}

}  // namespace

StopReadingOnInterrupt::StopReadingOnInterrupt() {
  interrupted = 0;
  struct sigaction action{};
  action.sa_handler = on_interrupt;  // no SA_RESTART: a read from a pipe returns, too
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

StopReadingOnInterrupt::~StopReadingOnInterrupt() {
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
}

bool StopReadingOnInterrupt::is_interrupted() {
  return interrupted != 0;
}

struct CaptureFile::Source {
  dataplane::OwnedFd owned;
  int file = -1;
  bool follow = false;
  uint64_t bytes = 0;  // of the file; 0 where its end is not known
  int error = 0;
  std::function<void()> look;

  size_t read(std::span<uint8_t> into) {
    for (;;) {
      if (look) look_if_idle();
      const ssize_t n = ::read(file, into.data(), into.size());
      if (n > 0 || (n == 0 && (!follow || interrupted != 0))) return static_cast<size_t>(n);
      if (n == 0) {
        if (look) look();
        poll(nullptr, 0, kLookForMoreMs);
        continue;
      }
      if (errno == EINTR && interrupted == 0) continue;
      error = errno == EINTR ? 0 : errno;
      return 0;
    }
  }
  // A file always has something to read, or nothing any more; a pipe may have to be waited for.
  void look_if_idle() {
    pollfd it{.fd = file, .events = POLLIN, .revents = 0};
    if (poll(&it, 1, 0) == 0) look();
  }
};

CaptureFile::CaptureFile(std::string path, std::shared_ptr<Source> source)
    : path_(std::move(path)),
      source_(std::move(source)),
      reader_(std::make_unique<storm::CaptureReader>(
          [from = source_](std::span<uint8_t> into) { return from->read(into); })) {}

std::expected<CaptureFile, std::string> CaptureFile::open(const std::string& path, bool follow) {
  auto source = std::make_shared<Source>();
  const bool is_stdin = path == "-";
  source->owned = dataplane::OwnedFd{is_stdin ? -1 : ::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  source->file = is_stdin ? STDIN_FILENO : source->owned.get();
  struct stat about{};
  if (source->file < 0 || fstat(source->file, &about) != 0) return std::unexpected(path + ": " + std::strerror(errno));
  if (S_ISDIR(about.st_mode)) return std::unexpected(path + ": is a directory, not a capture");
  source->follow = follow && S_ISREG(about.st_mode);  // the writer of a pipe closes it at its end
  source->bytes = source->follow ? 0 : static_cast<uint64_t>(about.st_size);
  return CaptureFile{path, std::move(source)};
}

void CaptureFile::show(const ProgressFunction& progress, const std::string& what) const {
  if (progress) progress(path_, reader_->offset(), source_->bytes, what);
}

void CaptureFile::on_idle(std::function<void()> look) {
  source_->look = std::move(look);
}

std::expected<bool, std::string> CaptureFile::next(storm::CapturedFrame& frame) {
  if (interrupted != 0) {
    notes_.push_back(fmt::format("interrupted at offset {}", reader_->offset()));
    return false;
  }
  const auto got = reader_->next(frame);
  if (source_->error != 0) return std::unexpected(path_ + ": " + std::strerror(source_->error));
  if (got) {
    frames_ += *got ? 1 : 0;
    if (!*got && interrupted != 0) notes_.push_back(fmt::format("interrupted at offset {}", reader_->offset()));
    return *got;
  }
  const storm::CaptureError& error = got.error();
  if (!error.cut_short || (frames_ == 0 && interrupted == 0)) {
    return std::unexpected(fmt::format("{}: offset {}: {}", path_, error.offset, error.message));
  }
  notes_.push_back(interrupted != 0 ? fmt::format("interrupted at offset {}", reader_->offset())
                                    : fmt::format("cut short: {} (offset {}); what came before is used", error.message,
                                                  error.offset));
  return false;
}

}  // namespace softspine::analysis
