"""Errors as answers: RFC 9457 problem JSON under /api, a page elsewhere. One line names the field, what was wrong, the fix."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any, Final

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException

from hippodrome.engine.errors import FieldError, HippodromeError
from hippodrome.ladder.errors import DatabaseUnavailable, NotFound
from hippodrome.ladder.web.render import page

log: Final = logging.getLogger("hippodrome.web")
API: Final = "/api/"
MEDIA_TYPE: Final = "application/problem+json"
RETRY_SECONDS: Final = 5


class Violation(BaseModel):
    """One field that is wrong."""

    field: str = Field(description="The parameter, as it is written in the address.")
    problem: str = Field(description="What is wrong with it.")
    fix: str = Field(description="What to do.")


class Problem(BaseModel):
    """A problem as of RFC 9457."""

    type: str = Field(default="about:blank", description="Always about:blank: the status says it all.")
    title: str = Field(description="The name of the status.")
    status: int = Field(description="The HTTP status.")
    detail: str = Field(description="One line for people: the field, what was wrong, the fix.")
    instance: str = Field(description="The path that was asked for.")
    errors: list[Violation] = Field(default=[], description="The fields that are wrong.")


def responses(*codes: int) -> dict[int | str, dict[str, Any]]:
    """The problems a route may answer with, for its OpenAPI description."""
    schema = {"schema": {"$ref": "#/components/schemas/Problem"}}
    return {code: {"description": HTTPStatus(code).phrase, "content": {MEDIA_TYPE: schema}} for code in codes}


def schemas() -> dict[str, Any]:
    """The schemas that `responses` refers to."""
    schema = Problem.model_json_schema(ref_template="#/components/schemas/{model}")
    return {**schema.pop("$defs"), "Problem": schema}


def install(app: FastAPI) -> None:
    """Make every error of `app` an answer of this module."""
    for kind, handler in (
        (HTTPException, _http),
        (RequestValidationError, _validation),
        (HippodromeError, _ours),
        (Exception, _unexpected),
    ):
        app.add_exception_handler(kind, handler)


def _answer(
    request: Request, status: int, detail: str, errors: Sequence[Violation] = (), headers: Mapping[str, str] | None = None
) -> Response:
    problem = Problem(
        title=HTTPStatus(status).phrase, status=status, detail=detail, instance=request.url.path, errors=list(errors)
    )
    if request.url.path.startswith(API):
        return JSONResponse(problem.model_dump(), status, headers, MEDIA_TYPE)
    return page(request, "error.html", {"problem": problem}, status=status, headers=headers)


def _http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    detail = error.detail
    if error.status_code == HTTPStatus.NOT_FOUND:
        detail = f"path: nothing is at {request.url.path[:80]!r}; fix: start at / or see /api for the read API"
    elif error.status_code == HTTPStatus.METHOD_NOT_ALLOWED:
        detail = f"method: {request.method} is not possible here; fix: use GET, everything here is read-only"
    return _answer(request, error.status_code, detail, headers=error.headers)


def _validation(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    wrong = [_violation(item) for item in error.errors()]
    detail = "; ".join(f"{item.field}: {item.problem}; fix: {item.fix}" for item in wrong)
    return _answer(request, HTTPStatus.UNPROCESSABLE_ENTITY, detail, wrong)


def _violation(item: Mapping[str, Any]) -> Violation:
    given = repr(item.get("input"))[:60]
    limits = item.get("ctx") or {}
    wanted = ", ".join(f"{_WORDS[name]} {value}" for name, value in limits.items() if name in _WORDS)
    fix = f"give a value {wanted}" if wanted else _FIXES.get(item["type"], "leave it out or see /api")
    return Violation(field=str(item["loc"][-1]), problem=f"{given} is not possible ({item['msg']})", fix=fix)


_WORDS: Final = {
    "ge": "of at least",
    "le": "of at most",
    "max_length": "of at most this many characters:",
    "pattern": "of the form",
}
_FIXES: Final = {"int_parsing": "give a whole number", "int_parsing_size": "give a smaller number", "missing": "give it"}


def _ours(request: Request, error: Exception) -> Response:
    if isinstance(error, FieldError):
        status = HTTPStatus.NOT_FOUND if isinstance(error, NotFound) else HTTPStatus.UNPROCESSABLE_ENTITY
        return _answer(request, status, str(error), [Violation(field=error.field, problem=error.problem, fix=error.fix)])
    if isinstance(error, DatabaseUnavailable):
        log.error("%s: %s", request.url.path, error)
        detail = "the database cannot be used now; fix: try again soon, the operators' log says more"
        return _answer(request, HTTPStatus.SERVICE_UNAVAILABLE, detail, headers={"Retry-After": str(RETRY_SECONDS)})
    return _unexpected(request, error)


def _unexpected(request: Request, error: Exception) -> Response:
    log.error("%s", request.url.path, exc_info=error)
    detail = "something went wrong here, and not by your doing; fix: tell the operators, their log says more"
    return _answer(request, HTTPStatus.INTERNAL_SERVER_ERROR, detail)
