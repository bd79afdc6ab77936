// SPDX-License-Identifier: Apache-2.0
#include "control/record/recorded_results.hpp"

#include "control/record/recording_tables.hpp"
#include "control/telemetry/json.hpp"

namespace softspine::control {

namespace {

class FlowRow {
 public:
  explicit FlowRow(Database& into)
      : row_(into,
             "INSERT INTO flows VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17,"
             " ?18 / 1e6, ?19, ?20, ?21, ?22, ?23, ?24, ?25, ?26, ?27, ?28, ?29, ?30)") {}

  void insert(const FlowSnapshot& flow) {
    row_.add(flow.id).add(flow.workload).add(flow.source).add(flow.destination);
    row_.add(flow.source_qp).add(flow.destination_qp).add(uint32_t{flow.source_port}).add(uint32_t{flow.dscp});
    row_.add(flow.message_bytes).add(flow.planned_messages).add(uint32_t{!flow.open_loop});
    add_times(flow);
    row_.add(flow.sent_packets).add(flow.sent_bytes).add(flow.received_packets).add(flow.received_bytes);
    row_.add(flow.missing()).add(flow.under_way).add(flow.marked).add(flow.reliable.retransmitted_packets);
    row_.add(flow.reliable.local_ack_timeout_err).add(flow.reliable.rp_cnp_handled);
    row_.add(flow.reliable.window_wait_ps);
    flow.stalled.empty() ? row_.add_null() : row_.add(flow.stalled);
    row_.done();
  }

 private:
  void add_times(const FlowSnapshot& flow) {
    for (const dataplane::Instant at : {flow.start, flow.first_sent, flow.last_arrived}) {
      at.is_never() ? row_.add_null() : row_.add(at.count_ps());
    }
    for (const auto& time : {flow.completion, flow.acked}) time ? row_.add(time->count_ps()) : row_.add_null();
    flow.ideal > dataplane::Duration{} ? row_.add(flow.ideal.count_ps()) : row_.add_null();
    const auto slowdown = flow.slowdown_millionths();
    slowdown ? row_.add(*slowdown) : row_.add_null();
  }

  Statement row_;
};

void record_report(Database& into, const Json& report) {
  Statement row{into, "INSERT INTO report VALUES(?1, ?2)"};
  for (const auto& [section, value] : report.items()) row.add(section).add(value.dump()).done();
  for (const ReportTable& table : report_tables()) {
    const std::string section{table.section};
    if (report.contains(section)) Statement{into, std::string{table.insert}}.add(report[section].dump()).done();
  }
}

}  // namespace

void record_results(Database& into, const FabricSnapshot& snapshot, const Json& report,
                    const std::vector<RecordedPicture>& pictures) {
  FlowRow flows{into};
  for (const FlowSnapshot& flow : snapshot.flows) flows.insert(flow);
  Statement pool{into, "UPDATE pools SET size_bytes = ?1 WHERE name = ?2"};
  for (const SwitchSnapshot& node : snapshot.switches) {
    for (const PoolSnapshot& each : node.pools) pool.add(each.size_bytes).add(node.name + ":" + each.name).done();
  }
  record_report(into, report);
  Statement picture{into, "INSERT INTO pictures VALUES(?1, ?2)"};
  for (const RecordedPicture& each : pictures) picture.add(each.name).add(each.svg).done();
  Statement fact{into, "INSERT INTO run VALUES(?1, ?2)"};
  fact.add("end_ps").add(snapshot.instant.count_ps()).done();
  fact.add("interrupted").add(uint32_t{report.value("interrupted", false)}).done();
}

}  // namespace softspine::control
