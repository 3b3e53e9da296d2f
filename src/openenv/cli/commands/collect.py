"""`openenv collect`: episodes of a served environment, on disk."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from openenv.cli.hub_options import AsJson
from openenv.cli.output import answer, next_steps, say, step

if TYPE_CHECKING:
    from openenv.harness.collecting.collection import Plan
    from openenv.llm import LLMClient

Env = Annotated[
    str, typer.Argument(metavar="ENV", help="What is played, as FAMILY:VARIANT; it is recorded.")
]
BaseUrl = Annotated[str, typer.Option("--base-url", help="The server that plays it.")]
OutputDir = Annotated[Path, typer.Option("--output-dir", "-o", help="Where the files go.")]
NumEpisodes = Annotated[int, typer.Option("--num-episodes", "-n", min=1, help="How many.")]
MaxTurns = Annotated[int, typer.Option(min=1, help="The most steps of one episode.")]
Prefix = Annotated[str, typer.Option("--episode-id-prefix", help="What their names begin with.")]
Resume = Annotated[
    bool,
    typer.Option(
        "--resume/--no-resume",
        help="Keep what is there and play the rest, or set it aside and begin anew.",
    ),
]
Provider = Annotated[
    Literal["scripted", "openai", "anthropic"],
    typer.Option(help="Who plays: actions made up from the schema, or a model by its vendor."),
]
Model = Annotated[str | None, typer.Option(help="The model that plays.")]
LlmEndpoint = Annotated[
    str | None,
    typer.Option(
        help="Where the model is served, if not by the vendor: any server that speaks so."
    ),
]
LlmPort = Annotated[int | None, typer.Option(help="Its port, if the endpoint has none.")]
Temperature = Annotated[float | None, typer.Option(help="How freely the model chooses (0.2).")]
MaxTokens = Annotated[int | None, typer.Option(help="The most tokens of one answer (200).")]
SystemPrompt = Annotated[str | None, typer.Option(help="What the model is told first.")]
KeepLosses = Annotated[
    bool, typer.Option("--keep-losses", help="Keep episodes with a reward below 0.")
]
PushToHub = Annotated[
    str | None,
    typer.Option("--push-to-hub", "-H", help="OWNER/NAME of a data set to upload to."),
]
Private = Annotated[bool, typer.Option("--private", help="Make that data set private.")]
CommitMessage = Annotated[str | None, typer.Option(help="What the push is about.")]
DatasetConfig = Annotated[
    str | None, typer.Option(help="A JSON object that every reset is given as options.")
]


def collect(
    env: Env,
    base_url: BaseUrl,
    output_dir: OutputDir,
    num_episodes: NumEpisodes = 10,
    max_turns: MaxTurns = 9,
    episode_id_prefix: Prefix = "ep",
    resume: Resume = True,
    provider: Provider = "scripted",
    model: Model = None,
    llm_endpoint: LlmEndpoint = None,
    llm_port: LlmPort = None,
    temperature: Temperature = None,
    max_tokens: MaxTokens = None,
    system_prompt: SystemPrompt = None,
    keep_losses: KeepLosses = False,
    push_to_hub: PushToHub = None,
    private: Private = False,
    commit_message: CommitMessage = None,
    dataset_config: DatasetConfig = None,
    as_json: AsJson = False,
) -> None:
    """Play episodes on a server and write them to results.jsonl, as they end."""
    _refuse_options_of_a_push(push_to_hub, private, commit_message)
    wanted: dict[str, Any] = {
        "base_url": _address(base_url),
        "num_episodes": num_episodes,
        "max_turns": max_turns,
        "prefix": episode_id_prefix,
        "keep_losses": keep_losses,
        "options": _options(dataset_config),
        "task": env,
        "player": provider,
    }
    if provider == "scripted":
        _refuse_options_of_a_model(
            model, llm_endpoint, llm_port, temperature, max_tokens, system_prompt
        )
        plan = _scripted(wanted)
    else:
        client = _client(provider, model, llm_endpoint, llm_port, temperature, max_tokens)
        plan = _played(wanted, client, system_prompt)
    answered = _run(plan, output_dir, resume)
    if push_to_hub is not None:
        answered["dataset"] = _push(output_dir, push_to_hub, private, commit_message)
    _tell(answered, as_json)


def _refuse_options_of_a_model(*options: object) -> None:
    from openenv.project.errors import UsageProblem

    if any(value is not None for value in options):
        raise UsageProblem(
            "--model, --llm-endpoint, --llm-port, --temperature, --max-tokens and "
            "--system-prompt are of a model, and --provider scripted has none; leave them out"
        )


def _refuse_options_of_a_push(
    push_to_hub: str | None, private: bool, commit_message: str | None
) -> None:
    from openenv.project.errors import UsageProblem

    if push_to_hub is None and (private or commit_message is not None):
        raise UsageProblem("--private and --commit-message go with --push-to-hub")


def _options(dataset_config: str | None) -> dict[str, Any]:
    from openenv.project.errors import UsageProblem

    try:
        options = json.loads(dataset_config or "{}")
    except ValueError as error:
        raise UsageProblem(f"--dataset-config is no JSON ({error}); give an object") from error
    if not isinstance(options, dict) or options.keys() & {"seed", "episode_id"}:
        raise UsageProblem(
            "--dataset-config takes a JSON object, without seed and episode_id, which each episode "
            f"gets of its own; got {dataset_config}"
        )
    return options


def _address(base_url: str) -> str:
    from openenv.project.errors import UsageProblem
    from openenv.protocol.errors import ConfigurationError
    from openenv.validation.target import Target

    try:
        return Target.at_url(base_url).place
    except ConfigurationError as error:
        raise UsageProblem(f"--base-url: {error}") from error


def _action_schema(base_url: str) -> dict[str, Any]:
    """What the server says an action is: a server that does not is none to play on."""
    from openenv.client.endpoint import UNAUTHORIZED_STATUS
    from openenv.project.errors import ProjectError
    from openenv.settings import client_headers
    from openenv.validation.web import Site

    schema = Site(base_url, headers=client_headers(None)).get("/schema")
    action = schema.field("action")
    if schema.status == UNAUTHORIZED_STATUS:
        raise ProjectError(f"{base_url} wants a token (401); set OPENENV_CLIENT_TOKEN to it")
    if not isinstance(action, dict):
        raise ProjectError(
            f"{base_url}/schema does not tell what an action is "
            f"({schema.problem or f'status {schema.status}'}); is it the address of a server that "
            "runs?"
        )
    return action


def _scripted(wanted: dict[str, Any]) -> Plan:
    """The episodes, played by actions made up from the server's own schemas."""
    from openenv.client.generic import GenericEnvClient
    from openenv.harness.collecting.collection import Collection
    from openenv.project.errors import ProjectError
    from openenv.rollout.made_up.calls import offered, takes_calls
    from openenv.rollout.made_up.samples import NoSample
    from openenv.testing.scripted import ScriptedPolicy

    base_url = wanted["base_url"]
    action = _action_schema(base_url)
    try:
        asked = GenericEnvClient(base_url=base_url).sync
        tools = offered(asked) if takes_calls(action) else None
        ScriptedPolicy(action, tools=tools)
    except NoSample as error:
        raise ProjectError(f"no action can be made up for this environment: {error}") from error
    return Collection(make_policy=lambda seed: ScriptedPolicy(action, seed, tools), **wanted)


def _played(wanted: dict[str, Any], client: LLMClient, system_prompt: str | None) -> Plan:
    """The episodes, played by a model."""
    from openenv.harness.collecting.model_collection import SYSTEM_PROMPT, ModelCollection

    _action_schema(wanted["base_url"])
    if system_prompt is None:
        system_prompt = "\n\n".join([SYSTEM_PROMPT, *_description(wanted["base_url"])])
    return ModelCollection(client=client, system_prompt=system_prompt, **wanted)


def _description(base_url: str) -> list[str]:
    """What the environment says of itself; nothing, if that is but its name."""
    from openenv.settings import client_headers
    from openenv.validation.web import Site

    card = Site(base_url, headers=client_headers(None)).get("/metadata")
    said, name = card.field("description"), card.field("name")
    return [said] if isinstance(said, str) and said and said != f"{name} environment" else []


def _client(
    provider: str,
    model: str | None,
    endpoint: str | None,
    port: int | None,
    temperature: float | None,
    max_tokens: int | None,
) -> LLMClient:
    """The model's client. A vendor's key goes to the vendor alone."""
    from openenv.llm import AnthropicClient, OpenAIClient, create_llm_client
    from openenv.project.errors import UsageProblem
    from openenv.protocol.errors import ConfigurationError
    from openenv.settings import model_key

    if model is None:
        raise UsageProblem(f"--provider {provider} needs --model")
    if endpoint is None and port is not None:
        raise UsageProblem("--llm-port goes with --llm-endpoint")
    sampling: Any = {
        "temperature": 0.2 if temperature is None else temperature,
        "max_tokens": 200 if max_tokens is None else max_tokens,
    }
    key = model_key(provider, at_vendor=endpoint is None)
    if endpoint is None and not key:
        raise UsageProblem(
            f"there is no key for {provider}: set {provider.upper()}_API_KEY, or --llm-endpoint to "
            "a server of your own"
        )
    try:
        if endpoint is None:
            return create_llm_client(provider, model, str(key), **sampling)
        served = OpenAIClient if provider == "openai" else AnthropicClient
        return served(endpoint, port, model, key, **sampling)
    except ConfigurationError as error:
        raise UsageProblem(f"--llm-endpoint, --temperature, --max-tokens: {error}") from error


def _run(plan: Plan, output_dir: Path, resume: bool) -> dict[str, Any]:
    from openenv.project.collection import write

    with step(f"Playing {plan.num_episodes} episodes on {plan.base_url}"):
        return write(plan, output_dir, resume=resume, told=say)


def _push(output_dir: Path, repo_id: str, private: bool, message: str | None) -> str:
    from openenv.harness.collecting.dataset import push_to_hf_hub

    with step(f"Uploading to {repo_id}"):
        return push_to_hf_hub(output_dir, repo_id, private=private, commit_message=message)


def _tell(answered: dict[str, Any], as_json: bool) -> None:
    unscored = answered["num_unscored"]
    lines = [
        f"{answered['num_collected']} episodes written to {answered['results']}, "
        f"{answered['num_skipped']} were there, {answered['num_dropped']} dropped, "
        f"{answered['num_failed']} failed"
        + (f", {unscored} without a reward that could be computed" if unscored else ""),
    ]
    if answered["avg_reward"] is not None:
        lines.append(
            f"mean reward {answered['avg_reward']:.3f}, success rate {answered['success_rate']:.0%}"
        )
    if "dataset" in answered:
        lines.append(f"uploaded to {answered['dataset']}")
    there = answered["num_collected"] + answered["num_skipped"]
    if not there:
        lines.append(f"nothing was collected{_why_nothing(answered)}")
    answer(answered, as_json, lines)
    if there:
        next_steps(f"head -n 1 {answered['results']}")


def _why_nothing(answered: dict[str, Any]) -> str:
    """What to do where no episode was written, as far as the counts tell."""
    if answered["num_failed"]:
        kinds = ", ".join(f"{kind} {count}" for kind, count in answered["failures"].items())
        return f": episodes failed ({kinds}); mend what the lines above say, and run it again"
    if answered["num_dropped"]:
        return ": every reward was below 0; --keep-losses keeps such episodes"
    return ": no reward could be computed"
