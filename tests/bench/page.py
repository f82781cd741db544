"""How large the page of a report is, and how long Chromium takes to show it:
`tests/tools/python tests/bench/page.py [--hosts 1000] [--runs 5]`.

A rollout of batches of ten hosts, of which one fails. Each run starts Chromium with an empty profile. Prints the size,
and the median of the milliseconds from the request of the page until its scripts have run and all has its place.
"""

from __future__ import annotations

import argparse
import re
import statistics
import subprocess
import tempfile
from pathlib import Path

from ansible_collections.slb.fleet.plugins.plugin_utils._report.page import page
from ansible_collections.slb.fleet.tests.unit.plugins.plugin_utils._report.test_page import deployment

ROOT = Path(__file__).resolve().parents[2]
OPTIONS = "--headless --no-sandbox --disable-gpu --disable-dev-shm-usage --allow-file-access-from-files --dump-dom"
FRAME = """<!DOCTYPE html><iframe src="report.html" width="1200" height="900"></iframe><pre id="result"></pre><script>
const frame = document.querySelector("iframe");
frame.addEventListener("load", () => {
  frame.contentDocument.body.offsetHeight;
  document.getElementById("result").textContent = frame.contentWindow.performance.now();
});
</script>"""


def show(chromium: str, folder: Path, number: int) -> float:
    """Return the milliseconds of one start of Chromium."""
    command = [chromium, *OPTIONS.split(), f"--user-data-dir={folder}/{number}", (folder / "frame.html").as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    found = re.search(r'<pre id="result">([0-9.]+)</pre>', done.stdout)
    if not found:
        raise SystemExit(done.stdout[-500:] + done.stderr[-2000:])
    return float(found[1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hosts", type=int, default=1000)
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    chromium = subprocess.run([ROOT / "tests/tools/chromium"], stdout=subprocess.PIPE, text=True, check=True).stdout
    text = page(deployment(options.hosts).ended())
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "report.html").write_text(text, encoding="utf-8")
        (folder / "frame.html").write_text(FRAME, encoding="utf-8")
        seen = [show(chromium.strip(), folder, number) for number in range(options.runs)]
    print(f"{options.hosts} hosts: {len(text.encode())} bytes, shown after {statistics.median(seen):.0f} ms")


if __name__ == "__main__":
    main()
