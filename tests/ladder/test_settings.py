"""Settings: defaults, what each variable may be, what a wrong one is told."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from hippodrome.engine.errors import FieldError
from hippodrome.ladder.settings import Settings


def test_defaults_hang_on_the_home(tmp_path: Path) -> None:
    settings = Settings.load({"HIPPODROME_HOME": str(tmp_path)})
    assert settings.database_url == f"sqlite:///{tmp_path}/hippodrome.db"
    assert settings.records_dir == tmp_path / "records"
    assert settings.lease_seconds == 15.0
    assert settings.broker_url is settings.engine_addresses is settings.server_address is None
    assert list(tmp_path.iterdir()) == [], "loading writes nothing"


def test_without_a_home_the_data_folder_of_the_user_is_used(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert Settings.load({}).home == tmp_path / "hippodrome"


def test_everything_can_be_set(tmp_path: Path) -> None:
    settings = Settings.load(
        {
            "HIPPODROME_HOME": str(tmp_path),
            "HIPPODROME_DATABASE_URL": "postgresql://h/d",
            "HIPPODROME_BROKER_URL": "redis://h:6379/0",
            "HIPPODROME_LEASE": "2",
            "HIPPODROME_ENGINES": "h1:7700, h2:7700,unix:/run/e.sock",
            "HIPPODROME_SERVER": "h:7000",
            "HIPPODROME_SECRET": "ab" * 32,
            "HIPPODROME_TOKEN": "x",
            "HIPPODROME_TEST_POSTGRES_URL": "x",
            "PATH": "/bin",
        }
    )
    assert settings.lease_seconds == 2.0
    assert settings.engine_addresses == ("h1:7700", "h2:7700", "unix:/run/e.sock")
    assert settings.server_address == "h:7000"
    assert settings.secret == b"\xab" * 32


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("HIPPODROME_DATABSE_URL", "x", "did you mean 'HIPPODROME_DATABASE_URL'"),
        ("HIPPODROME_LEASE", "soon", "'soon' is no number of seconds"),
        ("HIPPODROME_LEASE", "0", "from 0.5 to 3600"),
        ("HIPPODROME_LEASE", "nan", "from 0.5 to 3600"),
        ("HIPPODROME_BROKER_URL", "amqp://h", "'amqp' is no broker"),
        ("HIPPODROME_ENGINES", "h1:7700,h2", "'h2' is no address"),
        ("HIPPODROME_ENGINES", "h1:99999", "'h1:99999' is no address"),
        ("HIPPODROME_SERVER", "unix:", "'unix:' is no address"),
        ("HIPPODROME_SECRET", "abc", "not 64 hex digits"),
        ("HIPPODROME_SECRET", "ab" * 31, "not 64 hex digits"),
    ],
)
def test_a_wrong_variable_is_named_with_its_fix(name: str, value: str, told: str) -> None:
    with pytest.raises(FieldError) as caught:
        Settings.load({name: value})
    assert str(caught.value).startswith(f"{name}: ")
    assert told in str(caught.value)
    assert "; fix: " in str(caught.value)


def test_the_secret_is_made_once_private_and_stays(tmp_path: Path) -> None:
    settings = Settings.load({"HIPPODROME_HOME": str(tmp_path / "new" / "home")})
    first = settings.secret
    assert len(first) == 32
    assert settings.secret == first == Settings.load({"HIPPODROME_HOME": str(settings.home)}).secret
    assert (settings.home / "secret").stat().st_mode & 0o777 == 0o600
    assert [path.name for path in settings.home.iterdir()] == ["secret"]


def test_a_broken_secret_file_is_named_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("short\n")
    with pytest.raises(FieldError, match="secret: it is not 64 hex digits"):
        _ = Settings.load({"HIPPODROME_HOME": str(tmp_path)}).secret
    (tmp_path / "secret").write_text("")
    with pytest.raises(FieldError, match="secret: the file is empty"):
        _ = Settings.load({"HIPPODROME_HOME": str(tmp_path)}).secret


def test_processes_that_start_at_once_agree_on_the_secret(tmp_path: Path) -> None:
    program = "from hippodrome.ladder.settings import Settings; print(Settings.load().secret.hex())"
    env = {"HIPPODROME_HOME": str(tmp_path), "PATH": "/usr/bin:/bin"}
    started = [subprocess.Popen([sys.executable, "-c", program], env=env, stdout=subprocess.PIPE, text=True) for _ in range(6)]
    assert len({process.communicate(timeout=60)[0] for process in started}) == 1


def test_the_secret_is_not_in_the_text_of_the_settings() -> None:
    assert "ab" * 4 not in repr(Settings.load({"HIPPODROME_SECRET": "ab" * 32}))
    assert "\\xab" not in repr(Settings.load({"HIPPODROME_SECRET": "ab" * 32}))


def test_settings_load_without_the_database_libraries() -> None:
    program = "import sys, hippodrome.ladder.settings; print(sorted({'sqlmodel', 'sqlalchemy', 'grpc'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout == "[]\n"
