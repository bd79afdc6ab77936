// SPDX-License-Identifier: Apache-2.0
#include "control/server/protocol.hpp"

#include <gtest/gtest.h>

namespace softspine::control {
namespace {

std::string error_of(std::string_view line) {
  const auto request = parse_request(line);
  return request ? "" : request.error();
}

TEST(Request, IsReadFromItsLine) {
  const auto request = parse_request(R"({"id": 7, "command": "show drops", "arguments": {"switch": "tor1"}})");
  ASSERT_TRUE(request) << request.error();
  EXPECT_EQ(request->id, 7);
  EXPECT_EQ(request->command, "show drops");
  EXPECT_EQ(request->arguments["switch"], "tor1");
}

TEST(Request, NeedsNeitherIdNorArguments) {
  const auto request = parse_request(R"({"command": "stop"})");
  ASSERT_TRUE(request) << request.error();
  EXPECT_TRUE(request->id.is_null());
  EXPECT_TRUE(request->arguments.is_object());
  EXPECT_TRUE(request->arguments.empty());
}

TEST(Request, ComesBackFromItsOwnText) {
  const Request sent{.id = "a\nb", .command = "link", .arguments = {{"end", "tor1:Ethernet4"}, {"up", false}}};
  const std::string line = format_request(sent);
  ASSERT_EQ(line.find('\n'), line.size() - 1) << "a line has one newline, at its end";
  const auto received = parse_request(line);
  ASSERT_TRUE(received) << received.error();
  EXPECT_EQ(received->id, sent.id);
  EXPECT_EQ(received->command, sent.command);
  EXPECT_EQ(received->arguments, sent.arguments);
}

TEST(Request, SaysWhatIsWrongWithIt) {
  EXPECT_EQ(error_of("hello"), "the request is not a JSON object");
  EXPECT_EQ(error_of(""), "the request is not a JSON object");
  EXPECT_EQ(error_of("[1]"), "the request is not a JSON object");
  EXPECT_EQ(error_of("{}"), "the request names no command");
  EXPECT_EQ(error_of(R"({"command": 3})"), "'command' is not a string");
  EXPECT_EQ(error_of(R"({"command": "x", "arguments": []})"), "'arguments' is not an object");
  EXPECT_EQ(error_of(R"({"command": "x", "id": {}})"), "'id' is neither a number nor a string");
  EXPECT_EQ(error_of(R"({"command": "x", "sudo": 1})"), "unknown key 'sudo'; a request has id, command and arguments");
  EXPECT_EQ(error_of("{\"command\": \"\xff\"}"), "the request is not a JSON object");
}

std::string nested(int depth) {
  std::string text = R"({"command":"x","arguments":{"a":)";
  text += std::string(depth - 2, '[') + std::string(depth - 2, ']');
  return text + "}}";
}

TEST(Request, MayNestThirtyTwoDeepAndNoDeeper) {
  EXPECT_EQ(error_of(nested(kMaxRequestDepth)), "");
  EXPECT_EQ(error_of(nested(kMaxRequestDepth + 1)), "the request nests deeper than 32");
  EXPECT_EQ(error_of(std::string(60'000, '[')), "the request nests deeper than 32");
}

std::string with_arguments(int count) {
  std::string text = R"({"command":"x","arguments":{)";
  for (int i = 0; i < count; ++i) text += (i > 0 ? ",\"" : "\"") + std::to_string(i) + "\":0";
  return text + "}}";
}

TEST(Request, MayHaveAThousandKeysAndNoMore) {
  EXPECT_EQ(error_of(with_arguments(kMaxKeys - 2)), "");
  EXPECT_EQ(error_of(with_arguments(kMaxKeys - 1)), "the request has more than 1024 keys");
}

TEST(Response, CarriesAResultOrAnError) {
  EXPECT_EQ(format_response(3, Json{{"up", true}}), "{\"id\":3,\"ok\":true,\"result\":{\"up\":true}}\n");
  EXPECT_EQ(format_response({}, std::unexpected("no such switch")),
            "{\"id\":null,\"ok\":false,\"error\":\"no such switch\"}\n");
}

TEST(Response, OutlivesABadByteInWhatItQuotes) {
  const Response back = parse_response(format_response("\xc3", std::unexpected("unknown command '\xff'")));
  EXPECT_EQ(back.id, "\xef\xbf\xbd");
  EXPECT_EQ(back.result.error(), "unknown command '\xef\xbf\xbd'");
}

TEST(Response, IsReadByTheClient) {
  const Response good = parse_response(R"({"id":4,"ok":true,"result":[1,2]})");
  EXPECT_EQ(good.id, 4);
  EXPECT_EQ(*good.result, (Json{1, 2}));
  EXPECT_EQ(parse_response(R"({"id":4,"ok":false,"error":"why"})").result.error(), "why");
  EXPECT_EQ(parse_response(R"({"ok":false})").result.error(), "refused without a reason");
  for (const char* other : {"", "HTTP/1.1 400 Bad Request", "[]", "{}", R"({"ok":1})"}) {
    EXPECT_EQ(parse_response(other).result.error(), "the answer is not one of softspine's") << other;
  }
}

}  // namespace
}  // namespace softspine::control
