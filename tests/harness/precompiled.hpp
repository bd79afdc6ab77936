// SPDX-License-Identifier: Apache-2.0
// What most tests include, read once by the compiler for each program of five files or more.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "control/model/precompiled.hpp"
