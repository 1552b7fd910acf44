"""Tests the local page in a browser: Debian's chromium and its driver, with selenium and axe."""

from __future__ import annotations

import json
import os
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from axe_selenium_python import Axe
from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.wait import WebDriverWait

import polytok
from polytok.web import PageServer, html_of_traces
from test_web import folder_with_template as folder_with_template

BROWSER, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
IS_CI = os.environ.get("CI") == "true"
pytestmark = pytest.mark.skipif(not IS_CI and not (BROWSER and DRIVER), reason="chromium and its driver are missing")
SECONDS = 60
TEXT = "Hi there, שלום 👩‍🚀"


@pytest.fixture(scope="module")
def browser() -> Iterator[webdriver.Chrome]:
    options = webdriver.ChromeOptions()
    options.binary_location = str(BROWSER)
    for argument in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--window-size=1400,1000"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    browser = webdriver.Chrome(options, webdriver.ChromeService(str(DRIVER)))
    yield browser
    browser.quit()


@pytest.fixture(scope="module")
def server() -> Iterator[PageServer]:
    small = polytok.train(["to be or not to be"] * 3, vocab_size=262)
    with PageServer([("default", polytok.load("default")), ("small", small)]) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


@pytest.fixture
def page(browser: webdriver.Chrome, server: PageServer) -> Iterator[webdriver.Chrome]:
    browser.get("about:blank")
    browser.get(f"{server.address}#{quote(json.dumps({'text': TEXT}))}")
    wait(browser, lambda: summary(browser, 0).startswith(f"{len(polytok.load('default').encode(TEXT))} tokens"))
    yield browser
    assert errors_of(browser) == []


def errors_of(browser: webdriver.Chrome) -> list[Any]:
    """The errors that the browser has logged since the last call."""
    rows = browser.get_log("browser")  # type: ignore[no-untyped-call]
    return [row for row in rows if row["level"] == "SEVERE"]


def wait(browser: webdriver.Chrome, is_done: Any) -> None:
    WebDriverWait(browser, SECONDS, poll_frequency=0.05).until(lambda _: is_done())


def summary(browser: webdriver.Chrome, column: int) -> str:
    heads = browser.find_elements(By.CSS_SELECTOR, ".column .head p[role=status]")
    return heads[column].text if column < len(heads) else ""


def chips(browser: webdriver.Chrome, column: int = 0) -> list[str]:
    script = (
        "return [...document.querySelectorAll('.tokens')[arguments[0]].querySelectorAll('.t')].map(t => t.textContent)"
    )
    result: list[str] = browser.execute_script(script, column)
    return result


def count_of(text: str) -> str:
    return f"{len(polytok.load('default').encode(text)):,} tokens"


def paste(browser: webdriver.Chrome, text: str) -> None:
    script = "const i = document.getElementById('input'); i.value = arguments[0]; i.dispatchEvent(new Event('input'))"
    browser.execute_script(script, text)


def drop(browser: webdriver.Chrome, path: Path) -> None:
    """Drops a file on the page, as a person does with the mouse."""
    create = "const i = document.createElement('input'); i.type = 'file'; i.id = 'dropped'; document.body.append(i)"
    browser.execute_script(create)
    browser.find_element(By.ID, "dropped").send_keys(str(path))
    browser.execute_script(
        "const i = document.getElementById('dropped'); const d = new DataTransfer();"
        "d.items.add(i.files[0]); i.remove();"
        "document.body.dispatchEvent(new DragEvent('drop', {dataTransfer: d, bubbles: true, cancelable: true}))"
    )


def violations(browser: webdriver.Chrome) -> list[str]:
    axe = Axe(browser)
    axe.inject()
    return [f"{row['id']}: {row['nodes'][0]['html']}" for row in axe.run()["violations"]]


def test_tokens_follow_the_keys(page: webdriver.Chrome) -> None:
    box = page.find_element(By.ID, "input")
    box.send_keys(" and more")
    wait(page, lambda: summary(page, 0).startswith(count_of(TEXT + " and more")))
    pieces = polytok.load("default").tokens("and more")
    assert chips(page)[-len(pieces) + 1 :] == [token.piece.decode().replace(" ", "␣") for token in pieces[1:]]
    assert summary(page, 1) != ""


def test_a_megabyte_is_shown_in_blocks(page: webdriver.Chrome) -> None:
    # With an automatic direction, chromium needs many seconds to put a megabyte into the text area.
    box = page.find_element(By.ID, "input")
    assert box.get_attribute("dir") == "" and box.value_of_css_property("unicode-bidi") == "plaintext"
    text = "many words, some longer than others\n" * 28_000
    paste(page, text)
    wait(page, lambda: summary(page, 0).startswith(count_of(text)))
    assert 0 < len(chips(page)) < 5_000
    script = "document.querySelectorAll('.tokens')[0].scrollTop = 1e9"
    page.execute_script(script)
    wait(page, lambda: chips(page)[-1] == "↵\n")
    assert len(chips(page)) < 5_000


def test_places_that_part_are_marked_and_found(page: webdriver.Chrome) -> None:
    paste(page, "to be or not")
    wait(page, lambda: "characters, 12 bytes" in summary(page, 1))
    marked = page.find_elements(By.CSS_SELECTOR, ".t.parts")
    assert marked and all("wavy" in chip.value_of_css_property("text-decoration") for chip in marked)
    page.find_element(By.ID, "next").click()
    assert page.find_element(By.ID, "detail").text.startswith("small: token ")


def test_models_are_switched_off_and_on(page: webdriver.Chrome) -> None:
    page.find_element(By.ID, "use-m1").click()
    wait(page, lambda: len(page.find_elements(By.CLASS_NAME, "column")) == 1)
    page.find_element(By.ID, "use-m1").click()
    wait(page, lambda: len(page.find_elements(By.CLASS_NAME, "column")) == 2)
    wait(page, lambda: chips(page, 1) != [])


@pytest.mark.parametrize("format", ["gguf", "huggingface"])
def test_dropped_files_are_loaded(page: webdriver.Chrome, tmp_path: Path, format: Any) -> None:
    path = tmp_path / f"dropped.{format}"
    polytok.load("default").save(path, format)
    size = path.stat().st_size
    if format == "gguf":  # only the metadata is sent, not what follows
        with path.open("ab") as file:
            file.write(bytes(50 << 20))
    drop(page, path)
    wait(page, lambda: "is loaded" in page.find_element(By.ID, "notice").text)
    assert summary(page, 2) == summary(page, 0)
    sizes = "return performance.getEntriesByType('resource').map(r => r.name).filter(n => n.includes('upload')).length"
    assert page.execute_script(sizes) == 1
    assert size < 50 << 20
    page.find_element(By.CSS_SELECTOR, "[aria-label^=Remove]").click()
    wait(page, lambda: len(page.find_elements(By.CLASS_NAME, "column")) == 2)


def test_a_file_that_is_no_tokenizer_is_named(page: webdriver.Chrome, tmp_path: Path) -> None:
    path = tmp_path / "letter.txt"
    path.write_text("Dear Ms")
    drop(page, path)
    wait(page, lambda: page.find_element(By.ID, "notice").text.startswith("letter.txt: "))
    assert "\n" in page.find_element(By.ID, "notice").text  # a line for each format
    errors_of(page)  # the browser logs the answer 400


def test_ids_become_text(page: webdriver.Chrome) -> None:
    page.find_element(By.CSS_SELECTOR, "input[value=ids]").click()
    paste(page, " ".join(map(str, polytok.load("default").encode(TEXT))))
    wait(page, lambda: page.find_element(By.CSS_SELECTOR, ".decoded").text == TEXT)
    paste(page, "1 x")
    wait(page, lambda: "“x” is not an id" in page.find_element(By.ID, "notice").text)


def test_keys_alone_reach_a_token_and_its_trace(page: webdriver.Chrome) -> None:
    page.find_element(By.ID, "input").click()
    for _ in range(30):
        webdriver.ActionChains(page).send_keys(Keys.TAB).perform()
        if page.switch_to.active_element.get_attribute("role") == "listbox":
            break
    tokens = page.switch_to.active_element
    assert tokens.get_attribute("aria-label") == "Tokens of default"
    tokens.send_keys(Keys.ARROW_RIGHT)
    detail = page.find_element(By.ID, "detail").text
    second = polytok.load("default").tokens(TEXT)[1].piece
    assert "token 2 of" in detail and detail.endswith(f": {second.hex(' ')}")
    active = page.find_element(By.ID, str(tokens.get_attribute("aria-activedescendant")))
    assert active.get_attribute("aria-selected") == "true"
    tokens.send_keys(Keys.END)
    total = len(polytok.load("default").encode(TEXT))
    assert f"token {total} of {total}" in page.find_element(By.ID, "detail").text
    tokens.send_keys(Keys.ENTER)
    wait(page, lambda: page.find_elements(By.CSS_SELECTOR, "#trace .player"))
    assert page.switch_to.active_element.get_attribute("id") == "trace-title"
    page.find_element(By.CSS_SELECTOR, "#trace .player button").send_keys(Keys.ENTER)
    assert "symbols before the first" in page.find_element(By.CSS_SELECTOR, "#trace details p[role=status]").text


def test_the_address_keeps_what_is_shown(page: webdriver.Chrome) -> None:
    paste(page, "kept")
    page.find_element(By.ID, "numbers").click()
    wait(page, lambda: quote('"text":"kept"') in page.current_url)
    page.refresh()
    wait(page, lambda: summary(page, 0).startswith(count_of("kept")))
    assert page.find_element(By.ID, "input").get_attribute("value") == "kept"
    assert page.find_element(By.ID, "numbers").is_selected()


def test_a_token_names_its_offsets_in_characters_and_in_bytes(page: webdriver.Chrome) -> None:
    text = "é 👩‍🚀 שלום 𓀀 ꙮ to be"
    paste(page, text)
    wait(page, lambda: summary(page, 0).startswith(count_of(text)))
    tokenizer = polytok.load("default")
    spans = tokenizer.spans(text)
    tokens = page.find_elements(By.CLASS_NAME, "tokens")[0]
    tokens.send_keys(Keys.HOME)
    fragments = 0
    for number, token in enumerate(tokenizer.tokens(text)):
        detail = page.find_element(By.ID, "detail").text
        first, last = int(spans.byte_starts[number]), int(spans.byte_ends[number])
        if "�" in token.piece.decode(errors="replace"):
            fragments += 1
            assert detail.endswith(f", bytes {first}–{last}")
        else:
            place = f", characters {spans.starts[number]}–{spans.ends[number]}, bytes {first}–{last}: "
            assert detail.endswith(place + token.piece.hex(" "))
        tokens.send_keys(Keys.ARROW_RIGHT)
    assert fragments > 2


def test_escapes_are_read_from_left_to_right_in_other_text(page: webdriver.Chrome) -> None:
    text = "שָׁלוֹם עולם 𓀀"
    paste(page, text)
    wait(page, lambda: summary(page, 0).startswith(count_of(text)))
    script = "return [...document.querySelectorAll(arguments[0])].map(t => getComputedStyle(t).direction)"
    column = ".column:first-child"
    assert set(page.execute_script(script, f"{column} .block")) == {"rtl"}
    assert set(page.execute_script(script, f"{column} .t.fragment")) == {"ltr"}
    assert "rtl" in page.execute_script(script, f"{column} .t:not(.fragment)")


def test_who_wrote_a_token_is_shown_by_colour_and_edge(browser: webdriver.Chrome, folder_with_template: Path) -> None:
    messages = [{"role": "user", "content": "to be"}, {"role": "assistant", "content": "not to be"}]
    with PageServer([("chat", polytok.load(folder_with_template))]) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        browser.get(f"{server.address}#{quote(json.dumps({'mode': 'chat', 'text': json.dumps(messages)}))}")
        wait(browser, lambda: len(chips(browser)) > 5)
        styles = browser.execute_script(
            "return [...document.querySelectorAll('.legend .t')].map(t => [t.textContent, "
            "getComputedStyle(t).borderLeftStyle, getComputedStyle(t).backgroundColor])"
        )
        names, edges, colours = zip(*styles, strict=True)
        assert names == ("written by the template", "of message 1 (user)", "of message 2 (assistant)")
        assert len(set(edges)) == len(set(colours)) == 3
        wanted = chips(browser)
        browser.find_element(By.CSS_SELECTOR, ".tokens .t").click()
        wait(browser, lambda: browser.find_elements(By.CSS_SELECTOR, "#trace .tokens-of-trace"))
        assert "takes them as tokens" not in browser.find_element(By.ID, "trace").text
        browser.find_element(By.ID, "prompt").click()
        wait(browser, lambda: len(chips(browser)) > len(wanted))
        server.shutdown()
    assert errors_of(browser) == []


def test_a_trace_is_not_wider_than_a_narrow_window(browser: webdriver.Chrome, tmp_path: Path) -> None:
    pattern = f"[{'a-z' * 200} ]+|."
    tokenizer = polytok.load(f"minbpe v1\n{pattern}\n0\n116 104\n".encode())
    path = tmp_path / "trace.html"
    path.write_text(html_of_traces([("words", tokenizer.trace("the words" * 500))]), "utf-8")
    browser.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride", {"width": 400, "height": 800, "deviceScaleFactor": 1, "mobile": False}
    )
    browser.get(path.as_uri())
    script = "const e = document.documentElement; return [e.scrollWidth, e.clientWidth]"
    width, seen = browser.execute_script(script)
    text = browser.find_element(By.TAG_NAME, "main").text
    browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    assert width == seen < 450
    assert "and 3,000 more tokens\n4,000 tokens" in text


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing(page: webdriver.Chrome, theme: str) -> None:
    while page.find_element(By.ID, "theme").text != f"Theme: {theme}":
        page.find_element(By.ID, "theme").click()
    page.find_element(By.ID, "numbers").click()
    page.find_elements(By.CSS_SELECTOR, ".tokens")[0].find_elements(By.CLASS_NAME, "t")[-1].click()
    wait(page, lambda: page.find_elements(By.CSS_SELECTOR, "#trace .player"))
    for fold in page.find_elements(By.CSS_SELECTOR, "#trace details:not([open]) > summary"):
        fold.send_keys(Keys.ENTER)
    assert violations(page) == []


def test_saved_files_show_the_same(page: webdriver.Chrome, server: PageServer, tmp_path: Path) -> None:
    from polytok.web.answers import ANSWERS

    path = tmp_path / "saved.html"
    path.write_text(ANSWERS["save"](server.models, {"text": TEXT, "models": ["m1", "m2"]}), "utf-8")
    wanted = [chips(page, 0), chips(page, 1)]
    page.get(path.as_uri())
    assert [chips(page, 0), chips(page, 1)] == wanted
    assert violations(page) == []
    path.write_text(html_of_traces([("default", polytok.load("default").trace("to be"))]), "utf-8")
    page.get(path.as_uri())
    assert violations(page) == []
