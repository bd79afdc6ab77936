// SPDX-License-Identifier: Apache-2.0
#include "testbeds/guests/guest_spec.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace softspine::testbeds {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::Field;
using testing::IsEmpty;
using testing::SizeIs;

GuestSpec sound_spec() {
  return {
      {.name = "h1",
       .nics =
           {{"/run/softspine/h1.sock", "02:00:00:00:00:01", {"10.0.0.1/24", "2001:db8::1/64"}, {"10.0.0.254"}, 1500}},
       .run = "true"}};
}

auto at(const char* path) {
  return Field(&Error::path, path);
}

TEST(GuestSpec, HasNoErrorsWhenSound) {
  EXPECT_THAT(errors_of(sound_spec()), IsEmpty());
}

TEST(GuestSpec, MayHaveNoNic) {
  auto spec = sound_spec();
  spec.nics.clear();
  EXPECT_THAT(errors_of(spec), IsEmpty());
}

TEST(GuestSpec, TellsAllErrorsAtOnce) {
  GuestSpec spec{{.name = "board", .nics = {{"relative.sock", "02:00", {"10.0.0.1"}, {""}, 67}}, .run = ""}};
  spec.memory_mib = 8;
  EXPECT_THAT(errors_of(spec),
              ElementsAre(at("name"), at("run"), at("nics[0].mac"), at("nics[0].mtu"), at("nics[0].addresses"),
                          at("nics[0].gateways"), at("memory_mib"), at("nics[0].vhost_socket")));
}

TEST(GuestSpec, RefusesASocketPathThatTheKernelCommandLineWouldCut) {
  auto spec = sound_spec();
  spec.nics[0].vhost_socket = "/run/a b.sock";
  EXPECT_THAT(errors_of(spec), SizeIs(1));
  spec.nics[0].vhost_socket = "/run/a:1.sock";
  EXPECT_THAT(errors_of(spec), SizeIs(1));
  spec.nics[0].vhost_socket = "/" + std::string(107, 'a');
  EXPECT_THAT(errors_of(spec), SizeIs(1));
  spec.nics[0].vhost_socket.pop_back();
  EXPECT_THAT(errors_of(spec), IsEmpty());
}

TEST(GuestSpec, RefusesARootFolderThatTheKernelCommandLineWouldCut) {
  auto spec = sound_spec();
  spec.root = {LayerKind::kFolder, "/srv/a b"};
  EXPECT_THAT(errors_of(spec), ElementsAre(at("root")));
  spec.root.path = "/srv/a,b";
  EXPECT_THAT(errors_of(spec), ElementsAre(at("root")));
  spec.root.path = "/srv/a";
  EXPECT_THAT(errors_of(spec), IsEmpty());
}

TEST(HostSetup, NeedsNoSocketWhereTheNicsAreThereAlready) {
  HostSetup setup = sound_spec();
  setup.nics[0].vhost_socket.clear();
  EXPECT_THAT(errors_of(setup), IsEmpty());
}

TEST(GuestSpec, RefusesAddressesThatWouldBeShellCode) {
  auto spec = sound_spec();
  spec.nics[0].addresses = {"10.0.0.1/24; reboot"};
  spec.nics[0].gateways = {"$(reboot)"};
  EXPECT_THAT(errors_of(spec), ElementsAre(at("nics[0].addresses"), at("nics[0].gateways")));
}

TEST(GuestSpec, TakesOnlyVariablesThatAShellCanExport) {
  auto spec = sound_spec();
  spec.env = {{"GOOD_1", "anything 'at all'"}, {"1BAD", ""}, {"B-AD", ""}, {"", ""}};
  EXPECT_THAT(errors_of(spec), AllOf(SizeIs(3), testing::Each(at("env"))));
}

}  // namespace
}  // namespace softspine::testbeds
