#!/usr/bin/env bash
# Start an instance from this checkout and stay with it; arguments go to `specpipe launch`.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
exec "$root/.venv/bin/specpipe" launch --config "${SPECPIPE_CONFIG:-$root/configs/default.toml}" "$@"
