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

    /// `todoke cancel` with the TODOKE_CAMPAIGN of a producer would cancel it.
    @Test func whatIsToBeChangedHasNoVariable() throws {
        let table = OptionTable(
            program: "demo", summary: "A test.", usage: "demo",
            options: [Option("all", onLineOnly: true, help: "All."), Option("app", "NAME", help: "An app.")],
            example: "demo")
        guard
            case .run(let options) = try table.parse(
                arguments: [], environment: ["TODOKE_ALL": "true", "TODOKE_APP": "a"])
        else { throw Failure(.software, "not a run", remedy: "") }
        #expect(!options.isSet("all") && options.string("app") == "a")
        #expect(!table.helpText.contains("TODOKE_ALL") && table.helpText.contains("TODOKE_APP"))
    }

    @Test(arguments: [("1d", "from 8d to 3650d"), ("never", "from 8d to 3650d"), ("99999d", "not \"99999d\"")])
    func aDurationsBoundsAreInItsUnits(_ text: String, _ said: String) throws {
        let failure = #expect(throws: Failure.self) {
            try parsed(["--lease", text]).duration("lease", in: 8 * 86_400...3_650 * 86_400)
        }
        #expect(failure?.what.contains(said) == true, "\(failure?.what ?? "")")
    }
}
