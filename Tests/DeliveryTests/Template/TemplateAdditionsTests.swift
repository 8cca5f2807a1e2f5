import Testing

@testable import Delivery

@Suite("Templates: what every message gets")
struct TemplateAdditionsTests {
    private static let places = ["notification.image", "android.notification.image", "apns.fcm_options.image"]

    @Test("The notification id is in every platform's data, since that replaces the message's")
    func notificationID() throws {
        let tree = try message(
            try compiled(#"{"token":"t","data":null,"android":{"data":{"a":"b"}},"webpush":{"data":{}}}"#))
        for path in ["data", "android.data", "webpush.data"] {
            #expect(tree.at(path + ".notification_id") == .string("n1"), "\(path)")
        }
        #expect(tree.at("apns") == nil)
    }

    @Test("A template that names the very id is fine")
    func sameNotificationID() throws {
        let text = rendered(try compiled(#"{"token":"t","data":{"notification_id":"n1","x":"y"}}"#))
        #expect(text == #"{"token":"t","data":{"x":"y","notification_id":"n1"}}"#)
    }

    @Test(
        "An image in one place is in all of them, with mutable-content",
        arguments: [
            #"{"token":"t","notification":{"title":"a","image":"{{i}}"}}"#,
            #"{"token":"t","notification":{"title":"a"},"android":{"notification":{"image":"{{i}}"}}}"#,
            #"{"token":"t","notification":{"title":"a"},"apns":{"fcm_options":{"image":"{{i}}"}}}"#,
            #"{"token":"t","notification":{"title":"a","image":"{{i}}"},"apns":{"payload":{"aps":{"mutable-content":1}}}}"#,
        ])
    func image(_ text: String) throws {
        let template = try compiled(text)
        let with = try message(template, "https://e.org/a.png")
        for place in Self.places { #expect(with.at(place) == .string("https://e.org/a.png"), "\(place)") }
        #expect(with.at("apns.payload.aps.mutable-content") == .number("1"))
        #expect(template.issues() == [] as [PayloadIssue])
        let without = try message(template, "")
        for place in Self.places { #expect(without.at(place) == nil, "\(place)") }
        #expect(without.at("notification.title") == .string("a"))
    }

    @Test("mutable-content goes with the image, and with it what was made only for it")
    func imageVanishes() throws {
        let template = try compiled(#"{"token":"t","notification":{"image":"{{i}}","title":"a"}}"#)
        #expect(
            rendered(template, "")
                == #"{"token":"t","notification":{"title":"a"},"data":{"notification_id":"n1"},"android":{"notification":{"tag":"n1"}},"apns":{"headers":{"apns-collapse-id":"n1"}}}"#
        )
    }

    @Test("An image that ends in a value which may be empty vanishes with it", arguments: [true, false])
    func imageOmitted(_ isOption: Bool) throws {
        let url = "https://cdn.example/{{i|omit}}"
        let template =
            isOption
            ? try compiled(#"{"token":"t","notification":{"title":"a"}}"#, image: url)
            : try compiled(#"{"token":"t","notification":{"title":"a","image":"\#(url)"}}"#)
        let full = rendered(template, "x.png")
        #expect(full.split(separator: "https://cdn.example/x.png").count == 4 && full.contains("mutable-content"))
        let empty = rendered(template, "")
        #expect(!empty.contains("image") && !empty.contains("mutable-content") && !empty.contains("fcm_options"))
    }

    @Test("--image works like an image in the template, also where only its path differs")
    func imageOption() throws {
        let template = try compiled(
            #"{"token":"t","notification":{"title":"a"}}"#, image: "https://e.org/{{p}}.png")
        for place in Self.places { #expect(try message(template, "x").at(place) == .string("https://e.org/x.png")) }
    }

    @Test("An image that is always empty is nowhere")
    func emptyImage() throws {
        let tree = try message(try compiled(#"{"token":"t","notification":{"title":"a","image":""}}"#))
        for place in Self.places { #expect(tree.at(place) == nil) }
        #expect(tree.at("apns.payload") == nil)
    }

    @Test(
        "Images that cannot be meant are refused",
        arguments: [
            (#"{"token":"t","notification":{"image":"https://e.org/a"}}"#, "https://e.org/b" as String?, "--image"),
            (#"{"token":"t","data":{"a":"b"}}"#, "https://e.org/b", "shows no notification"),
            (
                #"{"token":"t","notification":{"image":"https://e.org/a"},"apns":{"payload":{"aps":{"mutable-content":0}}}}"#,
                nil, "mutable-content"
            ),
        ])
    func refusedImages(_ text: String, _ image: String?, _ reason: String) {
        #expect {
            try compiled(text, image: image)
        } throws: { ($0 as? TemplateError)?.reason.contains(reason) == true }
    }

    @Test("Fields in lowerCamelCase are the same fields, and nothing is set twice")
    func camelCase() throws {
        let template = try compiled(
            #"{"token":"t","notification":{"title":"a"},"apns":{"fcmOptions":{"image":"{{i}}"},"headers":{"APNS-Collapse-ID":"mine"}},"android":{"notification":{"tag":"own","channelId":"c"}}}"#
        )
        let text = rendered(template, "https://e.org/a.png")
        #expect(!text.contains("fcm_options"))
        #expect(!text.contains("\"apns-collapse-id\""))
        #expect(text.contains(#""tag":"own""#) && !text.contains(#""tag":"n1""#))
        #expect(text.contains(#""fcmOptions":{"image":"https://e.org/a.png"}"#))
    }

    @Test("A message that shows nothing gets no tag and makes no android notification")
    func dataOnly() throws {
        #expect(
            rendered(try compiled(#"{"token":"t","android":{"priority":"high"}}"#))
                == #"{"token":"t","android":{"priority":"high"},"data":{"notification_id":"n1"}}"#)
    }

    @Test("android_v2 takes the tag and the image in its remote notification, a background sync does not")
    func androidV2() throws {
        let template = try compiled(
            #"{"token":"t","notification":{"title":"a","image":"{{i}}"},"android_v2":{"ttl":"60s"}}"#, expiresIn: 30)
        let tree = try message(template, "https://e.org/a.png")
        #expect(tree.at("android_v2.remote_notification.notification.tag") == .string("n1"))
        #expect(tree.at("android_v2.remote_notification.notification.image") == .string("https://e.org/a.png"))
        #expect(tree.at("android_v2.ttl") == .string("30s"))
        #expect(tree.at("android") == nil)
        let sync = try message(
            try compiled(#"{"token":"t","notification":{"title":"a"},"androidV2":{"backgroundSync":{}}}"#))
        #expect(sync.at("androidV2.remote_notification") == nil)
        #expect(sync.at("android") == nil)
    }

    @Test(
        "The ttl is set, or lowered, never raised",
        arguments: [
            (#"{"token":"t"}"#, 60, "60s"), (#"{"token":"t","android":{"ttl":"3600s"}}"#, 60, "60s"),
            (#"{"token":"t","android":{"ttl":"5.5s"}}"#, 60, "5.5s"),
            (#"{"token":"t","android":{"ttl":"0s"}}"#, 60, "0s"), (#"{"token":"t"}"#, 9_999_999, "2419200s"),
        ])
    func ttl(_ text: String, _ seconds: Int, _ expected: String) throws {
        #expect(try message(try compiled(text, expiresIn: seconds)).at("android.ttl") == .string(expected))
    }

    @Test("apns-expiration is the moment of the end, unless the template says to try once")
    func expiration() throws {
        let template = try compiled(
            #"{"token":"t","notification":{"title":"a"},"data":{"v":"{{v}}"}}"#, expiresIn: 60)
        var desk = RenderingDesk(.none)
        for seconds in [1_796_000_000, 999_999_999, 99_999_999_999] {
            var output: [UInt8] = []
            template.render(TemplateRow(["x"]), &desk, into: &output)
            let written = try #require(desk.expire(at: seconds, &output))
            #expect(written.moved == String(seconds).count - 10)
            #expect(try JSONValue.parse(output.span).at("apns.headers.apns-expiration") == .string("\(seconds)"))
        }
        let once = try compiled(#"{"token":"t","apns":{"headers":{"apns-expiration":"0"}}}"#, expiresIn: 60)
        #expect(try message(once).at("apns.headers.apns-expiration") == .string("0"))
        #expect(throws: TemplateError.self) {
            try compiled(#"{"token":"t","apns":{"headers":{"apns-expiration":"17"}}}"#, expiresIn: 60)
        }
    }
}
