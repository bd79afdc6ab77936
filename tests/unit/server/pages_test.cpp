// SPDX-License-Identifier: Apache-2.0
// Texts too large for one answer: whole at the reader, two pages in memory, and nobody else held up.
#include <gtest/gtest.h>

#include <atomic>

#include "control/server/client.hpp"
#include "control/server/server.hpp"
#include "tests/unit/server/raw_client.hpp"
#include "tests/unit/server/socket_scratch.hpp"

namespace softspine::control {
namespace {

using tests::RawClient;
using tests::SocketScratch;

constexpr size_t kPageBytes = 1 << 20;

std::string page_of(size_t number) {
  std::string page(kPageBytes, static_cast<char>('a' + number % 26));
  page += "\n";
  return page;
}

class PagesTest : public testing::Test {
 protected:
  explicit PagesTest(ServerOptions options = {}) : server_(options) {
    server_.handle("echo", [](const Json& arguments) -> Result { return arguments; });
    server_.handle_paged("text", [this](const Json& arguments, const Reply& reply) {
      ++handled_;
      reply.pages([this, pages = arguments.value("pages", size_t{0})](const Reply::PutPage& put) {
        for (size_t i = 0; i < pages && put(page_of(i)); ++i) ++made_;
        ++ended_;
      });
    });
    server_.handle_paged("refuse", [](const Json&, const Reply& reply) { reply(std::unexpected("not today")); });
    server_.handle_paged("throw", [](const Json&, const Reply& reply) {
      reply.pages([](const Reply::PutPage& put) {
        put("one\n");
        throw std::runtime_error("a bug");
      });
    });
    const auto listening = server_.listen(scratch_.socket());
    EXPECT_TRUE(listening) << listening.error();
  }
  RawClient client() { return RawClient{scratch_.socket()}; }
  static std::string request(size_t pages) {
    return R"({"id":7,"command":"text","arguments":{"pages":)" + std::to_string(pages) + "}}\n";
  }

  SocketScratch scratch_;
  std::atomic<size_t> handled_{0};
  std::atomic<size_t> made_{0};
  std::atomic<size_t> ended_{0};
  Server server_;
};
class OneStreamTest : public PagesTest {
 protected:
  OneStreamTest() : PagesTest({.reply_timeout = std::chrono::milliseconds{200}, .max_streams = 1}) {}
};
class ShortStreamTest : public PagesTest {
 protected:
  ShortStreamTest() : PagesTest({.stream_timeout = std::chrono::milliseconds{200}}) {}
};

TEST_F(PagesTest, ComeWholeInTheirOrderOfWhichFewExistAtOnce) {
  constexpr size_t kPages = 40;
  auto client = Client::connect(scratch_.socket());
  ASSERT_TRUE(client) << client.error();
  size_t seen = 0;
  const Result left = client->call("text", {{"pages", kPages}}, [&](const std::string& page) {
    EXPECT_EQ(page, page_of(seen));
    ++seen;
    // One that waits, one that is sent, and one in this client's own hands.
    EXPECT_LE(made_.load(), seen + 3);
  });
  EXPECT_EQ(left, Result(Json("")));
  EXPECT_EQ(seen, kPages);
  const Result whole = client->call("text", {{"pages", 3}});
  EXPECT_EQ(whole, Result(Json(page_of(0) + page_of(1) + page_of(2))));
  EXPECT_EQ(client->call("text"), Result(Json("")));
}

TEST_F(PagesTest, AreLinesOfTheProtocol) {
  RawClient one = client();
  one.send(request(1) + "{\"id\":8,\"command\":\"echo\"}\n");
  EXPECT_TRUE(one.line().starts_with(R"({"id":7,"ok":true,"more":true,"result":"aaaa)"));
  EXPECT_EQ(one.line(), R"({"id":7,"ok":true,"result":""})");
  EXPECT_EQ(one.line(), R"({"id":8,"ok":true,"result":{}})") << "the next request's turn";
  EXPECT_EQ(one.ask(R"({"command":"refuse"})"), R"({"id":null,"ok":false,"error":"not today"})");
  EXPECT_EQ(one.ask(R"({"command":"throw"})"), R"({"id":null,"ok":true,"more":true,"result":"one\n"})");
  EXPECT_EQ(one.line(), R"({"id":null,"ok":false,"error":"the command failed: a bug"})");
}

TEST_F(PagesTest, HoldNobodyElseUpWhileTheirReadersSleep) {
  RawClient first = client();
  RawClient second = client();
  first.send(request(100));
  second.send(request(100));
  while (made_ < 2) std::this_thread::yield();
  RawClient other = client();
  for (int i = 0; i < 100; ++i) EXPECT_EQ(other.ask(R"({"command":"echo"})"), R"({"id":null,"ok":true,"result":{}})");
  EXPECT_LT(made_, 10U) << "nobody has read, so little is made";
}

TEST_F(OneStreamTest, WaitForATurnAndSayWhenThereIsNone) {
  RawClient sleeper = client();
  sleeper.send(request(100));
  while (made_ < 1) std::this_thread::yield();
  EXPECT_EQ(client().ask(R"({"command":"text"})"),
            R"({"id":null,"ok":false,"error":"the fabric did not answer within 0.2 s"})");
  EXPECT_EQ(handled_, 1U) << "no snapshot is taken for who waits";
}

TEST_F(ShortStreamTest, EndForWhoReadsTooSlowly) {
  RawClient sleeper = client();
  sleeper.send(request(100));
  while (ended_ < 1) std::this_thread::yield();  // its time is over while a page waits to be sent
  EXPECT_LT(made_, 10U);
}

TEST_F(PagesTest, EndWithTheirClientAndWithTheServer) {
  {
    RawClient gone = client();
    gone.send(request(100));
    while (made_ < 1) std::this_thread::yield();
  }
  while (ended_ < 1) std::this_thread::yield();
  RawClient sleeper = client();
  sleeper.send(request(100));
  while (handled_ < 2) std::this_thread::yield();
  server_.stop();
  EXPECT_LT(made_, 20U);
}

}  // namespace
}  // namespace softspine::control
