// SPDX-License-Identifier: Apache-2.0
#include "control/imports/ns3_topology.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <unordered_map>

#include "control/document/words.hpp"
#include "control/format/link_limits.hpp"
#include "control/generators/generators.hpp"
#include "control/imports/field_lines.hpp"
#include "control/imports/ns3_units.hpp"

namespace softspine::control {
namespace {

constexpr uint64_t kMicrometresPerPs = 198;  // of light in fibre: format/quantity.hpp's propagation_of
constexpr size_t kLinkFields = 5;

class Ns3Reader {
 public:
  Ns3Reader(Reader& reader, const ImportFile& file, bool simai, ForeignTopology& out)
      : errors_(file.path),
        log_(reader.log()),
        file_(file.path),
        bytes_(file.text.size()),
        simai_(simai),
        lines_(file.text),
        out_(out) {}

  bool run() {
    if (read_header() && read_switches()) {
      read_links();
      if (!errors_.any()) check_joined();
      take_out_nvswitches();
    }
    const bool good = !errors_.any();
    errors_.put_into(log_);
    return good;
  }

 private:
  // One error is enough for 256 lines with one mistake: the text before the first quote or number is the kind.
  bool fail(const Field& at, std::string message) {
    const std::string kind = kind_of(message);
    return errors_.fail(kind, at, std::move(message));
  }
  static std::string kind_of(std::string_view message) {
    std::string out;
    bool is_quoted = false;
    for (const char c : message) {
      if (c == '\'') is_quoted = !is_quoted;
      if (!is_quoted && !is_digit(c)) out += c;
    }
    return out;
  }
  Place place_of(const Field& at) const { return {file_, "", at.line, at.column}; }
  void note(const Field& at, std::string message) {
    out_.notes.push_back({file_, "", at.line, at.column, std::move(message)});
  }

  bool read_number(const Field& field, std::string_view what, uint64_t most, uint32_t& out) {
    uint64_t number = 0;
    const char* end = field.text.data() + field.text.size();
    const auto [stop, error] = std::from_chars(field.text.data(), field.text.data() + field.text.size(), number);
    if (error != std::errc{} || stop != end || number > most) {
      return fail(field, std::string(what) + " must be a number of 0 to " + std::to_string(most) + ", not " +
                             shown(field.text));
    }
    out = static_cast<uint32_t>(number);
    return true;
  }

  bool read_header() {
    const std::vector<Field> fields = lines_.next();
    if (fields.empty()) return fail({}, "is empty");
    if (!has_known_count(fields)) return false;
    if (!read_number(fields[0], "the number of nodes", kMaxNodes, node_count_)) return false;
    bool good = true;
    if (simai_) {
      good = read_number(fields[1], "the number of GPUs in a server", kMaxNodes, gpus_per_server_);
      good = read_number(fields[2], "the number of NVSwitches", node_count_, nvswitch_count_) && good;
    }
    const Field& links = fields[simai_ ? 4 : fields.size() - 1];
    good = read_number(fields[simai_ ? 3 : 1], "the number of switches", node_count_, switch_count_) && good;
    good = read_number(links, "the number of links", kMaxLinks, link_count_) && good;
    good = good && read_rest(fields);
    header_ = {"", fields[0].line, 1};
    if (good && simai_ && gpus_per_server_ == 0) good = fail(fields[1], "a server has at least one GPU");
    if (good && uint64_t{nvswitch_count_} + switch_count_ > node_count_)
      good = fail(fields[0], "there are more switches than nodes");
    // Each node stands in a line of a link: a number and what follows it. A number that is only claimed gets no memory.
    if (good && uint64_t{node_count_} * 2 > bytes_) {
      good = fail(fields[0], "declares " + std::to_string(node_count_) + " nodes, and the file has " +
                                 std::to_string(bytes_) + " bytes: too few for a link of each");
    }
    return good;
  }

  // hpcc: NODES SWITCHES [TORS] LINKS; simai: NODES GPUS_PER_SERVER NVSWITCHES SWITCHES LINKS GPU_TYPE [GPUS_PER_NODE].
  bool has_known_count(const std::vector<Field>& fields) {
    const size_t least = simai_ ? 6 : 3;
    if (fields.size() == least || fields.size() == least + 1) return true;
    const bool other = simai_ ? fields.size() == 3 || fields.size() == 4 : fields.size() == 6 || fields.size() == 7;
    return fail(fields[0], "the first line must have " + std::to_string(least) + " or " + std::to_string(least + 1) +
                               " fields, not " + std::to_string(fields.size()) +
                               (other ? std::string(": is the format ") + (simai_ ? "hpcc?" : "simai?") : ""));
  }
  // Fields that only some of ns-3's programs have.
  bool read_rest(const std::vector<Field>& fields) {
    if (simai_ && fields.size() == 7) {
      uint32_t gpus_per_node = 0;
      if (!read_number(fields[6], "the number of GPUs in a node", kMaxNodes, gpus_per_node)) return false;
      if (gpus_per_node != gpus_per_server_)
        note(fields[6], "a node of " + std::to_string(gpus_per_node) + " GPUs is not read: servers are of " +
                            std::to_string(gpus_per_server_) + ", as the second field has it");
    }
    if (!simai_ && fields.size() == 4) {
      uint32_t tors = 0;
      if (!read_number(fields[2], "the number of ToRs", switch_count_, tors)) return false;
      note(fields[2], "the number of ToRs is not read: roles follow from the distance to hosts");
    }
    return true;
  }

  // Their numbers may go over several lines: ns-3 reads words, not lines.
  bool read_switches() {
    for (uint32_t n = 0; n < node_count_; ++n) {
      out_.nodes.push_back({.name = std::to_string(n), .number = n, .use = NodeUse::kHost, .place = place_of(header_)});
    }
    is_nvswitch_.assign(node_count_, false);
    const uint32_t wanted = nvswitch_count_ + switch_count_;
    uint32_t found = 0;
    bool good = true;
    while (found < wanted) {
      const std::vector<Field> fields = lines_.next();
      if (fields.empty()) return fail(end(), "ends before the numbers of all " + std::to_string(wanted) + " switches");
      if (fields.size() > wanted - found) {
        return fail(fields[wanted - found], "more numbers than the " + std::to_string(wanted) + " switches that line " +
                                                std::to_string(header_.line) + " declares");
      }
      for (const Field& field : fields) good = add_switch(field, found++ < nvswitch_count_) && good;
    }
    return good;
  }

  bool add_switch(const Field& field, bool nvswitch) {
    uint32_t n = 0;
    if (!read_node(field, n)) return false;
    ForeignNode& node = out_.nodes[n];
    if (node.use != NodeUse::kHost) return fail(field, "the switch " + std::to_string(n) + " stands here already");
    node.use = NodeUse::kSwitch;
    node.place = place_of(field);
    is_nvswitch_[n] = nvswitch;
    return true;
  }

  bool read_node(const Field& field, uint32_t& out) {
    if (node_count_ == 0) return fail(field, "there is no node: line " + std::to_string(header_.line) + " declares 0");
    return read_number(field, "a node", node_count_ - 1, out);
  }

  void read_links() {
    for (uint32_t i = 0; i < link_count_; ++i) {
      const std::vector<Field> fields = lines_.next();
      if (fields.empty()) {
        fail(end(), std::to_string(link_count_) + " links are declared in line " + std::to_string(header_.line) +
                        ", and " + std::to_string(i) + " stand here");
        return;
      }
      read_link(fields);
    }
    Field first;
    uint64_t more = 0;
    for (auto fields = lines_.next(); !fields.empty(); fields = lines_.next()) {
      if (more++ == 0) first = fields[0];
    }
    if (more > 0) {
      note(first, std::to_string(more) + (more == 1 ? " line stands" : " lines stand") + " after the declared " +
                      std::to_string(link_count_) + " links: not read, as ns-3 does not");
    }
  }

  void read_link(const std::vector<Field>& fields) {
    if (fields.size() != kLinkFields) {
      fail(fields[0], "a link is NODE NODE RATE DELAY ERROR_RATE, and here are " + std::to_string(fields.size()) +
                          (fields.size() == 1 ? " field" : " fields"));
      return;
    }
    ForeignLink link{.place = place_of(fields[0])};
    const bool a = read_node(fields[0], link.a.node);
    const bool b = read_node(fields[1], link.b.node);
    if (!a || !b || !check_pair(fields, link.a.node, link.b.node)) return;
    if (is_nvswitch_[link.a.node] || is_nvswitch_[link.b.node]) {
      add_to_server(fields, link.a.node, link.b.node);
      return;
    }
    const bool rate = read_rate(fields[2], link.rate);
    const bool length = read_delay(fields[3], link.length);
    const bool lost = read_error_rate(fields[4], link.damaged_millionths);
    if (rate && length && lost) out_.links.push_back(std::move(link));
  }

  bool check_pair(const std::vector<Field>& fields, uint32_t a, uint32_t b) {
    if (a == b) return fail(fields[1], "joins " + std::to_string(a) + " to itself");
    const uint64_t pair = (uint64_t{std::min(a, b)} << 32) | std::max(a, b);
    const auto [other, is_new] = line_of_pair_.emplace(pair, fields[0].line);
    return is_new || fail(fields[0], std::to_string(a) + " and " + std::to_string(b) + " are joined in line " +
                                         std::to_string(other->second) + " already");
  }

  void add_to_server(const std::vector<Field>& fields, uint32_t a, uint32_t b) {
    const uint32_t gpu = is_nvswitch_[a] ? b : a;
    if (out_.links_left_out++ == 0) first_nvlink_ = fields[0];
    if (out_.nodes[gpu].use != NodeUse::kHost) {
      fail(fields[0], "joins an NVSwitch to a switch: an NVSwitch is inside a server");
      return;
    }
    const uint32_t server = gpu / gpus_per_server_;
    const uint32_t nvswitch = gpu == a ? b : a;
    const auto [other, is_new] = server_of_nvswitch_.emplace(nvswitch, server);
    if (!is_new && other->second != server) {
      fail(fields[0], "the NVSwitch " + std::to_string(nvswitch) + " is in server " + std::to_string(other->second) +
                          ", and the GPU " + std::to_string(gpu) + " in server " + std::to_string(server));
    }
    out_.nodes[gpu].server = "server" + std::to_string(server);
  }

  bool read_rate(const Field& field, dataplane::Rate& out) {
    const auto bps = ns3_rate(field.text);
    if (!bps) return fail(field, shown(field.text) + " is no rate such as 100Gbps");
    out = dataplane::Rate::bps(*bps);
    const bool good = out >= kLeastLinkRate && out <= kMaxLinkRate;
    return good || fail(field, "a link has " + print(kLeastLinkRate) + " to " + print(kMaxLinkRate) + ", not " +
                                   shown(field.text));
  }
  static std::string print(dataplane::Rate rate) {
    return print_quantity(static_cast<int64_t>(rate.count_bps()), kRateQuantity);
  }

  bool read_delay(const Field& field, Length& out) {
    const auto ps = ns3_time(field.text);
    if (!ps) return fail(field, shown(field.text) + " is no delay such as 1000ns, in whole picoseconds");
    constexpr int64_t kMax = static_cast<int64_t>(kMaxLinkLength.micrometres / kMicrometresPerPs);
    if (*ps > kMax) {
      return fail(field,
                  "a link takes " + print_quantity(kMax, kDurationQuantity) + " at most, not " + shown(field.text));
    }
    out = std::max(Length{static_cast<uint64_t>(*ps) * kMicrometresPerPs}, kLeastLinkLength);
    return true;
  }

  bool read_error_rate(const Field& field, uint64_t& out) {
    double share = 0;
    const char* stop_at = field.text.data() + field.text.size();
    const auto [stop, error] = std::from_chars(field.text.data(), field.text.data() + field.text.size(), share);
    if (error != std::errc{} || stop != stop_at || !(share >= 0 && share <= 1))
      return fail(field, "an error rate is from 0 to 1, not " + shown(field.text));
    out = static_cast<uint64_t>(std::llround(share * 1e6));
    if (std::abs(share * 1e6 - static_cast<double>(out)) > 1e-6 * share * 1e6) {
      note(field, "the error rate " + shown(field.text) + " is taken as " + std::to_string(out) + " in a million");
    }
    return true;
  }

  void check_joined() {
    std::vector<bool> joined(out_.nodes.size(), false);
    for (const auto& [pair, line] : line_of_pair_) joined[pair >> 32] = joined[pair & UINT32_MAX] = true;
    for (uint32_t n = 0; n < joined.size(); ++n) {
      const Place& place = out_.nodes[n].place;
      if (!joined[n]) fail({"", place.line, place.column}, "the node " + std::to_string(n) + " has no link");
    }
  }

  void take_out_nvswitches() {
    if (nvswitch_count_ == 0) return;
    for (uint32_t n = 0; n < node_count_; ++n) {
      if (is_nvswitch_[n]) out_.nodes[n].use = NodeUse::kNothing;
    }
    note(first_nvlink_.line > 0 ? first_nvlink_ : header_,
         std::to_string(nvswitch_count_) + " NVSwitches and their " + std::to_string(out_.links_left_out) +
             " links are inside servers: not part of the fabric, GPUs are NICs with a 'server'");
  }

  Field end() const { return {"", lines_.line(), 1}; }

  ErrorsByKind errors_;
  ErrorLog& log_;
  std::string file_;
  size_t bytes_;
  bool simai_;
  FieldLines lines_;
  ForeignTopology& out_;
  uint32_t node_count_ = 0;
  uint32_t gpus_per_server_ = 0;
  uint32_t nvswitch_count_ = 0;
  uint32_t switch_count_ = 0;
  uint32_t link_count_ = 0;
  Field header_;
  Field first_nvlink_;
  std::vector<bool> is_nvswitch_;
  std::unordered_map<uint64_t, int> line_of_pair_;
  std::unordered_map<uint32_t, uint32_t> server_of_nvswitch_;
};

}  // namespace

bool read_ns3_topology(Reader& reader, const ImportFile& file, ImportFormat format, ForeignTopology& out) {
  return Ns3Reader(reader, file, format == ImportFormat::kSimai, out).run();
}

}  // namespace softspine::control
