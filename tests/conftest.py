"""Makes `ansible_collections.slb.fleet` importable, under the name by which Ansible imports it."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / ".cache" / "dev"))
