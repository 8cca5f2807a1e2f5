"""todoke-producer against Google's own client: a template and a row become what firebase-admin sends for the same message.

The client's messages go through its public send path to fcm-emulator, which keeps what arrived. `deploy/test` runs this
file; by hand:

    TODOKE_BIN=.build/release TODOKE_DISCOVERY=FCM.V1.JSON .build/python/*/bin/python Tests/Clients/producer_test.py [-k NAME]
"""

import copy
import datetime
import decimal
import inspect
import json
import os
import pathlib
import re
import struct
import subprocess
import sys
import tempfile
import unittest

from firebase_admin import messaging

import producer_cases
from counted import run
from emulator import Emulator
from firebase_admin_test import Client

PRODUCER = pathlib.Path(os.environ["TODOKE_BIN"]) / "todoke-producer"
SCHEMAS = json.loads(pathlib.Path(os.environ["TODOKE_DISCOVERY"]).read_text())["schemas"]

# What the SDK exports beside the parts of a message.
NO_PARTS = {
    "BatchResponse", "ErrorInfo", "MulticastMessage", "QuotaExceededError", "SendResponse", "SenderIdMismatchError",
    "ThirdPartyAuthError", "TopicManagementResponse", "UnregisteredError",
}
PARTS = tuple(
    part for name, part in vars(messaging).items()
    if name in messaging.__all__ and inspect.isclass(part) and name not in NO_PARTS)


def canonical(value, schema, path="message"):
    """A message in one spelling, by Google's description of its types; equal are messages that are the same to FCM.

    FCM reads JSON as protocol buffers do: a field has two names (collapse_key, collapseKey) and null leaves it unset;
    "3.5s" and "3.500000000s" are one duration, and likewise moments, which may have an offset; a number may stand in a
    string, and a float has 32 bits. android.priority is the one enumeration that FCM takes in small letters, as
    firebase-admin writes it. Maps (data, headers) and what FCM only passes on (apns.payload, webpush.notification) stay as
    they are.
    """
    if "$ref" in schema:
        schema = SCHEMAS[schema["$ref"]]
    kind, form = schema["type"], schema.get("format")
    if kind == "object" and "properties" in schema:
        fields = {}
        for name, member in value.items():
            camel = re.sub("_(.)", lambda letter: letter[1].upper(), name)
            if camel not in schema["properties"]:
                raise AssertionError(f"{path}.{name}: FCM has no such field")
            if camel in fields:
                raise AssertionError(f"{path}.{name}: there twice")
            if member is not None:
                fields[camel] = canonical(member, schema["properties"][camel], f"{path}.{name}")
        return fields
    if kind == "array":
        return [canonical(member, schema["items"], path) for member in value]
    if isinstance(value, bool) != (kind == "boolean"):
        raise AssertionError(f"{path}: {value!r} is no {kind}")
    if kind == "integer":
        return int(value)
    if kind == "number":
        return struct.unpack("f", struct.pack("f", float(value)))[0]
    if form == "google-duration":
        return decimal.Decimal(value.removesuffix("s")).normalize()
    if form == "google-datetime":
        return datetime.datetime.fromisoformat(value.replace("Z", "+00:00")).astimezone(datetime.timezone.utc)
    if path == "message.android.priority":
        return value.upper()
    if kind == "string" and not isinstance(value, str):
        raise AssertionError(f"{path}: {value!r} is no string")
    return distinct(value)


def distinct(value):
    """The value with true and 1 apart, which are equal in Python."""
    if isinstance(value, dict):
        return {key: distinct(member) for key, member in value.items()}
    if isinstance(value, list):
        return [distinct(member) for member in value]
    return f"boolean {value}" if isinstance(value, bool) else value


def produced(case, directory):
    """The message that the producer makes of a case's template and row."""
    template, audience = directory / "template.json", directory / "row.ndjson"
    template.write_text(case.template)
    audience.write_text(json.dumps(case.row) + "\n")
    options = case.options
    if "--notification-id" not in options:
        options += ("--notification-id", producer_cases.ID)
    result = subprocess.run(
        [PRODUCER, "--app", "recipes", "--preview", "1", "--template", template, "--audience", audience, *options],
        stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=30)
    if result.returncode != 0 or result.stderr or result.stdout.count("\n") != 1:
        raise AssertionError(f"exit code {result.returncode}: {result.stdout}{result.stderr}")
    # A key that is there twice would hide from a dictionary.
    return json.loads(result.stdout, object_pairs_hook=unique)


def unique(pairs):
    keys = [key for key, _ in pairs]
    if len(set(keys)) != len(keys):
        raise AssertionError(f"a key twice: {keys}")
    return dict(pairs)


def parts(value):
    """A message and all objects of the SDK inside it."""
    if isinstance(value, PARTS):
        yield value
        for member in vars(value).values():
            yield from parts(member)
    elif isinstance(value, list):
        for member in value:
            yield from parts(member)


def fields(part):
    """The fields that a class's constructor takes, by the names of the attributes that keep them."""
    for name, parameter in list(inspect.signature(part.__init__).parameters.items())[1:]:
        yield "custom_data" if parameter.kind is inspect.Parameter.VAR_KEYWORD else name


class Producer(unittest.TestCase):
    maxDiff = None

    def test_what_firebase_admin_sends(self):
        with tempfile.TemporaryDirectory() as directory, Emulator() as emulator, Client(emulator) as client:
            for number, case in enumerate(producer_cases.cases):
                with self.subTest(case.name):
                    client.send(case.message)
                    accepted = emulator.accepted()
                    sent = canonical(accepted[-1], SCHEMAS["Message"])
                    self.assertEqual(canonical(produced(case, pathlib.Path(directory)), SCHEMAS["Message"]), sent)
            self.assertEqual(len(emulator.accepted()), len(producer_cases.cases))

    def test_a_difference_is_seen(self):
        # The comparison itself: of each case, whatever value is changed or taken away makes another message.
        for case in producer_cases.cases:
            with self.subTest(case.name):
                message = json.loads(str(case.message))
                whole = canonical(message, SCHEMAS["Message"])
                for other in changed(message):
                    try:
                        read = canonical(other, SCHEMAS["Message"])
                    except (AssertionError, ValueError, decimal.InvalidOperation):
                        continue  # no duration, moment or number any more
                    self.assertNotEqual(read, whole, other)


class Cases(unittest.TestCase):
    """What is compared is enough."""

    def test_every_field_of_every_class(self):
        # Used is a field without which firebase-admin sends something else, or nothing.
        used = set()
        for case in producer_cases.cases:
            message = copy.deepcopy(case.message)
            sent = str(message)
            for part in parts(message):
                for name in fields(type(part)):
                    value = getattr(part, name)
                    if value is not None and value != {}:
                        setattr(part, name, {} if type(part) is messaging.APNSPayload and name == "custom_data" else None)
                        if encoded(message) != sent:
                            used.add((type(part).__name__, name))
                        setattr(part, name, value)
        every = {(part.__name__, name) for part in PARTS for name in fields(part)}
        self.assertEqual(every - used, set())
        self.assertGreaterEqual(len(every), 90)

    def test_there_are_enough(self):
        cases = producer_cases.cases
        self.assertGreaterEqual(len(cases), 50)
        self.assertEqual(len({case.name for case in cases}), len(cases))
        inside = [
            case for case in cases
            if set(columns(case)) - {"token", "fid", "device.token"}]
        self.assertGreaterEqual(2 * len(inside), len(cases))

    def test_every_column_of_a_row_is_in_its_template(self):
        for case in producer_cases.cases:
            with self.subTest(case.name):
                self.assertEqual({name.split(".")[0] for name in columns(case)}, set(case.row))


def columns(case):
    """The columns that a case's placeholders name, also as the zone of a date."""
    text = " ".join((case.template, *case.options))
    for placeholder in re.findall(r"\{\{(.+?)\}\}", text):
        name, *filters = placeholder.split("|")
        yield name.strip()
        for zone in (text.rsplit(":", 1)[-1] for text in filters if text.startswith("date:")):
            if re.fullmatch(r"\w+", zone):
                yield zone


def encoded(message):
    """What the client would send; nothing where it refuses to."""
    try:
        return str(message)
    except ValueError:
        return None


def changed(value):
    """The value in many versions, each with one thing in it changed or taken away."""
    if isinstance(value, dict):
        for key, member in value.items():
            yield {name: other for name, other in value.items() if name != key}
            for other in changed(member):
                yield {**value, key: other}
    elif isinstance(value, list):
        for index, member in enumerate(value):
            yield value[:index] + value[index + 1:]
            for other in changed(member):
                yield value[:index] + [other] + value[index + 1:]
    elif isinstance(value, bool):
        yield not value
        yield int(value)
    elif isinstance(value, (int, float)):
        yield value + 1
        yield bool(value)
    elif isinstance(value, str):
        yield value + "x"
        yield "1" + value


if __name__ == "__main__":
    sys.exit(run("producer"))
