"""Takes the pictures of the page for the documentation, in Debian's chromium: docs/web-light.png, docs/web-dark.png and
docs/trace-light.png, docs/trace-dark.png.

``python scripts/web_pictures.py MODEL...`` opens `polytok web` with these tokenizers.
"""

from __future__ import annotations

import json
import shutil
import sys
import threading
from pathlib import Path
from urllib.parse import quote

from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.support.wait import WebDriverWait

import polytok
from polytok.web import PageServer

DOCS = Path(__file__).parent.parent / "docs"
TEXT = "I love you, baby! 猫が好きです。\nfor i in range(1000):  # שלום, 안녕 😉"
SIZE = (1280, 960)


def main(names: list[str]) -> None:
    """Writes the four pictures."""
    options = webdriver.ChromeOptions()
    options.binary_location = str(shutil.which("chromium"))
    size = ",".join(map(str, SIZE))
    for argument in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", f"--window-size={size}"):
        options.add_argument(argument)
    browser = webdriver.Chrome(options, webdriver.ChromeService(str(shutil.which("chromedriver"))))
    with PageServer([(name, polytok.load(name)) for name in names]) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        for theme in ("light", "dark"):
            media = {"features": [{"name": "prefers-color-scheme", "value": theme}]}
            browser.execute_cdp_cmd("Emulation.setEmulatedMedia", media)
            browser.get("about:blank")
            browser.get(f"{server.address}#{quote(json.dumps({'text': TEXT}))}")
            take(browser, len(names), theme)
        server.shutdown()
    browser.quit()


def take(browser: webdriver.Chrome, columns: int, theme: str) -> None:
    """Takes the picture of the page, and that of the trace of a word."""
    WebDriverWait(browser, 30).until(lambda _: len(browser.find_elements(By.CSS_SELECTOR, ".tokens .t")) > 20 * columns)
    browser.execute_script("document.getElementById('input').rows = 3")
    tokens = browser.find_elements(By.CLASS_NAME, "tokens")[1].find_elements(By.CLASS_NAME, "t")
    webdriver.ActionChains(browser).move_to_element(tokens[1]).perform()
    browser.save_screenshot(str(DOCS / f"web-{theme}.png"))
    tokens[1].click()
    WebDriverWait(browser, 30).until(lambda _: browser.find_elements(By.CSS_SELECTOR, "#trace .player"))
    browser.execute_script('document.querySelector("#trace details").scrollIntoView()')
    slider = browser.find_element(By.CSS_SELECTOR, "#trace input[type=range]")
    browser.execute_script(
        "arguments[0].value = arguments[0].max - 2; arguments[0].dispatchEvent(new Event('input'))", slider
    )
    browser.save_screenshot(str(DOCS / f"trace-{theme}.png"))


if __name__ == "__main__":
    main(sys.argv[1:])
