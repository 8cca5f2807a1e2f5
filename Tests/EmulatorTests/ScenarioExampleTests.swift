import Delivery
import Foundation
import Testing

@testable import Emulator

/// The example files, and what the documentation says there is.
@Suite struct ScenarioExampleTests {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    private static func page() throws -> String {
        try String(
            contentsOf: root.appending(path: "Sources/OperatorCore/Documentation.docc/Scenarios.md"), encoding: .utf8)
    }

    @Test func `every example is a scenario, and is listed`() throws {
        let directory = Self.root.appending(path: "deploy/example/scenarios")
        let names = try FileManager.default.contentsOfDirectory(atPath: directory.path).sorted()
        #expect(names.count >= 8)
        let page = try Self.page()
        for name in names {
            let bytes = try [UInt8](Data(contentsOf: directory.appending(path: name)))
            let scenario = try Scenario(tree: JSONValue.parse(bytes.span))
            #expect(
                !scenario.rules.isEmpty || scenario.quota != nil || scenario.server != ServerConditions(), "\(name)")
            #expect(page.contains("| `\(name)` |"), "\(name)")
        }
    }

    @Test func `every ready-made error is listed`() throws {
        let page = try Self.page()
        for name in NamedError.names {
            let short = name.hasPrefix("invalid_grant.") ? String(name.dropFirst("invalid_grant".count)) : name
            #expect(page.contains("`\(short)`"), "\(name)")
        }
    }
}
