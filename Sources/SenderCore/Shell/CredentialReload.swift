import Operations

/// Reads the key files again while the sender runs.
final class CredentialReload {
    /// Parallel to the fetchers.
    private let sources: [CredentialSource]
    private let tokens: [TokenFetcher]
    private let log: Log

    init(sources: [CredentialSource], tokens: [TokenFetcher], log: Log) {
        self.sources = sources
        self.tokens = tokens
        self.log = log
    }

    /// Takes every file that is good, and a new token for it; goes on with the old key where one is bad.
    func run() {
        for (index, source) in sources.enumerated() {
            do throws(Failure) {
                let credential = try source.load(isAgain: true)
                tokens[index].replace(by: credential)
                log.info("credentials read again", ["source": source.description, "for": credential.name])
            } catch {
                log.error(
                    "credentials not replaced, the old ones go on",
                    ["source": source.description, "why": error.what, "remedy": "\(error.remedy); then send SIGHUP"])
            }
        }
    }
}
