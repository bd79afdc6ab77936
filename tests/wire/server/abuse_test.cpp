// SPDX-License-Identifier: Apache-2.0
// What one client can do to the others and to the process that serves it: nothing.
#include <gtest/gtest.h>

#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "control/server/client.hpp"
#include "control/server/server.hpp"
#include "dataplane/units/rng.hpp"
#include "tests/harness/seed.hpp"
#include "tests/unit/server/raw_client.hpp"
#include "tests/unit/server/socket_scratch.hpp"

namespace softspine::control {
namespace {

using std::chrono::milliseconds;
using tests::RawClient;
using tests::SocketScratch;

constexpr const char* kEcho = R"({"id":1,"command":"echo"})";
constexpr const char* kEchoed = R"({"id":1,"ok":true,"result":{}})";
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;  // and memory is not what it is otherwise
#else
constexpr bool kSanitized = false;
#endif
constexpr size_t kBigBytes = 1 << 20;

class Abuse : public testing::Test {
 protected:
  void serve(ServerOptions options) {
    server_ = std::make_unique<Server>(options);
    server_->handle("echo", [](const Json& arguments) -> Result { return arguments; });
    server_->handle("big", [](const Json&) -> Result { return Json(std::string(kBigBytes, 'x')); });
    server_->handle_later("never", [](const Json&, const Reply&) {});
    const auto listening = server_->listen(scratch_.socket());
    ASSERT_TRUE(listening) << listening.error();
  }
  std::unique_ptr<RawClient> client() { return std::make_unique<RawClient>(scratch_.socket()); }
  std::vector<std::unique_ptr<RawClient>> clients(int count) {
    std::vector<std::unique_ptr<RawClient>> all;
    for (int i = 0; i < count; ++i) all.push_back(client());
    return all;
  }
  void expect_an_answer() { EXPECT_EQ(client()->ask(kEcho), kEchoed); }

  SocketScratch scratch_;
  std::unique_ptr<Server> server_;
};

uint64_t resident_bytes() {
  std::ifstream statm{"/proc/self/statm"};
  uint64_t total = 0;
  uint64_t resident = 0;
  statm >> total >> resident;
  return resident * 4096;
}

TEST_F(Abuse, GarbageCostsItsSenderTheConnection) {
  serve({});
  dataplane::Rng rng{tests::seed(), 1};
  for (int round = 0; round < 200; ++round) {
    const auto one = client();
    std::string garbage(1 + rng.below(5000), '\0');
    for (char& c : garbage) c = static_cast<char>(rng.below(256));
    one->send(garbage + "\n");
    one->wait_for_end();
  }
  EXPECT_EQ(server_->counters().bad_requests, 200u);
  expect_an_answer();
}

TEST_F(Abuse, ALineWithoutAnEndIsCutOff) {
  serve({});
  const auto one = client();
  const std::string piece(1 << 20, '[');
  int sent = 0;
  while (sent < 1000 && one->send(piece)) ++sent;
  EXPECT_LT(sent, 10) << "megabytes";
  EXPECT_EQ(one->line(), R"({"id":null,"ok":false,"error":"a request may have 65536 bytes"})");
  expect_an_answer();
}

TEST_F(Abuse, TheCostliestRequestsLeaveTheServerResponsive) {
  serve({});
  std::string keys = R"({"command":"echo","arguments":{)";
  for (int i = 0; keys.size() < kMaxRequestBytes - 20; ++i) keys += "\"" + std::to_string(i) + "\":0,";
  keys += "\"z\":0}}";
  const std::string deep(kMaxRequestBytes, '[');
  auto many = clients(64);
  for (size_t i = 0; i < many.size(); ++i) many[i]->send((i % 2 == 0 ? keys : deep) + "\n");
  expect_an_answer();
  for (const auto& one : many) one->wait_for_end();
  EXPECT_EQ(server_->counters().bad_requests, 64u);
}

TEST_F(Abuse, AClientThatSendsByteByByteIsServedInTime) {
  serve({});
  const auto slow = client();
  for (const char c : std::string{kEcho} + "\n") {
    slow->send({&c, 1});
    expect_an_answer();
  }
  EXPECT_EQ(slow->line(), kEchoed);
}

TEST_F(Abuse, AClientThatNeverEndsItsLineIsClosedAfterAWhile) {
  serve({.idle_timeout = milliseconds{50}});
  const auto slow = client();
  // Each byte comes well within the timeout; it counts for the whole line.
  while (slow->send(" ")) ::poll(nullptr, 0, 1);
  EXPECT_EQ(server_->counters().timeouts, 1u);
  EXPECT_EQ(server_->counters().bad_requests, 0u) << "what had come is no request";
  expect_an_answer();
}

TEST_F(Abuse, AClientThatSaysNothingIsClosedAfterAWhile) {
  serve({.idle_timeout = milliseconds{50}});
  auto silent = clients(10);
  for (const auto& one : silent) EXPECT_EQ(one->line(), "");
  EXPECT_EQ(server_->counters().timeouts, 10u);
  expect_an_answer();
}

TEST_F(Abuse, AHandlerThatForgetsToReplyIsReplacedByAnError) {
  serve({.reply_timeout = milliseconds{50}});
  const auto one = client();
  EXPECT_EQ(one->ask(R"({"id":2,"command":"never"})"),
            R"({"id":2,"ok":false,"error":"the fabric did not answer within 0.05 s"})");
  EXPECT_EQ(one->ask(kEcho), kEchoed) << "the connection goes on";
}

TEST_F(Abuse, AServerThatStopsDoesNotWaitForRepliesOrReaders) {
  serve({.reply_timeout = milliseconds{3'600'000}, .write_timeout = milliseconds{3'600'000}});
  const auto waits = client();
  waits->send("{\"command\":\"never\"}\n");
  const auto deaf = client();
  deaf->send("{\"command\":\"big\"}\n");
  expect_an_answer();
  server_->stop();
  EXPECT_EQ(server_->counters().connections, 0u);
}

TEST_F(Abuse, AReaderThatDoesNotReadIsClosedAfterAWhile) {
  serve({.write_timeout = milliseconds{50}});
  const auto deaf = client();
  deaf->send("{\"command\":\"big\"}\n");
  while (server_->counters().timeouts == 0) expect_an_answer();
  EXPECT_EQ(server_->counters().timeouts, 1u);
}

TEST_F(Abuse, ReadersThatDoNotReadHoldABoundedAmountOfMemory) {
  serve({.write_timeout = milliseconds{3'600'000}, .max_unsent_bytes = 8 << 20});
  const uint64_t before = resident_bytes();
  auto deaf = clients(100);
  for (const auto& one : deaf) one->send("{\"command\":\"big\"}\n");
  while (server_->counters().requests < 100) expect_an_answer();
  expect_an_answer();
  EXPECT_EQ(server_->counters().oversize_responses, 93u) << "8 MiB hold seven of these";
  if (!kSanitized) {
    EXPECT_LT(resident_bytes() - before, 20u << 20) << "8 MiB and what one more is made of; all would be 100 MiB";
  }
  int served = 0;
  for (const auto& one : deaf) served += one->line().size() > kBigBytes;
  EXPECT_EQ(served, 7) << "who reads at last gets what was promised";
}

TEST_F(Abuse, AThousandClientsAtOnceAreAllAnswered) {
  serve({});
  auto many = clients(1000);
  for (const auto& one : many) ASSERT_TRUE(one->send(std::string{kEcho} + "\n"));
  for (const auto& one : many) ASSERT_EQ(one->line(), kEchoed);
  EXPECT_EQ(server_->counters().connections, 1000u);
  many.clear();
  auto again = clients(1000);
  for (const auto& one : again) ASSERT_EQ(one->ask(kEcho), kEchoed);
}

TEST_F(Abuse, AThousandHalfClosedClientsDoNotStay) {
  serve({});
  auto many = clients(1000);
  for (const auto& one : many) {
    one->send(R"({"id":1,"command":"ec)");
    one->end_sending();
  }
  for (const auto& one : many) {
    EXPECT_EQ(one->line(), R"({"id":null,"ok":false,"error":"the request is not a JSON object"})");
    EXPECT_EQ(one->line(), "");
  }
  EXPECT_EQ(server_->counters().connections, 0u);
}

}  // namespace
}  // namespace softspine::control
