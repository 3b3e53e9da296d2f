"""Addresses, retries, a client that is written by hand, and the making of clients."""

import email.utils
import subprocess
import sys
import time

import pytest

from openenv.core.llm_client import (
    AnthropicClient,
    LLMClient,
    LLMResponse,
    OpenAIClient,
    ToolCall,
    create_llm_client,
)
from openenv.llm.retries import RetryPolicy, wished_s
from openenv.protocol.errors import ConfigurationError


class Parrot(LLMClient):
    async def complete(self, prompt: str, **options: object) -> str:
        return prompt


@pytest.mark.parametrize(
    ("endpoint", "port", "url"),
    [
        ("http://x", 8000, "http://x:8000"),
        ("http://x/", None, "http://x"),
        ("http://x:3", None, "http://x:3"),
        ("http://x:3", 3, "http://x:3"),
        ("http://x/v1", 8000, "http://x:8000/v1"),
        ("http://[::1]", 3, "http://[::1]:3"),
        ("https://x/api/", None, "https://x/api"),
    ],
)
def test_an_address(endpoint: str, port: int | None, url: str) -> None:
    assert Parrot(endpoint, port).base_url == url


@pytest.mark.parametrize(
    ("endpoint", "port", "says"),
    [
        ("x", 1, "does not begin with"),
        ("", 1, "does not begin with"),
        (None, 1, "does not begin with"),
        ("ftp://x", 1, "does not begin with"),
        ("http://", None, "does not begin with"),
        ("http://x:3", 5, "says port 3"),
        ("http://x:y", None, "no valid port"),
        ("http://x", 0, "is no port"),
        ("http://x", 70000, "is no port"),
        ("http://x", "8", "is no port"),
        ("http://x?q=1", 3, "query"),
        ("http://[::1", 3, "is no URL"),
        ("http://user:hush@x", 3, "api_key"),
        ("user:hush@x", 3, "does not begin with"),
        ("hush", 3, "does not begin with"),
        ("http://x/hush?api-key=hush", 3, "http://x has a query"),
        ("http://x:hush", None, "http://x has no valid port"),
        ("http://x:3/hush", 5, "http://x says port 3"),
        ("http://[::1/hush", 3, "is no URL"),
    ],
)
def test_an_address_that_is_none(endpoint: str, port: int, says: str) -> None:
    with pytest.raises(ConfigurationError, match=says) as refused:
        Parrot(endpoint, port)
    assert "hush" not in str(refused.value)


async def test_a_client_written_by_hand_needs_to_complete_alone() -> None:
    parrot = Parrot("http://x", 1)
    assert await parrot.complete("hi") == "hi"
    with pytest.raises(NotImplementedError, match="Parrot cannot call tools"):
        await parrot.complete_with_tools([], [])
    assert parrot.usage.total_tokens == 0


def test_a_response_as_a_message() -> None:
    assert LLMResponse("c").to_message_dict() == {"role": "assistant", "content": "c"}
    called = LLMResponse("", [ToolCall("1", "f", {"a": 1})]).to_message_dict()
    function = {"name": "f", "arguments": '{"a": 1}'}
    assert called["tool_calls"] == [{"id": "1", "type": "function", "function": function}]


def test_a_vendors_own_models() -> None:
    known = create_llm_client("openai", "gpt-4o", "k")
    assert isinstance(known, OpenAIClient)
    assert known.base_url == "https://api.openai.com"
    assert (known.max_tokens, known.use_max_completion_tokens) == (4096, False)
    reasons = create_llm_client("openai", "o3-mini", "k")
    assert isinstance(reasons, OpenAIClient) and reasons.use_max_completion_tokens
    assert isinstance(create_llm_client("anthropic", "claude", "k"), AnthropicClient)
    with pytest.raises(ValueError, match="'x' is unknown; give openai or anthropic"):
        create_llm_client("x", "m", "k")


def test_waits_double_up_to_a_bound_and_grant_wishes() -> None:
    policy = RetryPolicy(first_wait_s=1.0, longest_wait_s=5.0)
    for failed, longest in ((1, 1.0), (2, 2.0), (3, 4.0), (4, 5.0), (4000, 5.0)):
        assert longest / 2 <= policy.wait_s(failed) <= longest
    assert 30.0 <= policy.wait_s(1, 30.0) <= 31.0


@pytest.mark.parametrize(
    "wrong", [{"attempts": 0}, {"total_s": -1.0}, {"first_wait_s": float("nan")}]
)
def test_a_policy_that_is_none(wrong: dict[str, float]) -> None:
    with pytest.raises(ConfigurationError, match="RetryPolicy"):
        RetryPolicy(**wrong)  # type: ignore[arg-type]


def test_what_a_server_wishes() -> None:
    assert wished_s({}) is None
    assert wished_s({"retry-after": "1.5"}) == 1.5
    assert wished_s({"retry-after-ms": "1500", "retry-after": "9"}) == 1.5
    for nothing in ("soon", "nan", "inf", "-1", ""):
        assert wished_s({"retry-after": nothing}) is None
    later = email.utils.formatdate(time.time() + 100, usegmt=True)
    assert 90 < (wished_s({"retry-after": later}) or 0) <= 100
    assert wished_s({"retry-after": email.utils.formatdate(0, usegmt=True)}) == 0.0


def test_a_missing_sdk_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, make in (("openai", OpenAIClient), ("anthropic", AnthropicClient)):
        monkeypatch.setitem(sys.modules, name, None)
        with pytest.raises(ImportError, match=rf"pip install 'openenv-core\[{name}\]'"):
            make("http://x", 1, "m")


def test_no_sdk_is_loaded_before_a_client_is_made() -> None:
    program = (
        "import sys, openenv.core.llm_client as m; m.LLMClient, m.OpenAIClient, m.AnthropicClient;"
        "assert not {'openai', 'anthropic', 'httpx', 'pydantic'} & sys.modules.keys()"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)
