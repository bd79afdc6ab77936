// SPDX-License-Identifier: Apache-2.0
// Runs GOAL programs from stdin, one after the other, for goal_schedule_test.py. A program is a line
//
//   program WINDOW POST_NS RECEIVE_NS BYTE_PS LINES
//
// and so many lines of its text. Of each rank it prints:
//
//   rank RANK ENDED UNCLAIMED            ENDED: 1 or 0. UNCLAIMED: messages that no receive took
//   arrived SOURCE TAG BYTES PS          in their order
//   done NUMBER SOURCE TAG PS PS         likewise; when it started, and was done
//   waits NUMBER                         a receive without a message
#include <fmt/format.h>

#include <iostream>
#include <sstream>
#include <string>

#include "control/traces/goal.hpp"
#include "dataplane/dpdk/eal.hpp"
#include "tests/scenario/traces/trace_fabric.hpp"

namespace {

using namespace softspine;
using namespace softspine::testbeds;
using dataplane::Duration;

// The work as it was read; its spans do not outlive the next operation.
TracedRank traced(const control::RecordedWork& work, uint32_t rank) {
  TracedRank out;
  control::RecordedStream stream(work, rank);
  for (control::TraceOperation op; stream.next(op);) {
    out.push_back({.kind = op.kind,
                   .peer = op.peer,
                   .tag = op.tag,
                   .cpu = op.cpu,
                   .bytes = op.bytes,
                   .time = op.time,
                   .needs = {op.needs.begin(), op.needs.end()},
                   .needs_started = {op.needs_started.begin(), op.needs_started.end()}});
  }
  return out;
}

void print(const TraceFabric& fabric, uint32_t rank) {
  const TraceProgram& program = fabric.program(rank);
  fmt::print("rank {} {} {}\n", rank, program.state() == TraceProgram::State::kEnded ? 1 : 0,
             program.unclaimed_messages());
  for (const Arrival& it : fabric.log(rank).arrivals)
    fmt::print("arrived {} {} {} {}\n", it.source, it.tag, it.bytes, it.at.count_ps());
  for (const DoneTraced& it : fabric.log(rank).list)
    fmt::print("done {} {} {} {} {}\n", it.number, it.source, it.tag, it.started.count_ps(), it.done.count_ps());
  for (const UnfinishedTraceOperation& it : program.unfinished()) {
    if (it.waits_for_message) fmt::print("waits {}\n", it.number);
  }
}

bool run(std::istringstream head) {
  std::string word;
  uint32_t window = 0;
  int64_t post_ns = 0;
  int64_t receive_ns = 0;
  int64_t byte_ps = 0;
  int lines = 0;
  if (!(head >> word >> window >> post_ns >> receive_ns >> byte_ps >> lines) || word != "program") return false;
  std::string text;
  for (std::string line; lines > 0 && std::getline(std::cin, line); --lines) text += line + "\n";
  const auto work = control::read_goal(text, "stdin");
  if (!work) {
    for (const control::Error& error : work.error()) std::cerr << to_string(error) << "\n";
    return false;
  }
  std::vector<TracedRank> ranks;
  for (uint32_t rank = 0; rank < (*work)->ranks().size(); ++rank) ranks.push_back(traced(**work, rank));
  const auto count = static_cast<uint32_t>(ranks.size());
  TraceFabric fabric{
      std::move(ranks), window,
      TraceCosts{.post = Duration::ns(post_ns), .receive = Duration::ns(receive_ns), .byte = Duration::ps(byte_ps)}};
  fabric.run();
  fmt::print("program\n");
  for (uint32_t rank = 0; rank < count; ++rank) print(fabric, rank);
  return true;
}

}  // namespace

int main() {
  dataplane::start_eal({.memory_mib = 256});
  for (std::string head; std::getline(std::cin, head);) {
    if (!run(std::istringstream(head))) return 1;
  }
  return 0;
}
