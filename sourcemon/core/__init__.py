"""Values and rules. Nothing here reads a clock, rolls a die, logs, waits or does IO."""
