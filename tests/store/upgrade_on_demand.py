"""A process that upgrades the database at each URL it reads; a test starts several."""

from __future__ import annotations

import sys

from sourcemon.store import migrations

if __name__ == "__main__":
    print("ready", flush=True)
    for line in sys.stdin:
        print(f"is_current={migrations.upgrade(line.strip()).is_current}", flush=True)
