#!/usr/bin/env python3
"""Looks at Finch's pages in a real browser: Chromium, driven by ChromeDriver.

usage: browser.py FINCH [SCREENSHOTS]

Charts are drawn and their letters readable, in light and dark, at 1100 and 400 pixels; the pointer
shows values; nothing is written to the console and no request leaves the page; `--watch` updates
without a reload. With a folder for screenshots, each page is kept there as PNG.
"""

import base64
import json
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request

BROWSERS = ["chromium", "chromium-browser", "google-chrome"]


class Browser:
    """The few commands of the WebDriver protocol that are needed here."""

    def __init__(self):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
        self.address = f"http://127.0.0.1:{port}"
        self.driver = subprocess.Popen(
            ["chromedriver", f"--port={port}"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        deadline = time.monotonic() + 30
        while True:
            try:
                self.call("GET", "/status")
                break
            except OSError:
                assert time.monotonic() < deadline, "chromedriver does not answer"
                time.sleep(0.1)
        options = {
            "binary": next(filter(None, map(shutil.which, BROWSERS))),
            "args": ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars"],
        }
        wanted = {
            "browserName": "chrome",
            "goog:chromeOptions": options,
            "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"},
        }
        created = self.call("POST", "/session", {"capabilities": {"alwaysMatch": wanted}})
        self.session = "/session/" + created["sessionId"]

    def call(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(
            self.address + path, data, {"Content-Type": "application/json"}, method=method
        )
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)["value"]

    def post(self, path, **body):
        return self.call("POST", self.session + path, body)

    def devtools(self, command, **parameters):
        return self.post("/goog/cdp/execute", cmd=command, params=parameters)

    def run(self, script, *arguments):
        return self.post("/execute/sync", script=script, args=list(arguments))

    def open(self, address, width, dark):
        self.devtools(
            "Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.devtools("Emulation.setEmulatedMedia", features=[scheme])
        self.post("/url", url=address)

    def point_at(self, selector):
        """Moves the pointer to the middle of an element that is visible."""
        x, y = self.run(
            """const all = [...document.querySelectorAll(arguments[0])];
               const one = all.find((each) => each.getBoundingClientRect().width);
               one.scrollIntoView({block: "center"});
               const box = one.getBoundingClientRect();
               return [Math.round(box.x + box.width / 2), Math.round(box.y + box.height / 2)];""",
            selector,
        )
        move = {"type": "pointerMove", "duration": 0, "x": x, "y": y}
        pointer = {"type": "pointer", "id": "mouse", "parameters": {"pointerType": "mouse"}}
        self.post("/actions", actions=[{**pointer, "actions": [{**move, "x": x - 3}, move]}])

    def log(self, kind):
        return self.post("/se/log", type=kind)

    def requests(self):
        """Addresses requested since the last call."""
        messages = [json.loads(entry["message"])["message"] for entry in self.log("performance")]
        sent = [one for one in messages if one["method"] == "Network.requestWillBeSent"]
        return [one["params"]["request"]["url"] for one in sent]

    def screenshot(self, path):
        size = self.run("return [document.documentElement.clientWidth, document.documentElement.scrollHeight]")
        clip = {"x": 0, "y": 0, "width": size[0], "height": min(size[1], 6000), "scale": 1}
        taken = self.devtools("Page.captureScreenshot", format="png", captureBeyondViewport=True, clip=clip)
        path.write_bytes(base64.b64decode(taken["data"]))

    def close(self):
        try:
            self.call("DELETE", self.session)
        finally:
            self.driver.terminate()
            self.driver.wait()


# What is wrong with the page as it stands: one line each.
FAULTS = """
const faults = [];
const page = document.documentElement;
if (page.scrollWidth > page.clientWidth) faults.push(`${page.scrollWidth} pixels wide`);
const drawings = [...document.querySelectorAll("svg")].filter((one) => one.getBoundingClientRect().width);
if (!drawings.length) faults.push("no drawing");
for (const svg of drawings) {
  const name = svg.getAttribute("aria-label");
  const frame = svg.getBoundingClientRect();
  if (!svg.querySelector("path, rect")) faults.push(`${name}: empty`);
  for (const text of svg.querySelectorAll("text")) {
    const box = text.getBoundingClientRect();
    if (!text.textContent) continue;
    if (box.left < frame.left - 1 || box.right > frame.right + 1) faults.push(`${name}: "${text.textContent}" is clipped`);
    if (box.height < 8 || box.height > 26) faults.push(`${name}: "${text.textContent}" is ${box.height} pixels high`);
  }
}
for (const card of document.querySelectorAll(".card, figcaption"))
  if (card.scrollWidth > card.clientWidth + 1) faults.push(`${card.textContent} runs out of its frame`);
return faults;
"""


def check(condition, message):
    if not condition:
        sys.exit(f"browser: {message}")


def settings(*pairs):
    return [part for pair in pairs for part in ("--set", pair)]


def make_runs(finch, folder):
    """Small runs of different kinds. Returns their pages."""

    def run(*arguments):
        done = subprocess.run([finch, *arguments], cwd=folder, capture_output=True, text=True, timeout=120)
        check(done.returncode == 0, f"finch {' '.join(arguments)}: {done.stderr}")

    short = settings("run.closing_games=2", "run.closing_nodes=100")
    moves = settings("data.positions=100", "data.validation=100", "run.generations=6")
    run("tune", "vazquez-2013", *moves, *short, "--out", "moves")
    run("tune", "texel", *settings("run.generations=2"), *short, "--out", "weights")
    run("tune", "vazquez-2013", "--runs", "2", *moves, *settings("run.closing_games=0"), "--out", "several")
    pages = {name: folder / name / "report.html" for name in ["moves", "weights", "several"]}
    run("annotate", "moves/games.pgn", "--nodes", "500", "--out", "annotated.pgn", "--page", "annotated.html")
    return {**pages, "annotated": folder / "annotated.html"}


def look_at_pages(browser, pages, screenshots):
    for name, path in pages.items():
        for width, dark in [(1100, False), (1100, True), (400, False)]:
            view = f"{name}, {width} pixels{', dark' if dark else ''}"
            browser.open(path.as_uri(), width, dark)
            faults = browser.run(FAULTS)
            check(not faults, f"{view}: {'; '.join(faults[:5])}")
            if screenshots:
                browser.screenshot(screenshots / f"{name}-{width}{'-dark' if dark else ''}.png")
        outside = [one for one in browser.requests() if not one.startswith(("file:", "data:"))]
        check(not outside, f"{name}: requests {outside}")
        print(f"{name}: charts drawn, letters in their frames, no request")


def look_at_values(browser, page):
    browser.open(page.as_uri(), 1100, False)
    browser.point_at("figure.chart svg")
    told = browser.run("return document.querySelector('.tip').textContent")
    check(re.search(r"generation \d+\s+best [\d.]+%", told), f"the pointer shows '{told}'")
    browser.point_at("svg .row")
    told = browser.run("return document.querySelector('.tip').textContent")
    check("A knight" in told, f"the pointer shows '{told}' of a value")
    squares, first = browser.run("return [document.querySelectorAll('.board i').length, document.querySelector('.buttons span').textContent]")
    browser.run("document.querySelectorAll('.buttons button')[2].click()")
    second = browser.run("return document.querySelector('.buttons span').textContent")
    check(squares == 64 and first != second, f"the game of {squares} squares stays at '{second}'")
    saves = browser.run("return document.querySelectorAll('figure .save').length")
    check(saves >= 2, "no button to save a drawing")
    print("values under the pointer")


def look_at_watch(browser, finch, folder):
    more = settings("data.positions=300", "data.validation=0", "run.generations=4000", "run.closing_games=0")
    command = [finch, "tune", "vazquez-2013", *more, "--watch", "--out", "live"]
    run = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    try:
        line = run.stderr.readline()
        address = re.search(r"http://127\.0\.0\.1:\d+/", line)
        check(address, f"--watch prints no address: {line}")
        browser.requests()
        browser.open(address.group(), 1100, False)
        browser.run("window.unloaded = false")
        seen = set()
        deadline = time.monotonic() + 40
        while len(seen) < 3:
            check(time.monotonic() < deadline, f"--watch does not update: {sorted(seen)}")
            verdict = browser.run("return document.querySelector('.verdict').textContent")
            seen.update(re.findall(r"at generation (\d+) of", verdict))
            time.sleep(0.3)
        kept = browser.run("return window.unloaded === false")
        check(kept, "--watch reloads the page")
        faults = browser.run(FAULTS)
        check(not faults, f"--watch: {'; '.join(faults[:5])}")
        outside = [one for one in browser.requests() if not one.startswith((address.group(), "data:"))]
        check(not outside, f"--watch: requests {outside}")
    finally:
        run.kill()
        run.wait()
    deadline = time.monotonic() + 10
    while "ended" not in browser.run("return document.querySelector('.live').textContent"):
        check(time.monotonic() < deadline, "the page does not say that the run has ended")
        time.sleep(0.2)
    print("--watch updates without a reload")


def main():
    finch = str(pathlib.Path(sys.argv[1]).resolve())
    screenshots = pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else None
    if screenshots:
        screenshots.mkdir(parents=True, exist_ok=True)
    browser = Browser()
    try:
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            pages = make_runs(finch, folder)
            look_at_pages(browser, pages, screenshots)
            look_at_values(browser, pages["moves"])
            # The end of a watched run is an error of the network, which the page tells itself.
            errors = [one for one in browser.log("browser") if one["level"] == "SEVERE"]
            check(not errors, f"console: {errors}")
            look_at_watch(browser, finch, folder)
            errors = [one for one in browser.log("browser") if one["source"] == "javascript"]
            check(not errors, f"console: {errors}")
    finally:
        browser.close()


main()
