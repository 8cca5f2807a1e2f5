import Delivery

/// Puts what the rules found into the words of the real server, where those are known.
enum ServerWording {
    static func violation(_ issue: PayloadIssue) -> (field: String, description: String) {
        (issue.field, issue.reason)
    }
}
