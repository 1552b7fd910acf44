"""Measures in a browser how soon the tokens of a text are shown after a key.

``python -m bench.web MODEL...`` opens the page of ``polytok web`` in Debian's chromium, puts a text of 10 KB of English
prose (and then of 1 MB) in it, and types letters. A row has the median and the slowest time from the event of a key to
the end of the frame that shows its tokens, by the browser's clock.
"""

from __future__ import annotations

import shutil
import statistics
import sys
import threading

from selenium import webdriver
from selenium.webdriver.common.by import By

import polytok
from polytok.files import distinct_ends
from polytok.web import PageServer

from .cutting import corpus_text

SIZES = {"10 KB": 10_000, "1 MB": 1_000_000}
KEYS = {"10 KB": 50, "1 MB": 8}
_MEASURE = """
const [done, box] = [arguments[1], document.getElementById('input')];
const times = [];
const wait = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));
// A message that is sent in the callback of a frame arrives when the frame has been drawn.
const channel = new MessageChannel();
const drawn = () => new Promise((resolve) => {
  channel.port1.onmessage = resolve;
  requestAnimationFrame(() => channel.port2.postMessage(0));
});
(async () => {
  for (let i = 0; i < arguments[0]; i++) {
    const before = document.documentElement.dataset.answers;
    const start = performance.now();
    box.setRangeText('x', box.value.length, box.value.length, 'end');
    box.dispatchEvent(new Event('input'));
    while (document.documentElement.dataset.answers === before) await wait(0);
    await drawn();
    times.push(performance.now() - start);
    await wait(50);
  }
  done(times);
})();
"""


def main(names: list[str]) -> None:
    """Prints a row for each size of the text."""
    tokenizers = [(name, polytok.load(name)) for name in names or ["default"]]
    options = webdriver.ChromeOptions()
    options.binary_location = str(shutil.which("chromium"))
    for argument in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--window-size=1400,1000"):
        options.add_argument(argument)
    browser = webdriver.Chrome(options, webdriver.ChromeService(str(shutil.which("chromedriver"))))
    browser.set_script_timeout(300)
    with PageServer(tokenizers) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        print(f"tokenizers: {', '.join(distinct_ends([name for name, _ in tokenizers]))}")
        for name, size in SIZES.items():
            browser.get("about:blank")
            browser.get(server.address)
            box = browser.find_element(By.ID, "input")
            browser.execute_script("arguments[0].value = arguments[1]", box, corpus_text(size))
            browser.execute_script("arguments[0].dispatchEvent(new Event('input'))", box)
            times = browser.execute_async_script(_MEASURE, KEYS[name])
            print(f"{name:>6}  median {statistics.median(times):6.1f} ms  slowest {max(times):6.1f} ms")
        server.shutdown()
    browser.quit()


if __name__ == "__main__":
    main(sys.argv[1:])
