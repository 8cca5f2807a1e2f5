import Operations
import Testing

private let table = OptionTable(
    program: "demo", summary: "A test.", usage: "demo [options]",
    options: [
        Option("app", "NAME", repeatable: true, help: "An app."),
        Option("lease", "SECONDS", default: "60", help: "How long."),
        Option("drain", help: "Stop when done."),
    ], example: "demo --app a")

private func parsed(_ arguments: [String], _ environment: [String: String] = [:]) throws -> ParsedOptions {
    guard case .run(let options) = try table.parse(arguments: arguments, environment: environment) else {
        throw Failure(.software, "not a run", remedy: "")
    }
    return options
}

@Suite struct OptionTableTests {
    @Test func bothFormsOfAValue() throws {
        let options = try parsed(["--app", "a", "--app=b", "--drain"])
        #expect(options.strings("app") == ["a", "b"])
        #expect(options.isSet("drain"))
        #expect(try options.integer("lease", in: 1...100) == 60)
    }

    @Test func argumentsWinOverVariables() throws {
        let options = try parsed(
            ["--lease", "5"], ["TODOKE_LEASE": "7", "TODOKE_APP": "x,y", "TODOKE_DRAIN": "false"])
        #expect(options.string("lease") == "5")
        #expect(options.strings("app") == ["x", "y"])
        #expect(!options.isSet("drain"))
    }

    @Test(arguments: [
        (["--leese", "5"], "unknown option --leese (did you mean --lease?)"),
        (["--lease"], "--lease needs a value (SECONDS)"),
        (["--lease", "1", "--lease", "2"], "--lease is given twice"),
        (["--lease", "--drain"], "--lease needs a value (SECONDS)"),
        (["--drain=yes"], "--drain takes no value"),
        (["-x"], "unknown option -x: options are long, such as --app"),
        (["file"], "unexpected argument \"file\""),
    ])
    func faults(arguments: [String], what: String) {
        #expect(throws: Failure(.usage, what, remedy: "see demo --help")) {
            try table.parse(arguments: arguments, environment: [:])
        }
    }

    @Test func everyFaultIsListed() {
        let failure = #expect(throws: Failure.self) { try table.parse(arguments: ["--x", "--y"], environment: [:]) }
        #expect(failure?.what == "unknown option --x; unknown option --y")
    }

    @Test func numbersOutsideTheirRange() throws {
        let options = try parsed(["--lease", "0"])
        let failure = #expect(throws: Failure.self) { try options.integer("lease", in: 1...10) }
        #expect(failure?.exit == .usage)
    }

    @Test func helpNamesEveryOptionWithItsVariableAndDefault() {
        for option in table.options {
            #expect(table.helpText.contains("--\(option.name)"))
            #expect(table.helpText.contains(option.environmentName))
        }
        #expect(table.helpText.contains("Default: 60."))
    }

    @Test func aFailureIsOneLine() {
        #expect(Failure(.data, "a\nb\u{1B}[31m", remedy: "c").line == "a b?[31m; c")
    }
}
