"""`openenv collect`: episodes of an environment, on disk."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from openenv.cli.hub_options import AsJson
from openenv.cli.output import answer, next_steps, say, step
from openenv.cli.progress import TensorBoard
from openenv.cli.reset_options import reset_options
from openenv.cli.served_env import served

if TYPE_CHECKING:
    from openenv.llm import LLMClient
    from openenv.rollout.collecting.run import Tracker
    from openenv.rollout.policies.environment_spec import EnvironmentSpec
    from openenv.rollout.policies.policy import Policy

Env = Annotated[
    str,
    typer.Argument(
        metavar="ENV",
        help="What is played: a folder, a file or an installed name, which is served for the run; "
        "with --base-url any name, such as FAMILY:VARIANT. It is recorded.",
    ),
]
BaseUrl = Annotated[
    str | None, typer.Option("--base-url", help="A server that runs, and plays it.")
]
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
PolicyName = Annotated[
    str | None,
    typer.Option(
        "--policy",
        help="Who plays, instead of --provider: random, scripted:MODULE:NAME, openai:MODEL, "
        "anthropic:MODEL or openai:MODEL@URL.",
    ),
]
Sessions = Annotated[
    int, typer.Option(min=1, help="How many episodes are played at once, if there is room.")
]
Seed = Annotated[
    int, typer.Option(min=0, help="Of the first episode; each further one has the next.")
]
Format = Annotated[
    Literal["jsonl", "parquet"], typer.Option("--format", help="Of the trajectories.")
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
    output_dir: OutputDir,
    base_url: BaseUrl = None,
    num_episodes: NumEpisodes = 10,
    max_turns: MaxTurns = 9,
    sessions: Sessions = 8,
    seed: Seed = 0,
    file_format: Format = "jsonl",
    episode_id_prefix: Prefix = "ep",
    resume: Resume = True,
    policy: PolicyName = None,
    provider: Provider = "scripted",
    model: Model = None,
    llm_endpoint: LlmEndpoint = None,
    llm_port: LlmPort = None,
    temperature: Temperature = None,
    max_tokens: MaxTokens = None,
    system_prompt: SystemPrompt = None,
    keep_losses: KeepLosses = False,
    tensorboard: TensorBoard = None,
    push_to_hub: PushToHub = None,
    private: Private = False,
    commit_message: CommitMessage = None,
    dataset_config: DatasetConfig = None,
    as_json: AsJson = False,
) -> None:
    """Play episodes and write them down as they end: trajectories, and results.jsonl."""
    _refuse_options_of_a_push(push_to_hub, private, commit_message)
    wanted: dict[str, Any] = {
        "num_episodes": num_episodes,
        "max_turns": max_turns,
        "seed": seed,
        "prefix": episode_id_prefix,
        "keep_losses": keep_losses,
        "options": reset_options(dataset_config, "--dataset-config"),
        "task": env,
        "columns": file_format == "parquet",
    }
    said = (model, llm_endpoint, llm_port, temperature, max_tokens, system_prompt)
    player = _player(policy, provider, *said)
    with served(env, base_url, sessions) as url:
        wanted["spec"] = _spec(url)
        wanted["policy"], wanted["player"] = player(wanted["spec"])
        wanted["listeners"] = _listeners(env, tensorboard, as_json)
        answered = _run(wanted, sessions, output_dir, resume)
    if push_to_hub is not None:
        answered["dataset"] = _push(output_dir, push_to_hub, private, commit_message)
    _tell(answered, max_turns, as_json)


def _player(
    policy: str | None, provider: Any, model: str | None, *said: Any
) -> Callable[[EnvironmentSpec], tuple[Policy, str]]:
    """What makes the policy, and its name for the record; wrong options are refused at once."""
    from openenv.project.errors import UsageProblem
    from openenv.protocol.errors import ConfigurationError
    from openenv.rollout import RandomPolicy, policy_named

    *options, system_prompt = said
    if policy is not None:
        if provider != "scripted" or any(value is not None for value in (model, *said)):
            raise UsageProblem("--policy says who plays; leave out --provider and its options")
        try:
            named = policy_named(policy)
        except ConfigurationError as error:
            raise UsageProblem(f"--policy: {error}") from error
        return lambda spec: (_checked(named, spec), policy)
    if provider == "scripted":
        _refuse_options_of_a_model(model, *said)
        return lambda spec: (_checked(RandomPolicy(), spec), provider)
    client = _client(provider, model, *options)
    return lambda spec: (_model(client, system_prompt, f"{provider}:{model}", spec), provider)


def _checked(policy: Policy, spec: EnvironmentSpec) -> Policy:
    """A policy, if it can play there: one that makes actions up is tried."""
    from openenv.project.errors import ProjectError
    from openenv.protocol.errors import ConfigurationError
    from openenv.rollout import RandomPolicy

    if isinstance(policy, RandomPolicy):
        try:
            policy.episode(0, spec)
        except ConfigurationError as error:
            raise ProjectError(str(error)) from error
    return policy


def _model(client: LLMClient, prompt: str | None, name: str, spec: EnvironmentSpec) -> Policy:
    """A model as a policy, which is told what the environment says of itself."""
    from openenv.rollout import ModelPolicy
    from openenv.rollout.policies.model_policy import SYSTEM_PROMPT

    if prompt is None:
        prompt = "\n\n".join([SYSTEM_PROMPT, *_description(spec.base_url)])
    return ModelPolicy(client, prompt, name=name)


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


def _spec(base_url: str) -> EnvironmentSpec:
    """What is played: a server that does not say what an action is is none to play on."""
    from openenv.client.endpoint import UNAUTHORIZED_STATUS
    from openenv.project.errors import ProjectError
    from openenv.protocol.errors import ConnectFailed
    from openenv.rollout.policies.environment_spec import environment_spec

    why = "it says nothing of it"
    try:
        spec = environment_spec(base_url)
        if spec.action_schema:
            return spec
    except ConnectFailed as error:
        if error.status == UNAUTHORIZED_STATUS:
            raise ProjectError(
                f"{base_url} wants a token (401); set OPENENV_CLIENT_TOKEN to it"
            ) from error
        why = str(error)
    raise ProjectError(
        f"{base_url}/schema does not tell what an action is ({why}); is it the address of a server "
        "that runs?"
    )


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


def _listeners(env: str, tensorboard: Path | None, as_json: bool) -> list[Tracker]:
    """What is told of each episode."""
    from openenv.cli.progress import shown
    from openenv.rollout import TensorBoardTracker

    curves: list[Tracker] = [] if tensorboard is None else [TensorBoardTracker(tensorboard)]
    return curves if as_json else [*curves, shown(Path(env).name)]


def _run(wanted: dict[str, Any], sessions: int, output_dir: Path, resume: bool) -> dict[str, Any]:
    from openenv.harness.collecting.collection import Collection
    from openenv.project.collection import write
    from openenv.rollout.collecting.crew import Terms

    collection = Collection(terms=Terms(sessions=sessions), **wanted)
    say(f"Playing {collection.num_episodes} episodes on {collection.spec.base_url}")
    return write(collection, output_dir, resume=resume, told=say)


def _push(output_dir: Path, repo_id: str, private: bool, message: str | None) -> str:
    from openenv.harness.collecting.dataset import push_to_hf_hub

    with step(f"Uploading to {repo_id}"):
        return push_to_hf_hub(output_dir, repo_id, private=private, commit_message=message)


def _tell(answered: dict[str, Any], max_turns: int, as_json: bool) -> None:
    unscored = answered["num_unscored"]
    lines = [
        f"{answered['num_collected']} episodes written to {answered['results']}, "
        f"{answered['num_skipped']} were there, {answered['num_dropped']} dropped, "
        f"{answered['num_failed']} failed"
        + (f", {unscored} without a reward that could be computed" if unscored else ""),
    ]
    if answered["avg_reward"] is not None:
        lines.append(
            f"mean reward {answered['avg_reward']:.3f}, "
            f"{answered['success_rate']:.0%} with a reward above 0"
        )
    lines += _caveats(answered, max_turns)
    if "dataset" in answered:
        lines.append(f"uploaded to {answered['dataset']}")
    there = answered["num_collected"] + answered["num_skipped"]
    if not there:
        lines.append(f"nothing was collected{_why_nothing(answered)}")
    answer(answered, as_json, lines)
    if there:
        next_steps(f"head -n 1 {answered['results']}")


def _caveats(answered: dict[str, Any], max_turns: int) -> Iterator[str]:
    """What the figures leave out, and how to have it."""
    written, dropped, cut = (answered[f"num_{name}"] for name in ("collected", "dropped", "cut"))
    if written and dropped:
        yield (
            f"these are the figures of the {written} that were written; {dropped} with a reward "
            "below 0 were dropped: --keep-losses keeps them"
        )
    if cut:
        yield (
            f"{cut} ended before the environment ended them: after --max-turns {max_turns}, or as "
            "the policy stopped"
        )


def _why_nothing(answered: dict[str, Any]) -> str:
    """What to do where no episode was written, as far as the counts tell."""
    if answered["num_failed"]:
        kinds = ", ".join(f"{kind} {count}" for kind, count in answered["failures"].items())
        return f": episodes failed ({kinds}); mend what the lines above say, and run it again"
    if answered["num_dropped"]:
        return ": every reward was below 0; --keep-losses keeps such episodes"
    return ": no reward could be computed"
