// SPDX-License-Identifier: Apache-2.0
// Names of SONiC's CONFIG_DB that mean nothing here: tables, and fields of the tables that are read. A name that is
// neither read nor here is reported, with the nearest one that is known, since it is probably misspelt.
//
// Source: SONiC's YANG models (sonic-buildimage, src/sonic-yang-models), and the fields of older images.
#pragma once

#include <span>
#include <string_view>

namespace softspine::control {

std::span<const std::string_view> sonic_tables_beside();
// Of a table that is read: PORT, PORTCHANNEL, …; empty: none.
std::span<const std::string_view> sonic_fields_beside(std::string_view table);

}  // namespace softspine::control
