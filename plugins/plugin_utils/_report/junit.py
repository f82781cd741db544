# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The document as JUnit's XML: one case a host. Who was not reached, or not attempted, has not passed."""

from __future__ import annotations

import re
from xml.etree import ElementTree

from ansible_collections.slb.fleet.plugins.plugin_utils._report.document import BAD, VERDICTS, Document, HostEntry

_FAILURES = ("failed", "needs_you")
_NOT_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Not even as a reference."""


def junit(document: Document) -> str:
    bad = [host for host in document.hosts if host.verdict in BAD]
    failures = sum(1 for host in bad if host.verdict in _FAILURES)
    counts = {
        "tests": str(len(document.hosts)),
        "failures": str(failures),
        "errors": str(len(bad) - failures),
        "skipped": "0",
        "time": f"{document.run.seconds:.1f}",
    }
    suites = ElementTree.Element("testsuites", counts)
    about = {"name": document.run.playbook, "timestamp": document.run.began.removesuffix("Z"), **counts}
    suite = ElementTree.SubElement(suites, "testsuite", about)
    for host in document.hosts:
        _case(suite, document, host)
    ElementTree.indent(suites)
    text = ElementTree.tostring(suites, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{_NOT_IN_XML.sub(_as_escape, text)}\n'


def _as_escape(found: re.Match[str]) -> str:
    return found[0].encode("unicode_escape").decode("ascii")


def _case(suite: ElementTree.Element, document: Document, host: HostEntry) -> None:
    about = {"classname": document.run.playbook, "name": host.name, "time": f"{host.total_seconds:.1f}"}
    case = ElementTree.SubElement(suite, "testcase", about)
    if host.verdict in BAD:
        kind = "failure" if host.verdict in _FAILURES else "error"
        sentence = host.reason.sentence if host.reason else VERDICTS[host.verdict]
        code = host.reason.code if host.reason else host.verdict
        trouble = ElementTree.SubElement(case, kind, {"type": code, "message": f"{VERDICTS[host.verdict]}: {sentence}"})
        trouble.text = "\n".join(filter(None, (*host.evidence, f"Next: {host.next}" if host.next else "")))
    told = [*(deed.sentence for deed in host.done), *(f"would have: {deed.sentence}" for deed in host.would_do)]
    if host.verdict not in BAD:
        told = [host.verdict_in_words, *host.evidence, *told]
    if told:
        ElementTree.SubElement(case, "system-out").text = "\n".join(told)
