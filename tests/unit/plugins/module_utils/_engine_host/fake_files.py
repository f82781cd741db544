"""A folder that stands for the host's file system, in the search for what starts the container."""

from ansible_collections.slb.fleet.plugins.module_utils._engine_host import mentions


class Files:
    def __init__(self, folder, monkeypatch):
        self.folder = folder
        crontabs = self._below(mentions._CRONTABS)
        files = tuple(
            (kind, crontabs if patterns is mentions._CRONTABS else self._below(patterns), after)
            for kind, patterns, after in mentions._FILES
        )
        monkeypatch.setattr(mentions, "_CRONTABS", crontabs)
        monkeypatch.setattr(mentions, "_FILES", files)
        for name in ("_SYSTEMD", "_QUADLETS", "_INIT_SCRIPTS"):
            monkeypatch.setattr(mentions, name, self._below(getattr(mentions, name)))

    def _below(self, patterns):
        return tuple(f"{self.folder}{each}" for each in patterns)

    def write(self, path, text):
        file = self.folder / path.lstrip("/")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        file.chmod(0o755)
        return file
