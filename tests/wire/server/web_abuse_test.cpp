// SPDX-License-Identifier: Apache-2.0
// What one client of the web server can do to the others and to the process that serves it: nothing.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "control/server/server.hpp"
#include "dataplane/units/rng.hpp"
#include "tests/harness/seed.hpp"
#include "tests/unit/server/web_client.hpp"

namespace softspine::control {
namespace {

using std::chrono::milliseconds;
using tests::WebClient;

constexpr const char* kGet = "GET /api/show/echo HTTP/1.1\r\nHost: localhost\r\n\r\n";

class WebAbuse : public testing::Test {
 protected:
  void serve(WebOptions options = {}) {
    server_ = std::make_unique<Server>();
    server_->handle({"show echo", CommandKind::kReading, "arguments"},
                    [](const Json&) -> Result { return Json("echo"); });
    server_->handle({"set", CommandKind::kChanging, "sets"}, [](const Json&) -> Result { return Json("set"); });
    server_->handle_paged({"show prometheus", CommandKind::kReading, "metrics"}, [](const Json&, const Reply& reply) {
      reply.pages([](const Reply::PutPage& put) {
        for (int i = 0; i < 64 && put(std::string(1 << 20, 'x')); ++i) {
        }
      });
    });
    sink_ = server_->events_sink();
    sink_->begin("t");
    options.address = *parse_web_address("127.0.0.1:0");
    const auto where = server_->listen_web(std::move(options));
    ASSERT_TRUE(where) << where.error();
    port_ = where->port;
  }
  std::unique_ptr<WebClient> client() { return std::make_unique<WebClient>(port_); }
  std::vector<std::unique_ptr<WebClient>> clients(int count) {
    std::vector<std::unique_ptr<WebClient>> all;
    for (int i = 0; i < count; ++i) all.push_back(client());
    return all;
  }
  void expect_an_answer() { EXPECT_EQ(client()->get("/api/show/echo").body, "\"echo\"\n"); }
  // A client sees its end a moment before it is counted.
  void expect_timeouts(uint64_t count) {
    while (counters().timeouts < count) ::poll(nullptr, 0, 1);
    EXPECT_EQ(counters().timeouts, count);
  }
  const ServerCounters& counters() const { return server_->counters(); }

  std::unique_ptr<Server> server_;
  std::unique_ptr<EventSink> sink_;
  uint16_t port_ = 0;
};

TEST_F(WebAbuse, GarbageCostsItsSenderTheConnection) {
  serve();
  dataplane::Rng rng{tests::seed(), 1};
  for (int round = 0; round < 200; ++round) {
    const auto one = client();
    std::string garbage(1 + rng.below(5000), '\0');
    for (char& c : garbage) c = static_cast<char>(rng.below(256));
    one->send(garbage + "\r\n\r\n");
    one->end_sending();
    one->wait_for_end();
  }
  expect_an_answer();
}

TEST_F(WebAbuse, WhatIsTooLongIsCutOff) {
  serve();
  const auto head = client();
  head->send("GET / HTTP/1.1\r\nHost: localhost\r\nX: " + std::string(20'000, 'x') + "\r\n\r\n");
  EXPECT_EQ(head->answer().status, 431);
  const auto endless = client();
  for (int i = 0; i < 1000 && endless->send("X: " + std::string(1000, 'x') + "\r\n"); ++i) {
  }
  endless->wait_for_end();
  EXPECT_EQ(client()->get("/" + std::string(3000, 'a')).status, 414);
  expect_an_answer();
}

TEST_F(WebAbuse, AHugeBodyIsRefusedBeforeItIsRead) {
  serve({.policy = {.token = "0123456789abcdef", .control = true}});
  const std::string head =
      "POST /api/set HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer 0123456789abcdef\r\n"
      "Content-Type: application/json\r\n";
  const auto one = client();
  one->send(head + "Content-Length: 99999999999\r\nExpect: 100-continue\r\n\r\n");
  EXPECT_EQ(one->answer().status, 413);
  const auto pieces = client();
  pieces->send(head + "Transfer-Encoding: chunked\r\n\r\n");
  for (int i = 0; i < 100 && pieces->send("1000\r\n" + std::string(4096, '[') + "\r\n"); ++i) {
  }
  EXPECT_EQ(pieces->answer().status, 413);
  const auto deep = client();
  EXPECT_EQ(deep->post("/api/set", std::string(60'000, '['), "Authorization: Bearer 0123456789abcdef\r\n").status, 400);
  const auto nobody = client();
  nobody->send(
      "POST /api/set HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 60000\r\n\r\n");
  EXPECT_EQ(nobody->answer().status, 401) << "before its body has come";
}

TEST_F(WebAbuse, TwoLengthsOrTwoHostsAreNoRequest) {
  serve();
  for (const char* more : {"Content-Length: 0\r\nContent-Length: 5", "Content-Length: 5\r\nTransfer-Encoding: chunked",
                           "Host: evil.example", "Content-Length: -1", "Transfer-Encoding: gzip"}) {
    const auto one = client();
    one->send(std::string("GET / HTTP/1.1\r\nHost: localhost\r\n") + more + "\r\n\r\n");
    const int status = one->answer().status;
    EXPECT_TRUE(status >= 400 && status < 500 && status != 404) << more << ": " << status;
  }
}

TEST_F(WebAbuse, AClientThatNeverEndsItsHeadIsClosedAfterAWhile) {
  serve({.request_timeout = milliseconds{50}});
  const auto slow = client();
  slow->send("GET / HTTP/1.1\r\n");
  // Each byte comes well within the timeout; it counts for the whole head.
  while (slow->send("x")) ::poll(nullptr, 0, 1);
  expect_timeouts(1);
  auto silent = clients(10);
  for (const auto& one : silent) one->wait_for_end();
  expect_timeouts(11);
  expect_an_answer();
}

TEST_F(WebAbuse, AClientThatNeverEndsItsBodyIsClosedAfterAWhile) {
  serve({.policy = {.token = "0123456789abcdef", .control = true}, .request_timeout = milliseconds{50}});
  const auto slow = client();
  slow->send(
      "POST /api/set HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer 0123456789abcdef\r\n"
      "Content-Type: application/json\r\nContent-Length: 60000\r\n\r\n");
  while (slow->send("x")) ::poll(nullptr, 0, 1);
  expect_timeouts(1);
}

TEST_F(WebAbuse, AReaderThatDoesNotReadIsClosedAfterAWhile) {
  serve({.write_timeout = milliseconds{50}});
  const auto deaf = client();
  deaf->send("GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n");
  while (counters().timeouts == 0) expect_an_answer();
  EXPECT_EQ(counters().timeouts, 1U);
}

TEST_F(WebAbuse, AThousandClientsAtOnceAreAllAnswered) {
  serve();
  auto many = clients(1000);
  for (const auto& one : many) ASSERT_TRUE(one->send(kGet));
  for (const auto& one : many) ASSERT_EQ(one->answer().status, 200);
  EXPECT_EQ(counters().web_connections, 1000U);
}

TEST_F(WebAbuse, WhoFindsNoRoomIsToldSo) {
  serve({.max_connections = 4});
  auto four = clients(4);
  for (const auto& one : four) EXPECT_EQ(one->get("/api/show/echo").status, 200);
  EXPECT_EQ(client()->answer().status, 503);
  EXPECT_EQ(four[0]->get("/api/show/echo").status, 200);
  EXPECT_EQ(counters().refused_connections, 1U);
}

TEST_F(WebAbuse, AThousandHalfClosedClientsDoNotStay) {
  serve();
  auto many = clients(1000);
  for (const auto& one : many) {
    one->send("GET / HT");
    one->end_sending();
  }
  for (const auto& one : many) one->wait_for_end();
  while (counters().web_connections > 1) expect_an_answer();
}

TEST_F(WebAbuse, RequestsOneAfterTheOtherAreAnsweredInTheirOrder) {
  serve();
  const auto one = client();
  std::string all;
  for (int i = 0; i < 1000; ++i) all += i % 2 == 0 ? kGet : "GET /nothing HTTP/1.1\r\nHost: localhost\r\n\r\n";
  one->send(all);
  for (int i = 0; i < 1000; ++i) ASSERT_EQ(one->answer().status, i % 2 == 0 ? 200 : 404) << i;
}

TEST_F(WebAbuse, AFloodOverAWebSocketEndsIt) {
  serve({.request_timeout = milliseconds{200}, .event_reader_timeout = milliseconds{2'000}});
  const auto speaks = client();
  ASSERT_EQ(speaks->open_events().status, 101);
  speaks->frame();
  speaks->send_frame(1, "hello");
  const auto closed = speaks->frame();
  EXPECT_EQ(closed.opcode, 8);
  EXPECT_EQ(closed.payload.substr(0, 2), "\x03\xf0") << "1008: policy";
  const auto pings = client();
  ASSERT_EQ(pings->open_events().status, 101);
  std::string many;
  for (int i = 0; i < 1000; ++i) many += std::string("\x89\x80\0\0\0\0", 6);
  for (int i = 0; i < 1000 && pings->send(many); ++i) {
  }
  pings->wait_for_end();
  const auto huge = client();
  ASSERT_EQ(huge->open_events().status, 101);
  huge->send(std::string("\x82\xff\x7f\xff\xff\xff\xff\xff\xff\xff\0\0\0\0", 14));
  huge->wait_for_end();
  const auto unmasked = client();
  ASSERT_EQ(unmasked->open_events().status, 101);
  unmasked->send(std::string("\x81\x01x", 3));
  unmasked->wait_for_end();
  while (counters().event_readers > 0) expect_an_answer();
}

TEST_F(WebAbuse, ReadersOfEventsHaveALimit) {
  serve({.max_event_readers = 2});
  const auto one = client();
  const auto two = client();
  ASSERT_EQ(one->open_events().status, 101);
  ASSERT_EQ(two->open_events().status, 101);
  EXPECT_EQ(client()->open_events().status, 503);
}

TEST_F(WebAbuse, AReaderOfEventsThatDoesNotReadHoldsABoundedAmountAndIsClosed) {
  serve({.event_reader_timeout = milliseconds{2'000}});
  const auto deaf = client();
  ASSERT_EQ(deaf->open_events().status, 101);
  deaf->frame();  // the head: it is a reader now
  // Until it is closed: far more than the kernel's buffers hold beside ours, however slow this program is.
  const ControlNote note{.at = {}, .kind = ControlEvent::kFault, .what = std::string(20'000, 'x')};
  while (counters().event_readers > 0) sink_->event(note);
  expect_an_answer();
  EXPECT_GT(counters().events_lost, 0U);
}

TEST_F(WebAbuse, AServerThatStopsDoesNotWaitForReaders) {
  serve({.request_timeout = milliseconds{3'600'000}, .write_timeout = milliseconds{3'600'000}});
  const auto silent = client();
  const auto deaf = client();
  deaf->send("GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n");
  const auto events = client();
  ASSERT_EQ(events->open_events().status, 101);
  expect_an_answer();
  server_->stop();
  EXPECT_EQ(counters().web_connections, 0U);
}

}  // namespace
}  // namespace softspine::control
