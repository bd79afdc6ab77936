// SPDX-License-Identifier: Apache-2.0
// Writes all of a block, to a file or to a pipe whose reader is slow.
//
// A pipe that is full is waited for, so a file descriptor that may be one comes from stop_blocking(): a write() that
// blocked could not be ended. Once `ending` is true (Ctrl-C), a reader that takes nothing for kLastWait is given up.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <string>

namespace softspine::dataplane {

inline constexpr std::chrono::milliseconds kLastWait{2'000};

void stop_blocking(int file) noexcept;

struct Written {
  size_t bytes = 0;  // of the block: all of it, unless there is an error
  int error = 0;     // errno; EPIPE: the reader has gone; ETIMEDOUT: it was given up
};

// `ending`: set from any thread, or by a signal handler; null: nobody ends the waiting.
Written write_patiently(int file, const void* bytes, size_t count, const std::atomic<bool>* ending) noexcept;

// In words.
std::string why_not_written(int error);

}  // namespace softspine::dataplane
