// SPDX-License-Identifier: Apache-2.0
#include "tools/softspine/views/fabric_server.hpp"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <memory>
#include <optional>

#include "control/load/live_fault.hpp"
#include "control/load/qos_change.hpp"
#include "control/server/socket_path.hpp"
#include "testbeds/run/captures.hpp"
#include "testbeds/run/event_log.hpp"
#include "testbeds/run/frame_injector.hpp"
#include "testbeds/run/live_control.hpp"
#include "testbeds/run/outside_watch.hpp"
#include "testbeds/run/rank_requests.hpp"
#include "tools/command/hex.hpp"
#include "tools/softspine/views/capture_requests.hpp"
#include "tools/softspine/views/run_report.hpp"
#include "tools/softspine/views/switch_views.hpp"

namespace softspine::tools {

using namespace control;
using dataplane::Instant;
using testbeds::RankRequests;
using testbeds::RunningFabric;

namespace {

constexpr const char* kCommand = "command";

std::string text_argument(const Json& arguments, const char* key) {
  const auto found = arguments.find(key);
  return found != arguments.end() && found->is_string() ? found->get<std::string>() : "";
}
bool wants_json(const Json& arguments) {
  return text_argument(arguments, "format") == "json";
}

using Takes = std::vector<ArgumentFacts>;

CommandFacts reads(std::string command, std::string_view help, Takes takes = {}) {
  return {std::move(command), CommandKind::kReading, std::string{help}, std::move(takes)};
}
CommandFacts changes(std::string command, std::string_view help, Takes takes) {
  return {std::move(command), CommandKind::kChanging, std::string{help}, std::move(takes)};
}

Takes only_of_a_node() {
  return {{.name = "node", .help = "only of this node"}};
}
Takes of_a_switch() {
  return {{.name = "node", .help = "a switch", .required = true}};
}
Takes of_flow_paths() {
  return {{.name = "port", .help = "only flows that leave by it: NODE:PORT"},
          {.name = "node", .help = "only flows from or to this host"},
          {.name = "most", .help = "rows, 1 to 1000; 20 if not given", .type = "integer"}};
}
// Sizes are bytes, times picoseconds (capture_requests.hpp).
Takes of_a_capture() {
  return {{.name = "path", .help = "the file to write", .required = true},
          {.name = "name", .help = "by which it is stopped; the file's if not given"},
          {.name = "ports", .help = "patterns such as tor1:*; all if not given", .type = "array"},
          {.name = "filter", .help = "a libpcap expression"},
          {.name = "snaplen", .help = "bytes of a frame that are kept", .type = "integer"},
          {.name = "full", .help = "whole frames", .type = "boolean"},
          {.name = "limit_bytes", .help = "of the file", .type = "integer"},
          {.name = "rotate_bytes", .help = "after which a new file begins", .type = "integer"},
          {.name = "rotate_ps", .help = "emulated time after which a new file begins", .type = "integer"},
          {.name = "keep", .help = "files that are kept", .type = "integer"},
          {.name = "duration_ps", .help = "emulated time after which it ends", .type = "integer"},
          {.name = "direction", .help = "what ports send, receive, or both: sent, received, both"},
          {.name = "for_reader", .help = "the file is a pipe: it ends when the reader leaves", .type = "boolean"}};
}
CommandFacts of_a_fault() {
  CommandFacts facts = changes("fault", "begin a fault: the keys of a row of `faults`, with `for` instead of instants",
                               {{.name = "set", .help = "what happens, as a row of faults has it", .required = true}});
  facts.takes_others = true;
  return facts;
}

std::expected<uint32_t, std::string> node_of(const Fabric& fabric, const std::string& name) {
  const auto found = std::ranges::find(fabric.nodes, name, &FabricNode::name);
  if (found == fabric.nodes.end()) return std::unexpected("there is no node '" + name + "'");
  return static_cast<uint32_t>(found - fabric.nodes.begin());
}

std::expected<uint32_t, std::string> switch_of(const Fabric& fabric, const std::string& name) {
  if (name.empty()) return std::unexpected("of which switch? Name it with --node");
  const auto node = node_of(fabric, name);
  if (node && fabric.nodes[*node].kind != NodeKind::kSwitch) return std::unexpected(name + " is a host");
  return node;
}

// "tor1:Ethernet16"
std::expected<LinkEnd, std::string> port_of(const Fabric& fabric, const std::string& text) {
  const size_t colon = text.find(':');
  if (colon == std::string::npos) return std::unexpected("'" + text + "' names no port: NODE:PORT does");
  const auto node = node_of(fabric, text.substr(0, colon));
  if (!node) return std::unexpected(node.error());
  const auto& ports = fabric.nodes[*node].ports;
  const auto port = std::ranges::find(ports, text.substr(colon + 1), &FabricPort::name);
  if (port == ports.end()) return std::unexpected(fabric.nodes[*node].name + " has no port " + text.substr(colon + 1));
  return LinkEnd{*node, static_cast<uint16_t>(port - ports.begin())};
}

// Of a query it is text, of the socket a number.
std::expected<size_t, std::string> rows_wanted(const Json& arguments) {
  constexpr size_t kUsual = 20;
  constexpr size_t kMost = 1'000;
  const auto found = arguments.find("most");
  if (found == arguments.end()) return kUsual;
  const std::string text = found->is_string() ? found->get<std::string>() : found->dump();
  size_t out = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), out);
  if (read.ec != std::errc{} || read.ptr != text.data() + text.size() || out == 0 || out > kMost)
    return std::unexpected("most: a number from 1 to " + std::to_string(kMost));
  return out;
}

// One link by a port, or all of a node's.
std::expected<std::vector<uint32_t>, std::string> links_of(const Fabric& fabric, const std::string& text) {
  if (text.find(':') != std::string::npos) {
    const auto port = port_of(fabric, text);
    if (!port) return std::unexpected(port.error());
    return std::vector{fabric.port(*port).link};
  }
  const auto node = node_of(fabric, text);
  if (!node) return std::unexpected(node.error());
  std::vector<uint32_t> out;
  for (const FabricPort& port : fabric.nodes[*node].ports) out.push_back(port.link);
  return out;
}

}  // namespace

FabricServer::FabricServer(RunningFabric& fabric, std::vector<FileUse> uses)
    : fabric_(fabric), uses_(std::move(uses)), paths_(fabric.testbed(), fabric.part<testbeds::LiveControl>().flows()) {
  fabric_.part<RankRequests>().on(kCommand, [this](const std::string& request, Instant) { carry_out(request); });
  add_views();
  add_link();
  add_inject();
  add_injected();
  add_fault();
  add_captures();
  add_clear();
  add_entrance();
  add_profile();
}

void FabricServer::handle(CommandFacts facts, Server::Handler handler) {
  if (!fabric_.part<RankRequests>().are_shared()) return server_.handle(std::move(facts), std::move(handler));
  handle_later(std::move(facts), [handler = std::move(handler)](const Json& arguments, const Reply& reply) {
    reply(handler(arguments));
  });
}

void FabricServer::handle_later(CommandFacts facts, Server::LateHandler handler) {
  auto forwarding = over_ranks(facts.name, std::move(handler));
  server_.handle_later(std::move(facts), std::move(forwarding));
}

void FabricServer::handle_paged(CommandFacts facts, Server::LateHandler handler) {
  auto forwarding = over_ranks(facts.name, std::move(handler));
  server_.handle_paged(std::move(facts), std::move(forwarding));
}

// In one process, the handler itself.
Server::LateHandler FabricServer::over_ranks(const std::string& command, Server::LateHandler handler) {
  auto& requests = fabric_.part<RankRequests>();
  if (!requests.are_shared()) return handler;
  shared_[command] = std::move(handler);
  return [this, &requests, command](const Json& arguments, const Reply& reply) {
    const std::lock_guard guard{lock_};
    replies_.emplace(++requests_, reply);
    requests.put(kCommand, Json{{"number", requests_}, {"command", command}, {"arguments", arguments}}.dump(
                               -1, ' ', true, Json::error_handler_t::replace));
  };
}

// On every rank. An answer of another rank than the first goes nowhere.
void FabricServer::carry_out(const std::string& request) {
  const Json it = Json::parse(request);
  const Reply reply =
      fabric_.part<RankRequests>().is_first() ? take_reply(it.at("number")) : Reply{[](const Reply::Answer&) {}};
  try {
    shared_.at(it.at("command"))(it.at("arguments"), reply);
  } catch (const std::exception& error) {
    reply(std::unexpected(std::string{"the command failed: "} + error.what()));
  }
}

Reply FabricServer::take_reply(uint64_t number) {
  const std::lock_guard guard{lock_};
  return std::move(replies_.extract(number).mapped());
}

std::expected<void, std::string> FabricServer::listen() {
  if (auto made = make_socket_folder(); !made) return made;
  const auto path = socket_path(fabric_.testbed().name);
  if (!path) return std::unexpected(path.error());
  return server_.listen(*path);
}

std::expected<WebAddress, std::string> FabricServer::listen_web(WebOptions options) {
  options.title = {.testbed = fabric_.testbed().name, .version = run_facts(fabric_.testbed()).program};
  fabric_.part<testbeds::EventLog>().open(server_.events_sink());
  return server_.listen_web(std::move(options));
}

void FabricServer::add_views() {
  for (const View& view : views()) {
    const std::string command = "show " + std::string(view.words);
    const bool of_switch = std::holds_alternative<SwitchView>(view.made);
    const bool of_paths = std::holds_alternative<PathView>(view.made);
    const CommandFacts facts = reads(command, view.help,
                                     of_switch  ? of_a_switch()
                                     : of_paths ? of_flow_paths()
                                                : only_of_a_node());
    std::visit([&](const auto& made) { add_view(facts, made); }, view.made);
  }
  handle(reads("views", "what `show` can show"), [](const Json&) -> Result { return views_json(); });
}

// Copied by a worker between two windows, made into text on the server's thread.
void FabricServer::add_view(const CommandFacts& facts, const FabricView& view) {
  handle_later(facts, [this, view](const Json& arguments, const Reply& reply) {
    const auto node = wanted_node(arguments);
    if (!node) return reply(std::unexpected(node.error()));
    const bool as_text = view.text != nullptr && !wants_json(arguments);
    const auto show = [this, reply, view, node = *node, as_text](FabricSnapshot snapshot, PortFills fills) {
      reply.later(
          [this, snapshot = std::move(snapshot), fills = std::move(fills), view, node, as_text]() mutable -> Result {
            if (!node.empty()) view.keep(snapshot, node);
            const Shown shown{snapshot, fabric_.testbed(), server_.counters(), fabric_, fills};
            return as_text ? Json(view.text(shown)) : view.json(shown);
          });
    };
    auto& control = fabric_.part<testbeds::LiveControl>();
    if (view.needs_fills) return control.ask_with_fills(show);
    control.ask([show](FabricSnapshot snapshot) { show(std::move(snapshot), {}); });
  });
}

// Flows are walked on the server's thread, over tables that the worker has copied the pointers of.
void FabricServer::add_view(const CommandFacts& facts, const PathView& view) {
  handle_later(facts, [this, view](const Json& arguments, const Reply& reply) {
    const auto node = wanted_node(arguments);
    if (!node) return reply(std::unexpected(node.error()));
    const auto most = rows_wanted(arguments);
    if (!most) return reply(std::unexpected(most.error()));
    std::optional<LinkEnd> port;
    if (const std::string text = text_argument(arguments, "port"); !text.empty()) {
      const auto found = port_of(fabric_.testbed().fabric, text);
      if (!found) return reply(std::unexpected(found.error()));
      port = *found;
    }
    const bool json = wants_json(arguments);
    fabric_.part<testbeds::LiveControl>().ask_with_tables([this, reply, view, node = *node, most = *most, port, json](
                                                              FabricSnapshot snapshot, testbeds::PathTables tables) {
      reply.later([this, view, node, most, port, json, snapshot = std::move(snapshot),
                   tables = std::move(tables)]() mutable -> Result {
        const std::lock_guard guard{paths_lock_};
        Json rows = view.json({snapshot, fabric_.testbed().fabric, paths_, std::move(tables), port, node, most});
        return json ? std::move(rows) : Json(view.text(rows));
      });
    });
  });
}

void FabricServer::add_view(const CommandFacts& facts, const PagedView& view) {
  handle_paged(facts, [this, view](const Json& arguments, const Reply& reply) {
    const auto node = wanted_node(arguments);
    if (!node) return reply(std::unexpected(node.error()));
    fabric_.part<testbeds::LiveControl>().ask([reply, view, node = *node](FabricSnapshot snapshot) {
      reply.pages([view, snapshot = std::move(snapshot), node](const Reply::PutPage& put) mutable {
        if (!node.empty()) keep_only(snapshot, node);
        view.put(snapshot, put);
      });
    });
  });
}

void FabricServer::add_view(const CommandFacts& facts, const SwitchView& view) {
  const Fabric& fabric = fabric_.testbed().fabric;
  handle_later(facts, [this, &fabric, view](const Json& arguments, const Reply& reply) {
    const auto node = switch_of(fabric, text_argument(arguments, "node"));
    if (!node) return reply(std::unexpected(node.error()));
    const bool json = wants_json(arguments);
    const auto see = [this, view, &fabric, node = *node](const pipelines::Switch& from, const RouteTable& routes,
                                                         Instant now) {
      return view.rows({fabric, node, from, routes, fabric_.part<testbeds::LiveControl>().overrides(node), now});
    };
    fabric_.part<testbeds::LiveControl>().ask_switch(
        *node, see, [reply, json](Json rows) { reply(json ? Result(std::move(rows)) : Result(Json(as_table(rows)))); });
  });
}

// The node to which a view is to be kept; empty: all of them.
std::expected<std::string, std::string> FabricServer::wanted_node(const Json& arguments) const {
  std::string node = text_argument(arguments, "node");
  if (node.empty()) return node;
  if (const auto known = node_of(fabric_.testbed().fabric, node); !known) return std::unexpected(known.error());
  return node;
}

void FabricServer::add_link() {
  Takes takes{{.name = "link", .help = "either end as NODE:PORT, or a NODE for all of its links", .required = true},
              {.name = "state", .help = "up or down", .required = true}};
  handle(changes("link", "take a link down, or up again", std::move(takes)), [this](const Json& arguments) -> Result {
    const std::string what = text_argument(arguments, "link");
    const std::string state = text_argument(arguments, "state");
    if (state != "up" && state != "down") return std::unexpected("state: up or down");
    auto links = links_of(fabric_.testbed().fabric, what);
    if (!links) return std::unexpected(links.error());
    const size_t count = links->size();
    fabric_.part<testbeds::LiveControl>().set_links(std::move(*links), state == "up");
    return Json(what + ": " + std::to_string(count) + (count == 1 ? " link " : " links ") + state);
  });
}

void FabricServer::add_inject() {
  Takes takes{{.name = "port", .help = "NODE:PORT, where the frame comes in", .required = true},
              {.name = "frame", .help = "hexadecimal digits", .required = true}};
  handle_later(changes("inject", "put a frame into the fabric", std::move(takes)),
               [this](const Json& arguments, const Reply& reply) {
                 const auto port = port_of(fabric_.testbed().fabric, text_argument(arguments, "port"));
                 if (!port) return reply(std::unexpected(port.error()));
                 auto frame = bytes_of_hex(text_argument(arguments, "frame"));
                 if (!frame) return reply(std::unexpected("frame: hexadecimal digits, two a byte"));
                 fabric_.part<testbeds::FrameInjector>().inject(*port, std::move(*frame),
                                                                [reply](std::expected<Instant, std::string> at) {
                                                                  if (!at) return reply(std::unexpected(at.error()));
                                                                  reply(Json{{"at_ps", at->count_ps()}});
                                                                });
               });
}

// Asked again and again by `softspine inject`, since no handler waits.
void FabricServer::add_injected() {
  handle_later(reads("injected", "how many injected frames are under way"), [this](const Json&, const Reply& reply) {
    fabric_.part<testbeds::FrameInjector>().ask_under_way(
        [reply](uint64_t under_way, Instant now) { reply(Json{{"under_way", under_way}, {"at_ps", now.count_ps()}}); });
  });
}

// A row of `faults:` with 'for' in the place of its instants.
void FabricServer::add_fault() {
  handle(of_a_fault(), [this](const Json& arguments) -> Result {
    if (!arguments.is_object()) return std::unexpected("expected the keys of a fault");
    Json row = arguments;
    row["at"] = "0s";
    if (row.contains("for")) {
      row["until"] = row["for"];
      row.erase("for");
    }
    auto fault = parse_live_fault(row.dump(-1, ' ', true, Json::error_handler_t::replace), fabric_.testbed());
    if (!fault) {
      std::string all;
      for (const Error& error : fault.error()) {
        all += (all.empty() ? "" : "; ") + (error.path.empty() ? "" : error.path + ": ") + error.message;
      }
      return std::unexpected(all);
    }
    const bool goes_elsewhere = std::ranges::any_of(
        fault->links, [](const Fault& each) { return each.profile || row_of(each.kind).help.empty(); });
    if (goes_elsewhere) return std::unexpected("links go down by `link`, switches change by `profile`");
    fabric_.part<testbeds::LiveControl>().inject_fault(std::move(*fault));
    const std::string where = text_argument(row, row.contains("link") ? "link" : "node");
    return Json(where + ": " + text_argument(row, "set"));
  });
}

void FabricServer::add_captures() {
  handle_later(changes("capture start", "write frames that cross ports to a file of this machine", of_a_capture()),
               [this](const Json& arguments, const Reply& reply) {
                 auto request = capture_request(arguments);
                 if (!request) return reply(std::unexpected(request.error()));
                 std::vector<FileUse> uses = uses_;
                 uses.push_back({"the capture", request->path, true, request->rotation.any()});
                 const auto clash = first_clash(uses);  // rank 0's files
                 const std::string given = text_argument(arguments, "name");
                 const std::string name = given.empty() ? std::filesystem::path(request->path).stem().string() : given;
                 const auto done = [reply, name](const std::expected<void, std::string>& started) {
                   if (!started) return reply(std::unexpected(started.error()));
                   reply(Json("capture " + name + ": started"));
                 };
                 fabric_.part<testbeds::Captures>().start_live(name, *request, done, clash.value_or(""));
               });
  Takes takes{{.name = "name", .help = "of the capture", .required = true}, {.name = "format", .help = "json"}};
  handle_later(changes("capture stop", "end a capture", std::move(takes)),
               [this](const Json& arguments, const Reply& reply) {
                 const std::string name = text_argument(arguments, "name");
                 const bool json = wants_json(arguments);
                 fabric_.part<testbeds::Captures>().ask([reply, name, json](testbeds::Captures& captures, Instant) {
                   auto stopped = captures.stop(name);
                   if (!stopped) return reply(std::unexpected(stopped.error()));
                   const auto ended = std::make_shared<testbeds::Captures::Ended>(std::move(*stopped));
                   reply.later([ended, json]() -> Result { return closed_capture(*ended, json); });
                 });
               });
  handle_later(reads("capture list", "captures that run, or did"), [this](const Json& arguments, const Reply& reply) {
    const bool json = wants_json(arguments);
    fabric_.part<testbeds::Captures>().ask([reply, json](testbeds::Captures& captures, Instant now) {
      const auto rows = captures.list(now);
      reply(json ? captures_json(rows) : Json(captures_table(rows)));
    });
  });
}

void FabricServer::add_clear() {
  handle(changes("clear watermarks", "let watermarks begin again", only_of_a_node()),
         [this](const Json& arguments) -> Result {
           const std::string node = text_argument(arguments, "node");
           std::optional<uint32_t> only;
           if (!node.empty()) {
             const auto found = switch_of(fabric_.testbed().fabric, node);
             if (!found) return std::unexpected(found.error());
             only = *found;
           }
           fabric_.part<testbeds::LiveControl>().clear_watermarks(only);
           return Json("watermarks of " + (only ? node : "every switch") + ": cleared");
         });
}

void FabricServer::add_entrance() {
  Takes takes{{.name = "node", .help = "a host outside", .required = true}};
  handle({"entrance", CommandKind::kLocal, "where programs that run on a host find it", std::move(takes)},
         [this](const Json& arguments) -> Result {
           const std::string name = text_argument(arguments, "node");
           if (const auto node = node_of(fabric_.testbed().fabric, name); !node) return std::unexpected(node.error());
           const auto entrance = fabric_.part<testbeds::OutsideWatch>().entrance_of(name);
           if (!entrance) return std::unexpected(entrance.error());
           return Json{{"environment", entrance->environment},
                       {"folder", entrance->folder.string()},
                       {"process", entrance->process ? Json(*entrance->process) : Json()},
                       {"line", entrance->line.string()}};
         });
}

void FabricServer::add_profile() {
  Takes takes{{.name = "node", .help = "a switch", .required = true},
              {.name = "profile", .help = "one of the testbed's", .required = true}};
  handle(changes("profile", "give a switch the tables of another profile", std::move(takes)),
         [this](const Json& arguments) -> Result {
           const Testbed& testbed = fabric_.testbed();
           const auto node = switch_of(testbed.fabric, text_argument(arguments, "node"));
           if (!node) return std::unexpected(node.error());
           const std::string name = text_argument(arguments, "profile");
           const auto profile = std::ranges::find(testbed.profiles, name, &Profile::name);
           if (profile == testbed.profiles.end()) {
             std::string known;
             for (const Profile& each : testbed.profiles) known += (known.empty() ? "" : ", ") + each.name;
             return std::unexpected("the testbed has no profile '" + name + "'; it has " + known +
                                    ": a profile that ships has to be named in its file");
           }
           const std::string refused = profile_change_error(testbed.profiles, testbed.fabric, *node, *profile);
           if (!refused.empty()) return std::unexpected(refused);
           fabric_.part<testbeds::LiveControl>().use_profile(*node,
                                                             static_cast<uint32_t>(profile - testbed.profiles.begin()));
           return Json(testbed.fabric.nodes[*node].name + ": works by " + name);
         });
}

}  // namespace softspine::tools
