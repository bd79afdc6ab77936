// SPDX-License-Identifier: Apache-2.0
#include "control/server/server.hpp"

#include <gtest/gtest.h>

#include <condition_variable>
#include <deque>
#include <future>
#include <mutex>
#include <optional>
#include <thread>

#include "tests/unit/server/raw_client.hpp"
#include "tests/unit/server/socket_scratch.hpp"

namespace softspine::control {
namespace {

using tests::RawClient;
using tests::SocketScratch;

class ServerTest : public testing::Test {
 protected:
  ServerTest() {
    server_.handle("echo", [](const Json& arguments) -> Result { return arguments; });
    server_.handle("refuse", [](const Json&) -> Result { return std::unexpected("not today"); });
    server_.handle("throw", [](const Json&) -> Result { throw std::runtime_error("a bug"); });
    server_.handle("throw three", [](const Json&) -> Result { throw 3; });
  }
  void listen() {
    const auto listening = server_.listen(scratch_.socket());
    ASSERT_TRUE(listening) << listening.error();
  }
  RawClient client() { return RawClient{scratch_.socket()}; }

  SocketScratch scratch_;
  Server server_;
};

TEST_F(ServerTest, AnswersEachRequestInItsOrder) {
  listen();
  RawClient one = client();
  one.send("{\"id\":1,\"command\":\"echo\",\"arguments\":{\"a\":1}}\n\n{\"id\":\"x\",\"command\":\"refuse\"}\r\n");
  EXPECT_EQ(one.line(), R"({"id":1,"ok":true,"result":{"a":1}})");
  EXPECT_EQ(one.line(), R"({"id":"x","ok":false,"error":"not today"})");
  EXPECT_EQ(one.ask(R"({"command":"show x"})"), R"({"id":null,"ok":false,"error":"unknown command 'show x'"})");
  EXPECT_EQ(server_.counters().requests, 3u);
  EXPECT_EQ(server_.counters().connections, 1u);
}

TEST_F(ServerTest, TellsOfAHandlerThatThrowsAndGoesOn) {
  listen();
  RawClient one = client();
  EXPECT_EQ(one.ask(R"({"command":"throw"})"), R"({"id":null,"ok":false,"error":"the command failed: a bug"})");
  EXPECT_EQ(one.ask(R"({"command":"throw three"})"), R"({"id":null,"ok":false,"error":"the command failed"})");
  EXPECT_EQ(one.ask(R"({"command":"echo"})"), R"({"id":null,"ok":true,"result":{}})");
}

TEST_F(ServerTest, ClosesAConnectionThatSpeaksSomethingElse) {
  listen();
  RawClient one = client();
  EXPECT_EQ(one.ask("GET / HTTP/1.1"), R"({"id":null,"ok":false,"error":"the request is not a JSON object"})");
  EXPECT_EQ(one.line(), "");
  EXPECT_EQ(server_.counters().bad_requests, 1u);
}

TEST_F(ServerTest, AnswersAClientThatHasClosedItsSide) {
  listen();
  RawClient one = client();
  one.send("{\"command\":\"echo\"}\n{\"command\":\"refuse\"}");
  one.end_sending();
  EXPECT_EQ(one.line(), R"({"id":null,"ok":true,"result":{}})");
  EXPECT_EQ(one.line(), R"({"id":null,"ok":false,"error":"not today"})") << "its last line had no newline";
  EXPECT_EQ(one.line(), "");
}

TEST_F(ServerTest, TakesALineAsLongAsAllowedAndNoLonger) {
  listen();
  RawClient one = client();
  std::string longest = R"({"command":"echo","arguments":{"a":")";
  longest += std::string(kMaxRequestBytes - longest.size() - 3, 'x') + "\"}}";
  ASSERT_EQ(longest.size(), kMaxRequestBytes);
  EXPECT_EQ(one.ask(longest).substr(0, 20), R"({"id":null,"ok":true)");
  EXPECT_EQ(one.ask(longest + ' '), R"({"id":null,"ok":false,"error":"a request may have 65536 bytes"})");
  EXPECT_EQ(one.line(), "");
}

TEST_F(ServerTest, LetsALateHandlerAnswerFromAnotherThread) {
  std::thread engine;
  server_.handle_later("late", [&](const Json& arguments, Reply reply) {
    engine = std::thread{[reply, n = arguments["n"].get<int>()] {
      reply.later([n]() -> Result { return Json(n + 1); });
      reply(Json("the second reply goes nowhere"));
    }};
  });
  listen();
  RawClient one = client();
  EXPECT_EQ(one.ask(R"({"id":1,"command":"late","arguments":{"n":41}})"), R"({"id":1,"ok":true,"result":42})");
  engine.join();
  EXPECT_EQ(one.ask(R"({"id":2,"command":"echo"})"), R"({"id":2,"ok":true,"result":{}})");
}

TEST_F(ServerTest, TellsOfAReplyThatThrows) {
  server_.handle_later(
      "late", [](const Json&, const Reply& reply) { reply.later([]() -> Result { throw std::bad_alloc{}; }); });
  listen();
  EXPECT_EQ(client().ask(R"({"command":"late"})"),
            R"({"id":null,"ok":false,"error":"the command failed: std::bad_alloc"})");
}

TEST_F(ServerTest, ForgetsAReplyWhoseClientHasGone) {
  std::promise<Reply> asked;
  server_.handle_later("late", [&](const Json&, const Reply& reply) { asked.set_value(reply); });
  listen();
  std::optional<RawClient> one{scratch_.socket()};
  one->send("{\"command\":\"late\"}\n");
  const Reply reply = asked.get_future().get();
  one.reset();
  reply(Json(1));
  EXPECT_EQ(client().ask(R"({"command":"echo"})"), R"({"id":null,"ok":true,"result":{}})");
}

TEST_F(ServerTest, ForgetsAReplyThatComesAfterItsOwnEnd) {
  std::promise<Reply> asked;
  server_.handle_later("late", [&](const Json&, const Reply& reply) { asked.set_value(reply); });
  listen();
  RawClient one = client();
  one.send("{\"command\":\"late\"}\n");
  const Reply reply = asked.get_future().get();
  server_.stop();
  EXPECT_EQ(one.line(), "");
  reply(Json(1));
}

// Replies that its handler holds back; taken by the test.
class Held {
 public:
  void put(Reply reply) {
    const std::lock_guard guard{lock_};
    replies_.push_back(std::move(reply));
    came_.notify_one();
  }
  Reply take() {
    std::unique_lock guard{lock_};
    came_.wait(guard, [this] { return !replies_.empty(); });
    Reply reply = std::move(replies_.front());
    replies_.pop_front();
    return reply;
  }
  size_t count() {
    const std::lock_guard guard{lock_};
    return replies_.size();
  }

 private:
  std::mutex lock_;
  std::condition_variable came_;
  std::deque<Reply> replies_;
};

TEST(Server, HandsOnlySoManyRequestsToHandlersAtOnce) {
  const SocketScratch scratch;
  Server server{{.max_calls = 2}};
  Held held;
  server.handle_later("late", [&](const Json&, const Reply& reply) { held.put(reply); });
  ASSERT_TRUE(server.listen(scratch.socket()));
  std::deque<RawClient> clients;
  for (uint64_t i = 1; i <= 5; ++i) {  // each has been read before the next is sent
    clients.emplace_back(scratch.socket()).send("{\"command\":\"late\"}\n");
    while (server.counters().requests < i) std::this_thread::yield();
  }
  // Answered by the same thread, after it has done what it does for the five.
  EXPECT_EQ(RawClient{scratch.socket()}.ask("no request"),
            R"({"id":null,"ok":false,"error":"the request is not a JSON object"})");
  EXPECT_EQ(held.count(), 2u);
  for (int i = 0; i < 5; ++i) {
    held.take()(Json(i));
    EXPECT_EQ(clients.at(static_cast<size_t>(i)).line(), R"({"id":null,"ok":true,"result":)" + std::to_string(i) + "}")
        << "in the order they came";
    EXPECT_LE(held.count(), 2u);
  }
}

TEST(Server, AWaitForAHandlerEndsWithTheReplysOwn) {
  const SocketScratch scratch;
  Server server{{.reply_timeout = std::chrono::milliseconds{50}, .max_calls = 1}};
  Held held;
  server.handle_later("never", [&](const Json&, const Reply& reply) { held.put(reply); });
  server.handle("echo", [](const Json& arguments) -> Result { return arguments; });
  ASSERT_TRUE(server.listen(scratch.socket()));
  RawClient first{scratch.socket()};
  first.send("{\"command\":\"never\"}\n");
  const Reply late = held.take();
  RawClient second{scratch.socket()};
  second.send("{\"command\":\"never\"}\n");
  const std::string told = R"({"id":null,"ok":false,"error":"the fabric did not answer within 0.05 s"})";
  EXPECT_EQ(first.line(), told);
  EXPECT_EQ(second.line(), told);
  late(Json(1));
  EXPECT_EQ(first.ask(R"({"command":"echo"})"), R"({"id":null,"ok":true,"result":{}})") << "its turn is free again";
  EXPECT_EQ(second.ask(R"({"command":"echo"})"), R"({"id":null,"ok":true,"result":{}})");
}

TEST(Server, StopsWhileRequestsWaitForTheirTurn) {
  const SocketScratch scratch;
  Server server{{.reply_timeout = std::chrono::hours{1}, .max_calls = 1}};
  Held held;
  server.handle_later("late", [&](const Json&, const Reply& reply) { held.put(reply); });
  ASSERT_TRUE(server.listen(scratch.socket()));
  std::deque<RawClient> clients;
  for (uint64_t i = 1; i <= 4; ++i) {
    clients.emplace_back(scratch.socket()).send("{\"command\":\"late\"}\n");
    while (server.counters().requests < i) std::this_thread::yield();
  }
  server.stop();
  EXPECT_EQ(server.counters().connections, 0u);
  EXPECT_EQ(held.count(), 1u);
}

TEST_F(ServerTest, RemovesItsSocketWhenItStops) {
  listen();
  RawClient one = client();
  EXPECT_EQ(one.ask(R"({"command":"echo"})"), R"({"id":null,"ok":true,"result":{}})");
  server_.stop();
  EXPECT_FALSE(std::filesystem::exists(scratch_.socket()));
  EXPECT_EQ(one.line(), "");
  EXPECT_EQ(server_.counters().connections, 0u);
  server_.stop();
}

TEST_F(ServerTest, SaysWhyItCannotListen) {
  listen();
  Server second;
  EXPECT_EQ(second.listen(scratch_.socket()).error(), "another fabric answers at " + scratch_.socket().native());
  second.stop();
  EXPECT_TRUE(std::filesystem::exists(scratch_.socket())) << "the first one's";
}

TEST(Server, RefusesAResultThatIsTooLong) {
  const SocketScratch scratch;
  Server server{{.max_response_bytes = 1000}};
  server.handle(
      "text", [](const Json& arguments) -> Result { return Json(std::string(arguments["bytes"].get<size_t>(), 'x')); });
  ASSERT_TRUE(server.listen(scratch.socket()));
  RawClient one{scratch.socket()};
  // {"id":null,"ok":true,"result":"…"} and a newline
  EXPECT_EQ(one.ask(R"({"command":"text","arguments":{"bytes":966}})").size(), 999u);
  EXPECT_EQ(
      one.ask(R"({"command":"text","arguments":{"bytes":967}})"),
      R"({"id":null,"ok":false,"error":"the result has 1001 bytes, more than the 1000 that the server sends; ask for less"})");
  EXPECT_EQ(server.counters().oversize_responses, 1u);
}

TEST(Server, RefusesOneConnectionMoreThanItTakes) {
  const SocketScratch scratch;
  Server server{{.max_connections = 2}};
  server.handle("echo", [](const Json& arguments) -> Result { return arguments; });
  ASSERT_TRUE(server.listen(scratch.socket()));
  RawClient one{scratch.socket()};
  std::optional<RawClient> two{scratch.socket()};
  one.ask(R"({"command":"echo"})");
  two->ask(R"({"command":"echo"})");
  EXPECT_EQ(RawClient{scratch.socket()}.line(),
            R"({"id":null,"ok":false,"error":"the server has all the connections that it takes"})");
  EXPECT_EQ(server.counters().refused_connections, 1u);
  two->end_sending();
  EXPECT_EQ(two->line(), "");
  // The place is free once the server has seen the end of the second one, which closes its side last.
  EXPECT_EQ(one.ask(R"({"id":1,"command":"echo"})"), R"({"id":1,"ok":true,"result":{}})");
  EXPECT_EQ(RawClient{scratch.socket()}.ask(R"({"id":3,"command":"echo"})"), R"({"id":3,"ok":true,"result":{}})");
}

}  // namespace
}  // namespace softspine::control
