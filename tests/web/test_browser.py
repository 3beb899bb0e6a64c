"""The pages in a real browser: accessible in light and dark, on a phone and on a desk, live without a reload."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, sync_playwright

ARGUMENTS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
)  # fmt: skip


@pytest.fixture(scope="module")
def browser(chromium: str) -> Iterator[Browser]:
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=chromium, args=list(ARGUMENTS))
        yield started
        started.close()


@pytest.fixture(scope="module")
def base(sqlite_town: Any) -> Iterator[str]:
    with sqlite_town.served() as (address, _):
        yield address


@pytest.mark.parametrize(("scheme", "width", "other"), [("light", 390, 1280), ("dark", 1280, 390)])
def test_all_pages_are_accessible_and_fit(
    browser: Browser, base: str, sqlite_town: Any, scheme: Any, width: int, other: int
) -> None:
    """axe finds nothing (WCAG 2.2 A and AA, best practice), the page does not overflow, nothing is asked of other sites.

    What axe finds depends on colours or on the width, not on the pair of them; overflow is looked for at both widths.
    """
    page = browser.new_page(color_scheme=scheme, viewport={"width": width, "height": 900})
    asked: list[str] = []
    complaints: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    for path in sqlite_town.kinds():
        page.goto(base + path)
        found = Axe().run(page).response["violations"]
        assert [(rule["id"], [node["target"] for node in rule["nodes"]]) for rule in found] == [], path
        for wide in (width, other):
            page.set_viewport_size({"width": wide, "height": 900})
            assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0, (path, wide)
        page.set_viewport_size({"width": width, "height": 900})
    assert complaints == []
    assert [url for url in asked if not url.startswith(base)] == []
    page.close()


def test_a_page_of_an_error_is_accessible_too(browser: Browser, base: str) -> None:
    page = browser.new_page()
    page.goto(base + "/bots/quoka")
    assert Axe().run(page).response["violations"] == []
    assert "did you mean 'quokka'" in page.inner_text("main")
    page.close()


def test_the_board_is_drawn_with_its_colours(browser: Browser, base: str, sqlite_town: Any) -> None:
    """The Content-Security-Policy lets the styles of the picture through, in the page and alone."""
    colours = []
    for path in (f"/matches/{sqlite_town.done[0]}?ply=3", f"/matches/{sqlite_town.done[0]}/board.svg?ply=3"):
        page = browser.new_page(color_scheme="light")
        page.goto(base + path)
        colours.append(page.eval_on_selector("svg .red", "mark => getComputedStyle(mark).fill"))
        page.close()
    assert colours[0] == colours[1] != "rgb(0, 0, 0)"


def test_the_keyboard_reaches_content_and_moves(browser: Browser, base: str, sqlite_town: Any) -> None:
    page = browser.new_page()
    page.goto(f"{base}/matches/{sqlite_town.done[0]}?ply=3")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Enter")
    assert page.evaluate("location.hash") == "#main"
    page.get_by_role("link", name="Next", exact=True).press("Enter")
    page.wait_for_url("**?ply=4#board")
    assert "Board after move 4" in page.inner_text("#board")
    page.close()


def test_everything_can_be_read_without_javascript(browser: Browser, base: str, sqlite_town: Any) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{base}/matches/{sqlite_town.done[0]}?ply=3")
    page.get_by_role("link", name="Previous").click()
    assert "Board after move 2" in page.inner_text("#board")
    page.goto(f"{base}/tournaments/summer")
    assert page.locator('meta[http-equiv="refresh"]').count() == 1
    context.close()


def test_a_running_tournament_moves_by_itself(browser: Browser, fresh_town: Any) -> None:
    """Each result appears without a reload; at the end the stream is closed."""
    with fresh_town.served() as (base, _):
        page: Page = browser.new_page()
        page.goto(f"{base}/tournaments/live")
        page.evaluate("window.same = true")
        page.get_by_text("0 of 2 matches done").wait_for(timeout=60_000)
        for done, match in enumerate(fresh_town.open_matches("live"), 1):
            with fresh_town.database.write() as session:
                fresh_town.finish(session, match)
            page.get_by_text(f"{done} of 2 matches done").wait_for(timeout=60_000)
        page.get_by_text("finished", exact=True).first.wait_for(timeout=60_000)
        assert page.evaluate("window.same") is True
        assert Axe().run(page).response["violations"] == []
        page.close()
