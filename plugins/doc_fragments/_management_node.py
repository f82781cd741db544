# Copyright (c) slb.fleet contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The options of every module that talks to the management node."""

import re


def _with_environment(text: str) -> str:
    """Return the documentation of a plugin, whose options name their environment variables."""
    return re.sub(r"(E\((SLB_\w+)\)\.\n    type: \w+\n)", r"\1    env:\n      - name: \2\n", text)


class ModuleDocFragment:
    DOCUMENTATION = r"""
options:
  base_url:
    description:
      - Address of the management node, such as V(https://console.example) or V(https://[2001:db8::5]:8443/prefix).
        HTTPS is required.
      - Default is the variable C(slb_base_url) of the host, then the environment variable E(SLB_BASE_URL).
    type: str
  username:
    description:
      - User name. Required unless O(sessionid) is set.
      - Default is the variable C(slb_username) of the host, then the environment variable E(SLB_USERNAME).
    type: str
  password:
    description:
      - Password. Required unless O(sessionid) is set. Quote it in YAML.
      - Default is the variable C(slb_password) of the host, then the first line of the file whose path is in the
        environment variable E(SLB_PASSWORD_FILE), then the environment variable E(SLB_PASSWORD).
    type: str
  sessionid:
    description: Session that M(slb.fleet.login) returned. With it, no login happens, and an ended session is an error.
    type: str
  validate_certs:
    description:
      - Whether to verify the certificate of the management node. Ignored if O(tls_fingerprint) is set.
      - Default is the variable C(slb_validate_certs) of the host, then the environment variable E(SLB_VALIDATE_CERTS).
    type: bool
    default: true
  ca_path:
    description:
      - Path of a PEM file with CA certificates, or of a folder prepared by C(openssl rehash). They replace the CA
        certificates of the system.
      - Default is the variable C(slb_ca_path) of the host, then the environment variable E(SLB_CA_PATH).
    type: path
  tls_fingerprint:
    description:
      - SHA-256 fingerprint of the certificate, 64 hexadecimal digits with or without colons, or the whole line that
        C(openssl x509 -noout -fingerprint -sha256) prints. The certificate is compared before the first byte of a
        request is sent; its CA, name and dates are ignored.
      - Default is the variable C(slb_tls_fingerprint) of the host, then the environment variable
        E(SLB_TLS_FINGERPRINT).
    type: str
  client_cert:
    description:
      - Path of a PEM file with the certificate of the client, for a management node behind an access proxy. It may
        contain the key.
      - Default is the variable C(slb_client_cert) of the host, then the environment variable E(SLB_CLIENT_CERT).
    type: path
  client_key:
    description:
      - Path of a PEM file with the key of O(client_cert), without a password.
      - Default is the variable C(slb_client_key) of the host, then the environment variable E(SLB_CLIENT_KEY).
    type: path
  headers:
    description:
      - Further headers of each request, by name, such as those of an access proxy. The values are secret.
      - Default is the variable C(slb_headers) of the host.
    type: dict
  timeout:
    description:
      - Number of seconds for one attempt, from name resolution to the last byte (1 to 3600). One call takes at most
        O(timeout) * (O(retries) + 1) seconds, and at most 300 seconds.
      - Default is the variable C(slb_timeout) of the host.
    type: int
    default: 30
  retries:
    description:
      - How often a call is repeated (0 to 20), with pauses of 1, 2, 4 and more seconds. An install request is repeated
        only while nothing of it was sent.
      - Default is the variable C(slb_retries) of the host.
    type: int
    default: 3
requirements:
  - requests
notes:
  - An empty option counts as unset.
  - The tasks of a run share one session per management node and user. Rejected credentials are tried once per run.
  - Proxies are taken from the environment (E(https_proxy), E(all_proxy), E(no_proxy)) only. C(no_proxy) has host names,
    domains, addresses, networks such as V(192.0.2.0/24), or V(*). SOCKS proxies are not supported.
"""


# Not in the class, where sanity tests expect texts.
ModuleDocFragment.WITH_ENVIRONMENT = _with_environment(ModuleDocFragment.DOCUMENTATION)  # type: ignore[attr-defined]
