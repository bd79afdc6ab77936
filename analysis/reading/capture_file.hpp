// SPDX-License-Identifier: Apache-2.0
// A capture in a file or on standard input, read frame by frame, with progress on stderr, until its end or until
// SIGINT or SIGTERM. Following waits at the end of a file for more of it.
#pragma once

#include <expected>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "analysis/reading/progress.hpp"
#include "analysis/storm/capture_reader.hpp"
#include "dataplane/edge/owned_fd.hpp"

namespace softspine::analysis {

// The first SIGINT or SIGTERM ends all reading while this lives. The second ends the process.
class StopReadingOnInterrupt {
 public:
  StopReadingOnInterrupt();
  ~StopReadingOnInterrupt();
  StopReadingOnInterrupt(const StopReadingOnInterrupt&) = delete;
  StopReadingOnInterrupt& operator=(const StopReadingOnInterrupt&) = delete;
  static bool is_interrupted();
};

class CaptureFile {
 public:
  // The error is a sentence.
  static std::expected<CaptureFile, std::string> open(const std::string& path, bool follow);

  // False at the end. Where the file is cut short this is the end, and a note names it.
  std::expected<bool, std::string> next(storm::CapturedFrame& frame);
  const storm::CaptureReader& reader() const { return *reader_; }
  const std::vector<std::string>& notes() const { return notes_; }
  uint64_t frames() const { return frames_; }
  // Is called when there is nothing to read, if more may come: before a wait.
  void on_idle(std::function<void()> look);
  // To be called now and then: shows what was read so far, if `progress` is given.
  void show(const ProgressFunction& progress, const std::string& what) const;

 private:
  struct Source;  // what the reader reads from
  CaptureFile(std::string path, std::shared_ptr<Source> source);

  std::string path_;
  std::shared_ptr<Source> source_;
  std::unique_ptr<storm::CaptureReader> reader_;
  std::vector<std::string> notes_;
  uint64_t frames_ = 0;
};

}  // namespace softspine::analysis
