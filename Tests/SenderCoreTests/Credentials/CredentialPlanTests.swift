import Curl
import FoundationEssentials
import Operations
import Testing

@testable import SenderCore

/// Which app uses which credentials, and where they are looked for.
@Suite struct CredentialPlanTests {
    private func plan(
        _ options: [String], apps: [String] = ["a", "b"], environment: [String: String] = [:], files: Set<String> = []
    ) throws -> CredentialPlan {
        try CredentialPlan(options: options, apps: apps, environment: environment, isFile: { files.contains($0) })
    }

    private func paths(_ plan: CredentialPlan) -> [String] {
        plan.credentialOfApp.map { index in
            if case .file(let path, _) = plan.sources[index] { path } else { "metadata" }
        }
    }

    @Test(arguments: [
        (["k"], ["k", "k"], 1), (["k", "b=l"], ["k", "l"], 2), (["b=l", "k"], ["k", "l"], 2),
        (["a=k", "b=l"], ["k", "l"], 2), (["a=k", "b=k"], ["k", "k"], 1), (["a=x=y", "k"], ["x=y", "k"], 2),
        (["/etc/c=d/key"], ["/etc/c=d/key", "/etc/c=d/key"], 1), (["k", "b=./a=k"], ["k", "./a=k"], 2),
    ])
    func filesAreForOneAppOrForAll(options: [String], expected: [String], count: Int) throws {
        let plan = try plan(options)
        #expect(paths(plan) == expected)
        #expect(plan.sources.count == count)
    }

    @Test func aFileAsAWholeGoesFirst() throws {
        #expect(try paths(plan(["a=k"], files: ["a=k"])) == ["a=k", "a=k"])
        #expect(try paths(plan(["team=k"], files: ["team=k"])) == ["team=k", "team=k"])
    }

    @Test func namesOfAppsMayHoldTheSign() throws {
        #expect(try paths(plan(["x=y=k", "l"], apps: ["x=y", "z"])) == ["k", "l"])
    }

    @Test(arguments: [
        ["k", "l"], ["a=k", "a=l"], ["a="], [""], ["c=k"],
    ])
    func whatMakesNoSenseIsAFaultOfTheCommandLine(options: [String]) {
        let failure = #expect(throws: Failure.self) { try plan(options) }
        #expect(failure?.exit == .usage)
    }

    @Test func whatIsNotNamedIsLookedForInGooglesOrder() throws {
        let home = FileManager.default.temporaryDirectory.appending(path: "todoke-home-\(UUID())")
        let gcloud = home.appending(path: ".config/gcloud")
        try FileManager.default.createDirectory(at: gcloud, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: home) }
        let file = gcloud.appending(path: "application_default_credentials.json").path
        var environment = ["HOME": home.path, "GOOGLE_APPLICATION_CREDENTIALS": "adc"]
        #expect(try paths(plan(["a=k"], environment: environment)) == ["k", "adc"])
        environment["GOOGLE_APPLICATION_CREDENTIALS"] = #"{"client_secret": "hunter2"}"#
        let secret = #expect(throws: Failure.self) { try plan([], environment: environment) }
        #expect(secret?.what == "GOOGLE_APPLICATION_CREDENTIALS holds JSON where a file name is expected")
        environment["GOOGLE_APPLICATION_CREDENTIALS"] = ""
        #expect(try paths(plan([], environment: environment)) == ["metadata", "metadata"])
        try Data("{}".utf8).write(to: URL(filePath: file))
        #expect(try paths(plan([], environment: environment)) == [file, file])
        environment["CLOUDSDK_CONFIG"] = home.path
        #expect(try paths(plan([], environment: environment)) == ["metadata", "metadata"])
        environment["NO_GCE_CHECK"] = "true"
        let none = #expect(throws: Failure.self) { try plan([], environment: environment) }
        #expect(none?.exit == .configuration)
        // Nobody looks for what is not needed.
        #expect(try paths(plan(["k"], environment: environment)) == ["k", "k"])
    }

    @Test(arguments: [
        ([:], "metadata.google.internal", "169.254.169.254"),
        (["GCE_METADATA_HOST": "127.0.0.1:8080"], "127.0.0.1:8080", "127.0.0.1:8080"),
        (["GCE_METADATA_ROOT": "localhost:1"], "localhost:1", "localhost:1"),
        (["GCE_METADATA_IP": "127.0.0.9"], "metadata.google.internal", "127.0.0.9"),
        (["GCE_METADATA_HOST": "[fd20:ce::254]"], "[fd20:ce::254]", "[fd20:ce::254]"),
    ])
    func theMetadataServerFollowsItsVariables(environment: [String: String], host: String, probe: String) throws {
        let server = try #require(try MetadataServer.find(environment))
        #expect(server.host == host && server.probeHost == probe && server.timeoutMilliseconds == 3_000)
        let request = server.tokenRequest
        #expect(
            request.url == "http://\(host)/computeMetadata/v1/instance/service-accounts/default/token"
                + "?scopes=https%3A%2F%2Fwww.googleapis.com%2Fauth%2Ffirebase.messaging")
        #expect(request.headers == ["Metadata-Flavor: Google"] && request.method == .get)
    }

    @Test(arguments: [
        ["GCE_METADATA_HOST": "metadata.example.com"], ["GCE_METADATA_HOST": "10.0.0.1"],
        ["GCE_METADATA_HOST": "127.0.0.1/x?"], ["GCE_METADATA_HOST": "127.0.0.1@example.com"],
        ["GCE_METADATA_IP": "192.168.0.1"], ["GCE_METADATA_TIMEOUT": "long"], ["GCE_METADATA_TIMEOUT": "0"],
    ])
    func tokensDoNotCrossANetworkInClearText(environment: [String: String]) {
        let failure = #expect(throws: Failure.self) { try MetadataServer.find(environment) }
        #expect(failure?.exit == .configuration)
    }
}
