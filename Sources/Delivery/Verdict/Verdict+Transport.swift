extension Verdict {
    /// libcurl codes that say our own settings are wrong: certificates, keys, protocols (curl's `libcurl-errors`).
    private static let settingsCodes: Set<Int> = [1, 3, 4, 53, 54, 58, 59, 60, 66, 77, 82, 83, 90, 91, 98]

    /// The verdict on a transfer that ended without a final status.
    ///
    /// A request that was never issued is proven unprocessed, whatever went wrong (6, 7, 35 and 60 are the usual
    /// codes). Once issued the outcome is unknown, also with those codes: libcurl may have posted on a connection that
    /// died and failed to open the next one.
    package static func transport(curlCode: Int, issued: Bool) -> Verdict {
        let code = "CURL_\(curlCode)"
        if issued { return Verdict(.unknown, code: code, hint: Hint.unknownOutcome, evidence: .transport) }
        let isOurs = settingsCodes.contains(curlCode)
        var verdict = Verdict(
            isOurs ? .authConfig : .retry, code: code, hint: Hint.texts[code] ?? (isOurs ? Hint.ownSettings : nil),
            evidence: .transport)
        verdict.isUnprocessed = true
        return verdict
    }

    /// The code of a verdict of `transport(curlCode:issued:)`.
    package var transportCode: TransportCode? {
        guard evidence == .transport, code.hasPrefix("CURL_") else { return nil }
        return TransportCode(String(code.dropFirst(5)))
    }
}
