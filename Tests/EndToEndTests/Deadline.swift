import Foundation
import Testing

/// Nothing in these tests takes this long on two slow cores; what does has hung.
let patience: TimeInterval = 120

/// Whether everything is to have the size that the work asks for: `TODOKE_TEST_SCALE=full`, as `deploy/test --long` sets it.
let isFullSize = ProcessInfo.processInfo.environment["TODOKE_TEST_SCALE"] == "full"

/// How many messages the large tests send: the quick size for every run, `TODOKE_TEST_SCALE=full` for the real one.
func messages(quick: Int, full: Int) -> Int {
    isFullSize ? full : quick
}

/// A thing that was waited for did not happen; what was seen instead is in the text.
struct Late: Error, CustomStringConvertible {
    let description: String
}

/// Asks again and again, at the pace of the answers (each is a round trip to the server), until the answer is yes.
func wait(
    for what: String, within limit: TimeInterval = patience, until isReached: () throws -> Bool
) throws {
    let end = Date(timeIntervalSinceNow: limit)
    while try !isReached() {
        if Date.now > end { throw Late(description: "not within \(Int(limit)) s: \(what)") }
    }
}
