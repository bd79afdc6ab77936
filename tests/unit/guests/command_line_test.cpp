// SPDX-License-Identifier: Apache-2.0
#include "testbeds/guests/command_line.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace softspine::testbeds {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsSupersetOf;
using testing::Not;

const Installation kInstallation{.keeper = "/keeper",
                                 .uml_kernel = "/cache/linux",
                                 .root = "/cache/root",
                                 .qemu = "/usr/bin/qemu",
                                 .qemu_kernel = "/boot/vmlinuz",
                                 .qemu_initramfs = "/cache/initramfs",
                                 .kvm = false};
const GuestPlaces kPlaces{"/run/t/h1", "/run/t/board"};

GuestSpec two_nics() {
  return {{.name = "h1", .nics = {{"/run/a", "02:00:00:00:00:01"}, {"/run/b", "02:00:00:00:00:02"}}, .run = "true"},
          GuestKind::kUml,
          96};
}

TEST(UmlCommand, ConnectsEveryNicInOrderAndMountsTheRootReadOnly) {
  EXPECT_THAT(
      uml_command(two_nics(), kInstallation, kPlaces),
      ElementsAre("/cache/linux", "mem=96M", "root=/dev/root", "rootfstype=hostfs", "rootflags=/cache/root", "ro",
                  "init=/init", "con0=null,fd:1", "con=null", "net.ifnames=0", "uml_dir=/run/t/h1", "umid=uml",
                  "virtio_uml.device=/run/a:1", "virtio_uml.device=/run/b:1", "guest=/run/t/h1", "board=/run/t/board"));
}

TEST(QemuCommand, SharesItsMemoryAndItsFolders) {
  EXPECT_THAT(
      qemu_command(two_nics(), kInstallation, kPlaces),
      IsSupersetOf({"memory-backend-memfd,id=m,size=96M,share=on", "q35,memory-backend=m", "socket,id=c0,path=/run/a",
                    "socket,id=c1,path=/run/b", "local,path=/run/t/h1,mount_tag=guest,security_model=none",
                    "local,path=/run/t/board,mount_tag=board,security_model=none"}));
}

TEST(Guests, HaveALineIfTheyAreGivenOne) {
  EXPECT_THAT(uml_command(two_nics(), kInstallation, kPlaces, 7), IsSupersetOf({"ssl0=fd:7", "line=ttyS0"}));
  EXPECT_THAT(uml_command(two_nics(), kInstallation, kPlaces), Not(Contains(HasSubstr("line="))));
  EXPECT_THAT(
      qemu_command(two_nics(), kInstallation, kPlaces, 7),
      IsSupersetOf({"socket,id=line,fd=7", "virtio-serial-pci,vectors=0", "virtserialport,chardev=line,name=softspine",
                    "console=ttyS0 panic=-1 net.ifnames=0 guest=9p line=vport*p1"}));
  EXPECT_THAT(qemu_command(two_nics(), kInstallation, kPlaces), Not(Contains(HasSubstr("line"))));
}

TEST(QemuCommand, GivesUpMsiXWithoutKvmOnly) {
  auto installation = kInstallation;
  EXPECT_THAT(qemu_command(two_nics(), installation, kPlaces),
              IsSupersetOf({"tcg", "virtio-net-pci,netdev=n0,mac=02:00:00:00:00:01,vectors=0"}));
  installation.kvm = true;
  const auto command = qemu_command(two_nics(), installation, kPlaces);
  EXPECT_THAT(command, IsSupersetOf({"kvm", "virtio-net-pci,netdev=n1,mac=02:00:00:00:00:02"}));
  EXPECT_THAT(command, Not(Contains(HasSubstr("vectors"))));
}

TEST(Guests, SeeTheirFoldersSocketsAndWhatTheyBoot) {
  auto spec = two_nics();
  const Sight uml = sight_of(spec, kInstallation, kPlaces);
  EXPECT_THAT(uml.read, ElementsAre("/cache/linux", "/cache/root"));
  EXPECT_THAT(uml.write, ElementsAre("/run/t/h1", "/run/t/board", "/run/a", "/run/b"));
  spec.kind = GuestKind::kQemu;
  auto installation = kInstallation;
  const Sight slow = sight_of(spec, installation, kPlaces);
  EXPECT_THAT(slow.read, ElementsAre("/usr/bin/qemu", "/boot/vmlinuz", "/cache/initramfs"));
  EXPECT_EQ(slow.write, uml.write);
  installation.kvm = true;
  EXPECT_THAT(sight_of(spec, installation, kPlaces).write, Contains("/dev/kvm"));
}

TEST(Guests, AreGivenTheirLayersReadOnly) {
  auto spec = two_nics();
  spec.root = {LayerKind::kFolder, "/srv/own"};
  spec.files = {{"/etc/app", "/srv/app"}};
  const GuestPlaces places = places_in("/run/t", spec);
  EXPECT_THAT(uml_command(spec, kInstallation, places),
              IsSupersetOf({"root_type=hostfs", "root_from=/srv/own", "files_type=hostfs",
                            "files_from=/run/t/h1.files/tree", "rootflags=/cache/root"}));
  EXPECT_THAT(qemu_command(spec, kInstallation, places),
              IsSupersetOf({"local,path=/srv/own,mount_tag=root,security_model=none,readonly=on",
                            "local,path=/run/t/h1.files/tree,mount_tag=files,security_model=none,readonly=on",
                            "console=ttyS0 panic=-1 net.ifnames=0 guest=9p root_type=9p root_from=root files_type=9p "
                            "files_from=files"}));
  for (const GuestKind kind : {GuestKind::kUml, GuestKind::kQemu}) {
    spec.kind = kind;
    const Sight sight = sight_of(spec, kInstallation, places);
    EXPECT_THAT(sight.read, IsSupersetOf({"/srv/own", "/run/t/h1.files/tree"}));
    EXPECT_THAT(sight.read, Not(Contains("/srv/app"))) << "copies alone";
    EXPECT_THAT(sight.write, Not(Contains(HasSubstr("files"))));
  }
}

TEST(Guests, HaveImagesAsBlockDevicesThatTheyCannotWrite) {
  auto spec = two_nics();
  spec.root = {LayerKind::kSquashfs, "/srv/own.img"};
  EXPECT_THAT(uml_command(spec, kInstallation, kPlaces),
              IsSupersetOf({"ubd0r=/srv/own.img", "root_type=squashfs", "root_from=/dev/ubda"}));
  EXPECT_THAT(uml_command(spec, kInstallation, kPlaces), Not(Contains(HasSubstr("files_"))));
  spec.root.kind = LayerKind::kExt4;
  EXPECT_THAT(qemu_command(spec, kInstallation, kPlaces),
              IsSupersetOf({"file=/srv/own.img,format=raw,if=virtio,readonly=on",
                            "console=ttyS0 panic=-1 net.ifnames=0 guest=9p root_type=ext4 root_from=/dev/vda"}));
  EXPECT_THAT(sight_of(spec, kInstallation, kPlaces).read, Contains("/srv/own.img"));
}

TEST(Guests, WithAKernelOfTheirOwnStayWhatTheyAre) {
  auto installation = kInstallation;
  installation.uml_obstacle = "no room";
  auto spec = two_nics();
  spec.kernel = "/srv/linux";
  EXPECT_EQ(as_it_can_run(spec, installation).kind, GuestKind::kUml);
}

TEST(Guests, StayWhatTheyAreWhereUserModeLinuxRuns) {
  EXPECT_EQ(as_it_can_run(two_nics(), kInstallation).kind, GuestKind::kUml);
  EXPECT_EQ(as_it_can_run(two_nics(), kInstallation).memory_mib, 96U);
  EXPECT_EQ(machine_of(GuestKind::kUml, kInstallation), "user-mode Linux");
}

TEST(Guests, RunUnderQemuWithMemoryForAWholeKernelWhereItCannot) {
  auto installation = kInstallation;
  installation.uml_obstacle = "no room";
  const GuestSpec small = as_it_can_run(two_nics(), installation);
  EXPECT_EQ(small.kind, GuestKind::kQemu);
  EXPECT_EQ(small.memory_mib, 256U);
  EXPECT_EQ(small.nics.size(), 2U);
  auto large = two_nics();
  large.memory_mib = 1024;
  EXPECT_EQ(as_it_can_run(large, installation).memory_mib, 1024U);
  EXPECT_EQ(machine_of(small.kind, installation), "QEMU without KVM");
  installation.kvm = true;
  EXPECT_EQ(machine_of(small.kind, installation), "QEMU with KVM");
}

}  // namespace
}  // namespace softspine::testbeds
