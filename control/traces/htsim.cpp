// SPDX-License-Identifier: Apache-2.0
#include "control/traces/htsim.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "control/document/text_file.hpp"
#include "control/document/words.hpp"
#include "control/imports/field_lines.hpp"
#include "control/traces/message_counts.hpp"
#include "control/traces/rank_builder.hpp"
#include "control/traffic/flow.hpp"

namespace softspine::control {
namespace {

constexpr uint64_t kMaxHtsimNodes = 1U << 16U;
constexpr uint64_t kMaxHtsimFlows = 1U << 20U;
constexpr uint64_t kMaxHtsimNotices = 1U << 22U;  // a firing and a flow that it starts
constexpr uint64_t kMaxHtsimId = UINT32_MAX - 1;
constexpr uint64_t kMaxHtsimStartPs = 1'000'000'000'000'000'000;
constexpr size_t kMaxHtsimBytes = 256U << 20U;

struct HtsimFlow {
  uint32_t from = 0;
  uint32_t to = 0;
  uint64_t id = 0;
  bool is_message = false;
  std::optional<uint64_t> start;
  std::optional<uint64_t> trigger;
  std::optional<uint64_t> bytes;
  uint64_t send_done = 0;  // a trigger; 0: none
  uint64_t recv_done = 0;
  Field at;
  // Operations: its sending at `from`, its arrival at `to`, and the sender's knowledge of it at `from`.
  uint32_t send = 0;
  uint32_t arrival = 0;
  uint32_t known = 0;
};

struct HtsimTrigger {
  enum class Kind : uint8_t { kUnknown, kOneshot, kMultishot, kBarrier };
  struct Firing {
    uint32_t flow = 0;
    bool is_at_sender = false;
  };
  Kind kind = Kind::kUnknown;
  uint64_t count = 1;
  std::vector<Firing> firings;
  std::vector<uint32_t> flows;
  Field at;  // where it was named first
};

class HtsimReader {
 public:
  HtsimReader(std::string_view text, const std::string& file, StartUnit unit)
      : lines_(text), file_(file), errors_(file), ps_a_unit_(unit == StartUnit::kMicroseconds ? 1'000'000 : 1) {}

  std::expected<SharedWork, Errors> run() {
    for (std::vector<Field> line = lines_.next(); !line.empty(); line = lines_.next()) {
      const auto comment = std::ranges::find_if(line, [](const Field& it) { return it.text.starts_with('#'); });
      line.erase(comment, line.end());
      if (!line.empty()) read_line(line);
    }
    if (!errors_.any()) check_header();
    if (!errors_.any()) check_triggers();
    if (!errors_.any()) check_order();
    if (!errors_.any()) make_work();
    ErrorLog log;
    errors_.put_into(log);
    Errors errors = log.finish();
    if (errors.empty()) {
      if (const auto finished = work_->finish(); !finished) errors.push_back({file_, "", 0, 0, finished.error()});
    }
    if (errors.empty()) counts_.check(*work_, file_, errors);
    if (!errors.empty()) return std::unexpected(std::move(errors));
    work_->pairs = counts_.pairs();
    return work_;
  }

 private:
  bool fail(std::string_view kind, const Field& at, std::string message) {
    return errors_.fail(kind, at, std::move(message));
  }

  bool take(const std::vector<Field>& line, size_t at, uint64_t least, uint64_t most, uint64_t& out) {
    const std::string what(line[at - 1].text);
    if (at >= line.size()) return fail("missing " + what, line[at - 1], shown(what) + " needs a number");
    const std::string_view text = line[at].text;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
    if (error == std::errc{} && end == text.data() + text.size() && out >= least && out <= most) return true;
    return fail("number of " + what, line[at],
                what + " is a number from " + std::to_string(least) + " to " + std::to_string(most) +
                    ", and here stands " + shown(text));
  }

  void read_line(const std::vector<Field>& line) {
    const std::string_view word = line[0].text;
    if (word == "Nodes") return read_header(line, 1, kMaxHtsimNodes, nodes_);
    if (word == "Connections") return read_header(line, 0, kMaxHtsimFlows, connections_);
    if (word == "Triggers") return read_header(line, 0, kMaxHtsimFlows, trigger_count_);
    if (word == "Failures") return read_failures(line);
    if (word == "trigger") return read_trigger(line);
    if (word == "failure") {
      fail_failure(line[0]);
    } else if (word.find("->") != std::string_view::npos) {
      read_flow(line);
    } else {
      fail("line", line[0],
           "expected Nodes, Connections, Triggers, a flow (0->1), or trigger, and here stands " + shown(word));
    }
  }

  void read_header(const std::vector<Field>& line, uint64_t least, uint64_t most, std::optional<uint64_t>& out) {
    if (out) {
      fail("twice", line[0], shown(line[0].text) + " stands here twice");
      return;
    }
    uint64_t number = 0;
    if (take(line, 1, least, most, number)) out = number;
    if (line.size() > 2) fail("behind", line[2], "nothing stands behind that number");
  }

  void read_failures(const std::vector<Field>& line) {
    read_header(line, 0, kMaxHtsimFlows, failures_);
    if (failures_.value_or(0) > 0) fail_failure(line[0]);
  }
  void fail_failure(const Field& at) {
    fail("failure", at, "a failed link is one of the testbed's faults, not of its traffic");
  }

  bool take_ends(const Field& field, HtsimFlow& out) {
    if (!nodes_) return fail("no nodes", field, "Nodes comes before the flows");
    const size_t arrow = field.text.find("->");
    const auto number = [&](std::string_view text, uint32_t& node) {
      const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), node);
      return !text.empty() && error == std::errc{} && end == text.data() + text.size() && node < *nodes_;
    };
    return (number(field.text.substr(0, arrow), out.from) && number(field.text.substr(arrow + 2), out.to)) ||
           fail("ends", field,
                "expected two of the " + std::to_string(*nodes_) + " nodes, as 0->1, and here stands " +
                    shown(field.text));
  }

  void read_flow(const std::vector<Field>& line) {
    HtsimFlow flow{.at = line[0]};
    if (!take_ends(line[0], flow)) return;
    for (size_t i = 1; i < line.size();) {
      if (!read_key(line, i, flow)) return;
    }
    if (!is_whole(flow)) return;
    const auto number = static_cast<uint32_t>(flows_.size());
    if (flow.trigger) trigger_of(*flow.trigger, flow.at).flows.push_back(number);
    if (flow.send_done != 0) trigger_of(flow.send_done, flow.at).firings.push_back({number, true});
    if (flow.recv_done != 0) trigger_of(flow.recv_done, flow.at).firings.push_back({number, false});
    flows_.push_back(std::move(flow));
  }

  bool read_key(const std::vector<Field>& line, size_t& at, HtsimFlow& flow) {
    const std::string_view key = line[at++].text;
    uint64_t number = 0;
    if (key == "msg") {
      flow.is_message = true;
      const bool has_number = at < line.size() && is_digit(line[at].text.front());
      return !has_number || take(line, at++, 0, kMaxHtsimId, number);
    }
    if (key == "id") return take(line, at++, 1, kMaxHtsimId, flow.id);
    if (key == "send_done_trigger") return take(line, at++, 1, kMaxHtsimId, flow.send_done);
    if (key == "recv_done_trigger") return take(line, at++, 1, kMaxHtsimId, flow.recv_done);
    if (key == "start") return take(line, at++, 0, kMaxHtsimStartPs / ps_a_unit_, flow.start.emplace());
    if (key == "trigger") return take(line, at++, 1, kMaxHtsimId, flow.trigger.emplace());
    if (key == "size") return take(line, at++, 1, kMaxMessageBytes, flow.bytes.emplace());
    if (key == "prio") return fail("prio", line[at - 1], "priorities are not known here: a trace has one 'dscp'");
    return fail("key", line[at - 1],
                "expected id, msg, start, trigger, size, send_done_trigger or recv_done_trigger, and here stands " +
                    shown(key));
  }

  bool is_whole(const HtsimFlow& flow) {
    if (!flow.bytes) return fail("size", flow.at, "has no size");
    if (flow.start.has_value() == flow.trigger.has_value())
      return fail("start", flow.at, "needs either start or trigger");
    if (flow.from == flow.to) return fail("itself", flow.at, "goes from a node to itself");
    const bool has_triggers = flow.trigger || flow.send_done != 0 || flow.recv_done != 0;
    if (flow.id == 0) return !has_triggers || fail("id", flow.at, "needs an id, since it has a trigger");
    const auto [other, is_new] = by_id_.emplace(flow.id, flow);
    if (is_new ||
        (flow.is_message && other->second.is_message && other->second.from == flow.from && other->second.to == flow.to))
      return true;
    return fail("id twice", flow.at,
                "the id " + std::to_string(flow.id) + " stands in line " + std::to_string(other->second.at.line) +
                    " already, and both are not messages of one connection");
  }

  void read_trigger(const std::vector<Field>& line) {
    using Kind = HtsimTrigger::Kind;
    uint64_t id = 0;
    if (line.size() < 4 || line[1].text != "id") {
      fail("trigger", line[0], "expected trigger id NUMBER and oneshot, multishot or barrier");
      return;
    }
    if (!take(line, 2, 1, kMaxHtsimId, id)) return;
    HtsimTrigger& trigger = trigger_of(id, line[0]);
    if (trigger.kind != Kind::kUnknown) {
      fail("trigger twice", line[0], "trigger " + std::to_string(id) + " stands here twice");
      return;
    }
    ++triggers_typed_;
    const std::string_view kind = line[3].text;
    trigger.kind = kind == "oneshot"     ? Kind::kOneshot
                   : kind == "multishot" ? Kind::kMultishot
                   : kind == "barrier"   ? Kind::kBarrier
                                         : Kind::kUnknown;
    const bool has_count = line.size() == 6 && line[4].text == "count";
    if (trigger.kind == Kind::kUnknown || (line.size() > 4 && !has_count)) {
      fail("trigger's kind", line[3],
           "expected oneshot, multishot, or barrier count NUMBER, and here stands " + shown(kind));
      return;
    }
    if (has_count && !take(line, 5, 1, kMaxHtsimFlows, trigger.count)) return;
  }

  HtsimTrigger& trigger_of(uint64_t id, const Field& at) {
    return triggers_.try_emplace(id, HtsimTrigger{.at = at}).first->second;
  }

  void check_header() {
    const Field top{.line = 1, .column = 1};
    if (!nodes_ || !connections_) {
      fail("header", top, "needs Nodes and Connections");
      return;
    }
    if (flows_.size() != *connections_)
      fail("connections", top,
           "Connections is " + std::to_string(*connections_) + ", and here are " + std::to_string(flows_.size()) +
               " flows");
    if (trigger_count_.value_or(0) != triggers_typed_)
      fail("triggers", top,
           "Triggers is " + std::to_string(trigger_count_.value_or(0)) + ", and here are " +
               std::to_string(triggers_typed_));
  }

  void check_triggers() {
    using Kind = HtsimTrigger::Kind;
    uint64_t notices = 0;
    for (const auto& [id, trigger] : triggers_) {
      const std::string name = "trigger " + std::to_string(id);
      const size_t firings = trigger.firings.size();
      const uint64_t waits_for = trigger.kind == Kind::kBarrier ? trigger.count : 1;
      if (trigger.kind == Kind::kUnknown) {
        fail("typeless", trigger.at, name + " has no line that says what it is");
      } else if (!trigger.flows.empty() && firings < waits_for) {
        fail("never", trigger.at,
             name + " waits for " + std::to_string(waits_for) + " firings, and has " + std::to_string(firings) +
                 ": its flows never start");
      } else if (!trigger.flows.empty() && firings > waits_for) {
        fail("order", trigger.at,
             name + " has " + std::to_string(firings) + " firings, and waits for " + std::to_string(waits_for) +
                 ": which come first is known to a run alone");
      } else if (trigger.kind == Kind::kMultishot && trigger.flows.size() > firings) {
        fail("multishot", trigger.at,
             name + " starts one flow a firing, and has " + std::to_string(trigger.flows.size()) + " flows");
      } else if (notices += firings * trigger.flows.size(); notices > kMaxHtsimNotices) {
        fail("notices", trigger.at,
             name + " has " + std::to_string(firings) + " firings for " + std::to_string(trigger.flows.size()) +
                 " flows: of firings by flows there are " + std::to_string(kMaxHtsimNotices) + " at most in all");
      }
    }
  }

  // Each flow behind those whose ends start it.
  void check_order() {
    std::vector<uint32_t> ready;
    std::map<uint64_t, size_t> missing;  // firings, by trigger
    for (const auto& [id, trigger] : triggers_) missing[id] = trigger.firings.size();
    for (uint32_t i = 0; i < flows_.size(); ++i) {
      if (!flows_[i].trigger) ready.push_back(i);
    }
    size_t done = 0;
    for (; done < ready.size(); ++done) {
      const HtsimFlow& flow = flows_[ready[done]];
      for (const uint64_t id : {flow.send_done, flow.recv_done}) {
        if (id == 0 || --missing[id] != 0) continue;
        const std::vector<uint32_t>& starts = triggers_.at(id).flows;
        ready.insert(ready.end(), starts.begin(), starts.end());
      }
    }
    if (done == flows_.size()) return;
    const auto waits =
        std::ranges::find_if(flows_, [&](const HtsimFlow& it) { return it.trigger && missing[*it.trigger] != 0; });
    fail("circle", waits->at,
         "waits for trigger " + std::to_string(*waits->trigger) +
             ", which its own end fires, or those of flows that wait for it");
  }

  void make_work() {
    builders_.resize(*nodes_);
    for (uint32_t i = 0; i < flows_.size(); ++i) add_flow(i);
    for (const auto& [id, trigger] : triggers_) {
      for (const HtsimTrigger::Firing& firing : trigger.firings) start_by(firing, trigger.flows);
    }
    for (RankBuilder& builder : builders_) {
      builder.write(*work_);
      builder.clear();
    }
  }

  uint32_t add_message(uint32_t from, uint32_t to, uint64_t bytes, const HtsimFlow& flow, uint32_t cpu,
                       uint32_t& arrival) {
    const uint32_t tag = next_tag_++;
    const auto line = static_cast<uint64_t>(flow.at.line);
    counts_.send(from, to, tag, bytes);
    counts_.receive(to, from, tag);
    arrival =
        builders_[to].add({.kind = OperationKind::kReceive, .peer = from, .tag = tag, .amount = bytes, .line = line});
    return builders_[from].add(
        {.kind = OperationKind::kSend, .peer = to, .tag = tag, .cpu = cpu, .amount = bytes, .line = line});
  }

  // Flows of a node wait for their starts at once: each on a cpu of its own. Cpu 0 is for what comes.
  void add_flow(uint32_t number) {
    HtsimFlow& flow = flows_[number];
    const uint64_t start = flow.start.value_or(0) * ps_a_unit_;
    RankBuilder& source = builders_[flow.from];
    if (start == 0) {
      flow.send = add_message(flow.from, flow.to, *flow.bytes, flow, 0, flow.arrival);
    } else {
      const uint32_t cpu = ++last_cpu_[flow.from];
      const uint32_t wait = source.add({.cpu = cpu, .amount = start, .line = static_cast<uint64_t>(flow.at.line)});
      flow.send = add_message(flow.from, flow.to, *flow.bytes, flow, cpu, flow.arrival);
      source.need(flow.send, wait, false);
    }
    if (flow.send_done == 0) return;
    const uint32_t answer = add_message(flow.to, flow.from, 0, flow, 0, flow.known);
    builders_[flow.to].need(answer, flow.arrival, false);
  }

  // Each node is told once, however many of its flows start.
  void start_by(const HtsimTrigger::Firing& firing, const std::vector<uint32_t>& started) {
    const HtsimFlow& fired = flows_[firing.flow];
    const uint32_t where = firing.is_at_sender ? fired.from : fired.to;
    const uint32_t done = firing.is_at_sender ? fired.known : fired.arrival;
    std::map<uint32_t, uint32_t> known{{where, done}};  // by node: the operation behind which it knows
    for (const uint32_t number : started) {
      const HtsimFlow& flow = flows_[number];
      const auto [told, is_new] = known.try_emplace(flow.from);
      if (is_new) {
        const uint32_t tells = add_message(where, flow.from, 0, flow, 0, told->second);
        builders_[where].need(tells, done, false);
      }
      builders_[flow.from].need(flow.send, told->second, false);
    }
  }

  FieldLines lines_;
  const std::string& file_;
  ErrorsByKind errors_;
  uint64_t ps_a_unit_;
  std::optional<uint64_t> nodes_;
  std::optional<uint64_t> connections_;
  std::optional<uint64_t> trigger_count_;
  std::optional<uint64_t> failures_;
  std::vector<HtsimFlow> flows_;
  std::map<uint64_t, HtsimFlow> by_id_;  // the first
  std::map<uint64_t, HtsimTrigger> triggers_;
  uint64_t triggers_typed_ = 0;
  std::vector<RankBuilder> builders_;  // by node
  std::map<uint32_t, uint32_t> last_cpu_;
  uint32_t next_tag_ = 1;
  MessageCounts counts_;
  std::shared_ptr<RecordedWork> work_ = std::make_shared<RecordedWork>();
};

}  // namespace

std::expected<SharedWork, Errors> read_htsim(std::string_view text, const std::string& name, StartUnit unit) {
  return HtsimReader(text, name, unit).run();
}

std::expected<SharedWork, Errors> load_htsim(const std::string& path, StartUnit unit) {
  const auto text = read_text_file(path, false, kMaxHtsimBytes);
  if (!text) return std::unexpected(Errors{{path, "", 0, 0, text.error()}});
  return read_htsim(*text, path, unit);
}

}  // namespace softspine::control
