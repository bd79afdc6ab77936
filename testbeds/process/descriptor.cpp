// SPDX-License-Identifier: Apache-2.0
#include "testbeds/process/descriptor.hpp"

#include <unistd.h>

#include <utility>

namespace softspine::testbeds {

Descriptor::Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  if (this != &other) {
    reset();
    number_ = std::exchange(other.number_, -1);
  }
  return *this;
}

void Descriptor::reset() {
  if (number_ >= 0) close(number_);
  number_ = -1;
}

}  // namespace softspine::testbeds
