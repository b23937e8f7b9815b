#!/usr/bin/env bash
# Starts three real Kafka brokers of one cluster: see kafka/up.sh. They are asked for by name, in RECOVERCTL_REAL_WITH.
exec "$(dirname "${BASH_SOURCE[0]}")/../kafka/up.sh" trio
