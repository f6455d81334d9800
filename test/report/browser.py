# SPDX-License-Identifier: Apache-2.0
"""A headless Chromium, driven over its debugging socket with what Python brings along."""
import base64
import json
import os
import shutil
import socket
import struct
import subprocess
import tempfile
import time
import urllib.parse
import urllib.request


def program():
    """The browser's path, or None."""
    return os.environ.get("TOSAC_CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


class Socket:
    """The client's half of RFC 6455, as far as one needs it here."""

    def __init__(self, url):
        at = urllib.parse.urlparse(url)
        self.s = socket.create_connection((at.hostname, at.port), timeout=120)
        key = base64.b64encode(os.urandom(16)).decode()
        self.s.sendall((f"GET {at.path} HTTP/1.1\r\nHost: {at.netloc}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                        f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\r\n").encode())
        self.rest = b""
        while b"\r\n\r\n" not in self.rest:
            self.rest += self.s.recv(4096)
        head, self.rest = self.rest.split(b"\r\n\r\n", 1)
        assert b" 101 " in head.split(b"\r\n")[0], head

    def take(self, n):
        while len(self.rest) < n:
            more = self.s.recv(1 << 16)
            if not more:
                raise EOFError("the browser has gone")
            self.rest += more
        out, self.rest = self.rest[:n], self.rest[n:]
        return out

    def send(self, text):
        data, mask = text.encode(), os.urandom(4)
        n = len(data)
        head = bytes([0x81, 0x80 | (n if n < 126 else 126 if n < 65536 else 127)])
        head += b"" if n < 126 else struct.pack(">H", n) if n < 65536 else struct.pack(">Q", n)
        self.s.sendall(head + mask + bytes(b ^ mask[i % 4] for i, b in enumerate(data)))

    def receive(self):
        text = b""
        while True:
            first, second = self.take(2)
            n = second & 127
            n = struct.unpack(">H", self.take(2))[0] if n == 126 else struct.unpack(">Q", self.take(8))[0] if n == 127 else n
            body = self.take(n)
            if first & 15 in (0, 1):
                text += body
            if first & 128 and first & 15 in (0, 1):
                return text.decode()


class Page:
    """One page: what it logs is kept in `console`."""

    def __init__(self, width=1280, height=800, dark=False, phone=False, still=False):
        self.folder = tempfile.mkdtemp(prefix="tosac-browser-")
        self.process = subprocess.Popen(
            [program(), "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--disable-extensions", "--hide-scrollbars",
             "--disable-background-networking", "--remote-debugging-port=0", f"--user-data-dir={self.folder}", "about:blank"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        port = self.wait_for(lambda: open(os.path.join(self.folder, "DevToolsActivePort")).read().split()[0])
        targets = self.wait_for(lambda: [t for t in json.load(urllib.request.urlopen(f"http://127.0.0.1:{port}/json")) if t["type"] == "page"])
        self.socket, self.number, self.console, self.events = Socket(targets[0]["webSocketDebuggerUrl"]), 0, [], []
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(domain + ".enable")
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=2 if phone else 1, mobile=phone)
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"},
                                                           {"name": "prefers-reduced-motion", "value": "reduce" if still else "no-preference"}])
        if phone:
            self.call("Emulation.setTouchEmulationEnabled", enabled=True)

    def wait_for(self, what, seconds=60):
        end = time.time() + seconds
        while True:
            try:
                value = what()
                if value:
                    return value
            except (OSError, IndexError, ValueError):
                pass
            if time.time() > end:
                raise TimeoutError("the browser does not answer")
            time.sleep(.1)

    def call(self, method, **parameters):
        self.number += 1
        self.socket.send(json.dumps({"id": self.number, "method": method, "params": parameters}))
        while True:
            answer = json.loads(self.socket.receive())
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            self.note(answer)

    def note(self, event):
        name, p = event.get("method"), event.get("params", {})
        if name == "Runtime.exceptionThrown":
            d = p["exceptionDetails"]
            self.console.append(("error", d.get("exception", {}).get("description") or d["text"]))
        elif name == "Runtime.consoleAPICalled":
            self.console.append((p["type"], " ".join(str(a.get("value", a.get("description"))) for a in p["args"])))
        elif name == "Log.entryAdded":
            self.console.append((p["entry"]["level"], p["entry"]["text"]))
        self.events.append((name, p))

    def open(self, path, part=""):
        self.call("Page.navigate", url="file://" + os.path.abspath(path) + part)
        self.wait_for(lambda: self.value("document.readyState === 'complete' && !!window.tosac && window.tosac.ready"))

    def value(self, expression):
        r = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in r:
            d = r["exceptionDetails"]
            raise RuntimeError(d.get("exception", {}).get("description") or d["text"])
        return r["result"].get("value")

    def inside(self, expression):
        """A value of the document in the page's frame, which has a process of its own."""
        port = open(os.path.join(self.folder, "DevToolsActivePort")).read().split()[0]
        frames = self.wait_for(lambda: [t for t in json.load(urllib.request.urlopen(f"http://127.0.0.1:{port}/json")) if t["type"] == "iframe"])
        wire = Socket(frames[0]["webSocketDebuggerUrl"])
        wire.send(json.dumps({"id": 1, "method": "Runtime.evaluate", "params": {"expression": expression, "returnByValue": True}}))
        return json.loads(wire.receive())["result"]["result"].get("value")

    def settle(self):
        """Two frames later everything has been drawn."""
        self.value("new Promise(r => requestAnimationFrame(() => requestAnimationFrame(() => r(1))))")

    def click(self, x, y):
        for kind in ("mouseMoved", "mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="none" if kind == "mouseMoved" else "left", clickCount=0 if kind == "mouseMoved" else 1)

    def type(self, text):
        self.call("Input.insertText", text=text)

    def key(self, key, code=0):
        text = {"text": "\r"} if key == "Enter" else {}
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=code, **(text if kind == "keyDown" else {}))

    def picture(self, path):
        self.settle()
        data = base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"])
        with open(path, "wb") as f:
            f.write(data)

    def requests(self):
        """What the page asked for beside itself."""
        return [p["request"]["url"] for name, p in self.events if name == "Network.requestWillBeSent" and not p["request"]["url"].startswith(("file:", "data:"))]

    def close(self):
        self.process.terminate()
        self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)
