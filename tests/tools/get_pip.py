"""Stands in for the get-pip script that ansible-test downloads, and installs the pip that it asks for.

By uv if possible. Else pip comes out of Python itself: ensurepip runs in a process of its own, because it keeps pip
from seeing any configuration in the one it runs in.
"""

import shutil
import subprocess
import sys

packages = [argument for argument in sys.argv[1:] if argument not in ("--no-setuptools", "--no-wheel")]
wanted = [package for package in packages if not package.startswith("-")]
by_uv = [shutil.which("uv") or "false", "pip", "install", "--quiet", "--python", sys.executable, *wanted]
if subprocess.run(by_uv, check=False).returncode:
    subprocess.run([sys.executable, "-m", "ensurepip"], check=True)
    subprocess.run([sys.executable, "-m", "pip", "install", *packages], check=True)
