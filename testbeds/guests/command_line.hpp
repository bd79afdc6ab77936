// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "testbeds/guests/guest_spec.hpp"
#include "testbeds/guests/hosted_command.hpp"
#include "testbeds/process/confinement.hpp"

namespace softspine::testbeds {

// The parts on this machine of which guests and namespaces are made; see installation.hpp for how it comes to be.
struct Installation {
  std::filesystem::path keeper;          // the program that holds a host's processes together
  std::filesystem::path uml_kernel;      // from kernel/build
  std::filesystem::path root;            // from root/make: the root folder of user-mode Linux
  std::filesystem::path qemu;            // qemu-system-x86_64
  std::filesystem::path qemu_kernel;     // from qemu/make: Debian's kernel
  std::filesystem::path qemu_initramfs;  // and the root folder with its modules
  std::filesystem::path enter;           // the script that sets up a namespace and runs its command
  std::filesystem::path enter_verbs;     // the script that runs a verbs host's command
  bool kvm = false;                      // KVM boots a kernel here
  std::string uml_obstacle;              // not empty: why QEMU takes the place of user-mode Linux here
};

// The command that runs a user-mode Linux guest, or a QEMU guest. `line`: the descriptor of its second serial line, a
// stream: /dev/ttyS0 there, or a port of virtio. QEMU without KVM needs vectors=0: 7.2 crashes on
// MSI-X notifiers of vhost-user devices under TCG.
Command uml_command(const GuestSpec& spec, const Installation& installation, const GuestPlaces& places,
                    std::optional<int> line = std::nullopt);
Command qemu_command(const GuestSpec& spec, const Installation& installation, const GuestPlaces& places,
                     std::optional<int> line = std::nullopt);

// The files of this machine that the guest's processes see.
Sight sight_of(const GuestSpec& spec, const Installation& installation, const GuestPlaces& places);

// The guest as this machine can run it: as it is, or a QEMU guest where user-mode Linux cannot run. With a kernel of
// its own it stays what it is.
GuestSpec as_it_can_run(GuestSpec spec, const Installation& installation);
// "user-mode Linux", "QEMU with KVM", "QEMU without KVM".
std::string machine_of(GuestKind kind, const Installation& installation);

// The command for the guest's kind.
Command command_of(const GuestSpec& spec, const Installation& installation, const GuestPlaces& places,
                   std::optional<int> line = std::nullopt);

}  // namespace softspine::testbeds
