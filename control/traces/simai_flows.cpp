// SPDX-License-Identifier: Apache-2.0
#include "control/traces/simai_flows.hpp"

#include <algorithm>
#include <charconv>
#include <set>
#include <unordered_map>
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

constexpr uint64_t kMaxSimaiRank = (1U << 16U) - 1;
constexpr uint64_t kMaxSimaiFlows = 1U << 20U;
constexpr uint64_t kMaxSimaiWaits = 1U << 22U;
constexpr uint64_t kMaxSimaiDelayNs = 1'000'000'000'000'000;
constexpr size_t kMaxSimaiBytes = 512U << 20U;

struct SimaiFlow {
  uint32_t from = 0;
  uint32_t to = 0;
  uint64_t bytes = 0;
  uint64_t delay_ns = 0;
  std::vector<uint32_t> prev;  // numbers of flows, as the file has them; then their places in the file
  Field at;
  uint32_t arrival = 0;  // the operation at `to`
};

struct SimaiLayer {
  std::vector<uint32_t> flows;
  size_t running = 0;                           // flows that are not over, while an order is looked for
  std::unordered_map<uint32_t, uint32_t> gate;  // by node: the operation behind which it knows that it may send
};

// The flows of a file, as they stand there.
class SimaiFlowText {
 public:
  SimaiFlowText(std::string_view text, ErrorsByKind& errors) : lines_(text), errors_(errors) {}

  bool read() {
    std::vector<Field> line = lines_.next();
    uint64_t declared = 0;
    size_t at = 0;
    if (line.empty()) return fail("empty", {.line = 1, .column = 1}, "has no flows: its first line says how many");
    if (!take(line, at, "the number of flows", 1, kMaxSimaiFlows, declared)) return false;
    if (at < line.size()) return fail("head", line[at], "nothing stands behind the number of flows");
    while (!(line = lines_.next()).empty()) {
      if (flows.size() == declared)
        return fail("more", line[0], "the first line says " + std::to_string(declared) + " flows, and here is another");
      if (!read_flow(line)) flows.emplace_back();  // counted, and refused
    }
    if (flows.size() < declared) {
      fail("fewer", {.line = lines_.line(), .column = 1},
           "the first line says " + std::to_string(declared) + " flows, and here are " + std::to_string(flows.size()));
    }
    if (!errors_.any()) resolve_prev();
    return !errors_.any();
  }

  std::vector<SimaiFlow> flows;
  std::map<uint32_t, SimaiLayer> layers;
  std::map<std::string, uint64_t, std::less<>> connections;
  uint64_t waits = 0;
  uint32_t ranks = 0;

 private:
  bool fail(std::string_view kind, const Field& at, std::string message) {
    return errors_.fail(kind, at, std::move(message));
  }

  bool has(const std::vector<Field>& line, size_t at, std::string_view what) {
    return at < line.size() || fail("ends", line.back(), "the line ends here, and has no " + std::string(what));
  }

  bool take(const std::vector<Field>& line, size_t& at, std::string_view what, uint64_t least, uint64_t most,
            uint64_t& out) {
    if (!has(line, at, what)) return false;
    const std::string_view text = line[at].text;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
    const bool is_right = error == std::errc{} && end == text.data() + text.size() && out >= least && out <= most;
    if (!is_right) {
      return fail(what, line[at],
                  std::string(what) + " is a number from " + std::to_string(least) + " to " + std::to_string(most) +
                      ", and here stands " + shown(text));
    }
    ++at;
    return true;
  }

  // Numbers that nothing here depends on.
  bool pass(const std::vector<Field>& line, size_t& at, std::initializer_list<std::string_view> what) {
    return std::ranges::all_of(what, [&](std::string_view name) {
      if (!has(line, at, name)) return false;
      const std::string_view text = line[at].text;
      double value = 0;
      const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
      if (error == std::errc{} && end == text.data() + text.size()) return ++at != 0;
      return fail(name, line[at], std::string(name) + " is a number, and here stands " + shown(text));
    });
  }

  bool pass_list(const std::vector<Field>& line, size_t& at, std::string_view count, std::string_view each) {
    uint64_t number = 0;
    if (!take(line, at, count, 0, kMaxSimaiWaits, number)) return false;
    for (; number > 0; --number) {
      if (!pass(line, at, {each})) return false;
    }
    return true;
  }

  bool read_flow(const std::vector<Field>& line) {
    SimaiFlow flow{.at = line[0]};
    uint64_t id = 0;
    uint64_t from = 0;
    uint64_t to = 0;
    uint64_t layer = 0;
    size_t at = 0;
    if (!take(line, at, "flow_id", 0, UINT32_MAX, id) || !take(line, at, "src", 0, kMaxSimaiRank, from) ||
        !take(line, at, "dst", 0, kMaxSimaiRank, to) || !take(line, at, "bytes", 1, kMaxMessageBytes, flow.bytes) ||
        !pass(line, at, {"channel", "chunk", "chunks"}) || !take_connection(line, at) ||
        !pass(line, at, {"start", "pg", "packets", "sport", "dport"}) || !take_prev(line, at, flow) ||
        !pass_list(line, at, "the number of parents", "parent") ||
        !pass_list(line, at, "the number of children", "child") || !take(line, at, "layer", 0, UINT32_MAX, layer) ||
        !pass(line, at, {"group", "op", "loopstate"}) || !take_delay(line, at, flow))
      return false;
    if (at < line.size()) return fail("behind", line[at], "nothing stands behind relative_delay_ns");
    if (from == to) return fail("itself", line[1], "goes from a rank to itself");
    flow.from = static_cast<uint32_t>(from);
    flow.to = static_cast<uint32_t>(to);
    ranks = std::max({ranks, flow.from + 1, flow.to + 1});
    const auto number = static_cast<uint32_t>(flows.size());
    const auto [other, is_new] = by_id_.emplace(static_cast<uint32_t>(id), number);
    if (!is_new) {
      return fail("twice", line[0],
                  "the flow " + std::to_string(id) + " stands in line " + std::to_string(flows[other->second].at.line) +
                      " already");
    }
    layers[static_cast<uint32_t>(layer)].flows.push_back(number);
    flows.push_back(std::move(flow));
    return true;
  }

  bool take_connection(const std::vector<Field>& line, size_t& at) {
    if (!has(line, at, "connection")) return false;
    const std::string_view word = line[at].text;
    if (word.starts_with("NVLS"))
      return fail("nvls", line[at], shown(word) + " goes through an NVSwitch, which is no rank of a testbed");
    ++at;
    const auto found = connections.find(word);
    ++(found != connections.end() ? found : connections.emplace(word, 0).first)->second;
    return true;
  }

  bool take_prev(const std::vector<Field>& line, size_t& at, SimaiFlow& flow) {
    uint64_t count = 0;
    if (!take(line, at, "the number of prev", 0, kMaxSimaiWaits - waits, count)) return false;
    for (uint64_t id = 0; flow.prev.size() < count;) {
      if (!take(line, at, "prev", 0, UINT32_MAX, id)) return false;
      flow.prev.push_back(static_cast<uint32_t>(id));
    }
    waits += count;
    return true;
  }

  bool take_delay(const std::vector<Field>& line, size_t& at, SimaiFlow& flow) {
    if (at < line.size()) return take(line, at, "relative_delay_ns", 0, kMaxSimaiDelayNs, flow.delay_ns);
    return fail("delay", line.back(),
                "the line ends here, and has no relative_delay_ns: without it, SimAI's prev are ranks, not flows");
  }

  void resolve_prev() {
    for (SimaiFlow& flow : flows) {
      for (uint32_t& prev : flow.prev) {
        const auto found = by_id_.find(prev);
        if (found == by_id_.end()) {
          fail("unknown", flow.at, "waits for flow " + std::to_string(prev) + ", which is not in the file");
        } else {
          prev = found->second;
        }
      }
    }
  }

  FieldLines lines_;
  ErrorsByKind& errors_;
  std::unordered_map<uint32_t, uint32_t> by_id_;
};

// Each flow behind those that it waits for; fewer than all, if some wait for each other.
std::vector<uint32_t> order_of(SimaiFlowText& text) {
  std::vector<std::vector<uint32_t>> waiting(text.flows.size());
  std::vector<size_t> missing(text.flows.size());
  std::vector<uint32_t> order;
  std::vector<SimaiLayer*> layer_of(text.flows.size());
  for (auto& [number, layer] : text.layers) {
    layer.running = layer.flows.size();
    for (const uint32_t flow : layer.flows) layer_of[flow] = &layer;
  }
  const SimaiLayer* first = &text.layers.begin()->second;
  std::map<const SimaiLayer*, SimaiLayer*> next;
  for (auto it = text.layers.begin(); std::next(it) != text.layers.end(); ++it)
    next[&it->second] = &std::next(it)->second;
  for (uint32_t i = 0; i < text.flows.size(); ++i) {
    for (const uint32_t prev : text.flows[i].prev) waiting[prev].push_back(i);
    missing[i] = text.flows[i].prev.size() + (layer_of[i] == first ? 0 : 1);
    if (missing[i] == 0) order.push_back(i);
  }
  const auto free = [&](uint32_t flow) {
    if (--missing[flow] == 0) order.push_back(flow);
  };
  for (size_t done = 0; done < order.size(); ++done) {
    std::ranges::for_each(waiting[order[done]], free);
    SimaiLayer* layer = layer_of[order[done]];
    if (--layer->running == 0 && next.contains(layer)) std::ranges::for_each(next[layer]->flows, free);
  }
  return order;
}

// Operations of all ranks. They come in an order in which each has what it waits for before it, whatever its rank: so a
// window of one operation a rank is enough.
class SimaiFlowWork {
 public:
  explicit SimaiFlowWork(SimaiFlowText& text) : text_(text), builders_(text.ranks) {}

  void make(const std::vector<uint32_t>& order) {
    for (auto it = text_.layers.begin(); it != text_.layers.end(); ++it) {
      for (const uint32_t flow : it->second.flows)
        layer_of_.emplace(flow, Place{&it->second, it == text_.layers.begin() ? nullptr : &std::prev(it)->second});
    }
    for (const uint32_t flow : order) add_flow(flow);
    for (RankBuilder& builder : builders_) {
      builder.write(*work);
      builder.clear();
    }
  }

  std::shared_ptr<RecordedWork> work = std::make_shared<RecordedWork>();
  MessageCounts counts;
  uint64_t notices = 0;
  uint64_t delayed = 0;

 private:
  struct Place {
    SimaiLayer* layer = nullptr;
    SimaiLayer* before = nullptr;
  };

  // Its sending at `from`, and at `to` its arrival.
  std::pair<uint32_t, uint32_t> add_message(uint32_t from, uint32_t to, uint64_t bytes, uint32_t cpu, uint64_t line) {
    const uint32_t tag = next_tag_++;
    counts.send(from, to, tag, bytes);
    counts.receive(to, from, tag);
    const uint32_t send = builders_[from].add(
        {.kind = OperationKind::kSend, .peer = to, .tag = tag, .cpu = cpu, .amount = bytes, .line = line});
    const uint32_t arrival =
        builders_[to].add({.kind = OperationKind::kReceive, .peer = from, .tag = tag, .amount = bytes, .line = line});
    return {send, arrival};
  }

  // Node `to` knows, behind the operation returned, that those of `from` are done.
  uint32_t tell(uint32_t from, uint32_t to, const std::vector<uint32_t>& done, uint64_t line) {
    const auto [send, arrival] = add_message(from, to, 0, 0, line);
    for (const uint32_t each : done) builders_[from].need(send, each, false);
    ++notices;
    return arrival;
  }

  uint32_t known_at(uint32_t node, uint32_t flow, uint64_t line) {
    const SimaiFlow& over = text_.flows[flow];
    if (over.to == node) return over.arrival;
    const auto [known, is_new] = known_.try_emplace(uint64_t{flow} << 32 | node);
    if (is_new) known->second = tell(over.to, node, {over.arrival}, line);
    return known->second;
  }

  // Where a layer begins: those who have received flows of the one before it tell the first sender, and it all others.
  void open(SimaiLayer& layer, const SimaiLayer& before) {
    const SimaiFlow& first = text_.flows[layer.flows.front()];
    const auto line = static_cast<uint64_t>(first.at.line);
    std::map<uint32_t, std::vector<uint32_t>> arrivals;
    for (const uint32_t flow : before.flows) arrivals[text_.flows[flow].to].push_back(text_.flows[flow].arrival);
    std::vector<uint32_t> here;
    for (const auto& [node, of_node] : arrivals) {
      if (node != first.from) here.push_back(tell(node, first.from, of_node, line));
    }
    if (const auto own = arrivals.find(first.from); own != arrivals.end())
      here.insert(here.end(), own->second.begin(), own->second.end());
    const uint32_t joined = builders_[first.from].add({.line = line});
    for (const uint32_t each : here) builders_[first.from].need(joined, each, false);
    layer.gate.emplace(first.from, joined);
    std::set<uint32_t> senders;
    for (const uint32_t flow : layer.flows) senders.insert(text_.flows[flow].from);
    senders.erase(first.from);
    for (const uint32_t node : senders) layer.gate.emplace(node, tell(first.from, node, {joined}, line));
  }

  // Delays of a node pass at once: each on a cpu of its own.
  void add_flow(uint32_t number) {
    SimaiFlow& flow = text_.flows[number];
    const auto line = static_cast<uint64_t>(flow.at.line);
    const Place place = layer_of_.at(number);
    if (place.before != nullptr && place.layer->gate.empty()) open(*place.layer, *place.before);
    std::vector<uint32_t> needs;
    for (const uint32_t prev : flow.prev) needs.push_back(known_at(flow.from, prev, line));
    if (place.before != nullptr) needs.push_back(place.layer->gate.at(flow.from));
    RankBuilder& source = builders_[flow.from];
    const uint32_t cpu = flow.delay_ns == 0 ? 0 : ++last_cpu_[flow.from];
    uint32_t starts = 0;
    if (flow.delay_ns > 0) starts = source.add({.cpu = cpu, .amount = flow.delay_ns * 1'000, .line = line});
    const auto [send, arrival] = add_message(flow.from, flow.to, flow.bytes, cpu, line);
    flow.arrival = arrival;
    if (flow.delay_ns > 0) source.need(send, starts, false);
    for (const uint32_t need : needs) source.need(flow.delay_ns > 0 ? starts : send, need, false);
    delayed += flow.delay_ns > 0 ? 1 : 0;
  }

  SimaiFlowText& text_;
  std::vector<RankBuilder> builders_;
  std::unordered_map<uint32_t, Place> layer_of_;
  std::unordered_map<uint64_t, uint32_t> known_;  // by flow << 32 | node
  std::map<uint32_t, uint32_t> last_cpu_;
  uint32_t next_tag_ = 1;
};

// Of the flows that no order has, one that waits for another of them.
void fail_circle(const SimaiFlowText& text, const std::vector<uint32_t>& order, ErrorsByKind& errors) {
  std::vector<bool> is_ordered(text.flows.size());
  for (const uint32_t flow : order) is_ordered[flow] = true;
  for (size_t i = 0; i < text.flows.size(); ++i) {
    const SimaiFlow& flow = text.flows[i];
    const auto other = std::ranges::find_if(flow.prev, [&](uint32_t prev) { return !is_ordered[prev]; });
    if (is_ordered[i] || other == flow.prev.end()) continue;
    errors.fail("circle", flow.at,
                "waits for the flow of line " + std::to_string(text.flows[*other].at.line) +
                    ", which never starts: flows wait for each other, by prev or by layer");
    return;
  }
}

}  // namespace

std::expected<SimaiFlows, Errors> read_simai_flows(std::string_view content, const std::string& name) {
  ErrorsByKind by_kind(name);
  SimaiFlowText text(content, by_kind);
  std::vector<uint32_t> order;
  if (text.read()) {
    order = order_of(text);
    if (order.size() < text.flows.size()) fail_circle(text, order, by_kind);
  }
  ErrorLog log;
  by_kind.put_into(log);
  Errors errors = log.finish();
  if (!errors.empty()) return std::unexpected(std::move(errors));
  SimaiFlowWork made(text);
  made.make(order);
  if (const auto finished = made.work->finish(); !finished)
    return std::unexpected(Errors{{name, "", 0, 0, finished.error()}});
  made.work->pairs = made.counts.pairs();
  return SimaiFlows{.work = made.work,
                    .flows = text.flows.size(),
                    .layers = text.layers.size(),
                    .waits = text.waits,
                    .notices = made.notices,
                    .delayed = made.delayed,
                    .connections = std::move(text.connections)};
}

std::expected<SimaiFlows, Errors> load_simai_flows(const std::string& path) {
  const auto text = read_text_file(path, false, kMaxSimaiBytes);
  if (!text) return std::unexpected(Errors{{path, "", 0, 0, text.error()}});
  return read_simai_flows(*text, path);
}

}  // namespace softspine::control
