"""What of a project is published, and what never is."""

import os
from pathlib import Path

import pytest

from openenv.catalog.manifest import Manifest
from openenv.project import space_files
from openenv.project.errors import ProjectError, UsageProblem
from openenv.project.registry import image_name
from openenv.project.staging import Staging, read_excludes, stage
from tests.hub.conftest import FILES, write

HF_TOKEN = "hf_" + "aB3" * 12
TOKENS = {
    "a Hugging Face token": HF_TOKEN,
    "an API key": "sk-proj-" + "aB3" * 12,
    "an AWS access key": "AKIA" + "ABCD" * 4,
    "an AWS secret key": 'aws_secret_access_key = "' + "aB3/" * 10 + '"',
    "a GitHub token": "ghp_" + "aB3" * 12,
    "a GitLab token": "glpat-" + "aB3" * 7,
    "a Google API key": "AIza" + "aB3-_" * 7,
    "a Slack token": "xoxb-" + "123-abc" * 4,
    "a PyPI token": "pypi-AgEI" + "aB3" * 20,
    "a private key": "-----BEGIN OPENSSH PRIVATE KEY-----",
}


def paths(staging: Staging) -> set[str]:
    return {file.path for file in staging.files}


def test_a_project_is_published_whole(project: Path) -> None:
    assert paths(stage(project)) == set(FILES)


@pytest.mark.parametrize(
    "path",
    [
        ".git/config",
        ".venv/bin/python",
        ".env",
        "__pycache__/a.pyc",
        "server/__pycache__/a.pyc",
        "a.pyc",
        "build/lib/a.py",
        "dist/a.whl",
        "outputs/logs/run.log",
        "openenv_tiny.egg-info/PKG-INFO",
        "web/node_modules/a/index.js",
        "server/.cache/a",
    ],
)
def test_caches_and_hidden_files_stay(project: Path, path: str) -> None:
    write(project, {path: ""})
    assert paths(stage(project)) == set(FILES)


def test_a_virtual_environment_stays_whatever_its_name(project: Path) -> None:
    write(project, {"myenv/pyvenv.cfg": "", "myenv/lib/a.py": ""})
    assert paths(stage(project)) == set(FILES)


def test_a_folder_called_build_further_down_is_published(project: Path) -> None:
    write(project, {"server/build/world.py": ""})
    assert "server/build/world.py" in paths(stage(project))


@pytest.mark.parametrize(
    "name",
    [
        ".env",
        ".env.local",
        "prod.env",
        "server/tls.pem",
        "server/tls.key",
        "id_rsa",
        "id_ed25519.old",
        "credentials",
        "credentials.json",
        "google-credentials.json",
        "secrets.toml",
        "service_account-1.json",
        "token.txt",
        ".netrc",
        ".pypirc",
        "netrc",
        "Secrets.YAML",
    ],
)
def test_files_of_credentials_are_left_out_and_told(project: Path, name: str) -> None:
    write(project, {name: "user: ada"})
    staging = stage(project)
    assert paths(staging) == set(FILES)
    assert [left.path for left in staging.left_out] == [name]
    assert "credentials" in staging.left_out[0].reason


@pytest.mark.parametrize("name", ["token.py", "tokenizer.json", "secrets.md", "id_rsa.pub", "key"])
def test_programs_and_prose_about_credentials_are_published(project: Path, name: str) -> None:
    write(project, {name: "text"})
    assert name in paths(stage(project))


@pytest.mark.parametrize(("kind", "token"), TOKENS.items(), ids=list(TOKENS))
def test_a_credential_in_a_file_stops_everything(project: Path, kind: str, token: str) -> None:
    write(project, {"server/app.py": f"# one\n# two\nKEY = '{token}'\n"})
    with pytest.raises(
        ProjectError, match=rf"server/app\.py:3 holds what looks like {kind}"
    ) as why:
        stage(project)
    assert token not in str(why.value)
    assert "--exclude" in str(why.value)


@pytest.mark.parametrize(
    "text",
    [
        "hf_hub_download_and_cache_everything_there_is",
        "sk-fading-circle-with-a-long-name-of-letters",
        "HF_TOKEN = 'hf_xxx'",
        "-----BEGIN PUBLIC KEY-----",
        "task-12345678901234567890123",
    ],
)
def test_what_only_reminds_of_a_credential_is_published(project: Path, text: str) -> None:
    write(project, {"server/app.py": text})
    assert paths(stage(project)) == set(FILES)


def test_many_credentials_are_told_in_few_words(project: Path) -> None:
    write(project, {"server/app.py": f"{HF_TOKEN}\n" * 50})
    with pytest.raises(ProjectError, match="and 45 more") as why:
        stage(project)
    assert len(str(why.value)) < 1000


def test_binary_files_are_not_read_as_text(project: Path) -> None:
    (project / "model.bin").write_bytes(b"\0" + HF_TOKEN.encode())
    assert "model.bin" in paths(stage(project))


def test_an_excluded_file_is_neither_read_nor_published(project: Path, tmp_path: Path) -> None:
    write(project, {"examples/demo.py": HF_TOKEN, "data/a/b.csv": "", "deep/data.csv": ""})
    listed = tmp_path / "excludes"
    listed.write_text("# a comment\n\n!client.py\nexamples/\n/data/*\n*.csv\n")
    assert paths(stage(project, read_excludes(listed))) == set(FILES)


@pytest.mark.parametrize(
    ("pattern", "excluded"),
    [
        ("models.py", {"models.py"}),
        ("server", {"server/__init__.py", "server/app.py", "server/Dockerfile"}),
        ("server/*.py", {"server/__init__.py", "server/app.py"}),
        ("**/app.py", {"server/app.py"}),
        ("/app.py", set()),
        ("nothing", set()),
    ],
)
def test_globs_are_those_of_gitignore(project: Path, pattern: str, excluded: set[str]) -> None:
    assert paths(stage(project, [pattern])) == set(FILES) - excluded


@pytest.mark.parametrize("content", [None, b"\xff\xfe"])
def test_a_list_of_excludes_that_cannot_be_read(tmp_path: Path, content: bytes | None) -> None:
    if content is not None:
        (tmp_path / "excludes").write_bytes(content)
    with pytest.raises(UsageProblem, match="one glob a line"):
        read_excludes(tmp_path / "excludes")


def test_links_out_of_the_project_are_left_out(project: Path, tmp_path: Path) -> None:
    (tmp_path / "outside.txt").write_text("not yours")
    (tmp_path / "folder").mkdir()
    (project / "inside.py").symlink_to("models.py")
    (project / "outside.txt").symlink_to(tmp_path / "outside.txt")
    (project / "folder").symlink_to(tmp_path / "folder")
    (project / "loop").symlink_to(project)
    (project / "nowhere").symlink_to("nothing")
    write(project, {"prod.env": "A=1"})
    (project / "settings.txt").symlink_to("prod.env")
    os.mkfifo(project / "pipe")
    staging = stage(project)
    assert paths(staging) == {*FILES, "inside.py"}
    told = {left.path for left in staging.left_out}
    expected = {"outside.txt", "folder", "loop", "nowhere", "settings.txt", "prod.env", "pipe"}
    assert told == expected


def test_links_into_folders_of_credentials_are_left_out(project: Path) -> None:
    write(project, {"server/secrets/old/db.yaml": "", "secret/__init__.py": "", "secret/a.txt": ""})
    (project / "db.yaml").symlink_to("server/secrets/old/db.yaml")
    (project / "a.txt").symlink_to("secret/a.txt")
    staging = stage(project)
    assert paths(staging) == {*FILES, "secret/__init__.py", "secret/a.txt", "a.txt"}
    assert {left.path for left in staging.left_out} == {"server/secrets", "db.yaml"}


def test_folders_of_credentials_are_left_out_and_packages_are_not(project: Path) -> None:
    write(project, {"secrets/db.txt": "", "server/credentials/a/b.txt": ""})
    write(project, {"secret/__init__.py": "", "secret/a.txt": ""})
    staging = stage(project)
    assert {left.path for left in staging.left_out} == {"secrets", "server/credentials"}
    assert paths(staging) == {*FILES, "secret/__init__.py", "secret/a.txt"}


def test_names_that_cannot_be_written_are_left_out(project: Path) -> None:
    os.close(os.open(os.fsencode(project) + b"/\xff.txt", os.O_CREAT))
    write(project, {"a\nb.txt": ""})
    staging = stage(project)
    assert paths(staging) == set(FILES)
    assert len(staging.left_out) == 2


@pytest.mark.timeout(60)
def test_too_much_is_refused(project: Path) -> None:
    (project / "data").mkdir()
    for number in range(10_001):
        os.close(os.open(project / f"data/{number}", os.O_CREAT))
    with pytest.raises(ProjectError, match="more than 10000 files"):
        stage(project)
    assert paths(stage(project, ["data"])) == set(FILES)


def test_what_is_staged_can_be_written_elsewhere(project: Path, tmp_path: Path) -> None:
    (project / "large.bin").write_bytes(b"\0" * (1 << 21))
    (project / "server/app.py").chmod(0o755)
    stage(project).write_to(tmp_path / "copy")
    assert (tmp_path / "copy/large.bin").stat().st_size == 1 << 21
    assert (tmp_path / "copy/server/app.py").read_text() == FILES["server/app.py"]
    assert os.access(tmp_path / "copy/server/app.py", os.X_OK)
    assert not os.access(tmp_path / "copy/client.py", os.X_OK)


# ── the files that a Space reads itself ───────────────────────────────────────────────────────────

MANIFEST = Manifest(name="my_game_env", app="server.app:app", port=9000)
TWO_STAGES = """\
ARG BASE_IMAGE=python:3.11-slim
FROM ${BASE_IMAGE} AS builder
RUN one && \\
    CMD two
CMD ["unused"]
from ${BASE_IMAGE}
HEALTHCHECK CMD true
# CMD ["old"]
CMD ["serve"]
"""


def test_the_interface_is_switched_on_in_the_last_stage() -> None:
    lines = space_files.dockerfile(TWO_STAGES, base_image=None, interface=True).splitlines()
    at = lines.index("ENV ENABLE_WEB_INTERFACE=true")
    assert lines[at + 1] == 'CMD ["serve"]'
    assert lines[:at] + lines[at + 1 :] == TWO_STAGES.splitlines()


def test_the_interface_is_switched_on_once() -> None:
    once = space_files.dockerfile(TWO_STAGES, base_image=None, interface=True)
    assert space_files.dockerfile(once, base_image=None, interface=True) == once


def test_without_a_command_the_variable_comes_last() -> None:
    text = space_files.dockerfile("FROM a\nRUN b\n", base_image=None, interface=True)
    assert text == "FROM a\nRUN b\nENV ENABLE_WEB_INTERFACE=true\n"


def test_a_base_image_takes_the_place_of_the_argument_of_every_stage() -> None:
    text = space_files.dockerfile(TWO_STAGES, base_image="mine:1", interface=False)
    assert text == TWO_STAGES.replace("python:3.11-slim", "mine:1")


def test_a_base_image_takes_the_place_of_a_fixed_one() -> None:
    text = "FROM --platform=linux/amd64 python:3.11 AS builder\nFROM python:3.12\n"
    rebased = space_files.dockerfile(text, base_image="mine:1", interface=False)
    assert rebased == text.replace("python:3.11", "mine:1")


def test_what_stands_in_a_here_document_is_no_instruction() -> None:
    text = "FROM a\nRUN python - <<-'EOF' && true\nfrom b import c\nCMD d\n\tEOF\nCMD e\n"
    switched = space_files.dockerfile(text, base_image="mine", interface=True)
    assert switched == text.replace("FROM a", "FROM mine").replace(
        "CMD e", "ENV ENABLE_WEB_INTERFACE=true\nCMD e"
    )


def test_a_dockerfile_without_from_is_refused() -> None:
    with pytest.raises(ProjectError, match="FROM"):
        space_files.dockerfile("RUN a\n", base_image=None, interface=True)


def test_a_readme_becomes_a_space_s() -> None:
    page = space_files.readme("# Game\n", MANIFEST, interface=True)
    assert page == (
        "---\ntitle: My Game Env\nsdk: docker\napp_port: 9000\nbase_path: /web\n---\n\n# Game\n"
    )


def test_an_author_s_front_matter_stays() -> None:
    own = "---\r\ntitle: Mine\r\nsdk: docker\r\napp_port: 7860\r\ntags:\r\n  - a\r\n---\r\nText\n"
    page = space_files.readme(own, MANIFEST, interface=True)
    kept = "title: Mine\nsdk: docker\napp_port: 7860\ntags:\n  - a\n"
    assert page == f"---\n{kept}base_path: /web\n---\n\nText\n"
    assert "base_path" not in space_files.readme(page, MANIFEST, interface=False)


@pytest.mark.parametrize(
    ("own", "told"), [("sdk: gradio", "sdk: docker"), ("title: [", "no YAML"), ("a", "no YAML")]
)
def test_a_front_matter_that_is_no_docker_space_s(own: str, told: str) -> None:
    with pytest.raises(ProjectError, match=told):
        space_files.readme(f"---\n{own}\n---\n", MANIFEST, interface=True)


# ── names in registries ───────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("place", "name", "expected"),
    [
        ("registry.example.org/me", "my_env", "registry.example.org/me/my_env"),
        ("localhost:5000/", "My Env", "localhost:5000/my_env"),
        ("docker.io/some-one/x", "émile", "docker.io/some-one/x/mile"),
        ("r", "–", "r/environment"),
    ],
)
def test_images_have_names_that_registries_take(place: str, name: str, expected: str) -> None:
    assert image_name(place, Manifest(name=name, app="server.app:app", port=8000)) == expected


@pytest.mark.parametrize(
    "place",
    ["https://registry.example.org/me", "registry.example.org/Me", "a b", "", "a//b", "-t x"],
)
def test_registries_that_are_none(place: str) -> None:
    with pytest.raises(UsageProblem, match="--registry"):
        image_name(place, MANIFEST)
