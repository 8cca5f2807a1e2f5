import Testing

@testable import Delivery

@Suite("Templates: faults that no row can mend")
struct TemplateIssuesTests {
    @Test(
        "An unknown or wrong field is reported before the first row",
        arguments: [
            (#"{"token":"{{t}}","notification":{"titel":"{{x}}"}}"#, "message.notification.titel"),
            (#"{"token":"{{t}}","notifications":{"title":"{{x}}"}}"#, "message.notifications"),
            (#"{"token":"{{t}}","data":{"n":5}}"#, "message.data.n"),
            (#"{"token":"{{t}}","android":{"ttl":"soon"}}"#, "message.android.ttl"),
            (
                #"{"token":"{{t}}","android":{"notification":{"color":"red","title":"{{x}}"}}}"#,
                "message.android.notification.color"
            ),
            (
                #"{"token":"{{t}}","android":{"notification":{"click_action":"a","clickAction":"{{x}}"}}}"#,
                "message.android.notification.click_action"
            ),
            (#"{"token":"{{t}}","data":{"from":"{{x}}"}}"#, "message.data.from"),
            (#"{"data":{"a":"{{x}}"}}"#, "message"),
        ])
    func reported(_ text: String, _ field: String) throws {
        #expect(try compiled(text).issues().map(\.field).contains(field))
    }

    @Test(
        "What depends on a row is left to the row",
        arguments: [
            #"{"token":"{{t}}","android":{"ttl":"{{ttl}}s"}}"#,
            #"{"token":"{{t}}","androidV2":{"remoteNotification":{"notification":{"channelId":"{{c}}","color":"{{color}}"}}}}"#,
            #"{"token":"{{t}}","notification":{"title":"a","image":"{{image}}"}}"#,
            #"{"token":"{{t}}","apns":{"headers":{"apns-priority":"{{p}}"}}}"#,
            #"{"condition":"{{c}}"}"#,
            #"{"token":"{{t}}","android":{"notification":{"vibrate_timings":["{{v}}","1s"]}}}"#,
        ])
    func leftAlone(_ text: String) throws {
        #expect(try compiled(text).issues() == [] as [PayloadIssue])
    }
}
