"""``python -m sourcemon`` is the command ``sourcemon``."""

from sourcemon.cli.main import main

if __name__ == "__main__":
    main()
