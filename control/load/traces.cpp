// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "control/load/listed_flows.hpp"
#include "control/load/resolve.hpp"
#include "control/load/trace_files.hpp"
#include "control/traces/recorded_work.hpp"

namespace softspine::control {
namespace {

constexpr uint64_t kMaxTracePairs = 1ULL << 22;

class TraceResolver {
 public:
  TraceResolver(Reader& reader, TraceFiles& files, Testbed& testbed)
      : reader_(reader), files_(files), testbed_(testbed) {}

  void resolve(const TraceRow& row) {
    const auto workload = std::ranges::find(testbed_.workloads, row.name, &Workload::name);
    TraceRun out{.name = row.name,
                 .file = path_beside(row.where, row.file),
                 .format = row.format,
                 .start_unit = row.start_unit.value_or(TraceRun{}.start_unit),
                 .ranks = workload->hosts,
                 .window = row.window,
                 .start = dataplane::Instant::at(row.start),
                 .post_cost = row.post_cost,
                 .receive_cost = row.receive_cost,
                 .byte_cost = row.byte_cost,
                 .workload = static_cast<uint32_t>(workload - testbed_.workloads.begin()),
                 .place = place_of(row.where)};
    if (row.start_unit && row.format != TraceFormat::kHtsim) {
      reader_.fail(row.where.child("start_unit"), "is for format: htsim");
      return;
    }
    const TraceFiles::Read& read = files_.of(row);
    if (!read) {
      for (const Error& error : read.error()) reader_.log().add(error);
      reader_.fail(row.where.child("file"), "cannot be used: see what is said of it");
      return;
    }
    out.work = *read;
    if (!has_a_host_each(row, out) || !connect(row, out, *workload)) return;
    testbed_.traces.push_back(std::move(out));
  }

 private:
  bool has_a_host_each(const TraceRow& row, TraceRun& run) {
    const size_t ranks = run.work->ranks().size();
    if (!row.ranks && run.ranks.size() > ranks) run.ranks.resize(ranks);
    if (run.ranks.size() == ranks) return true;
    return reader_.fail(row.where.child(row.ranks ? "ranks" : "file"),
                        "the trace has " + std::to_string(ranks) + " ranks, and here are " +
                            std::to_string(run.ranks.size()) + " hosts: each rank needs one");
  }

  bool connect(const TraceRow& row, const TraceRun& run, Workload& workload) {
    const std::vector<TracePair>& pairs = run.work->pairs;
    if (pairs.empty()) return reader_.fail(row.where.child("file"), "has no message from one rank to another");
    if (pairs.size() > kMaxTracePairs) {
      return reader_.fail(row.where.child("file"),
                          "has more than " + std::to_string(kMaxTracePairs) + " pairs of ranks that talk");
    }
    workload.pattern = Pattern::kPairs;
    workload.messages = 0;
    workload.hosts.clear();
    workload.message_bytes = pairs.front().bytes / pairs.front().messages;
    for (const TracePair& pair : pairs) {
      workload.from.push_back(run.ranks[pair.from]);
      workload.to.push_back(run.ranks[pair.to]);
      workload.posted.push_back(pair.messages);
      workload.message_bytes = std::min(workload.message_bytes, pair.bytes / pair.messages);
    }
    workload.message_bytes = std::max<uint64_t>(1, workload.message_bytes);
    return true;
  }

  Reader& reader_;
  TraceFiles& files_;
  Testbed& testbed_;
};

}  // namespace

void resolve_traces(Reader& reader, const std::vector<TraceRow>& rows, TraceFiles& files, Testbed& testbed) {
  if (reader.log().count() != 0) return;  // nobody will have them
  TraceResolver resolver(reader, files, testbed);
  for (const TraceRow& row : rows) resolver.resolve(row);
}

}  // namespace softspine::control
