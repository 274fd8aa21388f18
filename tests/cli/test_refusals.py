"""What cannot be answered is said in one line with the right status, by the real processes, and nothing is left."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.tiny import tiny_llama

WITHIN_S = 60


def generate(*words: str, given: bytes = b"") -> "subprocess.CompletedProcess[bytes]":
    """Run `specpipe generate`, with something on standard input."""
    command = [sys.executable, "-m", "specpipe", "generate", *words]
    return subprocess.run(command, input=given, capture_output=True, check=False, timeout=WITHIN_S)


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A target that is well."""
    return tiny_llama(tmp_path_factory.mktemp("models") / "target", 1)


@pytest.mark.parametrize("words", [("",), ("-",), (" \n",), ("--raw", ""), ("--raw", "-")])
def test_an_empty_prompt_is_one_sentence(target: Path, words: tuple[str, ...]) -> None:
    """As an argument or from standard input (case B10); nothing is started for it."""
    ended = generate("--target", str(target), "--draft", "none", *words)

    assert (ended.returncode, ended.stdout) == (64, b"")
    assert ended.stderr.startswith(b"specpipe: the prompt is empty: ")
    assert ended.stderr.count(b"\n") == 1


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--lanes", "0"), "speculation.lanes: expected int >= 1"),
        (("--nodes", "5000"), "speculation.nodes: expected int <= 1024"),
        (("--nonsense", "1"), None),
        (("--max-tokens", "1000000000"), "max_tokens: expected int <= 1048576"),
        (("--seed", str(2**64)), "seed must be from 0 to 2**64 - 1"),
        (("--seed", "-1"), "seed must be from 0 to 2**64 - 1"),
        (("--top-p", "0"), "top_p: expected float > 0.0"),
        (("--temperature", "nan"), "temperature: expected float >= 0.0"),
        (("--stop", ""), "stop: expected str of length >= 1"),
        (("--min-p", "2"), "min_p: expected float <= 1.0"),
        (("--repetition-penalty", "0"), "repetition_penalty: expected float >= 0.01"),
        (("--presence-penalty", "nan"), "presence_penalty: expected float >= -2.0"),
        (("--min-tokens", "9", "--max-tokens", "8"), "min_tokens: 9 is more than max_tokens, 8"),
        (("--logit-bias", "5=101"), "logit_bias: token '5' has 101.0; a bias is from -100 to 100"),
        (("--logprobs", "21"), "top_logprobs: expected int <= 20"),
        (("--choices", "129"), "n: expected int from 1 to 128"),
        (("--stop", "caf\udce9"), "stop: the text is not valid UTF-8"),
        (("--target", ""), "target.name: expected str of length >= 1"),
        (("--target", "caf\udce9"), "target: its name is not valid UTF-8"),
    ],
)
def test_options_out_of_bounds_are_named(target: Path, words: tuple[str, ...], said: str | None) -> None:
    """The key in plain words, and what was expected there; an option that there is not, in click's."""
    ended = generate("--target", str(target), "--draft", "none", *words, "the")

    assert ended.returncode == 64
    assert ended.stderr.decode() == f"specpipe: {said}\n" if said else b"No such option" in ended.stderr


def test_a_prompt_beyond_the_context_is_one_sentence(target: Path) -> None:
    """By the coordinator that knows the tokenizer, in the user's terminal."""
    given = b"a" * 3000
    ended = generate("--target", str(target), "--draft", "none", "--raw", "-", given=given)

    assert ended.returncode == 64
    assert ended.stderr == b"specpipe: the prompt has 3000 tokens and must have fewer than the context of 2048\n"


def test_a_token_that_the_model_does_not_have_is_one_sentence(target: Path) -> None:
    """Of the field that names it (case E07)."""
    ended = generate("--target", str(target), "--draft", "none", "--logit-bias", "512=1", "the")

    assert ended.returncode == 64
    assert ended.stderr == b"specpipe: logit_bias: token 512 is beyond the model's vocabulary of 512\n"


def test_a_chat_is_not_echoed(target: Path) -> None:
    """Its prompt is not the text that the answer continues."""
    ended = generate("--target", str(target), "--echo", "the")

    assert ended.returncode == 64
    assert b"--echo needs --raw" in ended.stderr


@pytest.mark.parametrize("part", ["target", "draft"])
@pytest.mark.parametrize("how", ["missing", "cut off"])
def test_a_model_that_cannot_be_loaded_is_told_by_its_first_cause(
    target: Path, tmp_path: Path, part: str, how: str
) -> None:
    """Without further tries, since it can never be loaded (case D25)."""
    folder = tmp_path / "nowhere"
    if how == "cut off":
        weights = tiny_llama(folder, 2, noise_of=target, scale=0.1) / "model.safetensors"
        weights.write_bytes(weights.read_bytes()[:5000])
    words = {"target": str(target), "draft": str(target)} | {part: str(folder)}
    ended = generate("--target", words["target"], "--draft", words["draft"], "the")

    assert (ended.returncode, ended.stdout) == (64, b"")
    assert ended.stderr.count(b"\n") == 1
    assert str(folder).encode() in ended.stderr
    assert (b"there is no folder" if how == "missing" else b"is damaged or cut off") in ended.stderr


@pytest.mark.parametrize("part", ["target", "draft"])
@pytest.mark.parametrize("file", ["config.json", "tokenizer_config.json"])
def test_code_that_comes_with_a_model_is_never_run(target: Path, tmp_path: Path, part: str, file: str) -> None:
    """A model or tokenizer that asks for it is refused, and its code leaves no mark (case F12)."""
    folder, marker = tiny_llama(tmp_path / "code", 1), tmp_path / "marker"
    tree = json.loads((folder / file).read_text("utf-8"))
    classes = {"AutoConfig": "code.Own", "AutoModelForCausalLM": "code.Own", "AutoTokenizer": ["code.Own", None]}
    (folder / file).write_text(json.dumps(tree | {"auto_map": classes}), "utf-8")
    (folder / "code.py").write_text(f"open({str(marker)!r}, 'w').close()\nclass Own: ...\n", "utf-8")
    words = {"target": str(target), "draft": str(target)} | {part: str(folder)}
    ended = generate("--target", words["target"], "--draft", words["draft"], "the")

    assert ended.returncode == 64
    assert b"asks to run code that comes with the model" in ended.stderr
    assert not marker.exists()


def test_a_name_of_any_length_is_passed_on(target: Path, tmp_path: Path) -> None:
    """A path that is longer than most is a path all the same."""
    folder = tmp_path / ("long" * 50) / ("longer" * 30)
    folder.mkdir(parents=True)
    for file in target.iterdir():
        (folder / file.name).write_bytes(file.read_bytes())
    ended = generate("--target", str(folder), "--draft", "none", "--raw", "--max-tokens", "4", "--json", "the")

    assert (ended.returncode, ended.stderr) == (0, b"")
    assert json.loads(ended.stdout)["usage"]["completion_tokens"] == 4
