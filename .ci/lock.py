"""Write requirements.lock: every platform, Python 3.11 and newer, with hashes and no addresses.

It holds the runtime, the test extra and what builds the package itself, because the package is
installed without build isolation. Versions younger than a week are left alone: most bad releases
are found and withdrawn within days.
"""

import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
COOLDOWN = "1 week"


def main() -> int:
    """Resolve and write the file; return the resolver's exit code."""
    build = tomllib.loads((ROOT / "pyproject.toml").read_text())["build-system"]["requires"]
    done = subprocess.run(
        [
            Path(sys.executable).with_name("uv"),
            *("pip", "compile", "--quiet", "--no-header", "--upgrade", "--universal"),
            *("--python-version", "3.11", "--generate-hashes", "--exclude-newer", COOLDOWN),
            *("--extra", "test", "pyproject.toml", "-", "--output-file", "requirements.lock"),
        ],
        cwd=ROOT,
        input="\n".join(build),
        text=True,
        check=False,
    )
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
