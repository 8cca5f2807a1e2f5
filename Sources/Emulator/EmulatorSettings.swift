/// Everything the emulator was told on its command line.
struct EmulatorSettings: Sendable {
    var host = "127.0.0.1"
    /// 0 takes a free one.
    var port = 0
    var directory = "."
    /// The projects that exist; the key file belongs to the first one.
    var projects = ["demo-project"]
    /// Seconds an access token is good for.
    var tokenLifetime = 3599
    /// Milliseconds between a request and its answer.
    var latency = 0
    var maxConcurrentStreams = 100
    var keepsAcceptedLog = true
    var isQuiet = false
    var faults = FaultFlags()
    var scenario = ScenarioFile.empty
}
