// SPDX-License-Identifier: Apache-2.0
#include "tools/verbs/verbs_server.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <array>
#include <atomic>
#include <list>
#include <thread>

#include "tools/command/complain.hpp"
#include "tools/verbs/line_socket.hpp"
#include "tools/verbs/receiver.hpp"

namespace softspine::tools {

using dataplane::OwnedFd;

namespace {

// One client, from its first word to the last byte.
class Session {
 public:
  Session(LineSocket socket, int stop) : socket_(std::move(socket)), stop_(stop) {}

  std::expected<Json, std::string> run() {
    auto result = take_all();
    // A client that waits for us gets the reason why it waits in vain.
    if (!result) (void)socket_.send({{"error", result.error()}});
    return result;
  }

 private:
  std::expected<Json, std::string> take_all() {
    auto hello = socket_.receive(kPatience);
    if (!hello) return std::unexpected(hello.error());
    const auto terms = terms_from(hello->value("terms", Json{}));
    if (!terms) return std::unexpected(terms.error());
    const auto peer = end_from(hello->value("end", Json{}));
    if (!peer) return std::unexpected(peer.error());
    const auto port = open_port_of(socket_.own_address());
    if (!port) return std::unexpected(port.error());
    auto queue_pairs = QueuePairs::make(*port, *terms);
    if (!queue_pairs) return std::unexpected(queue_pairs.error());
    if (auto connected = queue_pairs->connect(*terms, *peer); !connected) return std::unexpected(connected.error());
    const DeviceCounters before = device_counters(*port);
    if (auto sent = socket_.send({{"end", to_json(queue_pairs->end())}}); !sent) return std::unexpected(sent.error());
    Receiver receiver{*queue_pairs, *terms};
    if (auto taken = receive(*queue_pairs, receiver); !taken) return std::unexpected(taken.error());
    Json verdict = to_json(Verdict{.verified_bytes = receiver.verified_bytes(),
                                   .wrong_bytes = receiver.wrong(),
                                   .misplaced_parts = receiver.misplaced_parts(),
                                   .counters = counted_since(before, device_counters(*port))});
    if (auto sent = socket_.send(verdict); !sent) return std::unexpected(sent.error());
    verdict["from"] = address_text(peer->gid);
    verdict["to"] = address_text(port->gid);
    // Queue pairs go when the client has its answer, and has closed: before, it might still acknowledge.
    (void)socket_.receive(kPatience);
    return verdict;
  }

  std::expected<void, std::string> receive(QueuePairs& queue_pairs, Receiver& receiver) {
    while (true) {
      std::array<pollfd, 3> wanted{pollfd{queue_pairs.descriptor(), POLLIN, 0}, pollfd{socket_.descriptor(), POLLIN, 0},
                                   pollfd{stop_, POLLIN, 0}};
      if (poll(wanted.data(), wanted.size(), -1) < 0) continue;
      if (wanted[2].revents != 0) return std::unexpected(std::string{"the server was interrupted"});
      if (wanted[0].revents != 0) {
        auto taken = queue_pairs.complete([&](const QueuePairs::Completion& it) { return receiver.take(it); });
        if (!taken) return taken;
        continue;  // the client's last word comes after its last credit
      }
      const auto word = socket_.receive(kPatience);
      if (!word) return std::unexpected(word.error());
      const auto done = word->find("done");
      if (done == word->end() || !done->is_number_unsigned())
        return std::unexpected(std::string{"the client says nothing that makes sense"});
      if (!receiver.has_all(done->get<uint64_t>()))
        return std::unexpected(std::string{"the client has sent more than has arrived"});
      return {};
    }
  }

  LineSocket socket_;
  const int stop_;
};

std::string session_text(const Json& verdict) {
  return fmt::format("{} → {}: {} bytes, {}", verdict.at("from").get<std::string>(),
                     verdict.at("to").get<std::string>(), verdict.at("verified_bytes").get<uint64_t>(),
                     verdict.at("verified").get<bool>()
                         ? "every one was right"
                         : fmt::format("{} WRONG", verdict.at("wrong_bytes").get<uint64_t>()));
}

class Server {
 public:
  explicit Server(const ServerOptions& options) : options_(options), stop_(eventfd(0, EFD_CLOEXEC)) {}

  std::expected<bool, std::string> run(InterruptSignal& interrupt) {
    const auto listener = listen_on(options_.address, options_.port);
    if (!listener) return std::unexpected(listener.error());
    std::list<std::jthread> sessions;
    for (uint32_t begun = 0; options_.sessions == 0 || begun < options_.sessions;) {
      std::array<pollfd, 2> wanted{pollfd{listener->get(), POLLIN, 0}, pollfd{interrupt.descriptor(), POLLIN, 0}};
      if (poll(wanted.data(), wanted.size(), -1) < 0) continue;
      if (wanted[1].revents != 0) {
        interrupt.take();
        const uint64_t one = 1;
        if (write(stop_.get(), &one, sizeof one) < 0) break;
        break;
      }
      OwnedFd client{accept4(listener->get(), nullptr, nullptr, SOCK_CLOEXEC)};
      if (client.get() < 0) continue;
      sessions.emplace_back([this, socket = LineSocket{std::move(client)}]() mutable { serve(std::move(socket)); });
      ++begun;
    }
    sessions.clear();  // waits for them
    return all_right_.load();
  }

 private:
  void serve(LineSocket socket) {
    const std::string client = address_text(socket.peer_address());
    const auto verdict = Session{std::move(socket), stop_.get()}.run();
    if (!verdict) {
      complain("softspine-verbs: {}: {}\n", client, verdict.error());
      all_right_ = false;
      return;
    }
    if (!verdict->at("verified").get<bool>()) all_right_ = false;
    fmt::print("{}\n", options_.json ? verdict->dump() : session_text(*verdict));
    std::fflush(stdout);
  }

  const ServerOptions& options_;
  OwnedFd stop_;
  std::atomic<bool> all_right_ = true;
};

}  // namespace

std::expected<bool, std::string> run_server(const ServerOptions& options, InterruptSignal& interrupt) {
  return Server{options}.run(interrupt);
}

}  // namespace softspine::tools
