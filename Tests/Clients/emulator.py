"""A running fcm-emulator for one test: started, trusted, asked, and stopped."""

import json
import os
import pathlib
import shutil
import signal
import ssl
import subprocess
import tempfile
import time
import urllib.request

PROGRAM = pathlib.Path(os.environ["TODOKE_BIN"]) / "fcm-emulator"


class Emulator:
    """The emulator as a context manager: `with Emulator(scenario={…}) as emulator:`.

    Clients trust its certificate authority the way that they all can be told to: by SSL_CERT_FILE (httpx) and
    REQUESTS_CA_BUNDLE (requests) in the environment. So there is one at a time.
    """

    def __init__(self, *options, scenario=None):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="clients."))
        self.options = list(options)
        self.process = None
        if scenario is not None:
            path = self.directory / "scenario.json"
            path.write_text(json.dumps(scenario))
            self.options += ["--scenario", str(path)]

    def __enter__(self):
        self.process = subprocess.Popen(
            [PROGRAM, "--directory", self.directory, "--listen", "127.0.0.1:0", *self.options],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        # Written last: when it is there, everything is.
        deadline = time.monotonic() + 30
        while not (self.directory / "endpoint").exists():
            if self.process.poll() is not None:
                raise RuntimeError(f"fcm-emulator ended at once: {self.process.stdout.read()}")
            if time.monotonic() > deadline:
                self.process.kill()
                raise RuntimeError("fcm-emulator wrote no endpoint within 30 s")
            time.sleep(0.01)
        os.environ["SSL_CERT_FILE"] = os.environ["REQUESTS_CA_BUNDLE"] = str(self.directory / "ca.pem")
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.stop()
        shutil.rmtree(self.directory)

    def stop(self):
        """Ends it as a person would; from then on its port refuses."""
        self.process.send_signal(signal.SIGTERM)
        output, _ = self.process.communicate(timeout=30)
        if self.process.returncode != 0:
            raise RuntimeError(f"fcm-emulator ended with {self.process.returncode}: {output}")

    @property
    def endpoint(self):
        return (self.directory / "endpoint").read_text().strip()

    @property
    def service_account(self):
        return str(self.directory / "service-account.json")

    def accepted(self):
        """The messages of accepted.ndjson, which has each before its answer is sent."""
        with open(self.directory / "accepted.ndjson") as lines:
            return [json.loads(line)["message"] for line in lines]

    def control(self, path):
        """What the control API answers to a GET."""
        url = (self.directory / "control").read_text().strip() + path
        with urllib.request.urlopen(url, timeout=30) as answer:
            return json.load(answer)
