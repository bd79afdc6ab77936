// SPDX-License-Identifier: Apache-2.0
#include "analysis/playback/recorded_state.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "control/telemetry/totals.hpp"
#include "dataplane/packet/drop_reason.hpp"

namespace softspine::analysis {

using control::Database;
using control::Statement;

namespace {

// In the order of their columns in `samples`.
enum Table : uint8_t { kPorts, kSwitchPauses, kGroups, kQueueLevels, kPools, kHostPauses, kDrops };
constexpr const char* kInstant =
    "SELECT sample, t_ps, port_rows, priority_rows, group_rows, queue_rows, pool_rows, nic_priority_rows, drop_rows "
    "FROM samples WHERE ";

int64_t count_of(Database& recording, const std::string& sql) {
  Statement query{recording, sql};
  return query.next() ? query.number(0) : 0;
}

bool is_loss(const std::string& name) {
  for (int i = 0; i < dataplane::kDropReasons; ++i) {
    const auto reason = static_cast<dataplane::DropReason>(i);
    if (dataplane::name_of(reason) == name) return control::is_loss(reason);
  }
  return true;
}

// Counters grow, gauges take a new value; null: neither.
template <typename Number>
void grow(Number& value, const Statement& row, int column) {
  if (!row.is_null(column)) value += static_cast<Number>(row.number(column));
}
template <typename Number>
void set(Number& value, const Statement& row, int column) {
  if (!row.is_null(column)) value = static_cast<Number>(row.number(column));
}

// A row's port, or null where the file names one that it does not have.
RecordedPort* port_of(RecordedState& state, const Statement& row) {
  const int64_t port = row.number(0);
  return port >= 0 && port < std::ssize(state.ports) ? &state.ports[static_cast<size_t>(port)] : nullptr;
}
// Of a priority, group or queue.
template <typename All>
auto* part_of(All& all, const Statement& row) {
  const int64_t number = row.number(1);
  return number >= 0 && number < std::ssize(all) ? &all[static_cast<size_t>(number)] : nullptr;
}

}  // namespace

RecordedStates::RecordedStates(Database& recording) : recording_(recording) {
  read_reasons();
  samples_ = count_of(recording_, "SELECT max(sample) FROM samples");
  RecordedState state;
  state.ports.resize(static_cast<size_t>(count_of(recording_, "SELECT max(port_id) + 1 FROM ports")));
  state.pool_shared.resize(static_cast<size_t>(count_of(recording_, "SELECT max(pool_id) + 1 FROM pools")));
  state.lost.resize(reasons_.size());
  const size_t bytes = std::max<size_t>(1, state.ports.size() * sizeof(RecordedPort));
  const auto most = static_cast<int64_t>(std::clamp<size_t>(kCheckpointBytes / bytes, 2, kMostCheckpoints));
  checkpoints_.push_back(state);
  for (int64_t i = 1; i < most && samples_ > 0 && recording_.is_fine(); ++i) {
    const int64_t sample = samples_ * i / most;
    if (sample <= state.sample) continue;
    advance(state, instant_of("sample = ?1", sample));
    checkpoints_.push_back(state);
  }
  now_ = checkpoints_.front();
}

const RecordedState& RecordedStates::at(int64_t at_ps) {
  const Instant to = instant_of("t_ps <= ?1 ORDER BY t_ps DESC LIMIT 1", at_ps);
  const auto later = std::ranges::upper_bound(checkpoints_, to.sample, {}, &RecordedState::sample);
  const RecordedState& before = *std::prev(later);  // the first is before all
  if (now_.sample > to.sample || now_.sample < before.sample) now_ = before;
  if (now_.sample < to.sample) advance(now_, to);
  return now_;
}

RecordedStates::Instant RecordedStates::instant_of(const std::string& which, int64_t value) {
  Statement query{recording_, kInstant + which};
  query.add(value);
  Instant out;
  if (!query.next()) return out;
  out.sample = query.number(0);
  out.at_ps = query.number(1);
  for (size_t i = 0; i < out.rows.size(); ++i) out.rows[i] = query.number(static_cast<int>(i) + 2);
  return out;
}

void RecordedStates::read_reasons() {
  Statement query{recording_, "SELECT name FROM drop_reasons ORDER BY reason_id"};
  while (query.next()) reasons_.push_back({query.text(0), is_loss(query.text(0))});
}

void RecordedStates::advance(RecordedState& state, const Instant& to) {
  const Instant from = instant_of("sample = ?1", state.sample);
  const auto after = [&](Table table) { return from.rows[table]; };
  const auto up_to = [&](Table table) { return to.rows[table]; };
  read_ports(state, after(kPorts), up_to(kPorts));
  read_pauses(state, "priority_samples", after(kSwitchPauses), up_to(kSwitchPauses));
  read_pauses(state, "nic_priority_samples", after(kHostPauses), up_to(kHostPauses));
  read_groups(state, after(kGroups), up_to(kGroups));
  read_queues(state, after(kQueueLevels), up_to(kQueueLevels));
  read_pools(state, after(kPools), up_to(kPools));
  read_drops(state, after(kDrops), up_to(kDrops));
  state.sample = to.sample;
  state.at_ps = to.at_ps;
}

void RecordedStates::read_ports(RecordedState& state, int64_t after, int64_t up_to) {
  Statement row = rows_of(
      "port_samples", {"port_id", "tx_bytes", "tx_packets", "rx_bytes", "rx_packets", "link_paused_ps"}, after, up_to);
  while (row.next()) {
    RecordedPort* const port = port_of(state, row);
    if (port == nullptr) continue;
    grow(port->tx_bytes, row, 1);
    grow(port->tx_packets, row, 2);
    grow(port->rx_bytes, row, 3);
    grow(port->rx_packets, row, 4);
    grow(port->link_paused_ps, row, 5);
  }
}

void RecordedStates::read_pauses(RecordedState& state, const std::string& table, int64_t after, int64_t up_to) {
  Statement row = rows_of(table, {"port_id", "priority", "paused_ps"}, after, up_to);
  while (row.next()) {
    RecordedPort* const port = port_of(state, row);
    auto* const paused = port == nullptr ? nullptr : part_of(port->paused_ps, row);
    if (paused != nullptr) grow(*paused, row, 2);
  }
}

void RecordedStates::read_groups(RecordedState& state, int64_t after, int64_t up_to) {
  Statement row =
      rows_of("group_samples", {"port_id", "priority_group", "shared_bytes", "headroom_bytes"}, after, up_to);
  while (row.next()) {
    RecordedPort* const port = port_of(state, row);
    if (port == nullptr) continue;
    if (auto* const shared = part_of(port->group_shared_bytes, row)) set(*shared, row, 2);
    if (auto* const headroom = part_of(port->group_headroom_bytes, row)) set(*headroom, row, 3);
  }
}

void RecordedStates::read_queues(RecordedState& state, int64_t after, int64_t up_to) {
  Statement row = rows_of("queue_samples", {"port_id", "queue", "current_bytes"}, after, up_to);
  while (row.next()) {
    RecordedPort* const port = port_of(state, row);
    auto* const bytes = port == nullptr ? nullptr : part_of(port->queue_bytes, row);
    if (bytes != nullptr) set(*bytes, row, 2);
  }
}

void RecordedStates::read_pools(RecordedState& state, int64_t after, int64_t up_to) {
  Statement row = rows_of("pool_samples", {"pool_id", "shared_bytes"}, after, up_to);
  while (row.next()) {
    const int64_t pool = row.number(0);
    if (pool >= 0 && pool < std::ssize(state.pool_shared)) set(state.pool_shared[static_cast<size_t>(pool)], row, 1);
  }
}

void RecordedStates::read_drops(RecordedState& state, int64_t after, int64_t up_to) {
  Statement row = rows_of("drop_samples", {"port_id", "reason_id", "packets"}, after, up_to);
  while (row.next()) {
    RecordedPort* const port = port_of(state, row);
    auto* const of_reason = part_of(state.lost, row);
    if (port == nullptr || of_reason == nullptr || !reasons_[static_cast<size_t>(row.number(1))].is_loss) continue;
    grow(*of_reason, row, 2);
    grow(port->lost, row, 2);
  }
}

Statement RecordedStates::rows_of(const std::string& table, const std::vector<std::string>& columns, int64_t after,
                                  int64_t up_to) {
  std::string wanted;
  for (const std::string& column : columns) {
    wanted += (wanted.empty() ? "" : ", ") + (has_column(table, column) ? column : std::string{"NULL"});
  }
  Statement out{recording_, fmt::format("SELECT {} FROM {} WHERE rowid > ?1 AND rowid <= ?2", wanted, table)};
  out.add(after).add(up_to);
  return out;
}

bool RecordedStates::has_column(const std::string& table, const std::string& column) {
  Statement query{recording_, "SELECT 1 FROM pragma_table_info(?1) WHERE name = ?2"};
  return query.add(table).add(column).next();
}

}  // namespace softspine::analysis
