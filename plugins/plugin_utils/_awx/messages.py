# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What notifications say, as the templates that AWX renders.

A template that fails in another way than by what is undefined stalls every workflow of AWX. So nothing is done to a
value before it is known to be there, and to be of the kind that this is done to. ``job_metadata`` of a job is not used:
it holds a paragraph about each of its hosts, which for a large fleet no mail server and no chat takes.
"""

from __future__ import annotations

_LONGEST_EXPLANATION = 1000
_EXPLANATION = f"job.job_explanation|default('', true)|string|truncate({_LONGEST_EXPLANATION}, true)"
_ARTIFACTS = "job.artifacts|default({})"

WEBHOOK_BODY = (
    '{"job": {"id": {{ job.id }}, "name": {{ job.name|default("")|tojson }}, "status": "{{ job.status }}", '
    '"url": {{ url|default("")|tojson }}, "started": "{{ job.started|default("", true) }}", '
    '"finished": "{{ job.finished|default("", true) }}", "explanation": {{ ' + _EXPLANATION + "|tojson }}}, "
    '"outcome": {{ ' + _ARTIFACTS + "|tojson }}}"
)
APPROVAL_BODY = '{"job": {{ job_metadata }}}'

MAIL_SUBJECT = "{{ job_friendly_name }} #{{ job.id }} {{ job.name }}: {{ job.status }}"
MAIL_BODY = (
    """\
{{ job_friendly_name }} #{{ job.id }} {{ job.name }}: {{ job.status }}
{{ url }}
{%- set explanation = """
    + _EXPLANATION
    + """ %}
{%- if explanation %}
{{ explanation }}
{%- endif %}
{%- set told = """
    + _ARTIFACTS
    + """ %}
{%- for key, outcome in (told if told is mapping else {}).items() if outcome is mapping %}
{% for status, number in (outcome['counts'] if outcome['counts'] is mapping else {}).items() if number %}
{{ number }} {{ status }}
{%- endfor %}
{%- for group in (outcome['groups'] if outcome['groups'] is sequence else []) if group is mapping %}
{%- set hosts = group['hosts'] if group['hosts'] is sequence else [] %}

{{ group['count'] }} {{ group['status'] }} ({{ group['code'] }}): {{ group['summary'] }} {{ group['fix'] }}
  {{ hosts|join(', ') }}{{ '' if group['count'] == hosts|length else ', ...' }}
{%- endfor %}
{%- if outcome['groups_left_out'] %}

And {{ outcome['groups_left_out'] }} more reasons.
{%- endif %}

All of it, and the limit for a next run, is in the artifact {{ key }} of the job.
{%- endfor %}
"""
)
APPROVAL_SUBJECT = "{{ approval_node_name }}: {{ approval_status }}"
APPROVAL_MAIL = "{{ workflow_url }}\n{{ job_metadata }}"
