// SPDX-License-Identifier: Apache-2.0
// Commands, files and events over HTTP, by a client that knows the protocol only from this test.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "control/server/server.hpp"
#include "tests/unit/server/web_client.hpp"

namespace softspine::control {
namespace {

using testing::HasSubstr;
using tests::WebAnswer;
using tests::WebClient;

constexpr const char* kServedToken = "correct-horse-battery";
constexpr const char* kBearer = "Authorization: Bearer correct-horse-battery\r\n";
constexpr int kPages = 3;

class WebServerTest : public testing::Test {
 protected:
  void serve(WebPolicy policy = {}, const ServerOptions& limits = {}) {
    server_ = std::make_unique<Server>(limits);
    server_->handle({"show echo", CommandKind::kReading, "arguments", {{.name = "node", .help = "any"}}},
                    [](const Json& arguments) -> Result { return arguments; });
    server_->handle({"show trouble", CommandKind::kReading, "fails"},
                    [](const Json&) -> Result { return std::unexpected("there is \"trouble\""); });
    server_->handle_later({"show never", CommandKind::kReading, "waits"}, [](const Json&, const Reply&) {});
    server_->handle({"set", CommandKind::kChanging, "sets", {{.name = "to", .help = "what", .required = true}}},
                    [this](const Json& arguments) -> Result {
                      set_to_ = arguments["to"].get<std::string>();
                      return Json("done");
                    });
    server_->handle("local", [](const Json&) -> Result { return Json("no"); });
    server_->handle_paged(
        {"show prometheus", CommandKind::kReading, "metrics", {{.name = "node", .help = "breaks it"}}},
        [](const Json& arguments, const Reply& reply) {
          reply.pages([breaks = arguments.contains("node")](const Reply::PutPage& put) {
            for (int i = 0; i < kPages && put("page " + std::to_string(i) + "\n"); ++i) {
            }
            if (breaks) throw std::runtime_error("a bug");
          });
        });
    sink_ = server_->events_sink();
    sink_->begin("t");
    WebOptions options{.address = *parse_web_address("127.0.0.1:0"),
                       .policy = std::move(policy),
                       .title = {.testbed = "t", .version = "1"}};
    options.files = {{"/", "text/html", "<p>"}};
    const auto where = server_->listen_web(std::move(options));
    ASSERT_TRUE(where) << where.error();
    port_ = where->port;
  }
  WebClient client() { return WebClient{port_}; }

  std::unique_ptr<Server> server_;
  std::unique_ptr<EventSink> sink_;
  uint16_t port_ = 0;
  std::string set_to_;
};

TEST_F(WebServerTest, AnswersReadingCommandsAsTheyAre) {
  serve();
  WebClient one = client();
  const WebAnswer good = one.get("/api/show/echo?node=a%22b");
  EXPECT_EQ(good.status, 200);
  EXPECT_EQ(Json::parse(good.body), (Json{{"node", "a\"b"}, {"format", "json"}}));
  EXPECT_EQ(WebClient::field(good.head, "Content-Type"), "application/json");
  EXPECT_EQ(WebClient::field(good.head, "Cache-Control"), "no-store");
  EXPECT_EQ(WebClient::field(good.head, "X-Content-Type-Options"), "nosniff");
  EXPECT_THAT(WebClient::field(good.head, "Content-Security-Policy"), HasSubstr("default-src 'none'"));
  const WebAnswer bad = one.get("/api/show/trouble");
  EXPECT_EQ(bad.status, 400) << "on the same connection";
  EXPECT_EQ(Json::parse(bad.body), (Json{{"error", "there is \"trouble\""}}));
  EXPECT_EQ(one.get("/api/show/nothing").status, 404);
  EXPECT_EQ(one.get("/api/local").status, 404);
  EXPECT_EQ(one.get("/").body, "<p>");
  EXPECT_EQ(Json::parse(one.get("/api/openapi.json").body)["info"]["title"], "softspine: t");
}

TEST_F(WebServerTest, SendsPagesAsTheyAreMade) {
  serve();
  WebClient one = client();
  const WebAnswer metrics = one.get("/metrics");
  EXPECT_EQ(metrics.body, "page 0\npage 1\npage 2\n");
  EXPECT_EQ(WebClient::field(metrics.head, "Content-Type"), "text/plain; version=0.0.4; charset=utf-8");
  EXPECT_EQ(one.get("/metrics").status, 200);
  WebClient old = client();
  old.send("GET /metrics HTTP/1.0\r\nHost: localhost\r\n\r\n");
  const std::string text = old.rest();
  EXPECT_THAT(text, testing::EndsWith("\r\n\r\npage 0\npage 1\npage 2\n")) << "without pieces";
  EXPECT_THAT(text, testing::Not(HasSubstr("chunked")));
}

TEST_F(WebServerTest, BreaksATextOffThatItCannotEnd) {
  serve();
  WebClient one = client();
  one.send("GET /metrics?node=x HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_THAT(one.rest(), testing::EndsWith("7\r\npage 2\n\r\n")) << "without the last piece, which has no bytes";
}

TEST_F(WebServerTest, AnswersAHeadWithoutItsBody) {
  serve();
  WebClient one = client();
  one.send("HEAD / HTTP/1.1\r\nHost: localhost\r\n\r\n");
  const WebAnswer file = one.answer(false);
  EXPECT_EQ(WebClient::field(file.head, "Content-Length"), "3");
  one.send("HEAD /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_EQ(one.answer(false).status, 200);
  EXPECT_EQ(one.rest(), "") << "nothing follows the head";
}

TEST_F(WebServerTest, ChangesWhatItIsAllowedTo) {
  serve({.token = kServedToken, .control = true});
  WebClient one = client();
  EXPECT_EQ(one.post("/api/set", R"({"to":"a"})", kBearer).body, "\"done\"\n");
  EXPECT_EQ(set_to_, "a");
  one.send(
      std::string(
          "POST /api/set HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nExpect: 100-continue\r\n") +
      kBearer + "Transfer-Encoding: chunked\r\n\r\n");
  EXPECT_EQ(one.answer().status, 100);
  one.send("a\r\n{\"to\":\"b\"}\r\n0\r\n\r\n");
  EXPECT_EQ(one.answer().status, 200);
  EXPECT_EQ(set_to_, "b");
  EXPECT_EQ(one.post("/api/set", "{}", kBearer).status, 400);
  EXPECT_EQ(one.post("/api/set", R"({"to":"c"})").status, 401);
  EXPECT_EQ(set_to_, "b");
}

TEST_F(WebServerTest, ChangesNothingUnasked) {
  serve();
  EXPECT_EQ(client().post("/api/set", R"({"to":"a"})").status, 403);
  EXPECT_EQ(set_to_, "");
}

TEST_F(WebServerTest, SaysThatTheFabricDoesNotAnswer) {
  serve({}, {.reply_timeout = std::chrono::milliseconds{20}});
  WebClient one = client();
  EXPECT_EQ(one.get("/api/show/never").status, 504);
  EXPECT_EQ(one.get("/").status, 200);
}

TEST_F(WebServerTest, SendsEventsOverAWebSocket) {
  serve({.token = kServedToken});
  WebClient none = client();
  EXPECT_EQ(none.open_events().status, 401);
  WebClient one = client();
  const WebAnswer opened =
      one.open_events("Sec-WebSocket-Protocol: softspine.events, bearer.correct-horse-battery\r\n");
  ASSERT_EQ(opened.status, 101);
  EXPECT_EQ(WebClient::field(opened.head, "Sec-WebSocket-Accept"), "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=") << "RFC 6455, 1.3";
  EXPECT_EQ(WebClient::field(opened.head, "Sec-WebSocket-Protocol"), "softspine.events");
  EXPECT_EQ(one.frame().payload, R"([{"events":1,"testbed":"t"}])");
  sink_->event(
      ControlNote{.at = dataplane::Instant::at(dataplane::Duration::ps(7)), .kind = ControlEvent::kFault, .what = "x"});
  EXPECT_EQ(one.frame().payload, R"([{"t_ps":7,"event":"fault","what":"x"}])");
  one.send_frame(9, "hello");
  const auto pong = one.frame();
  EXPECT_EQ(pong.opcode, 10);
  EXPECT_EQ(pong.payload, "hello");
  EXPECT_EQ(server_->counters().event_readers, 1U);
  sink_->end(dataplane::Instant::at(dataplane::Duration::ps(9)));
  EXPECT_EQ(one.frame().payload, R"([{"end_ps":9,"lines":1}])");
  EXPECT_EQ(one.frame().opcode, 8) << "the run is over";
}

TEST_F(WebServerTest, TellsReadersOfEventsThatItStops) {
  serve();
  WebClient one = client();
  ASSERT_EQ(one.open_events().status, 101);
  one.frame();
  server_->stop();
  const auto last = one.frame();
  EXPECT_EQ(last.opcode, 8);
  EXPECT_EQ(last.payload, "\x03\xe9") << "1001: going away";
  EXPECT_EQ(server_->counters().event_readers, 0U);
}

TEST_F(WebServerTest, SaysThatEventsNeedAWebSocket) {
  serve();
  const WebAnswer refused = client().get("/events");
  EXPECT_EQ(refused.status, 426);
  EXPECT_EQ(WebClient::field(refused.head, "Upgrade"), "websocket");
}

TEST_F(WebServerTest, NamesAnAddressThatIsTaken) {
  serve();
  Server second;
  const auto where = second.listen_web({.address = {.host = "127.0.0.1", .port = port_, .is_loopback = true}});
  ASSERT_FALSE(where);
  EXPECT_THAT(where.error(), HasSubstr("cannot listen at http://127.0.0.1:" + std::to_string(port_)));
}

}  // namespace
}  // namespace softspine::control
