# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The options of every module that talks to the management node."""


class ModuleDocFragment:
    DOCUMENTATION = r"""
options:
  base_url:
    description:
      - The address of the management node's web console, such as V(https://console.example),
        V(https://192.0.2.10:8443/prefix) or V(https://[2001:db8::5]). Only HTTPS is spoken.
      - Falls back to the host's variable C(slb_base_url), then to the environment variable E(SLB_BASE_URL).
      - Needed, from one of these three places.
    type: str
  username:
    description:
      - The user that logs in. Needed unless O(sessionid) is given.
      - Falls back to the host's variable C(slb_username), then to the environment variable E(SLB_USERNAME).
    type: str
  password:
    description:
      - That user's password. Needed unless O(sessionid) is given.
      - Falls back to the host's variable C(slb_password), then to the environment variable E(SLB_PASSWORD).
    type: str
  sessionid:
    description:
      - A session that M(slb.fleet.login) returned. When it is given, no login happens, and a session that is gone
        is not renewed.
      - Rarely needed, because the tasks of a run share one session anyway.
    type: str
  validate_certs:
    description:
      - Whether the certificate of the management node has to be trusted. Not looked at when O(tls_fingerprint) is set.
      - Falls back to the host's variable C(slb_validate_certs), then to the environment variable E(SLB_VALIDATE_CERTS).
    type: bool
    default: true
  ca_path:
    description:
      - A PEM file, or a folder prepared by C(openssl rehash), with the CA certificates to trust instead of those that
        the Python package C(requests) trusts. The environment variables E(REQUESTS_CA_BUNDLE) and
        E(CURL_CA_BUNDLE) change nothing.
      - Falls back to the host's variable C(slb_ca_path), then to the environment variable E(SLB_CA_PATH).
    type: path
  tls_fingerprint:
    description:
      - The SHA-256 fingerprint of the management node's certificate, 64 hexadecimal digits with or without colons.
        It is compared before the first byte of a request is sent.
      - With it, a self-signed certificate needs no CA, and the name in the certificate and its dates do not matter.
      - Falls back to the host's variable C(slb_tls_fingerprint), then to the environment variable
        E(SLB_TLS_FINGERPRINT).
    type: str
  timeout:
    description:
      - How many seconds to wait for a connection, and for each next part of an answer.
      - One call takes at most O(timeout) * (O(retries) + 1) seconds in all, its retries and pauses included.
      - Falls back to the host's variable C(slb_timeout).
    type: int
    default: 30
  retries:
    description:
      - How many times a login or a download is tried again after a connection error, HTTP 429 or 5xx, with growing
        pauses, and not before the time that the answer's C(Retry-After) names.
      - The request to install an engine is tried again only while nothing of it has been sent.
      - Falls back to the host's variable C(slb_retries).
    type: int
    default: 3
notes:
  - An option of the connection that a task does not give is taken from the variable of the host that is named with it.
    So the connection is stated once, in the inventory, and repeated in no task.
  - An option that is empty, as an unanswered question of a survey is, counts as one that is not given.
  - The tasks of one run share one session for each management node and user, however many hosts and forks there are.
    Refused credentials are tried once in a run.
  - Proxies are taken from the environment (E(https_proxy), E(no_proxy)).
"""
