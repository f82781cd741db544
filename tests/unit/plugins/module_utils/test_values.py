"""Values of the environment, and the password in a file."""

import os
import traceback

import pytest

from ansible_collections.slb.fleet.plugins.module_utils._management_node.arguments import CONNECTION_ARGUMENTS
from ansible_collections.slb.fleet.plugins.module_utils._values import from_environment
from ansible_collections.slb.fleet.tests.unit.errors import error_of


def test_blank_environment_variable_is_unset(monkeypatch):
    from ansible.module_utils.errors import AnsibleFallbackNotFound

    names = [name for rules in CONNECTION_ARGUMENTS.values() for name in rules.get("fallback", (None, []))[1]]
    expected = ["BASE_URL", "USERNAME", "PASSWORD_FILE", "PASSWORD", "VALIDATE_CERTS", "CA_PATH", "TLS_FINGERPRINT"]
    assert names == [f"SLB_{each}" for each in [*expected, "CLIENT_CERT", "CLIENT_KEY"]]
    monkeypatch.setenv("SLB_BASE_URL", " ")
    with pytest.raises(AnsibleFallbackNotFound):
        from_environment("SLB_BASE_URL")


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"s3cret", "s3cret"),
        (b" s3cr\xc3\xa9t \n", " s3cr\u00e9t "),
        (b"s3cret\r\n# of the console\n", "s3cret"),
        (b"x" * 4096, "x" * 4096),
        (b"\xef\xbb\xbfs3cret\r\n", "s3cret"),
    ],
    ids=["no-newline", "blanks", "further-lines", "4-KiB", "byte-order-mark"],
)
def test_password_is_the_first_line_of_its_file(monkeypatch, tmp_path, content, expected):
    (tmp_path / "password").write_bytes(content)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("SLB_PASSWORD", "another")
    for path in (str(tmp_path / "password"), "~/password"):
        monkeypatch.setenv("SLB_PASSWORD_FILE", path)
        look_up, names = CONNECTION_ARGUMENTS["password"]["fallback"]
        assert look_up(*names) == expected


@pytest.mark.parametrize(
    ("name", "content", "cause"),
    [
        ("missing", b"", "cannot be read: No such file or directory"),
        ("file/below", b"s3cret", "cannot be read: Not a directory"),
        ("folder", b"", "is not a file"),
        ("pipe", b"", "is not a file"),
        ("file", b"", "has an empty first line"),
        ("file", b" \ns3cret", "has an empty first line"),
        ("file", b"s3cret" * 700, "has more than 4 KiB"),
        ("file", b"s3cret\xe9", "is not UTF-8"),
    ],
)
def test_unusable_password_file_is_named_without_content(monkeypatch, tmp_path, name, content, cause):
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "file").write_bytes(content)
    monkeypatch.setenv("SLB_PASSWORD_FILE", str(tmp_path / name))
    monkeypatch.setenv("SLB_PASSWORD", "another")
    error = error_of(from_environment, "SLB_PASSWORD_FILE", "SLB_PASSWORD")
    assert error.code == "invalid_variable"
    assert error.summary == f"Environment variable SLB_PASSWORD_FILE invalid: {tmp_path / name} {cause}."
    assert "s3cret" not in "".join(traceback.format_exception(error))
