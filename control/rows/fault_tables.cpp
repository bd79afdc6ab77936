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

// Those of its kind; a profile's.
FaultKeys keys_of(const FaultRow& row) {
  const FaultKeys keys = row.set ? row_of(*row.set).keys : kFaultPlace;
  return row.profile ? keys & ~kFaultGroups : keys;
}

// Keys that go with other faults.
bool check_fault_keys(Reader& reader, Value at, const FaultRow& row) {
  bool good = true;
  const auto only = [&, keys = keys_of(row)](FaultKeys fitting, bool given, std::string_view key) {
    if (given && (keys & fitting) == 0) good = reader.fail(at.child(key), "is not for this fault");
  };
  only(kFaultLink, row.link.has_value(), "link");
  only(kFaultUntil, row.until.has_value(), "until");
  only(kFaultPriorities, row.priorities.has_value(), "priorities");
  only(kFaultDrain, row.drain.has_value(), "drain");
  only(kFaultShares, row.drop.has_value(), "drop");
  only(kFaultShares, row.corrupt.has_value(), "corrupt");
  only(kFaultDirection, row.direction.has_value(), "direction");
  only(kFaultCarrier, row.carrier.has_value(), "carrier");
  only(kFaultLinksAfter, row.links_after.has_value(), "links_after");
  only(kFaultFlap, row.flap.has_value(), "flap");
  only(kFaultGroups, row.plane.has_value(), "plane");
  only(kFaultGroups, row.rack.has_value(), "rack");
  only(kFaultGroups, row.ports.has_value(), "ports");
  only(kFaultNode, row.node.has_value(), "node");
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
    const bool groups = row.profile || (keys_of(row) & kFaultGroups) != 0;
    return reader.fail(
        at, groups && places > 1 ? "needs one of 'link', 'node', 'plane' and 'rack'" : "needs either 'link' or 'node'");
  }
  if (row.set == FaultKind::kOneWay && row.direction.value_or(LossyWay::kBoth) == LossyWay::kBoth) {
    return reader.fail(at, "needs 'direction': out, what the named port sends, or in, what it gets");
  }
  if (row.set.has_value() == row.profile.has_value()) {
    return reader.fail(at, "needs either 'set' (down, up) or 'profile'");
  }
  if (row.set == FaultKind::kLossy) {
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

// "lossy, one_way (frames of one direction die) or dead (…)"
template <typename Fits>
std::string alternatives(Fits&& fits) {
  std::vector<std::string> all;
  for (const FaultKindRow& row : kFaultKinds) {
    if (!fits(row)) continue;
    std::string& text = all.emplace_back(row.word);
    if (!row.meaning.empty()) text.append(" (").append(row.meaning).append(")");
  }
  std::string out;
  for (size_t i = 0; i < all.size(); ++i) out += (i == 0 ? "" : i + 1 < all.size() ? ", " : " or ") + all[i];
  return out;
}

auto takes(FaultKeys keys) {
  return [keys](const FaultKindRow& row) { return (row.keys & keys) == keys; };
}
template <typename... Targets>
auto sits_on(Targets... targets) {
  return [=](const FaultKindRow& row) { return (... || (row.target == targets)); };
}
auto names_none(uint8_t means) {
  return [means](const FaultKindRow& row) { return takes(kFaultPriorities)(row) && row.priorities == means; };
}

// What the keys mean, by the kinds that take them.
struct FaultHelp {
  std::string link = "either end of the link; " +
                     fault_words(kFaultKinds, sits_on(FaultTarget::kPort, FaultTarget::kSwitchPort)) + ": the port";
  std::string node = "all links or ports of this node; " + fault_words(kFaultKinds, sits_on(FaultTarget::kHost)) +
                     ": the built-in host";
  std::string set = "links: " + alternatives(sits_on(FaultTarget::kLinks, FaultTarget::kCable)) +
                    "; a port: " + alternatives(sits_on(FaultTarget::kPort)) +
                    ", or a switch's: " + alternatives(sits_on(FaultTarget::kSwitchPort)) +
                    "; a host: " + alternatives(sits_on(FaultTarget::kHost)) +
                    "; clear: none of these any more, but for links that go down, die or are drained: up ends those";
  std::string priorities = fault_words(kFaultKinds, names_none(0x18)) + ": which, 3 and 4 if not given; " +
                           fault_words(kFaultKinds, names_none(0xff)) + ": all if not given";
  std::string groups = fault_words(kFaultKinds, takes(kFaultGroups));
  std::string ports = groups + ": only these of the node's, as of a line card";
  std::string plane = groups + ": all links of the switches of this plane below the core, from 1 on";
  std::string rack = groups + ": all links of this ToR, its hosts, and the ToRs that share hosts with it";
  std::string carrier = fault_words(kFaultKinds, takes(kFaultCarrier)) +
                        ": whether the end that gets no frames keeps its signal: stays (if not given) or goes";
};

}  // namespace

const Table<FaultRow>& Tables<FaultRow>::table() {
  static const FaultHelp help;
  static const Table<FaultRow> table =
      Table<FaultRow>("fault", "One change at one instant.")
          .required("at", &FaultRow::at, "after the start of the run")
          .optional("link", &FaultRow::link, help.link)
          .optional("node", &FaultRow::node, help.node)
          .optional("set", &FaultRow::set, help.set)
          .optional("until", &FaultRow::until, "when it ends, but for down, up and drained; with the run if not given")
          .optional("priorities", &FaultRow::priorities, help.priorities)
          .optional("drain", &FaultRow::drain, "slow_receiver: the rate of its buffer; nothing drains if not given",
                    at_least(Rate::min()))
          .optional("drop", &FaultRow::drop, "lossy: the share of frames that never arrive", kShares)
          .optional("corrupt", &FaultRow::corrupt, "lossy: the share of frames that arrive damaged (a wrong FCS)",
                    kShares)
          .optional("direction", &FaultRow::direction,
                    "lossy: both ways, or what the named end sends (out) or gets (in); one_way: out or in")
          .optional("ports", &FaultRow::ports, help.ports)
          .optional("plane", &FaultRow::plane, help.plane)
          .optional("rack", &FaultRow::rack, help.rack)
          .optional("carrier", &FaultRow::carrier, help.carrier)
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
