"""The application: pages, read API, static files, and what every answer gets."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.metadata import version
from typing import Any, Final

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from starlette.middleware.gzip import GZipMiddleware
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

from hippodrome.ladder.db import open_database
from hippodrome.ladder.settings import Settings
from hippodrome.ladder.web import api, errors, pages
from hippodrome.ladder.web.http import Finish
from hippodrome.ladder.web.reads import Reads
from hippodrome.ladder.web.render import STATIC

GZIP_LEVEL: Final = 6
"""Above it pages shrink by less than a hundredth and cost twice the time."""


def create_app(settings: Settings) -> FastAPI:
    """The application over the database of `settings`. Raises FieldError."""
    database = open_database(settings.database_url)

    @asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
        yield
        database.close()

    app = FastAPI(
        title="Hippodrome read API",
        version=version("hippodrome"),
        description="Ladders, bots, tournaments and matches, for reading only. Every page has its twin here.",
        docs_url=None,
        redoc_url=None,
        lifespan=lifespan,
    )
    app.state.reads = Reads(database)
    app.include_router(api.router)
    app.include_router(pages.router)
    app.mount("/static", _Static(directory=STATIC))
    errors.install(app)
    app.add_middleware(Finish)
    app.add_middleware(GZipMiddleware, minimum_size=800, compresslevel=GZIP_LEVEL)
    app.openapi = lambda: _openapi(app)  # type: ignore[method-assign]
    return app


def _openapi(app: FastAPI) -> dict[str, Any]:
    """The contract, with the problems that routes answer with in place of the framework's own."""
    if app.openapi_schema is None:
        schema = get_openapi(title=app.title, version=app.version, description=app.description, routes=app.routes)
        schemas = schema["components"]["schemas"]
        schemas |= errors.schemas()
        for unused in ("HTTPValidationError", "ValidationError"):
            schemas.pop(unused, None)
        app.openapi_schema = schema
    return app.openapi_schema


class _Static(StaticFiles):
    """Files whose addresses change with their content (`render.static_url`) may be kept for good."""

    def file_response(self, *args: Any, **kwargs: Any) -> Any:
        response = super().file_response(*args, **kwargs)
        scope: Scope = kwargs.get("scope") or args[2]
        lasting = b"v=" in scope["query_string"]
        response.headers["Cache-Control"] = "public, max-age=31536000, immutable" if lasting else "no-cache"
        return response
