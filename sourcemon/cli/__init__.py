"""Arguments in, printed answers out. No rule of its own."""
