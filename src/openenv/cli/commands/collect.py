"""`openenv collect`: episodes of a served environment, on disk."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from openenv.cli.hub_options import AsJson
from openenv.cli.output import answer, next_steps, say, step

if TYPE_CHECKING:
    from openenv.harness.collection import Collection

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
    typer.Option(help="Who plays: actions made up from the schema, or a model (not yet)."),
]
Model = Annotated[str | None, typer.Option(help="The model that plays.")]
LlmEndpoint = Annotated[str | None, typer.Option(help="Where the model is served.")]
LlmPort = Annotated[int | None, typer.Option(help="Its port.")]
Temperature = Annotated[float | None, typer.Option(help="How freely the model chooses (0.2).")]
MaxTokens = Annotated[int | None, typer.Option(help="The most tokens of one answer (200).")]
SystemPrompt = Annotated[str | None, typer.Option(help="What the model is told first.")]
KeepLosses = Annotated[
    bool, typer.Option("--keep-losses", help="Keep episodes with a reward below 0.")
]
PushToHub = Annotated[
    str | None, typer.Option("--push-to-hub", "-H", help="A data set to push to (not yet).")
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
    of_a_model = (model, llm_endpoint, llm_port, temperature, max_tokens, system_prompt)
    _refuse_models(provider, model, of_a_model)
    _refuse_the_hub(push_to_hub, private, commit_message)
    collection = _collection(
        base_url,
        num_episodes=num_episodes,
        max_turns=max_turns,
        prefix=episode_id_prefix,
        keep_losses=keep_losses,
        options=_options(dataset_config),
        task=env,
    )
    _run(collection, output_dir, resume, as_json)


def _refuse_models(provider: str, model: str | None, of_a_model: tuple[object, ...]) -> None:
    from openenv.project.errors import ProjectError, UsageProblem

    if provider == "scripted":
        if any(value is not None for value in of_a_model):
            raise UsageProblem(
                "--model, --llm-endpoint, --llm-port, --temperature, --max-tokens and "
                "--system-prompt are of a model, and --provider scripted has none; leave them out"
            )
        return
    if model is None:
        raise UsageProblem(f"--provider {provider} needs --model")
    raise ProjectError(
        f"--provider {provider} is not available in this version; --provider scripted is"
    )


def _refuse_the_hub(push_to_hub: str | None, private: bool, commit_message: str | None) -> None:
    from openenv.project.errors import ProjectError, UsageProblem

    if push_to_hub is not None:
        raise ProjectError(
            "--push-to-hub is not available in this version; upload the folder with "
            f"`hf upload {push_to_hub} DIR --repo-type dataset`"
        )
    if private or commit_message is not None:
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


def _collection(base_url: str, **wanted: Any) -> Collection:
    """The episodes, played by actions made up from the server's own schema."""
    from openenv.client.endpoint import UNAUTHORIZED_STATUS
    from openenv.harness.collection import Collection
    from openenv.project.errors import ProjectError, UsageProblem
    from openenv.protocol.errors import ConfigurationError
    from openenv.settings import client_headers
    from openenv.testing.samples import NoSample
    from openenv.testing.scripted import ScriptedPolicy
    from openenv.validation.target import Target
    from openenv.validation.web import Site

    try:
        base_url = Target.at_url(base_url).place
    except ConfigurationError as error:
        raise UsageProblem(f"--base-url: {error}") from error
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
    try:
        ScriptedPolicy(action)
    except NoSample as error:
        raise ProjectError(f"no action can be made up for this environment: {error}") from error
    return Collection(
        base_url=base_url, make_policy=lambda seed: ScriptedPolicy(action, seed), **wanted
    )


def _run(collection: Collection, output_dir: Path, resume: bool, as_json: bool) -> None:
    from openenv.project.collection import write

    with step(f"Playing {collection.num_episodes} episodes on {collection.base_url}"):
        answered = write(collection, output_dir, resume=resume, told=say)
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
    answer(answered, as_json, lines)
    next_steps(f"head -n 1 {answered['results']}")
