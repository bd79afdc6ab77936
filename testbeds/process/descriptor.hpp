// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace softspine::testbeds {

// A file descriptor that closes itself.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept;
  Descriptor& operator=(Descriptor&& other) noexcept;
  ~Descriptor() { reset(); }
  int number() const { return number_; }
  void reset();

 private:
  int number_ = -1;
};

}  // namespace softspine::testbeds
