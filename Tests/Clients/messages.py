"""Every kind of message that firebase-admin can make, by name."""

import datetime

from firebase_admin import messaging as m

IMAGE = "https://example.com/picture.png"


def every_kind():
    """A dictionary of fresh messages; between them they set every attribute of every class of the SDK."""
    return {
        "token": m.Message(token="device-1", notification=m.Notification("Title", "Text")),
        "fid": m.Message(fid="cRxP-2m8T0a3kVbT9c4wZq", notification=m.Notification("Title", "Text")),
        "topic": m.Message(topic="weather", data={"key": "value"}),
        "topic with prefix": m.Message(topic="/topics/weather-1_a.b~c%d", data={"key": "value"}),
        "condition": m.Message(
            condition="'dogs' in topics && ('cats' in topics || !('birds' in topics))", data={"key": "value"}),
        "image": m.Message(token="device-1", notification=m.Notification("Title", "Text", IMAGE)),
        "nothing but a target": m.Message(token="device-1"),
        "text in many scripts": m.Message(
            token="device-1", notification=m.Notification("届け 🍣", "Zażółć \"gęślą\" \\ jaźń\n\tעברית"),
            data={"ключ": "значение"}),
        "analytics label": m.Message(
            token="device-1", data={"key": "value"}, fcm_options=m.FCMOptions("label-1_~%")),
        "android": m.Message(token="device-1", android=android()),
        "android, bare": m.Message(
            token="device-1", android=m.AndroidConfig(ttl=datetime.timedelta(weeks=4), priority="normal")),
        "web push": m.Message(token="device-1", webpush=webpush()),
        "apns": m.Message(token="device-1", apns=apns()),
        "apns, loc keys": m.Message(token="device-1", apns=m.APNSConfig(payload=m.APNSPayload(m.Aps(
            alert=m.ApsAlert(
                title_loc_key="TITLE", title_loc_args=["a"], loc_key="TEXT", loc_args=["b", "c"],
                action_loc_key="OPEN", launch_image="launch.png", custom_data={"summary-arg": "d"}))))),
        "apns, silent": m.Message(token="device-1", apns=m.APNSConfig(
            headers={"apns-push-type": "background", "apns-priority": "5"},
            payload=m.APNSPayload(m.Aps(content_available=True)))),
        "apns, live activity": m.Message(token="device-1", apns=m.APNSConfig(
            headers={"apns-priority": "10"}, live_activity_token="live-1",
            payload=m.APNSPayload(m.Aps(custom_data={
                "timestamp": 1796012588, "event": "update", "content-state": {"score": 1}})))),
        "every platform": m.Message(
            topic="news", notification=m.Notification("Title", "Text", IMAGE), data={"key": "value"},
            android=android(), webpush=webpush(), apns=apns(), fcm_options=m.FCMOptions("label")),
    }


def android():
    return m.AndroidConfig(
        collapse_key="news", priority="high", ttl=datetime.timedelta(seconds=3600, milliseconds=500),
        restricted_package_name="com.example.app", data={"key": "value"}, direct_boot_ok=True,
        bandwidth_constrained_ok=True, restricted_satellite_ok=True, fcm_options=m.AndroidFCMOptions("label"),
        notification=m.AndroidNotification(
            title="Title", body="Text", icon="icon", color="#aAbB09", sound="default", tag="tag",
            click_action="OPEN", body_loc_key="TEXT", body_loc_args=["a", "b"], title_loc_key="TITLE",
            title_loc_args=["c"], channel_id="channel", image=IMAGE, ticker="ticker", sticky=True,
            event_timestamp=datetime.datetime(2026, 11, 30, 8, 0, 0, 123456, datetime.timezone.utc),
            local_only=False, priority="max", vibrate_timings_millis=[0, 250, 1500], default_vibrate_timings=False,
            default_sound=True, light_settings=m.LightSettings("#11223344", 200, 1100),
            default_light_settings=False, visibility="secret", notification_count=3, proxy="if_priority_lowered"))


def webpush():
    return m.WebpushConfig(
        headers={"TTL": "60", "Urgency": "high", "Topic": "news"}, data={"key": "value"},
        fcm_options=m.WebpushFCMOptions("https://example.com/open"),
        notification=m.WebpushNotification(
            title="Title", body="Text", icon="https://example.com/icon.png", badge="https://example.com/badge.png",
            actions=[m.WebpushNotificationAction("open", "Open", "https://example.com/open.png")],
            data={"nested": {"list": [1, 2.5, None, True]}}, direction="rtl", image=IMAGE, language="he",
            renotify=True, require_interaction=False, silent=False, tag="tag", timestamp_millis=1796012588090,
            vibrate=[100, 50, 100], custom_data={"custom": [1, 2]}))


def apns():
    return m.APNSConfig(
        headers={"apns-priority": "10", "apns-expiration": "1796012588", "apns-collapse-id": "news"},
        fcm_options=m.APNSFCMOptions("label", IMAGE),
        payload=m.APNSPayload(
            m.Aps(
                alert=m.ApsAlert(title="Title", subtitle="Subtitle", body="Text"), badge=7,
                sound=m.CriticalSound("default", critical=True, volume=0.5), category="category",
                thread_id="thread", mutable_content=True, custom_data={"interruption-level": "critical"}),
            acme={"list": ["a", 1]}))
