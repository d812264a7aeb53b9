#!/bin/sh
# SPDX-License-Identifier: MIT
set -eu
exec ./service --config config/service.json
