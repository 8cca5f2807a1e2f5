import CCurl

@testable import Curl
@testable import Emulator
@testable import Operations
@testable import Postgres
@testable import ProducerCore
@testable import SenderCore

extension FuzzTarget {
    /// A database's address, as a URL or as `key=value` text.
    static let conninfo = FuzzTarget("conninfo", longest: 1024) { input in
        let text = input.text.withoutNUL
        do throws(PostgresError) {
            let info = try Conninfo(text, applicationName: "fuzz")
            let other = info.with(database: "other")
            expect(other.parameters.last?.value == "other", "the other database is not named last")
            let shown = ["host", "hostaddr", "port", "dbname", "user"]
            let isShown = { (secret: String) in
                other.parameters.contains { shown.contains($0.keyword) && "\($0.keyword)=\($0.value)".contains(secret) }
            }
            if let password = info.password, password.utf8.count > 2, !isShown(password) {
                expect(!other.description.contains(password), "the password is printed")
            }
            expect(info.parameters.allSatisfy { !$0.keyword.isEmpty }, "a setting without a name")
        } catch {
            expect(!error.message.contains("\n"), "an error of several lines")
            // These three are our own.
            let rest = ["\"=\"", "\"@\"", "\"/\""].reduce(error.message) { $0.replacing($1, with: "") }
            expect(!rest.contains("\""), "a piece of the text is quoted")
        }
    }

    /// An endpoint's address: `https`, or `http` to this machine; no password.
    static let endpointURL = FuzzTarget("endpoint-url", longest: 1024) { input in
        guard let url = try? EndpointURL(input.text) else { return }
        expect(!url.host.isEmpty, "an address without a host")
        let isLocal = ["localhost", "[::1]"].contains(url.host.lowercased()) || url.host.hasPrefix("127.")
        expect(url.scheme == "https" || (url.scheme == "http" && isLocal), "\(url.scheme) to \(url.host)")
    }

    /// Request headers, a line each.
    static let headers = FuzzTarget("headers", longest: 1024) { input in
        let lines = input.array.lines
        if let list = try? HeaderList(lines.map(\.text)) {
            var entry = list.raw
            var count = 0
            while let line = entry {
                let text = String(cString: line.pointee.data)
                expect(text.contains(":") && !text.contains("\r") && !text.contains("\n"), "a header of two lines")
                count += 1
                entry = line.pointee.next
            }
            expect(count >= lines.count, "a header is lost")
        }
    }

    /// Arguments, a line each, a line `---`, and variables as `NAME=value`.
    static let options = FuzzTarget("options", longest: 1024) { input in
        let (first, second) = input.array.halves
        let arguments = first.lines.map { $0.text.withoutNUL }
        var environment: [String: String] = [:]
        for line in second.lines {
            let pair = line.text.withoutNUL.split(separator: "=", maxSplits: 1).map(String.init)
            if pair.count == 2 { environment[pair[0]] = pair[1] }
        }
        for table in [SenderOptions.table, ProducerOptions.table, EmulatorOptions.table] {
            do throws(Failure) {
                guard case .run(let parsed) = try table.parse(arguments: arguments, environment: environment) else {
                    expect(arguments.contains { ["-h", "--help", "--version"].contains($0) }, "help nobody asked for")
                    continue
                }
                if table.program == "todoke-producer" { _ = try ProducerOptions(parsed) }
                if table.program == "fcm-emulator" { _ = try EmulatorOptions.settings(parsed) }
            } catch {
                expect(error.exit == .usage, "a bad command line is a fault of usage: \(error)")
                expect(!error.what.isEmpty && !error.remedy.isEmpty, "an error that says nothing")
                expect(!error.line.contains("\n"), "an error of several lines")
            }
        }
    }
}
