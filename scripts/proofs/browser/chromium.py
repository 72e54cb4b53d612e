"""A headless Chromium, driven over the pipe of its DevTools protocol. Needs nothing but Python."""

import base64
import json
import os
import select
import shutil
import signal
import subprocess
import time
from pathlib import Path


class BrowserError(Exception):
    pass


class Chromium:
    def __init__(self, profile: Path):
        program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
        if program is None:
            raise BrowserError("there is no Chromium on the PATH")
        from_us, self._output = os.pipe()
        self._input, to_us = os.pipe()
        arguments = [
            program, "--headless=new", "--remote-debugging-pipe", f"--user-data-dir={profile}", "--no-first-run",
            "--no-default-browser-check", "--disable-gpu", "--disable-dev-shm-usage", "--disable-extensions",
            "--disable-background-networking", "--disable-component-update", "--disable-sync", "--mute-audio",
            "--hide-scrollbars", "--force-color-profile=srgb", "--window-size=1000,700",
        ]  # fmt: skip
        if os.geteuid() == 0:
            # Its sandbox refuses to run as root, as build machines do.
            arguments.append("--no-sandbox")

        def connect() -> None:
            # The protocol's pipe is descriptors 3 and 4, which must not be overwritten before they are copied.
            read, write = os.dup(from_us), os.dup(to_us)
            high = os.dup2(read, 90), os.dup2(write, 91)
            os.dup2(high[0], 3)
            os.dup2(high[1], 4)
            for descriptor in (90, 91):
                os.close(descriptor)

        self._process = subprocess.Popen(
            [*arguments, "about:blank"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            close_fds=False,
            preexec_fn=connect,
            start_new_session=True,
        )
        os.close(from_us)
        os.close(to_us)
        self._buffer = b""
        self._last_id = 0
        self.events: list[dict] = []
        self._session = None

    def __enter__(self):
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Network", "Log", "Runtime"):
            self.call(f"{domain}.enable")
        return self

    def __exit__(self, *_):
        try:
            self._session = None
            self.call("Browser.close", patience=5)
            self._process.wait(timeout=10)
        except (BrowserError, OSError, subprocess.TimeoutExpired):
            # Only the session that was started above.
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
        os.close(self._output)
        os.close(self._input)

    def call(self, method: str, patience: float = 60, **parameters) -> dict:
        self._last_id += 1
        message = {"id": self._last_id, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self._output, data) :]
        until = time.monotonic() + patience
        while True:
            reply = self._next(until, method)
            if reply.get("id") == self._last_id:
                if "error" in reply:
                    raise BrowserError(f"{method}: {reply['error'].get('message')}")
                return reply["result"]
            self.events.append(reply)

    def _next(self, until: float, what: str) -> dict:
        while b"\0" not in self._buffer:
            if not select.select([self._input], [], [], max(0, until - time.monotonic()))[0]:
                raise BrowserError(f"{what}: no answer in time")
            data = os.read(self._input, 1 << 20)
            if not data:
                raise BrowserError(f"{what}: the browser has gone")
            self._buffer += data
        message, _, self._buffer = self._buffer.partition(b"\0")
        return json.loads(message)

    def go(self, url: str) -> None:
        self.call("Page.navigate", url=url)
        self.wait("document.readyState == 'complete'")

    def evaluate(self, expression: str):
        reply = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in reply:
            raise BrowserError(f"{expression}: {reply['exceptionDetails'].get('text')}")
        return reply["result"].get("value")

    def wait(self, condition: str, patience: float = 30) -> None:
        until = time.monotonic() + patience
        while True:
            try:
                if self.evaluate(condition):
                    return
            except BrowserError as error:
                # Between two pages there is nothing to ask.
                problem = error
            else:
                problem = None
            if time.monotonic() > until:
                raise BrowserError(f"never came true: {condition}; at {self.address}: {problem or self.text}")
            time.sleep(0.05)

    @property
    def address(self) -> str:
        return self.history[-1]

    @property
    def text(self) -> str:
        return self.evaluate("document.body ? document.body.innerText : ''")

    @property
    def history(self) -> list[str]:
        """What the back button leads to."""
        return [entry["url"] for entry in self.call("Page.getNavigationHistory")["entries"]]

    def click(self, selector: str) -> None:
        """Presses the left button of the mouse in the middle of an element, once the page has been painted: what is
        pressed before that, Chromium drops."""
        self.evaluate(
            "(async () => { while (!performance.getEntriesByType('paint').length)"
            " await new Promise((again) => setTimeout(again, 20));"
            " await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))); })()"
        )
        box = self.evaluate(
            f"(() => {{ const e = document.querySelector({json.dumps(selector)}); if (!e) return null;"
            " e.scrollIntoView({block: 'center'}); const r = e.getBoundingClientRect();"
            " return [r.x + r.width / 2, r.y + r.height / 2]; })()"
        )
        if box is None:
            raise BrowserError(f"there is no {selector} at {self.address}")
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=box[0], y=box[1], button="left", clickCount=1)

    def requests(self) -> list[str]:
        """Every URL that was asked for since the last call of `forget`."""
        return [e["params"]["request"]["url"] for e in self.events if e.get("method") == "Network.requestWillBeSent"]

    def complaints(self) -> list[str]:
        """What the browser said about the pages: violated policies, scripts that fail."""
        texts = []
        for event in self.events:
            if event.get("method") == "Log.entryAdded":
                texts.append(event["params"]["entry"]["text"])
            elif event.get("method") == "Runtime.exceptionThrown":
                texts.append(event["params"]["exceptionDetails"]["text"])
        return texts

    def forget(self) -> None:
        self.events.clear()

    def screenshot(self, path: Path, width: int = 1000, height: int = 700, dark: bool = False) -> None:
        self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 500
        )
        self.call(
            "Emulation.setEmulatedMedia",
            features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}],
        )
        self.evaluate("new Promise(drawn => requestAnimationFrame(() => requestAnimationFrame(drawn)))")
        data = self.call("Page.captureScreenshot", format="png")["data"]
        path.write_bytes(base64.b64decode(data))

    def overflows(self) -> bool:
        """Whether a reader would have to scroll sideways."""
        return self.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth")
