// SPDX-License-Identifier: Apache-2.0
// Who may ask what over HTTP, and what a target means: pure functions of a request's head.
#include "control/server/web_gate.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

#include "control/server/openapi.hpp"
#include "control/server/web_address.hpp"
#include "control/server/web_target.hpp"
#include "tests/unit/server/socket_scratch.hpp"

namespace softspine::control {
namespace {

using testing::HasSubstr;

constexpr const char* kToken = "correct-horse-battery";

WebRequest get(const std::string& target) {
  return {.method = "GET", .target = target, .host = "127.0.0.1:8080", .has_host = true};
}
WebRequest post(const std::string& target) {
  WebRequest out = get(target);
  out.method = "POST";
  out.content_type = "application/json";
  out.has_body = true;
  return out;
}
WebRequest with_origin(const std::string& origin) {
  WebRequest out = get("/metrics");
  out.has_origin = true;
  out.origin = origin;
  return out;
}
// 0: it is let through.
unsigned status(const WebRequest& request, const WebPolicy& policy = {}, bool needs_token = true) {
  const auto refusal = web_refusal(request, policy, needs_token);
  return refusal ? refusal->status : 0;
}

TEST(WebGate, AsksForAnAddressAsHost) {
  for (const char* host : {"127.0.0.1:8080", "localhost", "localhost:1", "[::1]:8080", "[::1]", "10.0.0.7:80"}) {
    WebRequest request = get("/");
    request.host = host;
    EXPECT_EQ(status(request), 0U) << host;
  }
  for (const char* host : {"", "evil.example", "evil.example:8080", "127.0.0.1.evil.example", "localhost.evil.example",
                           "localhost:", "127.0.0.1:x", "::1", "[::1", "[localhost]", "127.0.0.1:8080:8080", "[::1]x:1",
                           "127.0.0.1:99999"}) {
    WebRequest request = get("/");
    request.host = host;
    EXPECT_EQ(status(request), 421U) << host;
  }
  WebRequest without = get("/");
  without.has_host = false;  // none, or two of them
  EXPECT_EQ(status(without), 421U);
}

TEST(WebGate, RefusesOtherSites) {
  EXPECT_EQ(status(with_origin("http://127.0.0.1:8080")), 0U);
  for (const char* origin : {"http://evil.example", "null", "", "http://127.0.0.1:8081", "https://127.0.0.1:8080",
                             "http://localhost:8080", "http://127.0.0.1:8080.evil.example"}) {
    EXPECT_EQ(status(with_origin(origin)), 403U) << origin;
  }
  WebRequest request = get("/metrics");
  for (const auto& [site, expected] :
       {std::pair{"same-origin", 0U}, {"none", 0U}, {"same-site", 403U}, {"cross-site", 403U}}) {
    request.fetch_site = site;
    EXPECT_EQ(status(request), expected) << site;
  }
}

TEST(WebGate, TakesTheTokenFromAHeaderOrASubprotocol) {
  const WebPolicy policy{.token = kToken};
  WebRequest request = get("/metrics");
  EXPECT_EQ(status(request, policy), 401U);
  EXPECT_EQ(status(request, policy, false), 0U) << "for what is not the fabric's";
  request.protocols = std::string("bearer.") + kToken;
  EXPECT_EQ(status(request, policy), 401U) << "only WebSockets have subprotocols";
  request.is_upgrade = true;
  EXPECT_EQ(status(request, policy), 0U);
  request.protocols = std::string("softspine.events , bearer.") + kToken;
  EXPECT_EQ(status(request, policy), 0U);
  request.protocols = std::string("bearer.") + kToken + "x";
  EXPECT_EQ(status(request, policy), 401U);
  request.protocols.clear();
  for (const char* wrong : {"Bearer ", "Bearer correct-horse-batter", "Bearer correct-horse-batteryy",
                            "Basic correct-horse-battery", "correct-horse-battery", "Bearer Correct-horse-battery"}) {
    request.authorization = wrong;
    EXPECT_EQ(status(request, policy), 401U) << wrong;
  }
  request.authorization = std::string("Bearer ") + kToken;
  EXPECT_EQ(status(request, policy), 0U);
}

TEST(WebGate, ChangesNothingUnlessControlIsOn) {
  WebRequest request = post("/api/link");
  EXPECT_EQ(status(request), 403U);
  const WebPolicy policy{.token = kToken, .control = true};
  EXPECT_EQ(status(request, policy), 401U);
  request.authorization = std::string("Bearer ") + kToken;
  EXPECT_EQ(status(request, policy), 0U);
  for (const char* type : {"", "text/plain", "application/x-www-form-urlencoded", "application/jsonx"}) {
    request.content_type = type;
    EXPECT_EQ(status(request, policy), 415U) << type;
  }
  request.content_type = "application/json; charset=utf-8";
  EXPECT_EQ(status(request, policy), 0U);
}

TEST(WebGate, KnowsThreeMethods) {
  for (const char* method : {"PUT", "DELETE", "OPTIONS", "TRACE", "CONNECT", "get", ""}) {
    WebRequest request = get("/");
    request.method = method;
    EXPECT_EQ(status(request), 405U) << method;
  }
  WebRequest request = get("/");
  request.has_body = true;
  EXPECT_EQ(status(request), 400U);
}

TEST(WebTarget, IsWordsAndArguments) {
  const auto target = parse_target("/api/show/pfc/counters?node=tor%201&format=a+b");
  ASSERT_TRUE(target);
  EXPECT_THAT(target->words, testing::ElementsAre("api", "show", "pfc", "counters"));
  EXPECT_THAT(target->arguments, testing::ElementsAre(testing::Pair("node", "tor 1"), testing::Pair("format", "a b")));
  EXPECT_TRUE(parse_target("/")->words.empty());
  for (const char* bad : {"", "x", "*", "http://127.0.0.1/", "/%", "/%4", "/%zz", "/%00", "/a?b=%0a", "/\x01"}) {
    EXPECT_FALSE(parse_target(bad)) << bad;
  }
  EXPECT_EQ(parse_target("/" + std::string(kMaxTargetBytes, 'a')).error().status, 414U);
  std::string many = "/";
  for (size_t i = 0; i <= kMaxTargetParts; ++i) many += "a/";
  EXPECT_FALSE(parse_target(many));
  EXPECT_FALSE(parse_target("/?" + std::string(2 * kMaxTargetParts, '&')));
}

// Commands of each kind.
class WebRoutes : public testing::Test {
 protected:
  WebRoutes() : commands_(ServerOptions{}) {
    const auto nothing = [](const Json&) -> Result { return Json{}; };
    commands_.handle({"show pfc counters", CommandKind::kReading, "pauses", {{.name = "node", .help = "only of this"}}},
                     nothing);
    commands_.handle(
        {"show arp", CommandKind::kReading, "neighbours", {{.name = "node", .help = "a switch", .required = true}}},
        nothing);
    commands_.handle(
        {"link", CommandKind::kChanging, "down or up", {{.name = "link", .help = "which", .required = true}}}, nothing);
    commands_.handle("local", nothing);
    commands_.handle_paged({"show prometheus", CommandKind::kReading, "metrics"}, [](const Json&, const Reply&) {});
  }
  std::expected<WebRoute, WebRefusal> route(const std::string& target, const std::string& method = "GET") {
    return route_of(*parse_target(target), method, commands_, files_);
  }
  unsigned refused(const std::string& target, const std::string& method = "GET") {
    const auto found = route(target, method);
    return found ? 0 : found.error().status;
  }

  Commands commands_;
  std::vector<WebFile> files_{{"/", "text/html", "<p>"}, {"/live.js", "text/javascript", "1"}};
};

TEST_F(WebRoutes, AreCommandsWordByWord) {
  const auto found = route("/api/show/pfc/counters?node=tor1");
  ASSERT_TRUE(found);
  const auto& to = std::get<ToCommand>(*found);
  EXPECT_EQ(to.facts->name, "show pfc counters");
  EXPECT_EQ(to.arguments, (Json{{"node", "tor1"}, {"format", "json"}}));
  EXPECT_EQ(std::get<ToCommand>(*route("/metrics")).facts->name, "show prometheus");
  EXPECT_TRUE(std::holds_alternative<ToEvents>(*route("/events")));
  EXPECT_TRUE(std::holds_alternative<ToDescription>(*route("/api/openapi.json", "HEAD")));
  EXPECT_EQ(std::get<ToFile>(*route("/live.js")).file->text, "1");
  EXPECT_EQ(std::get<ToFile>(*route("/?x=y")).file->text, "<p>");
}

TEST_F(WebRoutes, LeadNowhereElse) {
  for (const char* target :
       {"/api", "/api/", "/api/local", "/api/show", "/../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "/live.js/..",
        "//etc/passwd", "/api/../live.js", "/.", "/live.jsx", "/api/openapi.json/x"}) {
    EXPECT_EQ(refused(target), 404U) << target;
  }
  EXPECT_EQ(refused("/api/link"), 405U) << "changes are posted";
  EXPECT_EQ(refused("/api/show/pfc/counters", "POST"), 405U);
  EXPECT_EQ(refused("/metrics", "POST"), 405U);
  EXPECT_EQ(refused("/", "POST"), 405U);
  EXPECT_EQ(refused("/api/show/pfc/counters?nod=tor1"), 400U);
  EXPECT_EQ(refused("/api/show/pfc/counters?format=text"), 400U);
  EXPECT_EQ(refused("/api/show/pfc/counters?node=a&node=b"), 400U);
  EXPECT_EQ(refused("/api/show/arp"), 400U);
  EXPECT_EQ(refused("/api/link?link=x", "POST"), 400U);
}

TEST_F(WebRoutes, TakeArgumentsOfAPostFromItsBody) {
  const CommandFacts& link = *commands_.facts_of("link");
  EXPECT_EQ(*body_arguments(R"({"link":"a"})", link), (Json{{"link", "a"}}));
  for (const char* body : {"", "[]", "{", R"({"links":"a"})", "{}", R"({"link":"a","format":"text"})"}) {
    EXPECT_EQ(body_arguments(body, link).error().status, 400U) << body;
  }
  EXPECT_THAT(body_arguments("{\"link\":" + std::string(100, '['), link).error().why, HasSubstr("nests deeper"));
}

TEST_F(WebRoutes, AreWhatTheDescriptionLists) {
  const Json all = openapi_json(commands_, {.token = kToken, .control = true}, {.testbed = "t", .version = "1"});
  for (const auto& [path, operations] : all["paths"].items()) {
    for (const auto& [method, operation] : operations.items()) {
      const std::string query = path == "/api/show/arp" ? "?node=x" : "";
      EXPECT_EQ(refused(path + query, method == "post" ? "POST" : "GET"), 0U) << path;
      EXPECT_FALSE(operation["summary"].get<std::string>().empty()) << path;
    }
  }
  EXPECT_TRUE(all["paths"].contains("/api/link"));
  EXPECT_TRUE(all["components"].contains("securitySchemes"));
  const Json reading = openapi_json(commands_, {}, {.testbed = "t", .version = "1"});
  EXPECT_FALSE(reading["paths"].contains("/api/link"));
  EXPECT_FALSE(reading["paths"].contains("/api/local"));
}

TEST(WebAddress, IsAnAddressOfThisMachineAndAPort) {
  EXPECT_EQ(parse_web_address("localhost:80")->url(), "http://127.0.0.1:80");
  EXPECT_EQ(parse_web_address("[::1]:0")->url(), "http://[::1]:0");
  EXPECT_TRUE(parse_web_address("127.9.9.9:1")->is_loopback);
  EXPECT_TRUE(parse_web_address("[::1]:1")->is_loopback);
  for (const char* open : {"0.0.0.0:1", "[::]:1", "10.0.0.1:1", "[fe80::1]:1"})
    EXPECT_FALSE(parse_web_address(open)->is_loopback) << open;
  for (const char* bad : {"", "8080", ":8080", "127.0.0.1", "127.0.0.1:", "127.0.0.1:70000", "::1:80", "[::1]80",
                          "host:80", "127.1:80", "127.0.0.1:80x", "127.0.0.1:-1"}) {
    EXPECT_FALSE(parse_web_address(bad)) << bad;
  }
}

TEST(WebToken, IsALineOfAFileThatIsOursAlone) {
  const tests::SocketScratch scratch;
  const std::string path = scratch.folder() / "token";
  const auto write = [&](const std::string& text, mode_t mode) {
    std::ofstream{path} << text;
    ::chmod(path.c_str(), mode);
  };
  EXPECT_FALSE(read_web_token(path));
  write(std::string(kToken) + "\n", 0600);
  EXPECT_EQ(*read_web_token(path), kToken);
  write(kToken, 0644);
  EXPECT_THAT(read_web_token(path).error(), HasSubstr("open to other users"));
  write("short\n", 0600);
  EXPECT_THAT(read_web_token(path).error(), HasSubstr("16 to 256"));
  write(std::string(257, 'a'), 0600);
  EXPECT_FALSE(read_web_token(path));
  write("with spaces in it, and more\n", 0600);
  EXPECT_FALSE(read_web_token(path));
  EXPECT_FALSE(read_web_token(scratch.folder()));
}

}  // namespace
}  // namespace softspine::control
