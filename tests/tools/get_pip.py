"""Stands in for the get-pip script that ansible-test downloads: pip comes out of Python itself, no download is needed.

ensurepip runs in a process of its own, because it keeps pip from seeing any configuration in the one it runs in.
"""

import subprocess
import sys

subprocess.run([sys.executable, "-m", "ensurepip"], check=True)
arguments = [argument for argument in sys.argv[1:] if argument not in ("--no-setuptools", "--no-wheel")]
subprocess.run([sys.executable, "-m", "pip", "install", *arguments], check=True)
