# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Everything that ``slb.fleet.awx_setup`` makes in AWX, as data, in the order in which it is made.

The role gives each object's ``args`` to the module of its kind; the file for ``infra.aap_configuration`` is made of the
same objects.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from ansible_collections.slb.fleet.plugins.plugin_utils._awx import messages
from ansible_collections.slb.fleet.plugins.plugin_utils._awx.surveys import SURVEYS

Settings = Mapping[str, Any]


@dataclass(frozen=True)
class Object:
    """``kind``: the name of the module. ``args``: its options. ``secrets``: what is left out of ``args``, as
    ``option.field``, each with the variable that holds it.
    """

    kind: str
    args: Mapping[str, Any]
    secrets: Mapping[str, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return str(self.args.get("name", ""))

    def as_data(self) -> dict[str, Any]:
        return {"kind": self.kind, "name": self.name, "args": dict(self.args), "secrets": dict(self.secrets)}


def mark_of(settings: Settings) -> str:
    """How what is ours ends its description: only templates and workflows can carry a label."""
    return f"[{settings['label']}]"


def content(settings: Settings) -> list[Object]:
    """All objects, those first without which the others cannot be."""
    return [
        *_labels(settings),
        *_credentials(settings),
        *_environment(settings),
        *_project(settings),
        *_inventory(settings),
        *_notifications(settings),
        *_job_templates(settings),
        *_workflow(settings),
        *_schedules(settings),
        *_roles(settings),
    ]


def _described(settings: Settings, text: str) -> str:
    return f"{text} {mark_of(settings)}"


def _labels(settings: Settings) -> Iterator[Object]:
    yield Object("label", {"name": settings["label"], "organization": settings["organization"]})


CREDENTIAL_FIELDS: list[dict[str, Any]] = [
    {"id": "url", "type": "string", "label": "Address", "help_text": "Begins with https://"},
    {"id": "username", "type": "string", "label": "User"},
    {"id": "password", "type": "string", "label": "Password", "secret": True},
    {"id": "ca", "type": "string", "label": "Certificates of the authority", "multiline": True,
     "help_text": "In PEM, where the authority is one of your own"},
    {"id": "tls_fingerprint", "type": "string", "label": "Fingerprint of the certificate",
     "help_text": "SHA-256, where the certificate is self-signed"},
]  # fmt: skip
"""AWX does not let the inputs of a type be changed while a credential has it: they are these, for good."""

INJECTORS: dict[str, Any] = {
    "file": {"template.ca": "{{ ca|default('') }}"},
    "env": {
        "SLB_BASE_URL": "{{ url }}",
        "SLB_USERNAME": "{{ username }}",
        "SLB_PASSWORD": "{{ password }}",
        "SLB_CA_PATH": "{% if ca is defined and ca %}{{ tower.filename.ca }}{% endif %}",
        "SLB_TLS_FINGERPRINT": "{{ tls_fingerprint|default('') }}",
    },
}


def _credential_name(settings: Settings) -> str:
    return str(settings["credential"] or f"{settings['name']} management node")


def _credentials(settings: Settings) -> Iterator[Object]:
    name = f"{settings['name']} management node"
    yield Object(
        "credential_type",
        {
            "name": name,
            "description": _described(settings, "The management node of forwarding engines"),
            # Of all custom credentials, an inventory source takes only those of this kind.
            "kind": "cloud",
            "inputs": {"fields": CREDENTIAL_FIELDS, "required": ["url", "username", "password"]},
            "injectors": INJECTORS,
        },
    )
    if settings["credential"]:
        return
    inputs = {
        "url": settings["base_url"],
        "username": settings["username"],
        "ca": settings["ca"],
        "tls_fingerprint": settings["tls_fingerprint"],
    }
    yield Object(
        "credential",
        {
            "name": name,
            "description": _described(settings, "Who logs in to the management node"),
            "organization": settings["organization"],
            "credential_type": name,
            "inputs": {field: value for field, value in inputs.items() if value},
            # AWX never shows a secret: where it is sent each time, each run counts as a change.
            "update_secrets": settings["update_secrets"],
        },
        {"inputs.password": "slb_awx_password"},
    )


def _environment_name(settings: Settings) -> str:
    return str(settings["execution_environment"] or settings["name"])


def _environment(settings: Settings) -> Iterator[Object]:
    if settings["execution_environment"]:
        return
    yield Object(
        "execution_environment",
        {
            "name": settings["name"],
            "description": _described(settings, "With the collection slb.fleet"),
            "image": settings["image"],
            "pull": settings["pull"],
            "organization": settings["organization"],
        },
    )


def _project(settings: Settings) -> Iterator[Object]:
    yield Object(
        "project",
        {
            "name": settings["name"],
            "description": _described(settings, "Playbooks and inventory of forwarding engines"),
            "organization": settings["organization"],
            "scm_type": "git",
            "scm_url": settings["project_url"],
            "scm_branch": settings["project_branch"],
            **({"credential": settings["project_credential"]} if settings["project_credential"] else {}),
            # Who has pushed a host launches for that host, too.
            "scm_update_on_launch": True,
            "scm_update_cache_timeout": 60,
            # Until its playbooks are there, no job template can name one.
            "wait": True,
            "timeout": 300,
        },
    )


def _inventory_name(settings: Settings) -> str:
    return f"{settings['name']} engines"


def _inventory(settings: Settings) -> Iterator[Object]:
    name = _inventory_name(settings)
    yield Object(
        "inventory",
        {
            "name": name,
            "description": _described(settings, "Engine hosts"),
            "organization": settings["organization"],
            "kind": "",
            "host_filter": "",
        },
    )
    from_console = settings["inventory_source"].endswith(("slb_engines.yml", "slb_engines.yaml"))
    yield Object(
        "inventory_source",
        {
            "name": f"{settings['name']} engine list",
            "description": _described(settings, "The inventory of the project"),
            "inventory": name,
            "organization": settings["organization"],
            "source": "scm",
            "source_project": settings["name"],
            "source_path": settings["inventory_source"],
            "execution_environment": _environment_name(settings),
            "update_on_launch": True,
            "update_cache_timeout": 60,
            # An engine that is gone from the list is what an audit shall tell of; with a file, its lines are the truth.
            "overwrite": not from_console,
            "overwrite_vars": not from_console,
            **({"credential": _credential_name(settings)} if from_console else {}),
        },
    )


def _notifications(settings: Settings) -> Iterator[Object]:
    if settings["webhook_url"]:
        body = {"body": messages.WEBHOOK_BODY}
        # Whoever has the address may often post there, and the headers hold a token.
        secrets = {"notification_configuration.url": "slb_awx_webhook_url"}
        if settings["webhook_headers"]:
            secrets["notification_configuration.headers"] = "slb_awx_webhook_headers"
        yield _notification(
            settings,
            "webhook",
            # AWX refuses a webhook without headers.
            {"http_method": "POST", "headers": {"Content-Type": "application/json"}},
            dict.fromkeys(("started", "success", "error"), body),
            {"body": messages.APPROVAL_BODY},
            secrets,
        )
    if settings["mail_to"]:
        message = {"message": messages.MAIL_SUBJECT, "body": messages.MAIL_BODY}
        yield _notification(
            settings,
            "email",
            {
                "host": settings["mail_host"],
                "port": settings["mail_port"],
                "sender": settings["mail_from"],
                "recipients": settings["mail_to"],
                "username": "",
                "password": "",
                "use_tls": False,
                "use_ssl": False,
                "timeout": 30,
            },
            dict.fromkeys(("started", "success", "error"), message),
            {"message": messages.APPROVAL_SUBJECT, "body": messages.APPROVAL_MAIL},
            {},
        )


def _notification(
    settings: Settings,
    kind: str,
    configuration: dict[str, Any],
    messages: dict[str, Any],
    approval: dict[str, str],
    secrets: dict[str, str],
) -> Object:
    approvals = dict.fromkeys(("approved", "denied", "running", "timed_out"), approval)
    return Object(
        "notification_template",
        {
            "name": _notification_name(settings, kind),
            "description": _described(settings, "How the fleet stands"),
            "organization": settings["organization"],
            "notification_type": kind,
            "notification_configuration": configuration,
            "messages": {**messages, "workflow_approval": approvals},
        },
        secrets,
    )


def _notification_name(settings: Settings, kind: str) -> str:
    return f"{settings['name']} {kind}"


def _notified(settings: Settings) -> list[str]:
    wanted = (("webhook", settings["webhook_url"]), ("email", settings["mail_to"]))
    return [_notification_name(settings, kind) for kind, asked in wanted if asked]


APPROVED = "rollout approved"
SLICED = "rollout sliced"
_PUBLISHED = "^slb_fleet_[0-9]+$"
APPROVED_PLAN = (
    "{{ (q('ansible.builtin.vars', *q('ansible.builtin.varnames', '" + _PUBLISHED + "')) "
    "| selectattr('playbook', 'defined') | selectattr('playbook', 'search', 'audit') "
    "| map(attribute='plan', default='') | select | list + ['sha256:nothing was approved']) | first }}"
)
"""The digest that the audit before the approval has published. Where there is none, one that no plan has: then nothing
is done."""

_TEMPLATES: dict[str, tuple[str, str]] = {
    "diagnose": ("diagnose", "Says what is there, what would be done and why; changes nothing"),
    "audit": ("audit", "Fails for each host whose engine is not verified; changes nothing"),
    "rollout": ("rollout", "Prepares, deploys and proves, batch by batch"),
    APPROVED: ("rollout", "Of a workflow: does what was approved, and nothing else"),
    "rollout canary": ("rollout", "The hosts that go first, named at launch; not sliced"),
    SLICED: ("rollout", "All others, after the canary; each slice has its own login, batches and report"),
    "remediate": ("remediate", "Heals named hosts whose engines the web console does not list"),
    "adopt_interfaces": ("adopt_interfaces", "Brings interfaces under NetworkManager"),
    "download_license": ("download_license", "Keeps the license on a host of the inventory"),
}
"""Each with its playbook, and what it does."""
READ_ONLY = ("diagnose", "audit")


def template_name(settings: Settings, template: str) -> str:
    return f"{settings['name']} {template}"


def _job_templates(settings: Settings) -> Iterator[Object]:
    for template, (playbook, text) in _TEMPLATES.items():
        is_of_slices = template in ("rollout canary", SLICED)
        if is_of_slices and settings["slices"] == 1:
            continue
        questions = SURVEYS.get(template, [])
        yield Object(
            "job_template",
            {
                "name": template_name(settings, template),
                "description": _described(settings, text),
                "organization": settings["organization"],
                "job_type": "run",
                "project": settings["name"],
                "playbook": f"{playbook}.yml",
                "inventory": _inventory_name(settings),
                "execution_environment": _environment_name(settings),
                "credentials": [name for name in (_credential_name(settings), settings["machine_credential"]) if name],
                "become_enabled": settings["become"],
                # Two jobs of one template would be at the same hosts.
                "allow_simultaneous": False,
                "ask_limit_on_launch": template != APPROVED,
                "ask_verbosity_on_launch": True,
                "ask_job_type_on_launch": template not in (*READ_ONLY, APPROVED),
                "extra_vars": _extra_vars(template),
                "job_slice_count": settings["slices"] if template == SLICED else 1,
                "survey_enabled": bool(questions),
                "survey_spec": _survey(text, questions) if questions else {},
                "labels": [settings["label"]],
                "notification_templates_error": [] if template == APPROVED else _notified(settings),
            },
        )


def _extra_vars(template: str) -> dict[str, Any]:
    if template == APPROVED:
        # Without a plan of its own, what is approved is what the artifact of the audit says.
        return {"slb_approved_plan": APPROVED_PLAN}
    return {}


def _survey(text: str, questions: list[dict[str, Any]]) -> dict[str, Any]:
    return {"name": text, "description": "An empty answer counts as none.", "spec": questions}


def workflow_name(settings: Settings) -> str:
    return f"{settings['name']} approved rollout"


def _workflow(settings: Settings) -> Iterator[Object]:
    audit, approved = ({"name": template_name(settings, each), "organization": {"name": settings["organization"]}}
                       for each in ("audit", APPROVED))  # fmt: skip
    yield Object(
        "workflow_job_template",
        {
            "name": workflow_name(settings),
            "description": _described(settings, "Audit, approval, what was approved, audit again"),
            "organization": settings["organization"],
            # The next one would wait for the approval of the one before.
            "allow_simultaneous": False,
            "labels": [settings["label"]],
            "notification_templates_error": _notified(settings),
            "notification_templates_approvals": _notified(settings),
            "workflow_nodes": [
                # An audit of a fleet on which there is work fails; where it is well, there is nothing to approve.
                _node("audit", "job_template", audit, failure=["approve"]),
                _node(
                    "approve",
                    "workflow_approval",
                    {
                        "name": f"{settings['name']} approval",
                        "description": (
                            f"The output of the job {audit['name']} of this workflow ends with what would be done, and "
                            "with the digest of that plan; its artifact slb_fleet_<job id> holds the same as data. "
                            "What is approved is that digest: where anything differs by then, nothing is done."
                        ),
                        "timeout": settings["approval_timeout"],
                    },
                    success=["rollout"],
                ),
                _node("rollout", "job_template", approved, always=["audit again"]),
                _node("audit again", "job_template", audit),
            ],
        },
    )


def _node(
    identifier: str,
    kind: str,
    template: dict[str, Any],
    always: list[str] | None = None,
    success: list[str] | None = None,
    failure: list[str] | None = None,
) -> dict[str, Any]:
    related = {"always_nodes": always, "success_nodes": success, "failure_nodes": failure}
    return {
        "identifier": identifier,
        "unified_job_template": {**template, "type": kind},
        "related": {name: [{"identifier": each} for each in nodes] for name, nodes in related.items() if nodes},
    }


def _schedules(settings: Settings) -> Iterator[Object]:
    if settings["audit_schedule"]:
        yield Object(
            "schedule",
            {
                "name": f"{settings['name']} audit schedule",
                "description": _described(settings, "The audit that runs by itself"),
                "unified_job_template": template_name(settings, "audit"),
                "organization": settings["organization"],
                "rrule": settings["audit_schedule"],
                "enabled": True,
            },
        )


def _roles(settings: Settings) -> Iterator[Object]:
    if settings["approvers"]:
        teams = list(settings["approvers"])
        # Who may approve alone is not allowed to read what there is to approve.
        grants = {"read": {"job_templates": [template_name(settings, "audit")]},
                  "approval": {"workflows": [workflow_name(settings)]}}  # fmt: skip
        for role, resources in grants.items():
            yield Object(
                "role", {"teams": teams, "role": role, "lookup_organization": settings["organization"], **resources}
            )
