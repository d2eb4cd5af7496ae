from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import click
import click.testing
import pytest

import mpgraph as package
from mpgraph.cli.app import COMMANDS, LazyGroup, app
from mpgraph.cli.names import ALIASES, normalize_name
from mpgraph.errors import PolicyError, VerificationError
from tests.cli.conftest import Run, error_of


def failing_app(error: BaseException) -> click.Group:
    group = LazyGroup("mpgraph")
    inner = click.Group("mpgraph")

    @inner.command("fail")
    def fail() -> None:
        raise error

    group.get_command = inner.get_command  # type: ignore[method-assign]
    return group


def status_of(error: BaseException) -> tuple[int, str]:
    result = click.testing.CliRunner().invoke(failing_app(error), ["fail"])
    assert result.stdout == ""
    assert isinstance(result.exit_code, int)
    return result.exit_code, result.stderr


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_explains_itself(mpgraph: Run, name: str) -> None:
    result = mpgraph(name, "--help")
    assert result.exit_code == 0
    command = app.get_command(click.Context(app), name)
    assert command is not None
    assert (command.help or "").partition("\n")[0] in result.stdout
    for parameter in command.params:
        if isinstance(parameter, click.Option):
            assert parameter.opts[0] in result.stdout


def test_help_lists_the_commands_and_the_statuses(mpgraph: Run) -> None:
    result = mpgraph("--help")
    assert result.exit_code == 0
    assert all(f"  {name} " in result.stdout for name in COMMANDS)
    assert "Exit status: 0 done" in result.stdout


def test_no_arguments_is_a_usage_error_that_helps(mpgraph: Run) -> None:
    result = mpgraph()
    assert result.exit_code == 2
    assert "Commands:" in result.stderr


def test_version(mpgraph: Run) -> None:
    assert package.__version__ in mpgraph("--version").stdout


def test_an_unknown_command_is_one_line(mpgraph: Run) -> None:
    assert "No such command 'konvert'" in error_of(mpgraph("konvert"))


def test_an_unknown_option_is_one_line_with_the_nearest_name(mpgraph: Run) -> None:
    line = error_of(mpgraph("convert", "x.onnx", "--polcy", "float16"))
    assert "'--polcy'" in line
    assert "--policy" in line


def test_dashes_underscores_and_names_of_other_tools() -> None:
    assert normalize_name("keep_io_types") == "keep-io-types"
    assert normalize_name("op_block_list") == "op-types-to-exclude"
    assert normalize_name("calibration_data") == "data"


def test_every_alias_leads_to_an_option() -> None:
    context = click.Context(app)
    commands = [app.get_command(context, name) for name in COMMANDS]
    options = {
        text.lstrip("-")
        for command in commands
        if command is not None
        for parameter in command.params
        for text in parameter.opts
    }
    assert set(ALIASES.values()) <= options
    assert not set(ALIASES) & options


def test_an_input_error_is_one_line_and_status_2() -> None:
    error = PolicyError("rule 'op:Foo'", "matches nothing", "did you mean op:Pow?")
    assert status_of(error) == (
        2,
        "error: rule 'op:Foo': matches nothing (did you mean op:Pow?)\n",
    )


def test_a_failed_check_is_status_1() -> None:
    status, text = status_of(VerificationError("node 'x'", "line one\n  line two\n"))
    assert (status, text) == (1, "error: node 'x': line one; line two\n")


def test_an_unexpected_error_is_one_line_without_a_traceback() -> None:
    status, text = status_of(ZeroDivisionError("of course"))
    assert status == 1
    assert text.startswith("error: mpgraph: unexpected ZeroDivisionError: of course")
    assert len(text.splitlines()) == 1


def test_the_debug_variable_shows_the_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MPGRAPH_DEBUG", "1")
    _status, text = status_of(ZeroDivisionError("of course"))
    assert "Traceback" in text


def test_ctrl_c_is_status_130() -> None:
    status, text = status_of(KeyboardInterrupt())
    assert status == 130
    assert text.strip() == "error: interrupted"


def test_ctrl_c_in_a_process(tmp_path: Path, model_path: Path) -> None:
    script = tmp_path / "interrupting.py"
    script.write_text(
        "import os, signal\n"
        "def load_data():\n"
        "    os.kill(os.getpid(), signal.SIGINT)\n"
        "    yield {}\n"
    )
    before = sorted(tmp_path.iterdir())
    command = Path(sys.executable).with_name("mpgraph")
    done = subprocess.run(
        [command, "convert", model_path, "--data", script], capture_output=True, text=True
    )
    assert (done.returncode, done.stdout) == (130, "")
    assert done.stderr.strip() == "error: interrupted"
    assert [path for path in sorted(tmp_path.iterdir()) if path.name != "__pycache__"] == before


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        (["--version"], 0),
        (["policies", "--json"], 0),
        (["verify", "missing.onnx", "missing.onnx"], 2),
        (["convert"], 2),
    ],
)
def test_exit_statuses_of_the_console_script(
    arguments: list[str], status: int, tmp_path: Path
) -> None:
    script = Path(sys.executable).with_name("mpgraph")
    done = subprocess.run([script, *arguments], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == status
    assert "Traceback" not in done.stderr
    assert len(done.stderr.splitlines()) == (1 if status else 0)


def test_a_closed_pipe_is_quiet() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    program = "from mpgraph.cli import main; import sys; sys.argv[1:] = ['policies']; main()"
    done = subprocess.run(
        [sys.executable, "-c", program], stdout=writer, stderr=subprocess.PIPE, text=True
    )
    os.close(writer)
    assert done.stderr == ""
    assert done.returncode == 1


@pytest.mark.parametrize("name", ["passes", "policies", "targets"])
def test_listings_print_text_and_json(mpgraph: Run, name: str) -> None:
    text = mpgraph(name)
    assert text.exit_code == 0
    data = mpgraph(name, "--json")
    assert data.exit_code == 0
    rows = json.loads(data.stdout)
    rows = rows if name == "passes" else rows[name]
    assert rows
    assert all(row["name"] in text.stdout for row in rows)


def test_passes_are_plain_text_with_empty_defaults_shown(mpgraph: Run) -> None:
    text = mpgraph("passes").stdout
    assert "`" not in text
    assert '""' not in text
    assert "policy: str = -" in text
