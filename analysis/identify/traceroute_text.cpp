// SPDX-License-Identifier: Apache-2.0
#include "analysis/identify/traceroute_text.hpp"

#include <charconv>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <sstream>
#include <vector>

#include "control/model/address.hpp"

namespace softspine::analysis {

namespace dp = dataplane;

namespace {

using TraceJson = nlohmann::json;
using Words = std::vector<std::string>;

Words words_of(std::string_view line) {
  std::istringstream in{std::string(line)};
  Words out;
  for (std::string word; in >> word;) out.push_back(std::move(word));
  return out;
}

std::optional<uint16_t> port_of(std::string_view text) {
  uint16_t out = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return out;
}

// A command's options that describe its packets.
class Command {
 public:
  explicit Command(const Words& words, size_t first) {
    for (size_t i = first; i < words.size(); ++i) i = take(words, i);
  }
  // Only if each of its probes is of it.
  std::optional<Flow> flow() const {
    Flow out = flow_;
    if (!sport_ || !has_method_ || !set_addresses(out, source_, destination_)) return std::nullopt;
    out.source_port = *sport_;
    out.destination_port = dport_.value_or(out.protocol == dp::ip::kTcp ? 80 : 53);
    return out;
  }

 private:
  size_t take(const Words& words, size_t i) {
    const std::string& word = words[i];
    const auto value = [&](std::string_view name) -> std::string {
      if (word.starts_with(std::string(name) + "=")) return word.substr(name.size() + 1);
      return i + 1 < words.size() ? words[i + 1] : "";
    };
    const auto is = [&](std::string_view name) { return word == name || word.starts_with(std::string(name) + "="); };
    const size_t next = word.find('=') == std::string::npos ? i + 1 : i;
    if (word == "-U" || word == "-T") {
      has_method_ = true;
      flow_.protocol = word == "-T" ? dp::ip::kTcp : dp::ip::kUdp;
      return i;
    }
    if (is("-s") || is("--source")) {
      source_ = value(word.starts_with("--") ? "--source" : "-s");
      return next;
    }
    if (is("--sport")) {
      sport_ = port_of(value("--sport"));
      return next;
    }
    if (is("-p") || is("--port")) {
      dport_ = port_of(value(word.starts_with("--") ? "--port" : "-p"));
      return next;
    }
    if (word.size() == 2 && word[0] == '-') return std::string_view("fgimNqtwz").contains(word[1]) ? i + 1 : i;
    if (destination_.empty() && (control::parse_ipv4(word) || control::parse_ipv6(word))) destination_ = word;
    return i;
  }

  Flow flow_;
  std::string source_;
  std::string destination_;
  bool has_method_ = false;
  std::optional<uint16_t> sport_;
  std::optional<uint16_t> dport_;
};

// traceroute [(10.1.0.2:33456) -> (10.2.0.5:33457)], protocol udp, …
std::optional<Flow> flow_of_paris(std::string_view line) {
  Flow out;
  const auto end_of = [&](std::string_view& address, uint16_t Flow::* port) {
    const size_t open = line.find('(');
    const size_t close = line.find(')');
    if (open == std::string_view::npos || close == std::string_view::npos || close < open) return false;
    const std::string_view whole = line.substr(open + 1, close - open - 1);
    line.remove_prefix(close + 1);
    const size_t colon = whole.rfind(':');
    const auto number = colon == std::string_view::npos ? std::nullopt : port_of(whole.substr(colon + 1));
    if (!number) return false;
    out.*port = *number;
    address = whole.substr(0, colon);
    return true;
  };
  std::string_view source;
  std::string_view destination;
  if (!end_of(source, &Flow::source_port) || !end_of(destination, &Flow::destination_port)) return std::nullopt;
  if (!set_addresses(out, source, destination)) return std::nullopt;
  const bool is_tcp = line.find("protocol tcp") != std::string_view::npos;
  if (!is_tcp && line.find("protocol udp") == std::string_view::npos) return std::nullopt;
  out.protocol = is_tcp ? dp::ip::kTcp : dp::ip::kUdp;
  return out;
}

class Traces {
 public:
  Traces(uint32_t hop, ObservationCollector& out) : hop_(std::to_string(hop)), out_(out) {}

  void line(std::string_view text) {
    const Words words = words_of(text);
    if (words.empty()) return;
    const size_t at = words[0] == "+" || words[0] == "$" || words[0] == "#" ? 1 : 0;
    const bool is_named =
        at < words.size() && (words[at].ends_with("traceroute") || words[at].ends_with("traceroute6"));
    if (is_named && at + 1 < words.size()) return header(text, words, at);
    if (words[0] == hop_ && flow_) answers(words);
  }
  TracesRead read() const { return read_; }

 private:
  void header(std::string_view text, const Words& words, size_t at) {
    if (words[at + 1] == "to") {  // the output of the command before it, if there was one
      ++read_.traces;
      read_.without_flow += flow_ && !is_used_ ? 0 : 1;
      if (is_used_) flow_.reset();
      is_used_ = true;
    } else if (words[at + 1].starts_with("[(")) {
      flow_ = flow_of_paris(text);
      ++read_.traces;
      read_.without_flow += flow_ ? 0 : 1;
      is_used_ = true;
    } else {
      flow_ = Command{words, at + 1}.flow();
      is_used_ = false;
    }
  }
  // A name stands before its address, and paris-traceroute prints addresses twice.
  void answers(const Words& words) {
    std::set<std::string> addresses;
    for (size_t i = 1; i < words.size(); ++i) {
      std::string word = words[i];
      if (word.size() > 2 && word.front() == '(' && word.back() == ')') word = word.substr(1, word.size() - 2);
      if (control::parse_ipv4(word) || control::parse_ipv6(word)) addresses.insert(word);
    }
    for (const std::string& address : addresses) out_.add(*flow_, address);
  }

  std::string hop_;
  ObservationCollector& out_;
  std::optional<Flow> flow_;  // of the trace that comes, or is under way
  bool is_used_ = false;      // the trace of `flow_` has begun
  TracesRead read_;
};

std::string text_of(const TraceJson& value, const char* first, const char* second) {
  const auto outer = value.find(first);
  if (outer == value.end() || !outer->is_object()) return {};
  const auto inner = outer->find(second);
  return inner != outer->end() && inner->is_string() ? inner->get<std::string>() : "";
}

std::optional<uint64_t> number_of(const TraceJson& value, const char* first, const char* second) {
  const auto outer = value.find(first);
  if (outer == value.end() || !outer->is_object()) return std::nullopt;
  const auto inner = outer->find(second);
  return inner != outer->end() && inner->is_number_unsigned() ? std::optional(inner->get<uint64_t>()) : std::nullopt;
}

// A probe of dublin-traceroute and its answer.
void add_probe(const TraceJson& probe, uint32_t hop, ObservationCollector& out) {
  const auto sent = probe.is_object() ? probe.find("sent") : probe.end();
  const auto received = probe.is_object() ? probe.find("received") : probe.end();
  if (sent == probe.end() || received == probe.end() || !sent->is_object() || !received->is_object()) return;
  if (number_of(*sent, "ip", "ttl") != hop) return;
  Flow flow;
  const auto source_port = number_of(*sent, "udp", "sport");
  const auto destination_port = number_of(*sent, "udp", "dport");
  const std::string answer = text_of(*received, "ip", "src");
  if (!source_port || !destination_port || *source_port > 65'535 || *destination_port > 65'535 || answer.empty())
    return;
  if (!set_addresses(flow, text_of(*sent, "ip", "src"), text_of(*sent, "ip", "dst"))) return;
  flow.source_port = static_cast<uint16_t>(*source_port);
  flow.destination_port = static_cast<uint16_t>(*destination_port);
  out.add(flow, answer);
}

// `text` begins with a brace: it is an object, or no JSON.
std::optional<TracesRead> read_dublin(std::string_view text, uint32_t hop, ObservationCollector& out) {
  constexpr int kMaxDepth = 16;
  const auto shallow = [](int depth, TraceJson::parse_event_t, TraceJson&) { return depth <= kMaxDepth; };
  const TraceJson root = TraceJson::parse(text, shallow, false);
  if (root.is_discarded()) return std::nullopt;
  const auto flows = root.find("flows");
  if (flows == root.end() || !flows->is_object()) return std::nullopt;
  TracesRead read;
  for (const TraceJson& probes : *flows) {
    ++read.traces;
    if (!probes.is_array()) continue;
    for (const TraceJson& probe : probes) add_probe(probe, hop, out);
  }
  return read;
}

}  // namespace

std::expected<TracesRead, control::Errors> read_traceroutes(std::string_view text, const std::string& file,
                                                            uint32_t hop, ObservationCollector& out) {
  const auto fail = [&file](const char* what) { return std::unexpected(control::Errors{{file, {}, 0, 0, what}}); };
  const size_t first = text.find_first_not_of(" \t\r\n");
  if (first != std::string_view::npos && text[first] == '{') {
    const auto read = read_dublin(text, hop, out);
    if (!read) return fail("is no JSON of dublin-traceroute: expected `flows`");
    return *read;
  }
  Traces traces{hop, out};
  while (!text.empty()) {
    const size_t end = text.find('\n');
    traces.line(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  if (traces.read().traces == 0) return fail("has no output of traceroute, paris-traceroute, or dublin-traceroute");
  return traces.read();
}

}  // namespace softspine::analysis
