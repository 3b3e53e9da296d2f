"""GET endpoints as a list."""

import httpx
from fastapi import FastAPI
from pydantic import BaseModel

from openenv.core.env_server.route_config import GetEndpointConfig, register_get_endpoints


class Answer(BaseModel):
    """What an endpoint gives."""

    text: str


def blocking() -> Answer:
    return Answer(text="blocking")


async def awaiting() -> dict[str, str]:
    return {"text": "awaiting"}


async def test_each_is_an_endpoint_that_is_documented() -> None:
    app = FastAPI()
    configs = [
        GetEndpointConfig("/one", blocking, Answer, "Own", "One", "The first."),
        GetEndpointConfig("/two", awaiting, dict[str, str], "Own", "Two", "The second."),
    ]
    register_get_endpoints(app, configs)
    transport = httpx.ASGITransport(app=app)
    async with httpx.AsyncClient(transport=transport, base_url="http://app") as caller:
        assert (await caller.get("/one")).json() == {"text": "blocking"}
        assert (await caller.get("/two")).json() == {"text": "awaiting"}
        told = (await caller.get("/openapi.json")).json()["paths"]["/one"]["get"]
    assert (told["tags"], told["summary"], told["description"]) == (["Own"], "One", "The first.")
