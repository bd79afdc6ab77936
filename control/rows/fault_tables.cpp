// SPDX-License-Identifier: Apache-2.0
// The tables about what fails, and how it is noticed: faults, flap, detection, bfd.
#include "control/rows/flap_limits.hpp"
#include "control/rows/tables.hpp"

namespace softspine::control {

namespace {

using dataplane::Duration;
using dataplane::Rate;

const Limits<Share> kShares = within<Share>({1}, {1'000'000});
const Limits<Duration> kPeriods = within<Duration>(Duration::ps(1), kMaxFlapPeriod);

bool is_of_host(const FaultRow& row) {
  return row.set == FaultState::kStorm || row.set == FaultState::kSlowReceiver;
}
bool is_of_links(const FaultRow& row) {
  return row.profile || row.set == FaultState::kDown || row.set == FaultState::kUp || row.set == FaultState::kDead ||
         row.set == FaultState::kDrained;
}
bool is_of_port(const FaultRow& row) {
  return row.set == FaultState::kLossy || row.set == FaultState::kDeaf || row.set == FaultState::kTxDisabled;
}

// Keys that go with other faults.
bool check_fault_keys(Reader& reader, Value at, const FaultRow& row) {
  bool good = true;
  const auto only = [&](bool fitting, bool given, std::string_view key) {
    if (given && !fitting) good = reader.fail(at.child(key), "is not for this fault");
  };
  const bool of_host = is_of_host(row);
  const bool lossy = row.set == FaultState::kLossy;
  only(!of_host, row.link.has_value(), "link");
  const bool dies = row.set == FaultState::kOneWay || row.set == FaultState::kDead;
  only(of_host || is_of_port(row) || dies, row.until.has_value(), "until");
  only(of_host || row.set == FaultState::kDeaf, row.priorities.has_value(), "priorities");
  only(row.set == FaultState::kSlowReceiver, row.drain.has_value(), "drain");
  only(lossy, row.drop.has_value(), "drop");
  only(lossy, row.corrupt.has_value(), "corrupt");
  only(lossy || row.set == FaultState::kOneWay, row.direction.has_value(), "direction");
  only(dies, row.carrier.has_value(), "carrier");
  only(row.set == FaultState::kDrained, row.links_after.has_value(), "links_after");
  only(row.set == FaultState::kDown, row.flap.has_value(), "flap");
  const bool several = is_of_links(row) && !row.profile;
  only(several, row.plane.has_value(), "plane");
  only(several, row.rack.has_value(), "rack");
  only(several, row.ports.has_value(), "ports");
  only(row.set != FaultState::kOneWay, row.node.has_value(), "node");
  return good;
}

bool check_fault(Reader& reader, Value at, const FaultRow& row) {
  bool good = check_fault_keys(reader, at, row);
  if (row.until && *row.until <= row.at) good = reader.fail(at.child("until"), "ends before it begins");
  if (!good) return false;
  if (row.link && row.link->port.empty()) {
    return reader.fail(at.child("link"), "names no port: expected NODE:PORT such as tor1:Ethernet0");
  }
  if (row.ports && !row.node) return reader.fail(at.child("ports"), "goes with 'node', whose ports these are");
  const int places = row.link.has_value() + row.node.has_value() + row.plane.has_value() + row.rack.has_value();
  if (places != 1) {
    return reader.fail(at, is_of_links(row) && places > 1 ? "needs one of 'link', 'node', 'plane' and 'rack'"
                                                          : "needs either 'link' or 'node'");
  }
  if (row.set == FaultState::kOneWay && row.direction.value_or(LossyWay::kBoth) == LossyWay::kBoth) {
    return reader.fail(at, "needs 'direction': out, what the named port sends, or in, what it gets");
  }
  if (row.set.has_value() == row.profile.has_value()) {
    return reader.fail(at, "needs either 'set' (down, up) or 'profile'");
  }
  if (row.set == FaultState::kLossy) {
    const uint64_t drop = row.drop.value_or(Share{}).millionths;
    const uint64_t corrupt = row.corrupt.value_or(Share{}).millionths;
    if (drop + corrupt == 0) return reader.fail(at, "needs 'drop' or 'corrupt': the share of frames");
    if (drop + corrupt > 1'000'000) return reader.fail(at.child("corrupt"), "and 'drop' exceed 100%");
  }
  return !row.profile || row.node || reader.fail(at.child("link"), "goes with 'set': a profile is a node's");
}

bool check_flap(Reader& reader, Value at, const FlapRow& row) {
  const Duration down = row.down.value_or(row.period / 2);
  if (down >= row.period) return reader.fail(at.child("down"), "must be shorter than the period");
  return (row.jitter < row.period && down + row.jitter < row.period) ||
         reader.fail(at.child("jitter"), "and the time down exceed the period: flaps would overlap");
}

bool check_detection(Reader& reader, Value at, const DetectionRow& row) {
  const bool any = row.loss_of_signal || row.bfd;
  if (row.none == any) return reader.fail(at, "needs 'loss_of_signal', 'bfd' or both, or 'none: true' alone");
  return true;
}

}  // namespace

const Table<FaultRow>& Tables<FaultRow>::table() {
  static const Table<FaultRow> table =
      Table<FaultRow>("fault", "One change at one instant.")
          .required("at", &FaultRow::at, "after the start of the run")
          .optional("link", &FaultRow::link, "either end of the link; deaf, tx_disabled: the port")
          .optional("node", &FaultRow::node, "all links or ports of this node; storm, slow_receiver: the built-in host")
          .optional(
              "set", &FaultRow::set,
              "links: down, up, lossy, one_way (frames of one direction die), dead (frames of both directions die, and "
              "the links stay up: a data plane that has died) or drained (routes leave them wherever there is another "
              "way); a port: deaf (it does not react to PFC), or a switch's: tx_disabled (its queues send nothing: "
              "SAI's "
              "PKT_TX_ENABLE); a host: storm (it pauses its peers without end) or slow_receiver (its buffer drains too "
              "slowly); clear: none of these any more, but for links that go down, die or are drained: up ends those")
          .optional("until", &FaultRow::until, "when it ends, but for down, up and drained; with the run if not given")
          .optional("priorities", &FaultRow::priorities,
                    "storm, slow_receiver: which, 3 and 4 if not given; deaf: all if not given")
          .optional("drain", &FaultRow::drain, "slow_receiver: the rate of its buffer; nothing drains if not given",
                    at_least(Rate::min()))
          .optional("drop", &FaultRow::drop, "lossy: the share of frames that never arrive", kShares)
          .optional("corrupt", &FaultRow::corrupt, "lossy: the share of frames that arrive damaged (a wrong FCS)",
                    kShares)
          .optional("direction", &FaultRow::direction,
                    "lossy: both ways, or what the named end sends (out) or gets (in); one_way: out or in")
          .optional("ports", &FaultRow::ports, "down, up, dead, drained: only these of the node's, as of a line card")
          .optional("plane", &FaultRow::plane,
                    "down, up, dead, drained: all links of the switches of this plane below the core, from 1 on")
          .optional("rack", &FaultRow::rack,
                    "down, up, dead, drained: all links of this ToR, its hosts, and the ToRs that share hosts with it")
          .optional("carrier", &FaultRow::carrier,
                    "one_way, dead: whether the end that gets no frames keeps its signal: stays (if not given) or goes")
          .optional("links_after", &FaultRow::links_after,
                    "drained: how long after the routes the links go down; never if not given")
          .optional("flap", &FaultRow::flap, "down: and up again, several times")
          .optional("profile", &FaultRow::profile, "of the node, from then on: other thresholds, while it runs")
          .check(check_fault);
  return table;
}

const Table<FlapRow>& Tables<FlapRow>::table() {
  static const Table<FlapRow> table =
      Table<FlapRow>("flap", "Links that go down and up again.")
          .required("period", &FlapRow::period, "from one time down to the next", kPeriods)
          .optional("down", &FlapRow::down, "how long each time; half of the period if not given",
                    at_least(Duration::ps(1)))
          .optional("jitter", &FlapRow::jitter, "each time down begins up to so much later, by the run's seed")
          .required("count", &FlapRow::count, "how many times", within<uint32_t>(1, kMaxFlaps))
          .check(check_flap);
  return table;
}

const Table<DetectionRow>& Tables<DetectionRow>::table() {
  static const Table<DetectionRow> table =
      Table<DetectionRow>("detection", "How switches notice that a link has failed, or works again.")
          .optional("loss_of_signal", &DetectionRow::loss_of_signal,
                    "how long a port must be without signal, or have one again")
          .optional("bfd", &DetectionRow::bfd, "hellos over every link: they see frames die, too")
          .optional("none", &DetectionRow::none, "true: nobody notices anything")
          .check(check_detection);
  return table;
}

const Table<BfdRow>& Tables<BfdRow>::table() {
  static const Table<BfdRow> table =
      Table<BfdRow>("bfd", "BFD by its time: a link has failed, or works again, after interval times multiplier.")
          .required("interval", &BfdRow::interval, "from one hello to the next", kPeriods)
          .optional("multiplier", &BfdRow::multiplier, "how many are missed", within<uint32_t>(1, 255));
  return table;
}

}  // namespace softspine::control
