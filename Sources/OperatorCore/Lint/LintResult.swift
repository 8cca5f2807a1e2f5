import Delivery

/// What became of one message of the input.
struct LintResult {
    /// Where it begins, from 1.
    let line: Int
    let errors: [PayloadIssue]
    let warnings: [PayloadIssue]

    var isValid: Bool { errors.isEmpty }

    /// Checks a message, or the whole body of a request, whichever it is.
    ///
    /// - Parameter expiresIn: seconds until the message is of no more use; nil when it always is.
    init(_ document: Document, expiresIn: Int?) {
        line = document.line
        guard !document.isTooLong else {
            let reason = "is longer than \(DocumentReader.limit >> 20) MiB; FCM takes 4096 bytes of content"
            errors = [PayloadIssue(field: "message", reason: reason)]
            warnings = []
            return
        }
        let bytes = document.bytes.span
        let report =
            MessageRules.isRequest(bytes)
            ? MessageRules.checkRequest(bytes, expiresIn: expiresIn).report
            : MessageRules.check(bytes, expiresIn: expiresIn)
        errors = report.errors
        warnings = report.warnings
    }
}
