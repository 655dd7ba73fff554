"""How the flows get to run: the demonstration, the embedded stack."""
