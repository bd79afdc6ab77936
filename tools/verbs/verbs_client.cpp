// SPDX-License-Identifier: Apache-2.0
#include "tools/verbs/verbs_client.hpp"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <random>

#include "tools/verbs/line_socket.hpp"
#include "tools/verbs/sender.hpp"
#include "tools/verbs/source_port.hpp"

namespace softspine::tools {

namespace {

using Clock = Sender::Clock;

// The q-quantile: the smallest value that a share q of all does not exceed.
int64_t quantile(const std::vector<int64_t>& sorted, double q) {
  const auto rank = static_cast<size_t>(std::ceil(q * static_cast<double>(sorted.size())));
  return sorted[std::max<size_t>(rank, 1) - 1];
}

Json completion_json(std::vector<int64_t> times_ns) {
  std::ranges::sort(times_ns);
  Json out;
  for (const auto& [name, q] :
       {std::pair{"completion_min_ns", 0.0}, std::pair{"completion_p50_ns", 0.5}, std::pair{"completion_p90_ns", 0.9},
        std::pair{"completion_p99_ns", 0.99}, std::pair{"completion_max_ns", 1.0}}) {
    out[name] = times_ns.empty() ? Json{} : Json(quantile(times_ns, q));
  }
  return out;
}

// The rate of payload.
int64_t bits_per_second(uint64_t bytes, std::chrono::nanoseconds in) {
  if (in.count() <= 0) return 0;
  return std::llround(static_cast<double>(bytes) * 8e9 / static_cast<double>(in.count()));
}

class Client {
 public:
  Client(const ClientOptions& options, InterruptSignal& interrupt) : options_(options), interrupt_(interrupt) {}

  std::expected<Json, std::string> run() {
    auto socket = LineSocket::connect(options_.host, options_.port, options_.from, options_.patience);
    if (!socket) return std::unexpected(socket.error());
    auto port = open_port_of(socket->own_address());
    if (!port) return std::unexpected(port.error());
    Terms terms = options_.terms;
    terms.seed = std::random_device{}();
    auto queue_pairs = QueuePairs::make(*port, terms);
    if (!queue_pairs) return std::unexpected(queue_pairs.error());
    auto peer = agree(*socket, *queue_pairs, terms);
    if (!peer) return std::unexpected(peer.error());
    const DeviceCounters before = device_counters(*port);
    has_begun_ = true;
    Sender sender{*queue_pairs, terms, options_.messages};
    if (auto sent = send(sender, *queue_pairs, *socket); !sent)
      return std::unexpected(with_reason(sent.error(), *socket));
    if (auto sent = socket->send({{"done", sender.messages()}}); !sent) return std::unexpected(sent.error());
    const auto answer = socket->receive(kPatience);
    if (!answer) return std::unexpected(answer.error());
    const auto verdict = verdict_from(*answer);
    if (!verdict) return std::unexpected(verdict.error());
    if (const std::string wrong = validate(*verdict, sender.bytes()); !wrong.empty()) return std::unexpected(wrong);
    Json out = result(terms, *port, *peer, *queue_pairs, sender);
    out.update(to_json(*verdict));
    out["local_counters"] = counted_since(before, device_counters(*port));
    return out;
  }
  bool has_begun() const { return has_begun_; }

 private:
  static std::expected<End, std::string> agree(LineSocket& socket, QueuePairs& queue_pairs, const Terms& terms) {
    if (auto sent = socket.send({{"terms", to_json(terms)}, {"end", to_json(queue_pairs.end())}}); !sent)
      return std::unexpected(sent.error());
    auto answer = socket.receive(kPatience);
    if (!answer) return std::unexpected(answer.error());
    auto peer = end_from(answer->value("end", Json{}));
    if (!peer) return peer;
    if (auto connected = queue_pairs.connect(terms, *peer); !connected) return std::unexpected(connected.error());
    return peer;
  }

  // A failed queue pair may be because the server has given up, and has said why.
  static std::string with_reason(const std::string& error, LineSocket& socket) {
    if (!socket.has_data()) return error;
    const auto said = socket.receive(std::chrono::seconds{1});
    return said ? error : error + "; " + said.error();
  }

  std::expected<void, std::string> send(Sender& sender, QueuePairs& queue_pairs, const LineSocket& socket) {
    const auto end = Clock::now() + options_.duration.value_or(std::chrono::hours{24 * 365});
    while (true) {
      if (Clock::now() >= end) sender.stop();
      if (auto posted = sender.post(); !posted) return posted;
      if (sender.is_done()) return {};
      std::array<pollfd, 3> wanted{pollfd{queue_pairs.descriptor(), POLLIN, 0}, pollfd{socket.descriptor(), POLLIN, 0},
                                   pollfd{interrupt_.descriptor(), POLLIN, 0}};
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now()).count();
      // After the end there is nothing to wait for but completions.
      const int timeout = options_.duration && left > 0 ? static_cast<int>(std::min<int64_t>(left, 1'000'000)) : -1;
      if (poll(wanted.data(), wanted.size(), timeout) < 0) continue;
      if (wanted[2].revents != 0) {
        interrupt_.take();
        interrupted_ = true;
        sender.stop();
      }
      if (wanted[0].revents != 0) {
        const auto taken = queue_pairs.complete([&](const QueuePairs::Completion& it) { return sender.take(it); });
        if (!taken) return taken;
      } else if (wanted[1].revents != 0) {
        return std::unexpected(std::string{"the server has ended before all was sent"});
      }
    }
  }

  Json result(const Terms& terms, const RdmaPort& port, const End& peer, const QueuePairs& queue_pairs,
              const Sender& sender) const {
    const End own = queue_pairs.end();
    const uint32_t common = std::min(own.mtu_bytes, peer.mtu_bytes);
    Json out{{"from", address_text(port.gid)},
             {"to", address_text(peer.gid)},
             {"device", port.device},
             {"peer_device", peer.device},
             {"scaling", terms.spread.scaling == Scaling::kSplit ? "split" : "round_robin"},
             {"queue_pairs", terms.spread.queue_pairs},
             {"message_bytes", terms.spread.message_bytes},
             {"mtu_bytes", terms.mtu_bytes == 0 ? common : std::min(terms.mtu_bytes, common)},
             {"messages", sender.messages()},
             {"sent_bytes", sender.bytes()},
             {"elapsed_ns", sender.elapsed().count()},
             {"bandwidth_bps", bits_per_second(sender.bytes(), sender.elapsed())},
             {"interrupted", interrupted_}};
    out.update(completion_json(sender.completion_ns()));
    Json pairs = Json::array();
    for (uint32_t i = 0; i < terms.spread.queue_pairs; ++i) {
      const QueuePairPlace& here = own.queue_pairs[i];
      const QueuePairPlace& there = peer.queue_pairs[i];
      pairs.push_back({{"qp", here.number},
                       {"peer_qp", there.number},
                       {"source_port", source_port_of(terms.flow_label, here.number, there.number)},
                       {"parts", sender.parts_over(i)},
                       {"sent_bytes", sender.parts_over(i) * terms.spread.part_bytes(i)}});
    }
    out["by_queue_pair"] = std::move(pairs);
    return out;
  }

  const ClientOptions& options_;
  InterruptSignal& interrupt_;
  bool has_begun_ = false;
  bool interrupted_ = false;
};

std::string counters_text(const Json& counters) {
  std::string text;
  for (const auto& [name, value] : counters.items()) {
    const bool is_traffic = name == "sent_pkts" || name == "rcvd_pkts";
    if (value != 0 && !is_traffic) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, value.dump());
  }
  return text.empty() ? "nothing" : text;
}

}  // namespace

std::expected<Json, ClientFailure> run_client(const ClientOptions& options, InterruptSignal& interrupt) {
  Client client{options, interrupt};
  auto result = client.run();
  if (!result) return std::unexpected(ClientFailure{.why = result.error(), .had_begun = client.has_begun()});
  return std::move(*result);
}

std::string client_text(const Json& result) {
  const auto number = [&result](const char* key) {
    return result.at(key).is_number() ? result.at(key).get<double>() : 0;
  };
  std::string out =
      fmt::format("{} ({}) → {} ({}): {} messages of {} bytes, {} over {} queue pairs, MTU {}{}\n",
                  result.at("from").get<std::string>(), result.at("device").get<std::string>(),
                  result.at("to").get<std::string>(), result.at("peer_device").get<std::string>(), number("messages"),
                  number("message_bytes"), result.at("scaling").get<std::string>(), number("queue_pairs"),
                  number("mtu_bytes"), result.at("interrupted").get<bool>() ? ", interrupted" : "");
  out += fmt::format("{:.3f} Gb/s: {:.3f} MB in {:.3f} s; a message took {:.1f} us (p50), {:.1f} (p99), {:.1f} (max)\n",
                     number("bandwidth_bps") * 1e-9, number("sent_bytes") * 1e-6, number("elapsed_ns") * 1e-9,
                     number("completion_p50_ns") * 1e-3, number("completion_p99_ns") * 1e-3,
                     number("completion_max_ns") * 1e-3);
  out += result.at("verified").get<bool>()
             ? "every byte was right\n"
             : fmt::format("WRONG: {} of {} bytes, {} parts misplaced\n", number("wrong_bytes"),
                           number("verified_bytes"), number("misplaced_parts"));
  out += "counted by the device here: " + counters_text(result.at("local_counters")) + "\n";
  out += "counted by the device there: " + counters_text(result.at("peer_counters")) + "\n";
  return out;
}

}  // namespace softspine::tools
