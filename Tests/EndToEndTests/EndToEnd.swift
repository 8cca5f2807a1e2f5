import Testing

/// The built programs against a real Postgres and the emulator over TLS.
///
/// One after the other: each test may use both cores.
@Suite("End to end", .serialized, .timeLimit(.minutes(isFullSize ? 30 : 10)))
enum EndToEnd {}
