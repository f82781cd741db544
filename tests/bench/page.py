"""How large the page of a report is, and how long Chromium takes to show it:
`tests/tools/python tests/bench/page.py [--hosts 1000] [--runs 5]`.

A rollout of batches of ten hosts, of which one fails. Each run starts Chromium with an empty profile, and opens the
page twice. Prints the size, and the medians of the milliseconds from the request of the page until its scripts have run
and all has its place: in a Chromium that is just starting, and then.
"""

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
const seen = [];
frame.addEventListener("load", () => {
  frame.contentDocument.body.offsetHeight;
  seen.push(frame.contentWindow.performance.now());
  document.getElementById("result").textContent = seen.join(" ");
  if (seen.length < 2) frame.src = "report.html?again";
});
</script>"""


def show(chromium: str, folder: Path, number: int) -> list[float]:
    """Return the milliseconds of the first and the second time in one Chromium."""
    command = [chromium, *OPTIONS.split(), f"--user-data-dir={folder}/{number}", (folder / "frame.html").as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    found = re.search(r'<pre id="result">([0-9.]+ [0-9.]+)</pre>', done.stdout)
    if not found:
        raise SystemExit(done.stdout[-500:] + done.stderr[-2000:])
    return [float(each) for each in found[1].split()]


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
    first, again = (statistics.median(each) for each in zip(*seen, strict=True))
    print(f"{options.hosts} hosts, {len(text.encode())} bytes: {first:.0f} ms in a new Chromium, then {again:.0f} ms")


if __name__ == "__main__":
    main()
