"""Google's own client, firebase-admin from PyPI, against fcm-emulator.

The package is unchanged. What is told to it: the address (the attribute that holds it), the emulator's certificate authority
(by the environment), and service-account.json, whose token_uri is the emulator's. `deploy/test` runs this file; by hand:

    TODOKE_BIN=.build/release .build/python/*/bin/python Tests/Clients/firebase_admin_test.py [-k NAME]
"""

import asyncio
import logging
import sys
import unittest
import warnings

import firebase_admin
import google.auth.exceptions
from firebase_admin import credentials, exceptions, messaging

import messages
from counted import run
from emulator import Emulator

# The SDK would rather have fid than token, and says so each time.
warnings.filterwarnings("ignore", r"\w+\.tokens? is deprecated", DeprecationWarning)

# The target's name says what happens to it.
ERRORS = {
    "targets": [
        {"pattern": "dead-*", "is": "unregistered"},
        {"pattern": "foreign-*", "is": "other_sender"},
    ],
    "rules": [
        {"match": {"target": "quota-*"}, "effect": {"error": "QUOTA_EXCEEDED", "retry_after": 1}},
        {"match": {"target": "apns-*"}, "effect": {"error": "THIRD_PARTY_AUTH_ERROR"}},
        {"match": {"target": "argument-*"}, "effect": {"error": "INVALID_ARGUMENT"}},
        {"name": "flaky", "match": {"target": "flaky-*"}, "limit": 2, "effect": {"error": "UNAVAILABLE", "retry_after": 0}},
        {"match": {"target": "unavailable-*"}, "effect": {"error": "UNAVAILABLE", "retry_after": 0}},
        {"match": {"target": "internal-*"}, "effect": {"error": "INTERNAL"}},
        {"match": {"target": "page-*"}, "effect": {
            "status": 502, "headers": {"content-type": "text/html"}, "body": "<html>Bad gateway</html>"}},
        {"match": {"target": "stall-*"}, "effect": {"stall": True}},
    ],
}

# What firebase-admin makes of each, and how many requests it takes for that: a 401 is tried again with a new access token,
# twice; a 500 and a 503 up to four times; a 429 only by the synchronous client, because it has a Retry-After.
EXPECTED = {
    "dead": (messaging.UnregisteredError, "NOT_FOUND", 404, 1, 1),
    "foreign": (messaging.SenderIdMismatchError, "PERMISSION_DENIED", 403, 1, 1),
    "argument": (exceptions.InvalidArgumentError, "INVALID_ARGUMENT", 400, 1, 1),
    "page": (exceptions.UnknownError, "UNKNOWN", 502, 1, 1),
    "apns": (messaging.ThirdPartyAuthError, "UNAUTHENTICATED", 401, 3, 3),
    "quota": (messaging.QuotaExceededError, "RESOURCE_EXHAUSTED", 429, 5, 1),
    "unavailable": (exceptions.UnavailableError, "UNAVAILABLE", 503, 5, 5),
    "internal": (exceptions.InternalError, "INTERNAL", 500, 5, 5),
}


class Requests(logging.Handler):
    """Counts the requests that the HTTP libraries say they made, by version of HTTP."""

    def __init__(self):
        super().__init__()
        self.versions = {}

    def emit(self, record):
        if record.name == "httpx" and "messages:send" in str(record.args[1]):
            version = record.args[2]
        elif record.name == "urllib3.connectionpool" and len(record.args) == 8 and "messages:send" in record.args[4]:
            version = record.args[5]
        else:
            return
        self.versions[version] = self.versions.get(version, 0) + 1


class Client:
    """One firebase-admin app that talks to the emulator; its asynchronous half has one event loop for all its life."""

    def __init__(self, emulator, project=None, timeout=60):
        messaging._MessagingService.FCM_URL = emulator.endpoint + "/v1/projects/{0}/messages:send"
        options = {"httpTimeout": timeout}
        if project:
            options["projectId"] = project
        self.app = firebase_admin.initialize_app(
            credentials.Certificate(emulator.service_account), options, name=f"client-{id(self)}")
        self.loop = asyncio.new_event_loop()
        self.requests = Requests()
        for name, level in (("httpx", logging.INFO), ("urllib3.connectionpool", logging.DEBUG)):
            logging.getLogger(name).setLevel(level)
            logging.getLogger(name).addHandler(self.requests)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for name in ("httpx", "urllib3.connectionpool"):
            logging.getLogger(name).removeHandler(self.requests)
        service = messaging._get_messaging_service(self.app)
        self.loop.run_until_complete(service._async_client.aclose())
        service._client.close()
        self.loop.close()
        firebase_admin.delete_app(self.app)

    def send(self, message, dry_run=False):
        return messaging.send(message, dry_run, self.app)

    def send_each(self, batch, dry_run=False):
        return messaging.send_each(batch, dry_run, self.app)

    def send_each_async(self, batch, dry_run=False):
        # Its dry_run is True unless told otherwise, unlike that of all others.
        return self.loop.run_until_complete(messaging.send_each_async(batch, dry_run, self.app))


def to(token):
    return messaging.Message(token=token, data={"key": "value"})


def encoded(batch):
    return [messaging._MessagingService.encode_message(message) for message in batch]


class EveryKind(unittest.TestCase):
    """Every kind of message is accepted, and arrives as the client wrote it."""

    maxDiff = None

    def test_send(self):
        kinds = messages.every_kind()
        with Emulator() as emulator, Client(emulator) as client:
            for name, message in kinds.items():
                with self.subTest(name):
                    identity = client.send(message)
                    self.assertRegex(identity, r"^projects/demo-project/messages/\S+$")
                    self.assertEqual(emulator.accepted()[-1:], encoded([message]))
            self.assertEqual(len(emulator.accepted()), len(kinds))
            self.assertEqual(client.requests.versions, {"HTTP/1.1": len(kinds)})

    def test_send_each(self):
        batch = list(messages.every_kind().values())
        with Emulator() as emulator, Client(emulator) as client:
            self.check_all_arrived(emulator, batch, client.send_each(batch))

    def test_send_each_async(self):
        batch = list(messages.every_kind().values())
        with Emulator() as emulator, Client(emulator) as client:
            self.check_all_arrived(emulator, batch, client.send_each_async(batch))
            self.assertEqual(client.requests.versions, {"HTTP/2": len(batch)})

    def test_multicast(self):
        devices = [f"device-{number}" for number in range(3)]
        multicast = messaging.MulticastMessage(devices, data={"key": "value"}, android=messages.android())
        by_fid = messaging.MulticastMessage(fids=devices, notification=messaging.Notification("Title"))
        with Emulator() as emulator, Client(emulator) as client:
            answer = messaging.send_each_for_multicast(multicast, False, client.app)
            self.assertEqual([response.exception for response in answer.responses], [None] * 3)
            answer = client.loop.run_until_complete(
                messaging.send_each_for_multicast_async(by_fid, False, client.app))
            self.assertEqual([response.exception for response in answer.responses], [None] * 3)
            accepted = emulator.accepted()
            self.assertEqual(sorted(message["token"] for message in accepted if "token" in message), devices)
            self.assertEqual(sorted(message["fid"] for message in accepted if "fid" in message), devices)

    def test_dry_run(self):
        batch = list(messages.every_kind().values())
        with Emulator() as emulator, Client(emulator) as client:
            for message in batch:
                self.assertTrue(client.send(message, dry_run=True))
            for answer in (client.send_each(batch, dry_run=True), client.send_each_async(batch, dry_run=True)):
                self.assertEqual([response.exception for response in answer.responses], [None] * len(batch))
            self.assertEqual(emulator.accepted(), [])
            stats = emulator.control("/stats")
            self.assertEqual((stats["accepted"], stats["validated"]), (0, 3 * len(batch)))

    def check_all_arrived(self, emulator, batch, answer):
        self.assertEqual([response.exception for response in answer.responses], [None] * len(batch))
        self.assertEqual(len({response.message_id for response in answer.responses}), len(batch))
        self.assertCountEqual(emulator.accepted(), encoded(batch))


class Batches(unittest.TestCase):
    """500 messages at once, the most that one call takes."""

    batch = [to(f"device-{number}") for number in range(500)]

    def test_send_each(self):
        with Emulator() as emulator, Client(emulator) as client:
            answer = client.send_each(self.batch)
            self.check(emulator, answer)
            self.assertEqual(client.requests.versions, {"HTTP/1.1": 500})

    def test_send_each_async(self):
        with Emulator() as emulator, Client(emulator) as client:
            # The second batch finds open connections.
            for _ in range(2):
                answer = client.send_each_async(self.batch)
            self.check(emulator, answer, times=2)
            self.assertEqual(client.requests.versions, {"HTTP/2": 1000})
            # The emulator saw the same: one connection for the access token, and one with many streams at a time.
            stats = emulator.control("/stats")
            self.assertEqual(stats["requests"], {"http1": 1, "http2": 1000})
            self.assertEqual((stats["tokens"]["issued"], stats["targets"]["seen_twice"]), (1, 500))
            self.assertEqual(stats["connections"]["total"], 2)
            self.assertGreater(stats["streams_per_connection"]["peak"], 20)
            self.assertLessEqual(stats["streams_per_connection"]["peak"], 100)

    def check(self, emulator, answer, times=1):
        self.assertEqual({repr(response.exception) for response in answer.responses}, {"None"})
        self.assertEqual(
            sorted(message["token"] for message in emulator.accepted()),
            sorted(message.token for message in self.batch * times))


class Errors(unittest.TestCase):
    """Each error becomes the exception that firebase-admin has for it, after the requests that it makes for it."""

    def test_send(self):
        for name in ("dead", "foreign", "argument", "page", "apns"):
            with self.subTest(name), Emulator(scenario=ERRORS) as emulator, Client(emulator) as client:
                with self.assertRaises(exceptions.FirebaseError) as caught:
                    client.send(to(f"{name}-1"))
                self.check(name, caught.exception)
                self.assertEqual(sends(emulator), EXPECTED[name][3])

    def test_send_each(self):
        with Emulator(scenario=ERRORS) as emulator, Client(emulator) as client:
            self.check_all(emulator, client.send_each(self.batch()), column=3)

    def test_send_each_async(self):
        with Emulator(scenario=ERRORS) as emulator, Client(emulator) as client:
            self.check_all(emulator, client.send_each_async(self.batch()), column=4)

    def test_repeating_at_once_is_against_the_guidance(self):
        # FCM asks for ten seconds at least between two attempts; firebase-admin waits for 0, 1, 2 and 4.
        with Emulator(scenario=ERRORS) as emulator, Client(emulator) as client:
            client.send_each_async([to("flaky-1")])
            self.assertEqual(emulator.control("/stats")["violations"]["early_retry"], 2)

    def test_a_short_outage_is_survived(self):
        # Two answers of 503, then it works: three requests and no exception.
        for send in (Client.send_each, Client.send_each_async):
            with self.subTest(send.__name__), Emulator(scenario=ERRORS) as emulator, Client(emulator) as client:
                answer = send(client, [to("flaky-1")])
                self.assertIsNone(answer.responses[0].exception)
                self.assertEqual(len(emulator.accepted()), 1)
                self.assertEqual(sends(emulator), 3)

    def test_what_the_client_lets_through(self):
        # The SDK checks little of this, the emulator all of it.
        config = messaging.AndroidConfig
        wrong = {
            "data[from]": messaging.Message(token="device-1", data={"from": "me"}),
            "data[google.key]": messaging.Message(token="device-1", data={"google.key": "value"}),
            "size": messaging.Message(token="device-1", data={"key": "x" * 4096}),
            "topic size": messaging.Message(topic="news", data={"key": "x" * 2048}),
            "ttl": messaging.Message(token="device-1", android=config(ttl=28 * 86_400 + 1)),
            "condition": messaging.Message(condition="'dogs' in subjects"),
            "apns-priority": messaging.Message(
                token="device-1", apns=messaging.APNSConfig(headers={"apns-priority": "high"})),
        }
        with Emulator() as emulator, Client(emulator) as client:
            for name, message in wrong.items():
                with self.subTest(name):
                    with self.assertRaises(exceptions.InvalidArgumentError) as caught:
                        client.send(message)
                    self.check("argument", caught.exception)
            answer = client.send_each_async(list(wrong.values()))
            for name, response in zip(wrong, answer.responses):
                with self.subTest(name + ", asynchronous"):
                    self.assertIsInstance(response.exception, exceptions.InvalidArgumentError)
            self.assertEqual(emulator.accepted(), [])

    def test_another_project(self):
        with Emulator() as emulator, Client(emulator, project="other-project") as client:
            with self.assertRaises(exceptions.PermissionDeniedError):
                client.send(to("device-1"))

    def test_nobody_there(self):
        with Emulator() as emulator, Client(emulator, timeout=5) as client:
            client.send(to("device-1"))
            emulator.stop()
            with self.assertRaises(exceptions.UnavailableError):
                client.send(to("device-1"))
            answer = client.send_each_async([to("device-1")])
            self.assertIsInstance(answer.responses[0].exception, exceptions.UnavailableError)

    def test_no_answer(self):
        with Emulator(scenario=ERRORS) as emulator, Client(emulator, timeout=1) as client:
            answer = client.send_each_async([to("stall-1"), to("device-1")])
            self.assertIsInstance(answer.responses[0].exception, exceptions.DeadlineExceededError)
            self.assertIsNone(answer.responses[1].exception)

    def test_no_access_token(self):
        with Emulator(scenario={"token": {"error": "invalid_grant"}}) as emulator, Client(emulator) as client:
            with self.assertRaises(google.auth.exceptions.RefreshError) as caught:
                client.send(to("device-1"))
            self.assertIn("invalid_grant", str(caught.exception))
            self.assertEqual(emulator.accepted(), [])

    def batch(self):
        return [to(f"{name}-1") for name in EXPECTED] + [to("device-1")]

    def check_all(self, emulator, answer, column):
        self.assertEqual((answer.success_count, answer.failure_count), (1, len(EXPECTED)))
        for name, response in zip(EXPECTED, answer.responses):
            with self.subTest(name):
                self.check(name, response.exception)
        self.assertEqual(sends(emulator), 1 + sum(row[column] for row in EXPECTED.values()))

    def check(self, name, exception):
        kind, code, status = EXPECTED[name][:3]
        self.assertIs(type(exception), kind)
        self.assertEqual((exception.code, exception.http_response.status_code), (code, status))


def sends(emulator):
    """How many messages:send requests there were, by the emulator's count."""
    stats = emulator.control("/stats")
    return sum(stats[outcome] for outcome in ("accepted", "validated", "refused", "faulted"))


if __name__ == "__main__":
    sys.exit(run("firebase-admin"))
