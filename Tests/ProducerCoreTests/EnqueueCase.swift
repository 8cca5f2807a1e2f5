import Testing

/// A message, and what is said beside it.
struct EnqueueCase: CustomTestStringConvertible, Sendable {
    let message: String
    var image: String?
    var expiresIn: Int?

    init(_ message: String, image: String? = nil, expiresIn: Int? = nil) {
        self.message = message
        self.image = image
        self.expiresIn = expiresIn
    }

    var testDescription: String { "\(image ?? "-") \(expiresIn ?? 0) \(message)" }

    private static let url = "https://e.org/ä b.png".replacing(" ", with: "%20")

    static let all: [EnqueueCase] = plain + images + lives

    private static let plain = [
        EnqueueCase(#"{"token":"t"}"#),
        EnqueueCase(#"{"token":"t","notification":null,"data":null,"android":null,"apns":null,"webpush":null}"#),
        EnqueueCase(#"{"token":"t","notification":{"title":"Soup \"à la\" \\ 👩‍🍳","body":"\u00e9\n"}}"#),
        EnqueueCase(#"{"topic":"news","notification":{"title":"a"},"data":{"link":"app://x?ttl=\"5s\""}}"#),
        EnqueueCase(#"{"condition":"'a' in topics && 'b' in topics","data":{"k":""}}"#),
        EnqueueCase(#"{"fid":"f","data":{"notification_id":"n-1","other":"1"}}"#),
        EnqueueCase(
            #"{"token":"t","notification":{"title":"a"},"android":{"priority":"HIGH","notification":{"tag":"own"}}}"#),
        EnqueueCase(##"{"token":"t","android":{"notification":{"title":"a","color":"#ff0000","tag":null}}}"##),
        EnqueueCase(#"{"token":"t","android":{"data":{"a":"b"},"collapseKey":"c"},"data":{"x":"y"}}"#),
        EnqueueCase(#"{"token":"t","webpush":{"data":{"a":"b"},"headers":{"TTL":"60"},"notification":{"title":"w"}}}"#),
        EnqueueCase(#"{"token":"t","notification":{"title":"a"},"webpush":{"fcmOptions":{"link":"https://e.org/"}}}"#),
        EnqueueCase(
            #"{"token":"t","apns":{"headers":{"APNS-Priority":"10","apns-push-type":"alert"},"payload":{"aps":{"badge":3}}}}"#
        ),
        EnqueueCase(#"{"token":"t","notification":{"title":"a"},"apns":{"headers":{"Apns-Collapse-ID":"mine"}}}"#),
        EnqueueCase(
            #"{"token":"t","apns":{"payload":{"aps":{"alert":{"title":"a","loc-key":"k","loc-args":["1","2"]}},"own":[1,2.50,null,true]}}}"#
        ),
        EnqueueCase(#"{"token":"t","notification":{"title":"a"},"fcmOptions":{"analyticsLabel":"l"}}"#),
        EnqueueCase(liveActivity("live_activity_token")), EnqueueCase(liveActivity("liveActivityToken")),
        EnqueueCase(#"{"token":"t","notification":{"title":"a"},"android_v2":{"ttl":"60s"}}"#),
        EnqueueCase(#"{"token":"t","android_v2":{"remote_notification":{"notification":{"title":"a"}}}}"#),
        EnqueueCase(
            #"{"token":"t","androidV2":{"remoteNotification":{"mutableContent":true,"notification":{"tag":"own"}}}}"#),
        EnqueueCase(#"{"token":"t","notification":{"title":"a"},"androidV2":{"backgroundSync":{}}}"#),
        EnqueueCase(
            #"{"token":"t","notification":{"title":"a"},"android_v2":{"background_sync":null,"remote_notification":null}}"#
        ),
        EnqueueCase(#"{"token":"t","android":null,"android_v2":{"data":{"a":"b"},"background_sync":{}}}"#),
    ]

    private static let images = [
        EnqueueCase(#"{"token":"t","notification":{"title":"a"}}"#, image: url),
        EnqueueCase(#"{"token":"t","android":{"notification":{"title":"a"}}}"#, image: url),
        EnqueueCase(#"{"token":"t","apns":{"payload":{"aps":{"alert":"a"}}}}"#, image: url),
        EnqueueCase(
            #"{"token":"t","notification":{"title":"a","image":null},"apns":{"fcmOptions":null,"payload":null}}"#,
            image: url),
        EnqueueCase(#"{"token":"t","notification":{"title":"a","image":"\#(url)"}}"#),
        EnqueueCase(#"{"token":"t","notification":{"title":"a"},"android":{"notification":{"image":"\#(url)"}}}"#),
        EnqueueCase(#"{"token":"t","notification":{"title":"a"},"apns":{"fcm_options":{"image":"\#(url)"}}}"#),
        EnqueueCase(
            #"{"token":"t","notification":{"title":"a"},"apns":{"fcmOptions":{"image":"\#(url)","analyticsLabel":"l"}}}"#
        ),
        EnqueueCase(
            #"{"token":"t","notification":{"image":"\#(url)"},"apns":{"fcm_options":{"image":"https://e.org/2"}}}"#),
        EnqueueCase(
            #"{"token":"t","notification":{"image":"\#(url)"},"apns":{"payload":{"aps":{"mutable-content":1,"sound":"s"}}}}"#
        ),
        EnqueueCase(#"{"token":"t","notification":{"title":"a","image":""}}"#),
        EnqueueCase(
            #"{"token":"t","notification":{"title":"a"},"android":{"notification":{"image":""}},"apns":{"headers":{}}}"#
        ),
        EnqueueCase(#"{"token":"t","notification":{"title":"a"},"apns":{"fcmOptions":{"image":""}}}"#),
        EnqueueCase(#"{"token":"t","notification":{"image":""},"android":{"notification":{"image":"\#(url)"}}}"#),
        EnqueueCase(#"{"token":"t","notification":{"image":"\#(url)"},"android":{"notification":{"image":""}}}"#),
        EnqueueCase(
            #"{"token":"t","notification":{"title":"a"},"androidV2":{"remoteNotification":{"notification":{"image":"\#(url)"}}}}"#
        ),
        EnqueueCase(#"{"token":"t","notification":{"image":"\#(url)"},"android_v2":{"background_sync":{}}}"#),
    ]

    private static let lives = [
        EnqueueCase(#"{"token":"é-\u00fc-漢","notification":{"title":"時間 ⏰"}}"#, expiresIn: 3_600),
        EnqueueCase(#"{"token":"t","data":{"ttl":"3600s"}}"#, expiresIn: 3_600),
        EnqueueCase(#"{"token":"t","android":{"ttl":"60s","data":{"ttl":"7s"}}}"#, expiresIn: 3_600),
        EnqueueCase(#"{"token":"t","android":{"ttl":"7200s","collapse_key":"k"}}"#, expiresIn: 3_600),
        EnqueueCase(#"{"token":"t","android":{"ttl":"59.5s"}}"#, expiresIn: 60),
        EnqueueCase(#"{"token":"t","android":{"ttl":"90.5s"}}"#, expiresIn: 60),
        EnqueueCase(#"{"token":"t","android":{"ttl":"0s"}}"#, expiresIn: 60),
        EnqueueCase(#"{"token":"t","android":{"ttl":"0060s"}}"#, expiresIn: 60),
        EnqueueCase(#"{"token":"t","android":{"ttl":null}}"#, expiresIn: 60),
        EnqueueCase(#"{"token":"t","android":{"ttl":"60s"}}"#),
        EnqueueCase(#"{"token":"t","notification":{"title":"a"},"androidV2":{"ttl":"9999s"}}"#, expiresIn: 60),
        EnqueueCase(#"{"token":"t","apns":{"headers":{"apns-expiration":"0"}}}"#, expiresIn: 60),
        EnqueueCase(#"{"token":"t","notification":{"title":"a"}}"#, image: url, expiresIn: 3_000_000),
    ]

    private static func liveActivity(_ name: String) -> String {
        #"{"token":"t","notification":{"title":"a"},"apns":{"\#(name)":"l","headers":{"apns-priority":"5"}}}"#
    }
}
