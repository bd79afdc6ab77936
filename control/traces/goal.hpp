// SPDX-License-Identifier: Apache-2.0
// GOAL: what each rank of a program does, as Schedgen, LogGOPSim and ATLAHS write it.
//
//   num_ranks 2
//   rank 0 {                        0, 1, 2 … in that order
//     a: calc 1500                  nanoseconds
//     b: send 1000b to 1 tag 7 cpu 0 nic 0
//     b requires a                  b starts when a is done
//     c: recv 8b from -1 tag -1     from whomever, with whatever tag
//     c irequires b                 c starts when b has started
//   }
//
// A label is optional, of its rank, and defined before it is used, once. tag, cpu and nic are 0 if not given; they may
// stand in any order. `nic` is read and chooses nothing: a host sends by the port that its flow has.
// The original takes a label's second definition in silence, and a circle of needs; here both are mistakes. So are
// messages that nobody receives, and receives of what nobody sends (message_counts.hpp).
// Source: spcl/LogGOPSim, txt2bin.re.
//
// The text is read once, through a small buffer. Memory: 40 bytes for each operation of the largest rank, 8 for each
// of its needs, and by pairs of ranks that talk.
// Maxima: 2^20 ranks, 2^32 − 2 operations a rank, tags and ranks below 2^32 − 1, 65,536 cpus, messages of 2 GiB,
// 10^15 ns. After 50 mistakes it gives up.
#pragma once

#include <expected>
#include <memory>
#include <string>
#include <string_view>

#include "control/document/error.hpp"
#include "control/traces/recorded_work.hpp"

namespace softspine::control {

using SharedWork = std::shared_ptr<const RecordedWork>;

// `name`: of the file, in errors.
std::expected<SharedWork, Errors> read_goal(std::string_view text, const std::string& name);
std::expected<SharedWork, Errors> load_goal(const std::string& path);

}  // namespace softspine::control
