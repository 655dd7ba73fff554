"""A request plan to a Reply. No rule about when, no parsing of bodies."""
