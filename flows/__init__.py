"""Order, fan-out and final states. No rule, no SQL, no HTTP."""
