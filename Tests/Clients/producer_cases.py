"""Messages twice: as a template with a row, in the JSON of Google's documentation, and as firebase-admin's objects.

The objects also have what Todoke adds to each message (Templates.md, "What is added to each message"), so that the two can
be compared as wholes. A field that firebase-admin cannot set has no case here.
"""

import collections
import datetime
import hashlib

from firebase_admin import messaging as m

ID = "daily-2026-11-30"
# Longer than the 64 bytes that a tag and a collapse id may have.
LONG_ID = "weekly-digest-of-everything-that-our-kitchens-have-cooked-2026-11-30"
LONG_ID_DIGEST = hashlib.sha256(LONG_ID.encode()).hexdigest()
PICTURE = "https://img.example/miso.jpg"

Case = collections.namedtuple("Case", "name template row message options")
cases = []


def case(name, template, row, message, *options):
    """One message: a template's text, a row for its placeholders, the same in Python, and further options of the producer."""
    cases.append(Case(name, template, row, message, options))


def data(**more):
    return {"notification_id": ID, **more}


def tagged(**more):
    """What a message that Android shows has at least; android.notification with more."""
    return m.AndroidNotification(tag=ID, **more)


def collapsed(**more):
    """The headers of a message that reaches Apple."""
    return {"apns-collapse-id": ID, **{name.replace("_", "-"): value for name, value in more.items()}}


ANDROID = m.AndroidConfig(notification=tagged())
APNS = m.APNSConfig(headers=collapsed())

# Targets

case(
    "token", '{"token": "{{token}}", "notification": {"title": "Soup", "body": "It is ready."}}', {"token": "cRx:APA91b-_1"},
    m.Message(
        token="cRx:APA91b-_1", notification=m.Notification("Soup", "It is ready."), data=data(), android=ANDROID, apns=APNS))
case(
    "installation id", '{"fid": "{{fid}}", "data": {"key": "value"}}', {"fid": "cRxP-2m8T0a3kVbT9c4wZq"},
    m.Message(fid="cRxP-2m8T0a3kVbT9c4wZq", data=data(key="value")))
case(
    "topic", '{"topic": "recipes-{{language|lower}}", "data": {"language": "{{language}}"}}', {"language": "FR"},
    m.Message(topic="recipes-fr", data=data(language="FR")))
case(
    # The SDK takes the prefix away, which FCM's API does not have.
    "topic that the SDK may have with a prefix", '{"topic": "weather_{{city}}.b~c%d", "data": {}}', {"city": "Oslo"},
    m.Message(topic="/topics/weather_Oslo.b~c%d", data=data()))
case(
    "condition", """{"condition": "'dogs' in topics && ('{{other}}' in topics || !('birds' in topics))"}""",
    {"other": "cats"},
    m.Message(condition="'dogs' in topics && ('cats' in topics || !('birds' in topics))", data=data()))
case("nothing but a target", '{"token": "{{token}}"}', {"token": "t1"}, m.Message(token="t1", data=data()))

# Notification and data

case(
    "title alone", '{"token": "{{token}}", "notification": {"title": "Hello, {{name}}"}}', {"token": "t1", "name": "Ann"},
    m.Message(token="t1", notification=m.Notification(title="Hello, Ann"), data=data(), android=ANDROID, apns=APNS))
case(
    "text that breaks naive code",
    '{"token": "{{token}}", "notification": {"title": "{{title}}", "body": "“{{body}}”"}, "data": {"ключ": "{{body}}"}}',
    {"token": "t1", "title": "届け 🍣 \u200d👩‍🍳", "body": "Zażółć \"gęślą\" \\ jaźń\n\tעברית\u2028</script>{{name}}"},
    m.Message(
        token="t1", notification=m.Notification(
            "届け 🍣 \u200d👩‍🍳", "“Zażółć \"gęślą\" \\ jaźń\n\tעברית\u2028</script>{{name}}”"),
        data=data(ключ="Zażółć \"gęślą\" \\ jaźń\n\tעברית\u2028</script>{{name}}"), android=ANDROID, apns=APNS))
case(
    "escapes in the template", r'{"token": "{{token}}", "data": {"text": "A \u0022quote\" \/ \ud83c\udf63 \u00e9\t\n"}}',
    {"token": "t1"}, m.Message(token="t1", data=data(text="A \"quote\" / 🍣 é\t\n")))
case(
    "several columns in one value, one of them several times",
    '{"token": "{{token}}", "data": {"line": "{{a}}{{ b }}-{{a}}, {{ c }}", "fixed": "no { column } }} here"}}',
    {"token": "t1", "a": "1", "b": "two", "c": ""},
    m.Message(token="t1", data=data(line="1two-1, ", fixed="no { column } }} here")))
case(
    "values that are no strings in the row, and nested ones",
    """{"token": "{{device.token}}", "data": {
        "n": "{{n}}", "flag": "{{flag}}", "nothing": "{{nothing}}", "big": "{{user.id}}"}}""",
    {"device": {"token": "t1"}, "n": 2.5, "flag": True, "nothing": None, "user": {"id": 9007199254740993}},
    m.Message(token="t1", data=data(n="2.5", flag="true", nothing="", big="9007199254740993")))
case(
    "data whose keys look like FCM's fields",
    '{"token": "{{token}}", "data": {"image": "{{image}}", "ttl": "5", "fcmOptions": "x", "Title": "y"}}',
    {"token": "t1", "image": "none"},
    m.Message(token="t1", data=data(image="none", ttl="5", fcmOptions="x", Title="y")))
case(
    "the id in the template too",
    '{"token": "{{token}}", "data": {"notification_id": "%s", "key": "value"}}' % ID, {"token": "t1"},
    m.Message(token="t1", data=data(key="value")))
case(
    "unset fields",
    """{"token": "{{token}}", "topic": null, "notification": null, "data": {"a": "b"},
        "android": {"ttl": null, "priority": "HIGH"}}""",
    {"token": "t1"}, m.Message(token="t1", data=data(a="b"), android=m.AndroidConfig(priority="high")))
case(
    "analytics label, in camel case", '{"token": "{{token}}", "fcmOptions": {"analyticsLabel": "{{label}}_~%"}}',
    {"token": "t1", "label": "label-1"},
    m.Message(token="t1", data=data(), fcm_options=m.FCMOptions(analytics_label="label-1_~%")))
case(
    "an id longer than a tag may be",
    '{"token": "{{token}}", "notification": {"title": "Soup"}}', {"token": "t1"},
    m.Message(
        token="t1", notification=m.Notification("Soup"), data={"notification_id": LONG_ID},
        android=m.AndroidConfig(notification=m.AndroidNotification(tag=LONG_ID_DIGEST)),
        apns=m.APNSConfig(headers={"apns-collapse-id": LONG_ID_DIGEST})),
    "--notification-id", LONG_ID)

# Filters

case(
    "default, truncate, upper and lower",
    """{"token": "{{token}}", "notification": {
        "title": "Hello, {{name|default:'there'}}", "body": "{{text|truncate:12|upper}} {{text|lower|truncate:4}}"}}""",
    {"token": "t1", "name": "", "text": "Miso soup for two"},
    m.Message(
        token="t1", notification=m.Notification("Hello, there", "MISO SOUP F… mis…"), data=data(), android=ANDROID,
        apns=APNS))
case(
    "url-encode and omit",
    """{"token": "{{token}}", "data": {
        "link": "app://q?s={{text|url-encode}}", "note": "{{note|omit}}", "kept": "{{text|omit}}"}}""",
    {"token": "t1", "text": "Crème & brûlée/1", "note": ""},
    m.Message(token="t1", data=data(link="app://q?s=Cr%C3%A8me%20%26%20br%C3%BBl%C3%A9e%2F1", kept="Crème & brûlée/1")))
case(
    "dates",
    """{"token": "{{token}}", "data": {
        "utc": "{{at|date:'%Y-%m-%d %H:%M:%S'}}", "tokyo": "{{at|date:'%-d %B, %-I:%M %p':'Asia/Tokyo'}}",
        "own": "{{at|date:'%a %b %d %H:%M':zone}}"}}""",
    {"token": "t1", "at": "2026-11-30T20:05:09.5+02:00", "zone": "America/New_York"},
    m.Message(token="t1", data=data(utc="2026-11-30 18:05:09", tokyo="1 December, 3:05 AM", own="Mon Nov 30 13:05")))
case(
    "number, where the schema has none",
    """{"token": "{{token}}",
        "webpush": {"notification": {"timestamp": "{{ms|number}}", "data": {"price": "{{price|number}}"}}},
        "apns": {"payload": {"aps": {"badge": "{{unread|number}}"}, "id": "{{id|number}}"}}}""",
    {"token": "t1", "ms": "1796012588090", "price": "-2.5", "unread": "0", "id": 12},
    m.Message(
        token="t1", data=data(),
        webpush=m.WebpushConfig(notification=m.WebpushNotification(timestamp_millis=1796012588090, data={"price": -2.5})),
        apns=m.APNSConfig(headers=collapsed(), payload=m.APNSPayload(m.Aps(badge=0), id=12))))

# Pictures: one in the template, four places in the message

case(
    "picture in notification",
    '{"token": "{{token}}", "notification": {"title": "Tonight", "body": "{{body}}", "image": "{{image}}"}}',
    {"token": "t1", "body": "Soup", "image": PICTURE},
    m.Message(
        token="t1", notification=m.Notification("Tonight", "Soup", PICTURE), data=data(),
        android=m.AndroidConfig(notification=tagged(image=PICTURE)),
        apns=m.APNSConfig(
            headers=collapsed(), fcm_options=m.APNSFCMOptions(image=PICTURE),
            payload=m.APNSPayload(m.Aps(mutable_content=True)))))
case(
    "picture left empty by the row",
    '{"token": "{{token}}", "notification": {"title": "Tonight", "body": "{{body}}", "image": "{{image}}"}}',
    {"token": "t1", "body": "Rice", "image": None},
    m.Message(
        token="t1", notification=m.Notification("Tonight", "Rice"), data=data(), android=ANDROID, apns=APNS))
case(
    "picture in android.notification", '{"token": "{{token}}", "android": {"notification": {"image": "{{base}}/miso.jpg"}}}',
    {"token": "t1", "base": "https://img.example"},
    m.Message(
        token="t1", notification=m.Notification(image=PICTURE), data=data(),
        android=m.AndroidConfig(notification=tagged(image=PICTURE)),
        apns=m.APNSConfig(
            fcm_options=m.APNSFCMOptions(image=PICTURE), headers=None, payload=m.APNSPayload(m.Aps(mutable_content=True)))))
case(
    "picture in apns.fcm_options, with a label",
    """{"token": "{{token}}", "notification": {"title": "Tonight"}, "apns": {
        "fcm_options": {"analytics_label": "{{label}}", "image": "https://img.example/{{file|url-encode}}"},
        "payload": {"aps": {"sound": "default"}}}}""",
    {"token": "t1", "label": "l1", "file": "miso soup.jpg"},
    m.Message(
        token="t1", notification=m.Notification("Tonight", image="https://img.example/miso%20soup.jpg"), data=data(),
        android=m.AndroidConfig(notification=tagged(image="https://img.example/miso%20soup.jpg")),
        apns=m.APNSConfig(
            headers=collapsed(),
            fcm_options=m.APNSFCMOptions(analytics_label="l1", image="https://img.example/miso%20soup.jpg"),
            payload=m.APNSPayload(m.Aps(sound="default", mutable_content=True)))))
case(
    "pictures that differ by platform",
    """{"token": "{{token}}",
        "notification": {"title": "Tonight", "image": "{{base}}/all.png"},
        "android": {"notification": {"image": "{{base}}/android.png"}},
        "webpush": {"notification": {"image": "{{base}}/web.png"}},
        "apns": {"payload": {"aps": {"mutable-content": 1}}, "fcm_options": {"image": "{{base}}/apple.png"}}}""",
    {"token": "t1", "base": "https://img.example"},
    m.Message(
        token="t1", notification=m.Notification("Tonight", image="https://img.example/all.png"), data=data(),
        android=m.AndroidConfig(notification=tagged(image="https://img.example/android.png")),
        webpush=m.WebpushConfig(notification=m.WebpushNotification(image="https://img.example/web.png")),
        apns=m.APNSConfig(
            headers=collapsed(), fcm_options=m.APNSFCMOptions(image="https://img.example/apple.png"),
            payload=m.APNSPayload(m.Aps(mutable_content=True)))))
case(
    "picture by option", '{"token": "{{token}}", "notification": {"title": "Tonight"}}', {"token": "t1", "picture": PICTURE},
    m.Message(
        token="t1", notification=m.Notification("Tonight", image=PICTURE), data=data(),
        android=m.AndroidConfig(notification=tagged(image=PICTURE)),
        apns=m.APNSConfig(
            headers=collapsed(), fcm_options=m.APNSFCMOptions(image=PICTURE),
            payload=m.APNSPayload(m.Aps(mutable_content=True)))),
    "--image", "{{picture}}")

# Android

case(
    "android, delivery",
    """{"token": "{{token}}", "data": {"key": "value"}, "android": {
        "collapse_key": "news", "priority": "{{priority}}", "ttl": "{{seconds}}s",
        "restricted_package_name": "com.example.{{app}}", "direct_boot_ok": true, "bandwidth_constrained_ok": true,
        "restricted_satellite_ok": false}}""",
    {"token": "t1", "priority": "HIGH", "seconds": 3600, "app": "recipes"},
    m.Message(
        token="t1", data=data(key="value"), android=m.AndroidConfig(
            collapse_key="news", priority="high", ttl=3600, restricted_package_name="com.example.recipes",
            direct_boot_ok=True, bandwidth_constrained_ok=True, restricted_satellite_ok=False)))
case(
    "android, delivery, in camel case",
    """{"token": "{{token}}", "android": {
        "collapseKey": "{{key}}", "priority": "normal", "ttl": "2419200s", "restrictedPackageName": "com.example.app",
        "directBootOk": false, "bandwidthConstrainedOk": false, "restrictedSatelliteOk": true,
        "fcmOptions": {"analyticsLabel": "{{key}}"}}}""",
    {"token": "t1", "key": "news"},
    m.Message(
        token="t1", data=data(), android=m.AndroidConfig(
            collapse_key="news", priority="normal", ttl=datetime.timedelta(weeks=4),
            restricted_package_name="com.example.app", direct_boot_ok=False, bandwidth_constrained_ok=False,
            restricted_satellite_ok=True, fcm_options=m.AndroidFCMOptions("news"))))
case(
    "android, a fraction of a second",
    '{"token": "{{token}}", "android": {"ttl": "{{ttl}}"}}', {"token": "t1", "ttl": "3.5s"},
    m.Message(token="t1", data=data(), android=m.AndroidConfig(ttl=datetime.timedelta(seconds=3, milliseconds=500))))
case(
    "android, now or never", '{"token": "{{token}}", "android": {"ttl": "0s", "collapse_key": "{{key}}"}}',
    {"token": "t1", "key": "k"}, m.Message(token="t1", data=data(), android=m.AndroidConfig(ttl=0, collapse_key="k")))
case(
    "android, life by option", '{"token": "{{token}}", "data": {"key": "value"}}', {"token": "t1"},
    m.Message(token="t1", data=data(key="value"), android=m.AndroidConfig(ttl=7200)), "--expires-in", "2h")
case(
    "android, life lowered by option",
    '{"token": "{{token}}", "android": {"ttl": "{{thousands}}000s"}}', {"token": "t1", "thousands": 86},
    m.Message(token="t1", data=data(), android=m.AndroidConfig(ttl=datetime.timedelta(minutes=90))), "--expires-in", "5400")
case(
    "android, data of its own",
    '{"token": "{{token}}", "data": {"key": "all", "other": "{{x}}"}, "android": {"data": {"key": "android {{x}}"}}}',
    {"token": "t1", "x": "1"},
    m.Message(
        token="t1", data=data(key="all", other="1"), android=m.AndroidConfig(data=data(key="android 1"))))
case(
    "android, text and look",
    """{"token": "{{token}}", "android": {"notification": {
        "title": "{{title}}", "body": "{{body}}", "icon": "ic_{{icon}}", "color": "#aAbB0{{digit}}", "sound": "default",
        "click_action": "OPEN_{{icon|upper}}", "channel_id": "daily", "ticker": "{{title}}: {{body}}"}}}""",
    {"token": "t1", "title": "Tonight", "body": "Soup & rice", "icon": "soup", "digit": 9},
    m.Message(
        token="t1", data=data(), android=m.AndroidConfig(notification=tagged(
            title="Tonight", body="Soup & rice", icon="ic_soup", color="#aAbB09", sound="default",
            click_action="OPEN_SOUP", channel_id="daily", ticker="Tonight: Soup & rice"))))
case(
    "android, a tag of its own",
    '{"token": "{{token}}", "android": {"notification": {"body": "Soup", "tag": "user-{{user}}"}}}',
    {"token": "t1", "user": 42},
    m.Message(
        token="t1", data=data(), android=m.AndroidConfig(notification=m.AndroidNotification(body="Soup", tag="user-42"))))
case(
    "android, localized",
    """{"token": "{{token}}", "android": {"notification": {
        "title_loc_key": "TITLE_{{n}}", "title_loc_args": ["{{name}}"], "body_loc_key": "TEXT",
        "body_loc_args": ["{{name}}", "{{n}} %", "fixed"]}}}""",
    {"token": "t1", "n": 3, "name": "Zoë"},
    m.Message(
        token="t1", data=data(), android=m.AndroidConfig(notification=tagged(
            title_loc_key="TITLE_3", title_loc_args=["Zoë"], body_loc_key="TEXT", body_loc_args=["Zoë", "3 %", "fixed"]))))
case(
    "android, localized, in camel case",
    """{"token": "{{token}}", "android": {"notification": {
        "titleLocKey": "TITLE", "titleLocArgs": ["a", "b"], "bodyLocKey": "TEXT", "bodyLocArgs": ["{{x}}"],
        "clickAction": "OPEN", "channelId": "c"}}}""",
    {"token": "t1", "x": ""},
    m.Message(
        token="t1", data=data(), android=m.AndroidConfig(notification=tagged(
            title_loc_key="TITLE", title_loc_args=["a", "b"], body_loc_key="TEXT", body_loc_args=[""],
            click_action="OPEN", channel_id="c"))))
case(
    "android, how it shows",
    """{"token": "{{token}}", "android": {"notification": {
        "body": "Soup", "sticky": true, "local_only": false, "notification_priority": "PRIORITY_{{level|upper}}",
        "visibility": "{{visibility}}", "notification_count": "{{unread}}", "proxy": "IF_PRIORITY_LOWERED"}}}""",
    {"token": "t1", "level": "max", "visibility": "SECRET", "unread": 3},
    m.Message(
        token="t1", data=data(), android=m.AndroidConfig(notification=tagged(
            body="Soup", sticky=True, local_only=False, priority="max", visibility="secret", notification_count=3,
            proxy="if_priority_lowered"))))
case(
    "android, how it shows, in camel case",
    """{"token": "{{token}}", "android": {"notification": {
        "body": "Soup", "sticky": false, "localOnly": true, "notificationPriority": "PRIORITY_LOW", "visibility": "PUBLIC",
        "notificationCount": 0, "proxy": "ALLOW", "eventTime": "2026-11-30T08:00:00Z"}}}""",
    {"token": "t1"},
    m.Message(
        token="t1", data=data(), android=m.AndroidConfig(notification=tagged(
            body="Soup", sticky=False, local_only=True, priority="low", visibility="public", notification_count=0,
            proxy="allow", event_timestamp=datetime.datetime(2026, 11, 30, 8)))))
for priority, visibility, proxy in (("min", "private", "deny"), ("default", "public", "allow"), ("high", "secret", "deny")):
    case(
        f"android, priority {priority}",
        """{"token": "{{token}}", "android": {"notification": {
            "notification_priority": "{{priority}}", "visibility": "{{visibility}}", "proxy": "{{proxy}}"}}}""",
        {
            "token": "t1", "priority": f"PRIORITY_{priority.upper()}", "visibility": visibility.upper(),
            "proxy": proxy.upper()},
        m.Message(
            token="t1", data=data(),
            android=m.AndroidConfig(notification=tagged(priority=priority, visibility=visibility, proxy=proxy))))
case(
    "android, a moment to the microsecond",
    '{"token": "{{token}}", "android": {"notification": {"event_time": "{{at}}"}}}',
    {"token": "t1", "at": "2026-11-30T10:00:00.123456+02:00"},
    m.Message(
        token="t1", data=data(), android=m.AndroidConfig(notification=tagged(
            event_timestamp=datetime.datetime(2026, 11, 30, 8, 0, 0, 123456, datetime.timezone.utc)))))
case(
    "android, a moment by a filter",
    """{"token": "{{token}}", "android": {"notification": {"event_time": "{{at|date:'%Y-%m-%dT%H:%M:%SZ'}}"}}}""",
    {"token": "t1", "at": "2026-11-30 08:00:00+00"},
    m.Message(
        token="t1", data=data(), android=m.AndroidConfig(notification=tagged(
            event_timestamp=datetime.datetime(2026, 11, 30, 8, tzinfo=datetime.timezone.utc)))))
case(
    "android, vibration and lights",
    """{"token": "{{token}}", "android": {"notification": {
        "body": "Soup", "vibrate_timings": ["0s", "0.25s", "{{long}}s"], "default_vibrate_timings": false,
        "default_sound": true, "default_light_settings": false,
        "light_settings": {
            "color": {"red": 0.2, "green": 0.4, "blue": 1, "alpha": 0.26666667},
            "light_on_duration": "0.2s", "light_off_duration": "{{off}}s"}}}}""",
    {"token": "t1", "long": 1.5, "off": "1.10"},
    m.Message(
        token="t1", data=data(), android=m.AndroidConfig(notification=tagged(
            body="Soup", vibrate_timings_millis=[0, 250, 1500], default_vibrate_timings=False, default_sound=True,
            default_light_settings=False, light_settings=m.LightSettings("#3366ff44", 200, 1100)))))
case(
    "android, vibration and lights, in camel case",
    """{"token": "{{token}}", "android": {"notification": {
        "vibrateTimings": ["{{pause}}"], "defaultVibrateTimings": true, "defaultSound": false, "defaultLightSettings": true,
        "lightSettings": {
            "color": {"red": 0, "green": 0.0, "blue": 0e0, "alpha": 1.0}, "lightOnDuration": "1s",
            "lightOffDuration": "60s"}}}}""",
    {"token": "t1", "pause": "0.001s"},
    m.Message(
        token="t1", data=data(), android=m.AndroidConfig(notification=tagged(
            vibrate_timings_millis=[1], default_vibrate_timings=True, default_sound=False, default_light_settings=True,
            light_settings=m.LightSettings("#000000", 1000, datetime.timedelta(minutes=1))))))

# Web push

case(
    "web push, headers and link",
    """{"token": "{{token}}", "webpush": {
        "headers": {"TTL": "{{ttl}}", "Urgency": "high", "Topic": "news"},
        "fcm_options": {"link": "https://example.com/r/{{id|url-encode}}"}}}""",
    {"token": "t1", "ttl": 60, "id": "a b"},
    m.Message(
        token="t1", data=data(), webpush=m.WebpushConfig(
            headers={"TTL": "60", "Urgency": "high", "Topic": "news"},
            fcm_options=m.WebpushFCMOptions("https://example.com/r/a%20b"))))
case(
    "web push, data of its own",
    '{"token": "{{token}}", "webpush": {"data": {"key": "{{x}}"}, "fcmOptions": {"link": "https://e.example"}}}',
    {"token": "t1", "x": "ü"},
    m.Message(
        token="t1", data=data(), webpush=m.WebpushConfig(
            data=data(key="ü"), fcm_options=m.WebpushFCMOptions(link="https://e.example"))))
case(
    "web push, notification",
    """{"token": "{{token}}", "webpush": {"notification": {
        "title": "{{title}}", "body": "{{title}}!", "icon": "{{site}}/icon.png", "badge": "{{site}}/badge.png",
        "image": "{{site}}/picture.png", "dir": "{{dir}}", "lang": "he", "tag": "tag", "renotify": true,
        "requireInteraction": false, "silent": false, "timestamp": 1796012588090, "vibrate": [100, 50, 100],
        "actions": [
            {"action": "open", "title": "Open {{title}}", "icon": "{{site}}/open.png"}, {"action": "no", "title": "No"}],
        "data": {"nested": {"list": [1, 2.5, null, true, "{{title}}"]}, "empty": {}},
        "custom": [1, {"a_b": "{{dir}}"}]}}}""",
    {"token": "t1", "title": "Soup", "site": "https://example.com", "dir": "rtl"},
    m.Message(
        token="t1", data=data(), webpush=m.WebpushConfig(notification=m.WebpushNotification(
            title="Soup", body="Soup!", icon="https://example.com/icon.png", badge="https://example.com/badge.png",
            image="https://example.com/picture.png", direction="rtl", language="he", tag="tag", renotify=True,
            require_interaction=False, silent=False, timestamp_millis=1796012588090, vibrate=[100, 50, 100],
            actions=[
                m.WebpushNotificationAction("open", "Open Soup", "https://example.com/open.png"),
                m.WebpushNotificationAction("no", "No")],
            data={"nested": {"list": [1, 2.5, None, True, "Soup"]}, "empty": {}},
            custom_data={"custom": [1, {"a_b": "rtl"}]}))))
case(
    # The browser's own object: FCM does not know its fields, so camel case is another name there.
    "web push, names that only look alike",
    """{"token": "{{token}}", "webpush": {"notification": {
        "requireInteraction": true, "require_interaction": "{{x}}", "dir": "auto", "data": "{{x}}"}}}""",
    {"token": "t1", "x": "mine"},
    m.Message(
        token="t1", data=data(), webpush=m.WebpushConfig(notification=m.WebpushNotification(
            require_interaction=True, direction="auto", data="mine", custom_data={"require_interaction": "mine"}))))

# Apple

case(
    "apns, alert",
    """{"token": "{{token}}", "apns": {
        "headers": {"apns-priority": "10", "apns-expiration": "{{until}}"},
        "payload": {
            "aps": {
                "alert": {"title": "{{title}}", "subtitle": "For {{name}}", "body": "{{title}}, {{name}}."},
                "badge": "{{unread|number}}", "sound": "default", "category": "RECIPE", "thread-id": "daily-{{name|lower}}"},
            "acme": {"list": ["{{title}}", 1], "camelCase": true}}}}""",
    {"token": "t1", "until": 1796012588, "title": "Soup", "name": "Ann", "unread": 7},
    m.Message(
        token="t1", data=data(), apns=m.APNSConfig(
            headers=collapsed(apns_priority="10", apns_expiration="1796012588"),
            payload=m.APNSPayload(
                m.Aps(
                    alert=m.ApsAlert(title="Soup", subtitle="For Ann", body="Soup, Ann."), badge=7, sound="default",
                    category="RECIPE", thread_id="daily-ann"),
                acme={"list": ["Soup", 1], "camelCase": True}))))
case(
    "apns, alert as one text", '{"token": "{{token}}", "apns": {"payload": {"aps": {"alert": "{{text}}"}}}}',
    {"token": "t1", "text": "Soup\nis ready"},
    m.Message(
        token="t1", data=data(),
        apns=m.APNSConfig(headers=collapsed(), payload=m.APNSPayload(m.Aps(alert="Soup\nis ready")))))
case(
    "apns, localized",
    """{"token": "{{token}}", "apns": {"payload": {"aps": {"alert": {
        "title-loc-key": "TITLE", "title-loc-args": ["{{name}}"], "loc-key": "TEXT_{{n}}", "loc-args": ["{{n}}", "c"],
        "action-loc-key": "OPEN", "launch-image": "launch.png", "summary-arg": "{{name}}", "summary-arg-count": 2}}}}}""",
    {"token": "t1", "name": "Ann", "n": "2"},
    m.Message(
        token="t1", data=data(), apns=m.APNSConfig(
            headers=collapsed(), payload=m.APNSPayload(m.Aps(alert=m.ApsAlert(
                title_loc_key="TITLE", title_loc_args=["Ann"], loc_key="TEXT_2", loc_args=["2", "c"],
                action_loc_key="OPEN", launch_image="launch.png",
                custom_data={"summary-arg": "Ann", "summary-arg-count": 2}))))))
case(
    "apns, critical sound",
    """{"token": "{{token}}", "apns": {"payload": {"aps": {
        "alert": "Fire", "sound": {"critical": 1, "name": "{{sound}}.caf", "volume": "{{volume|number}}"},
        "interruption-level": "critical", "relevance-score": 0.5}}}}""",
    {"token": "t1", "sound": "alarm", "volume": 0.75},
    m.Message(
        token="t1", data=data(), apns=m.APNSConfig(
            headers=collapsed(), payload=m.APNSPayload(m.Aps(
                alert="Fire", sound=m.CriticalSound("alarm.caf", critical=True, volume=0.75),
                custom_data={"interruption-level": "critical", "relevance-score": 0.5})))))
case(
    "apns, a sound with a volume that is not critical",
    """{"token": "{{token}}", "apns": {"payload": {"aps": {
        "alert": "Soup", "sound": {"name": "{{sound|default:'default'}}", "volume": 1}}}}}""",
    {"token": "t1", "sound": ""},
    m.Message(
        token="t1", data=data(), apns=m.APNSConfig(
            headers=collapsed(),
            payload=m.APNSPayload(m.Aps(alert="Soup", sound=m.CriticalSound("default", volume=1.0))))))
case(
    "apns, silent",
    """{"token": "{{token}}", "data": {"sync": "{{what}}"}, "apns": {
        "headers": {"apns-push-type": "background", "apns-priority": "5"}, "payload": {"aps": {"content-available": 1}}}}""",
    {"token": "t1", "what": "recipes"},
    m.Message(
        token="t1", data=data(sync="recipes"), apns=m.APNSConfig(
            headers=collapsed(apns_push_type="background", apns_priority="5"),
            payload=m.APNSPayload(m.Aps(content_available=True)))))
case(
    "apns, a collapse id of its own, in other letters",
    """{"token": "{{token}}", "apns": {
        "headers": {"Apns-Collapse-Id": "user-{{user}}"}, "payload": {"aps": {"mutable-content": 1, "alert": "Soup"}}}}""",
    {"token": "t1", "user": 42},
    m.Message(
        token="t1", data=data(), apns=m.APNSConfig(
            headers={"Apns-Collapse-Id": "user-42"}, payload=m.APNSPayload(m.Aps(alert="Soup", mutable_content=True)))))
case(
    "apns, live activity",
    """{"token": "{{token}}", "apns": {
        "live_activity_token": "{{activity}}", "headers": {"apns-priority": "10"},
        "payload": {"aps": {
            "timestamp": "{{now|number}}", "event": "update",
            "content-state": {"score": "{{score|number}}", "team": "{{team}}"}}}}}""",
    {"token": "t1", "activity": "live-1", "now": 1796012588, "score": 3, "team": "Ærø"},
    m.Message(
        token="t1", data=data(), apns=m.APNSConfig(
            live_activity_token="live-1", headers={"apns-priority": "10"}, payload=m.APNSPayload(m.Aps(custom_data={
                "timestamp": 1796012588, "event": "update", "content-state": {"score": 3, "team": "Ærø"}})))))
case(
    "apns, in camel case",
    '{"token": "{{token}}", "apns": {"liveActivityToken": "{{activity}}", "fcmOptions": {"analyticsLabel": "a"}}}',
    {"token": "t1", "activity": "live-1"},
    m.Message(
        token="t1", data=data(),
        apns=m.APNSConfig(live_activity_token="live-1", fcm_options=m.APNSFCMOptions(analytics_label="a"))))

# All of it

case(
    "every platform at once",
    """{
        "topic": "news",
        "notification": {"title": "{{title}}", "body": "{{body}}", "image": "{{image}}"},
        "data": {"link": "recipes://recipe/{{recipe_id}}"},
        "android": {
            "priority": "HIGH", "ttl": "3600s", "collapse_key": "{{recipe_id}}", "data": {"key": "android"},
            "notification": {"channel_id": "daily", "color": "#ff8800"}, "fcm_options": {"analytics_label": "android"}},
        "webpush": {
            "headers": {"TTL": "3600"}, "data": {"key": "web"},
            "notification": {"title": "{{title}}", "icon": "https://example.com/icon.png"},
            "fcm_options": {"link": "https://example.com/{{recipe_id}}"}},
        "apns": {
            "headers": {"apns-priority": "10"},
            "payload": {"aps": {"sound": "default", "thread-id": "daily", "badge": 1}},
            "fcm_options": {"analytics_label": "apple"}},
        "fcm_options": {"analytics_label": "daily"}
    }""",
    {"title": "Tonight: \"Pho\"", "body": "Ready in 20 minutes", "image": PICTURE, "recipe_id": 4711},
    m.Message(
        topic="news", notification=m.Notification("Tonight: \"Pho\"", "Ready in 20 minutes", PICTURE),
        data=data(link="recipes://recipe/4711"),
        android=m.AndroidConfig(
            priority="high", ttl=3600, collapse_key="4711", data=data(key="android"),
            notification=tagged(channel_id="daily", color="#ff8800", image=PICTURE),
            fcm_options=m.AndroidFCMOptions("android")),
        webpush=m.WebpushConfig(
            headers={"TTL": "3600"}, data=data(key="web"),
            notification=m.WebpushNotification(title="Tonight: \"Pho\"", icon="https://example.com/icon.png"),
            fcm_options=m.WebpushFCMOptions("https://example.com/4711")),
        apns=m.APNSConfig(
            headers=collapsed(apns_priority="10"), fcm_options=m.APNSFCMOptions("apple", PICTURE),
            payload=m.APNSPayload(m.Aps(sound="default", thread_id="daily", badge=1, mutable_content=True))),
        fcm_options=m.FCMOptions("daily")))
