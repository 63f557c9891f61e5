import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rag.errors import CloneFailed, SourceError, SourceNotFound, SourceRefused
from rag.source.location import parse_location, public_addresses
from rag.source.mirror import Mirror
from rag.types import Repository
from tests.source.repositories import Bare, git

BAD = [
    "",
    " ",
    " https://github.com/o/n",
    "--upload-pack=touch x",
    "--upload-pack=touch x;git@github.com:o/n",
    "-u",
    "-oProxyCommand=x",
    "ext::sh -c touch% x",
    "ext::sh",
    "fd::3",
    "::x",
    "transport::address",
    "http://github.com/o/n",
    "HTTP://github.com/o/n",
    "git://github.com/o/n",
    "ftp://github.com/o/n",
    "ftps://github.com/o/n",
    "rsync://github.com/o/n",
    "file:///etc",
    "file://localhost/etc",
    "svn+ssh://github.com/o/n",
    "git+ssh://github.com/o/n",
    "javascript://github.com/o/n",
    "https://user:secret@github.com/o/n",
    "https://token@github.com/o/n",
    "https://@github.com/o/n",
    "ssh://git:secret@github.com/o/n",
    "ssh://-oProxyCommand=x/o/n",
    "ssh://-x@github.com/o/n",
    "ssh://git@-oProxyCommand=x/o/n",
    "git@-oProxyCommand=x:o/n",
    "git@github.com:-x",
    "-x@github.com:o/n",
    "git@github.com:../../etc",
    "https://localhost/o/n",
    "https://LOCALHOST./o/n",
    "https://a.localhost/o/n",
    "https://printer.local/o/n",
    "https://metadata.google.internal/o/n",
    "https://127.0.0.1/o/n",
    "https://127.1/o/n",
    "https://2130706433/o/n",
    "https://0x7f000001/o/n",
    "https://0177.0.0.1/o/n",
    "https://0/o/n",
    "https://0.0.0.0/o/n",
    "https://10.0.0.1/o/n",
    "https://172.16.3.4/o/n",
    "https://192.168.1.1/o/n",
    "https://169.254.169.254/latest/meta-data",
    "https://100.64.0.1/o/n",
    "https://224.0.0.1/o/n",
    "https://255.255.255.255/o/n",
    "https://[::1]/o/n",
    "https://[fe80::1]/o/n",
    "https://[::ffff:10.0.0.1]/o/n",
    "ssh://git@10.0.0.1/o/n",
    "git@192.168.0.1:o/n",
    "git@localhost:o/n",
    "https:///o/n",
    "https://github.com",
    "https://github.com/",
    "https://github.com:0/o/n",
    "https://github.com:99999/o/n",
    "https://github.com:x/o/n",
    "https://github.com:22:33/o/n",
    "https://github.com/../n",
    "https://github.com/o/%2e%2e/n",
    "https://github.com/o/n?token=secret",
    "https://github.com/o/n#x",
    "https://github.com\\@localhost/o/n",
    "https://git hub.com/o/n",
    "https://github.com/o/n;touch x",
    "https://github.com/o/$(x)",
    "https://github.com/o/`x`",
    "https://github.com/o\n/n",
    "https://github.com/o/n\0",
    "https://gi\u0442hub.com/o/n",
    "https://-github.com/o/n",
    "https://github..com/o/n",
    "https://" + "a" * 2100,
    "host:path",
    "c:\\repository",
]


def test_there_are_at_least_sixty_of_them() -> None:
    assert len(set(BAD)) >= 60


@pytest.mark.parametrize("source", BAD)
def test_a_bad_source_is_refused_before_any_process_starts(source: str, tmp_path: Path, processes: list[str]) -> None:
    with pytest.raises(SourceError) as parsed:
        parse_location(source)
    with pytest.raises(SourceError):
        Mirror(tmp_path / "mirror.git").sync(Repository("n", source))
    assert processes == []
    assert list(tmp_path.iterdir()) == []
    assert isinstance(parsed.value, SourceRefused) or source == "c:\\repository"
    assert "secret" not in parsed.value.problem.replace("carries a user name or a secret", "")
    assert parsed.value.problem.isprintable()
    assert parsed.value.remedy


@pytest.mark.parametrize(
    ("source", "kind", "host", "web"),
    [
        ("https://github.com/o/n.git", "https", "github.com", "https://github.com/o/n"),
        ("HTTPS://GitHub.com/o/n", "https", "github.com", "https://github.com/o/n"),
        ("https://gitlab.com/g/s/n/", "https", "gitlab.com", "https://gitlab.com/g/s/n"),
        ("https://git.example.org:8443/n", "https", "git.example.org", ""),
        ("https://8.8.8.8/o/n", "https", "8.8.8.8", ""),
        ("ssh://git@bitbucket.org/o/n", "ssh", "bitbucket.org", "https://bitbucket.org/o/n"),
        ("ssh://git@git.example.org:2222/~me/n", "ssh", "git.example.org", ""),
        ("git@github.com:o/n.git", "ssh", "github.com", "https://github.com/o/n"),
        ("git.example.org:n.git", "ssh", "git.example.org", ""),
    ],
)
def test_a_good_url_is_understood(source: str, kind: str, host: str, web: str) -> None:
    location = parse_location(source)
    assert (location.kind, location.host, location.web) == (kind, host, web)
    assert location.url.partition(":")[0] in ("https", "ssh", "git@github.com", "git.example.org")


def test_the_operator_can_allow_a_private_host() -> None:
    assert parse_location("https://git.local/o/n", {"git.local"}).host == "git.local"
    with pytest.raises(SourceRefused):
        parse_location("https://other.local/o/n", {"git.local"})


def test_paths_of_clones_bare_repositories_and_worktrees(bare: Bare, tmp_path: Path) -> None:
    bare.commit({"a/b.py": "x"})
    git("clone", "-q", bare.path, tmp_path / "clone")
    git("worktree", "add", "-q", "-b", "other", tmp_path / "tree", cwd=tmp_path / "clone")
    for path in (bare.path, tmp_path / "clone", tmp_path / "tree"):
        assert parse_location(str(path)).url == str(path.resolve())
    with pytest.raises(SourceNotFound, match="inside the repository") as inside:
        parse_location(str(tmp_path / "clone" / "a"))
    assert str(tmp_path / "clone") in inside.value.remedy
    with pytest.raises(SourceNotFound, match="is a file"):
        parse_location(str(tmp_path / "clone" / "a" / "b.py"))
    (tmp_path / "plain").mkdir()
    with pytest.raises(SourceNotFound, match="not a git repository"):
        parse_location(str(tmp_path / "plain"))


@pytest.mark.parametrize(
    ("source", "hint"),
    [("github.com/o/n", "https://github.com/o/n"), ("o/n-that-is-absent", "https://github.com/o/"), ("/absent", "spelling")],
)
def test_a_path_that_does_not_exist_names_the_remedy(source: str, hint: str) -> None:
    with pytest.raises(SourceNotFound, match="does not exist") as error:
        parse_location(source)
    assert hint in error.value.remedy


def _resolver(*addresses: str) -> Callable[..., list[Any]]:
    return lambda *_, **__: [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, 443)) for address in addresses]


@pytest.mark.parametrize(
    "inside", ["10.1.2.3", "169.254.169.254", "127.0.0.1", "::1", "fd00::1", "fe80::1%eth0", "::ffff:192.168.0.1", "64:ff9b::a00:1"]
)
def test_a_name_that_resolves_into_a_network_is_refused(inside: str) -> None:
    location = parse_location("https://rebound.example.org/o/n")
    with pytest.raises(SourceRefused, match="private address"):
        public_addresses(location, resolve=_resolver("93.184.216.34", inside))
    assert public_addresses(location, {"rebound.example.org"}, _resolver(inside)) == []


def test_public_addresses_are_given_once() -> None:
    location = parse_location("https://example.org/o/n")
    assert public_addresses(location, resolve=_resolver("93.184.216.34", "93.184.216.34", "2606:4700::1")) == [
        "93.184.216.34",
        "2606:4700::1",
    ]


def test_a_name_that_does_not_resolve_is_told() -> None:
    def fail(*_: Any, **__: Any) -> list[Any]:
        raise socket.gaierror

    with pytest.raises(CloneFailed, match=r"example\.org does not resolve"):
        public_addresses(parse_location("https://example.org/o/n"), resolve=fail)
