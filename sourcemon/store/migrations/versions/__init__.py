"""The migrations, one module each, numbered in their order."""
