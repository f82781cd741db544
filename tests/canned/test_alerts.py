"""The alerts of the example, by Prometheus' own tests of rules: they fire, also if there are no metrics."""

import json
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
RULES = ROOT / "examples" / "prometheus" / "slb_fleet.yml"
TIME = 'slb_fleet_run_timestamp_seconds{playbook="slb.fleet.%s",check="false"}'
TROUBLED = 'slb_fleet_troubled_hosts{playbook="slb.fleet.%s",check="false",status="failed",code="leftover"}'


@pytest.mark.parametrize(
    ("series", "alert", "codes"),
    [
        ({}, "AuditMissing", [None]),
        ({TIME % "rollout": "0+60x240"}, "AuditMissing", [None]),
        ({TIME % "audit": "0+60x240"}, "AuditMissing", []),
        ({TIME % "audit": "0x240"}, "AuditMissing", [None]),
        ({TROUBLED % "audit": "2x240"}, "EngineNeedsAttention", ["leftover"]),
        ({TROUBLED % "audit": "0x240"}, "EngineNeedsAttention", []),
        ({TROUBLED % "rollout": "2x240"}, "EngineNeedsAttention", []),
    ],
)
def test_alert_fires_if_the_audit_says_so_or_is_missing(tmp_path, series, alert, codes):
    promtool = subprocess.run(
        [ROOT / "tests/tools/promtool"], capture_output=True, text=True, check=True
    ).stdout.strip()
    labels = [{"severity": "warning", **({"code": code} if code else {})} for code in codes]
    if alert == "AuditMissing" and codes and TIME % "audit" not in series:
        labels = [{**each, "playbook": "slb.fleet.audit"} for each in labels]  # of absent()
    summary = "2 engine hosts: leftover" if codes == ["leftover"] else "No audit of the engines in the last 2 hours"
    expected = [{"exp_labels": each, "exp_annotations": {"summary": summary}} for each in labels]
    case = {
        "interval": "1m",
        "input_series": [{"series": name, "values": values} for name, values in series.items()],
        "alert_rule_test": [{"eval_time": "4h", "alertname": alert, "exp_alerts": expected}],
    }
    file = tmp_path / "test.json"
    file.write_text(json.dumps({"rule_files": [str(RULES)], "evaluation_interval": "1m", "tests": [case]}))
    done = subprocess.run([promtool, "test", "rules", file], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
