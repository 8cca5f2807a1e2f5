/// Everything the emulator was told on its command line.
struct EmulatorSettings: Sendable {
    var host = "127.0.0.1"
    /// 0 takes a free one.
    var port = 0
    /// A loopback address.
    var controlHost = "127.0.0.1"
    /// 0 takes a free one.
    var controlPort = 0
    var directory = "."
    /// The projects that exist; the key file belongs to the first one.
    var projects = ["demo-project"]
    /// Seconds an access token is good for.
    var tokenLifetime = 3599
    /// Milliseconds between a request and its answer.
    var latency = 0
    var maxConcurrentStreams = 100
    /// Every so many messages one is written into accepted.ndjson; nil is none.
    var acceptedLog: Int? = 1
    /// How many targets are remembered, to find those that come twice; 0 is none.
    var trackedTargets = 1_000_000
    var isQuiet = false
    var faults = FaultFlags()
    var scenario = ScenarioFile.empty
}
