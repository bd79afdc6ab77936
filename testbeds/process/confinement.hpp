// SPDX-License-Identifier: Apache-2.0
// The part of this machine that a guest's processes can reach. User-mode Linux is a program like any other: a guest's
// root mounts `hostfs` of whatever folder it likes, and so has all that the user may have who runs it; and who finds a
// fault in QEMU has that, too. So a guest's processes see a file system of their own:
//
//   /usr, and what leads there (/bin, /lib, …)     read only: programs and libraries
//   the paths given to the keeper              read only, or to write
//   /dev                                           null, zero, full, random, urandom; /dev/shm is empty and its own
//   /proc                                          of its own processes, read only
//
// They have a network without an interface, no right but those over the files that they see (change owners, pass
// permissions by), and get none by running a program.
#pragma once

#include <string>
#include <vector>

namespace softspine::testbeds {

struct Sight {
  std::vector<std::string> read;
  std::vector<std::string> write;
  bool is_limited() const { return !read.empty() || !write.empty(); }
};

// For this process, the first one of a PID namespace, and all that it will start. Empty: done. Else this machine does
// not permit it, and why: then nothing that matters has changed. Ends the process with an error where it got stuck
// halfway.
std::string confine(const Sight& sight);

}  // namespace softspine::testbeds
