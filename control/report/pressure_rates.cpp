// SPDX-License-Identifier: Apache-2.0
#include "control/report/pressure_rates.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace softspine::control {

namespace {

uint64_t grown(uint64_t before, uint64_t now) {
  return now > before ? now - before : 0;
}
double share_of(uint64_t part, uint64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

std::optional<double> fill_of(const Fill& fill) {
  if (fill.limit_bytes == 0) return std::nullopt;
  return share_of(fill.bytes, fill.limit_bytes);
}

// What two looks differ by, and the time between them.
class Between {
 public:
  Between(const PortMap& map, const FabricPressure& before, const FabricPressure& now)
      : map_(map), before_(before), now_(now), ps_(grown(before.at_ps, now.at_ps)) {}

  PressureRow port(uint32_t number) const {
    const PortPressure& old = before_.ports[number];
    const PortPressure& is = now_.ports[number];
    PressureRow out{.port = number,
                    .up = is.up,
                    .paused = part_of_time(grown(old.paused_ps, is.paused_ps)),
                    .paused_ps = is.paused_ps};
    const uint64_t lost = grown(old.lost, is.lost);
    out.drops_per_s = per_second(lost);
    out.dropped = std::min(share_of(lost, grown(old.rx_packets, is.rx_packets)), 1.0);
    PressureRow worst = lane(number, 0);
    add(out, worst, 0);
    for (uint8_t n = 1; n < is.lanes.size(); ++n) {
      const PressureRow each = lane(number, n);
      add(out, each, n);
      if (hurts_more(each, worst)) worst = each;
    }
    out.lane = worst.lane;
    out.out = utilisation(number);
    out.in = utilisation(map_.ports[number].peer);
    return out;
  }

  PressureRow lane(uint32_t number, uint8_t n) const {
    const LanePressure& old = before_.ports[number].lanes[n];
    const LanePressure& is = now_.ports[number].lanes[n];
    const uint64_t refused = grown(old.refused, is.refused);
    return {.port = number,
            .lane = n,
            .up = now_.ports[number].up,
            .paused_now = is.paused,
            .stopping = is.stopping,
            .paused = part_of_time(grown(old.paused_ps, is.paused_ps)),
            .paused_ps = is.paused_ps,
            .drops_per_s = per_second(refused + grown(old.group_refused, is.group_refused)),
            .dropped = share_of(refused, refused + grown(old.packets, is.packets)),
            .marks_per_s = per_second(grown(old.marked, is.marked)),
            .queue_bytes = is.queue_bytes,
            .group_bytes = is.group.bytes,
            .queue_fill = fill_of(is.queue),
            .group_fill = fill_of(is.group)};
  }

  static bool hurts_more(const PressureRow& a, const PressureRow& b);

 private:
  // What a port has of a lane. Frames that a group refused are among those lost at their port.
  void add(PressureRow& port, const PressureRow& lane, uint8_t n) const {
    port.paused_now |= lane.paused_now;
    port.stopping |= lane.stopping;
    port.paused = std::max(port.paused, lane.paused);
    port.paused_ps = std::max(port.paused_ps, lane.paused_ps);
    port.drops_per_s +=
        per_second(grown(before_.ports[port.port].lanes[n].refused, now_.ports[port.port].lanes[n].refused));
    port.dropped = std::max(port.dropped, lane.dropped);
    port.marks_per_s += lane.marks_per_s;
    port.queue_bytes = std::max(port.queue_bytes, lane.queue_bytes);
    port.queue_fill = std::max(port.queue_fill, lane.queue_fill);
    port.group_bytes = std::max(port.group_bytes, lane.group_bytes);
    port.group_fill = std::max(port.group_fill, lane.group_fill);
  }
  double per_second(uint64_t count) const {
    return ps_ == 0 ? 0 : static_cast<double>(count) * 1e12 / static_cast<double>(ps_);
  }
  double part_of_time(uint64_t ps) const { return std::min(share_of(ps, ps_), 1.0); }
  double utilisation(uint32_t number) const {
    const auto rate = static_cast<double>(map_.ports[number].rate_bps);
    const uint64_t bytes = grown(before_.ports[number].tx_bytes, now_.ports[number].tx_bytes);
    return rate > 0 ? per_second(bytes) * 8 / rate : 0;
  }

  const PortMap& map_;
  const FabricPressure& before_;
  const FabricPressure& now_;
  uint64_t ps_;
};

using Key = std::tuple<double, double, double>;

Key hurt(const PressureRow& row) {
  const double percent = std::floor(std::max(row.paused, row.dropped) * 100);
  return {percent, percent > 0 ? static_cast<double>(row.paused_ps) : 0, row.fill()};
}

Key key_of(const PressureRow& row, RankBy by) {
  switch (by) {
    case RankBy::kHurt: return hurt(row);
    case RankBy::kPaused: return {row.paused, static_cast<double>(row.paused_ps), 0};
    case RankBy::kDropped: return {row.drops_per_s, row.dropped, 0};
    case RankBy::kOccupied: return {row.fill(), static_cast<double>(row.queue_bytes), 0};
    case RankBy::kUtilised: return {std::max(row.in, row.out), 0, 0};
  }
  return {};
}

bool Between::hurts_more(const PressureRow& a, const PressureRow& b) {
  return hurt(a) > hurt(b);
}

}  // namespace

std::vector<PressureRow> port_rows_of(const PortMap& map, const FabricPressure& before, const FabricPressure& now) {
  const Between between{map, before, now};
  std::vector<PressureRow> out;
  out.reserve(map.ports.size());
  for (uint32_t i = 0; i < map.ports.size(); ++i) out.push_back(between.port(i));
  return out;
}

std::vector<PressureRow> lane_rows_of(const PortMap& map, const FabricPressure& before, const FabricPressure& now) {
  const Between between{map, before, now};
  std::vector<PressureRow> out;
  for (uint32_t i = 0; i < map.ports.size(); ++i) {
    for (uint8_t n = 0; n < now.ports[i].lanes.size(); ++n) {
      if (now.ports[i].lanes[n] != LanePressure{}) out.push_back(between.lane(i, n));
    }
  }
  return out;
}

void rank(std::vector<PressureRow>& rows, RankBy by, size_t most) {
  const auto is_worse = [by](const PressureRow& a, const PressureRow& b) {
    if (const Key ka = key_of(a, by), kb = key_of(b, by); ka != kb) return ka > kb;
    if (const Key ka = hurt(a), kb = hurt(b); ka != kb) return ka > kb;
    return std::tie(a.port, a.lane) < std::tie(b.port, b.lane);
  };
  const auto end = rows.begin() + static_cast<ptrdiff_t>(std::min(most, rows.size()));
  std::partial_sort(rows.begin(), end, rows.end(), is_worse);
}

}  // namespace softspine::control
