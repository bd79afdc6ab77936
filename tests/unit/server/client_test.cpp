// SPDX-License-Identifier: Apache-2.0
#include "control/server/client.hpp"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>

#include <fstream>
#include <future>
#include <optional>
#include <thread>

#include "control/server/listening_socket.hpp"
#include "control/server/server.hpp"
#include "control/server/socket_path.hpp"
#include "dataplane/edge/owned_fd.hpp"
#include "tests/unit/server/socket_scratch.hpp"

namespace softspine::control {
namespace {

using dataplane::OwnedFd;
using std::chrono::milliseconds;
using tests::SocketScratch;

// Runs as the server's side of one connection.
class FakeServer {
 public:
  template <typename Talk>
  FakeServer(const std::filesystem::path& path, Talk talk)
      : listening_(*listen_at(path)), thread_([this, talk] {
          pollfd waiting{.fd = listening_.get(), .events = POLLIN, .revents = 0};
          ::poll(&waiting, 1, -1);
          const OwnedFd accepted{::accept(listening_.get(), nullptr, nullptr)};
          talk(accepted.get());
        }) {}
  ~FakeServer() { thread_.join(); }

 private:
  OwnedFd listening_;
  std::thread thread_;
};

void say(int socket, std::string_view text) {
  EXPECT_EQ(::send(socket, text.data(), text.size(), MSG_NOSIGNAL), static_cast<ssize_t>(text.size()));
}
void hear(int socket) {
  char some[512];
  EXPECT_GT(::recv(socket, some, sizeof some, 0), 0);
}

TEST(Client, SaysThatNoFabricRunsHere) {
  const SocketScratch scratch;
  const std::string at = " (" + scratch.socket().native() + ")";
  EXPECT_EQ(Client::connect(scratch.socket()).error(), "no fabric is running here: there is no socket" + at);
  {
    const auto killed = listen_at(scratch.socket());
  }
  EXPECT_EQ(Client::connect(scratch.socket()).error(),
            "no fabric is running here: the socket is left over from one that ended" + at);
  EXPECT_EQ(Client::connect(std::string(200, 'x')).error(), "too long for a socket's path: " + std::string(200, 'x'));
}

TEST(Client, AsksOneThingAfterTheOther) {
  const SocketScratch scratch;
  Server server;
  server.handle("echo", [](const Json& arguments) -> Result { return arguments; });
  server.handle("refuse", [](const Json&) -> Result { return std::unexpected("not today"); });
  ASSERT_TRUE(server.listen(scratch.socket()));
  auto client = Client::connect(scratch.socket());
  ASSERT_TRUE(client) << client.error();
  const Json big{{"text", std::string(60'000, 'x')}};
  EXPECT_EQ(*client->call("echo", big), big);
  EXPECT_EQ(client->call("refuse").error(), "not today");
  EXPECT_EQ(client->call("echo", {{"text", std::string(70'000, 'x')}}).error(),
            "the request is longer than 65536 bytes");
  EXPECT_EQ(*client->call("echo"), Json::object());
  server.stop();
  EXPECT_EQ(client->call("echo").error(), "the fabric ended before it answered");
}

TEST(Client, SaysThatTheFabricEndedInTheMiddle) {
  const SocketScratch scratch;
  const FakeServer fake{scratch.socket(), [](int socket) {
                          hear(socket);
                          say(socket, R"({"id":1,"ok":tr)");
                        }};
  EXPECT_EQ(Client::connect(scratch.socket())->call("show").error(), "the fabric ended before it answered");
}

TEST(Client, GivesUpAndDoesNotTakeALateAnswerForTheNext) {
  const SocketScratch scratch;
  std::promise<void> given_up;
  const FakeServer fake{scratch.socket(), [&](int socket) {
                          hear(socket);
                          given_up.get_future().wait();
                          say(socket, "{\"id\":1,\"ok\":true,\"result\":\"late\"}\n");
                          hear(socket);
                          say(socket, "{\"id\":2,\"ok\":true,\"result\":\"mine\"}\n");
                        }};
  auto client = Client::connect(scratch.socket());
  ASSERT_TRUE(client) << client.error();
  // Time enough to send the question, which the other side hears before it goes on.
  EXPECT_EQ(client->call("show", Json::object(), {}, milliseconds{200}).error(), "the fabric did not answer in time");
  given_up.set_value();
  const auto answer = client->call("show");
  ASSERT_TRUE(answer) << answer.error();
  EXPECT_EQ(*answer, "mine");
}

class NamedFabrics : public testing::Test {
 protected:
  NamedFabrics() {
    setenv("XDG_RUNTIME_DIR", scratch_.folder().c_str(), 1);
    EXPECT_TRUE(make_socket_folder());
    for (Server* server : {&first_, &second_}) {
      server->handle("which", [=, this](const Json&) -> Result { return Json(server == &first_ ? 1 : 2); });
    }
  }
  ~NamedFabrics() override { unsetenv("XDG_RUNTIME_DIR"); }

  SocketScratch scratch_;
  Server first_;
  Server second_;
};

TEST_F(NamedFabrics, AreFoundByNameOrBecauseTheyAreAlone) {
  EXPECT_EQ(Client::connect_to_fabric("").error(),
            "no fabric is running here (looked in " + socket_folder().native() + ")");
  ASSERT_TRUE(first_.listen(*socket_path("first")));
  {
    const auto killed = listen_at(*socket_path("left-over"));
  }
  EXPECT_EQ(*Client::connect_to_fabric("")->call("which"), 1);
  ASSERT_TRUE(second_.listen(*socket_path("second")));
  EXPECT_EQ(Client::connect_to_fabric("").error(), "several fabrics are running; name one of: first, second");
  EXPECT_EQ(*Client::connect_to_fabric("second")->call("which"), 2);
  EXPECT_FALSE(Client::connect_to_fabric("../second"));
}

}  // namespace
}  // namespace softspine::control
