import Foundation
import Operations
import Postgres
import TestSupport
import Testing

@testable import ProducerCore

@Suite("Producer runs that cannot begin", .scratchDatabase(prepare: migrate))
struct ProducerFailureTests {
    private let database: ScratchDatabase
    private let folder: Folder

    init() throws {
        database = try ScratchDatabase.shared()
        folder = try Folder()
    }

    private static let csv = "token,title,image\na,b,\n"

    @Test(
        "A template that cannot be used ends with 65 and its place",
        arguments: [
            ("not json", "line 1 column 1"), ("{\"token\":\"{{tokn}}\"}", "did you mean \"token\"?"),
            ("{\"token\":\"{{token}}\",\n \"data\":{\"x\":\"{{nope\"}}", "line 2 column 15"),
            ("{\"token\":\"{{token}}\",\"notification\":{\"titel\":\"{{title}}\"}}", "message.notification.titel"),
        ])
    func template(_ text: String, _ part: String) throws {
        let failure = try outcome(
            database, "t", "--template", try folder.file("t.json", text), "--audience",
            try folder.file("a.csv", Self.csv))
        #expect(failure?.exit == .data)
        #expect(failure?.line.contains(part) == true)
    }

    @Test(
        "An audience that cannot be used ends with 65",
        arguments: [
            ("", "is empty"), ("token,title\na,b\n", "no column \"image\""), ("token,title,title\n", "twice"),
            ("{\"token\":\"a\",\"title\":\"b\"}\n", "no field \"image\""), (" \n \n", "it has  "),
            (String(repeating: " ", count: 100_000), "of nothing"),
            (String(repeating: "\n", count: 100_000), "of nothing"),
        ])
    func audience(_ text: String, _ part: String) throws {
        let failure = try outcome(
            database, "a", "--template", try folder.file("t.json", simpleTemplate), "--audience",
            try folder.file("a.csv", text))
        #expect(failure?.exit == .data)
        #expect(failure?.line.contains(part) == true)
    }

    @Test(
        "A query that cannot be used ends with 65",
        arguments: [
            ("SELECT 1 AS x, 2 AS x", "two columns"), ("SELEC", "syntax error"), ("", "empty"),
            ("SELECT 't' AS token", "no column \"title\""), ("SELECT FROM generate_series(1, 3)", "no columns"),
            ("SELECT $1 AS token, '' AS title, '' AS image", "query failed"),
            ("DELETE FROM todoke.apps RETURNING name AS token", "syntax error"),
            ("SELECT nextval('todoke.message_id_seq')::text AS token, '' AS title, '' AS image", "wants to write"),
        ])
    func query(_ text: String, _ part: String) throws {
        let failure = try outcome(
            database, "q", "--template", try folder.file("t.json", simpleTemplate), "--audience-sql",
            try folder.file("q.sql", text))
        #expect(failure?.exit == .data)
        #expect(failure?.line.contains(part) == true)
    }

    @Test("Files that are not there, and a directory")
    func files() throws {
        let template = try folder.file("t.json", simpleTemplate)
        let audience = try folder.file("a.csv", Self.csv)
        for arguments in [
            ("/nowhere/t.json", audience), (template, "/nowhere/a.csv"), (template, folder.url.path),
        ] {
            let failure = try outcome(database, "f", "--template", arguments.0, "--audience", arguments.1)
            #expect(failure?.exit == .data)
        }
    }

    @Test("An unknown app is told how to be made")
    func unknownApp() throws {
        let failure = try outcome(
            database, "f", "--template", try folder.file("t.json", simpleTemplate), "--audience",
            try folder.file("a.csv", Self.csv))
        #expect(failure == nil)
        try database.connect().script("UPDATE todoke.apps SET name = 'it''s renamed'")
        defer { try? database.connect().script("UPDATE todoke.apps SET name = 'recipes'") }
        let renamed = try outcome(
            database, "f", "--template", try folder.file("t.json", simpleTemplate), "--audience",
            try folder.file("a.csv", Self.csv))
        #expect(renamed?.exit == .configuration)
        #expect(renamed?.remedy.contains("INSERT INTO todoke.apps (name, project_id) VALUES ('recipes',") == true)
    }

    @Test(
        "Options that do not fit end with 64",
        arguments: [
            ["--template", "t"], ["--template", "t", "--audience", "a", "--audience-sql", "b"], ["--audience", "a"],
            ["--template", "t", "--audience", "a", "--priority", "10"],
            ["--template", "t", "--audience", "a", "--expire", "1"],
            ["--template", "t", "--audience", "a", "--audience-format", "xml"], ["--template", "t", "--audience", ""],
            ["--template", "-", "--audience", "-"], ["--template", "-", "--audience-sql", "-"],
        ])
    func usage(_ arguments: [String]) {
        #expect(
            Producer.run(
                arguments: ["todoke-producer", "--app", "recipes", "--notification-id", "u"] + arguments,
                environment: [:])
                == 64)
    }

    @Test("A database without the schema, and none at all")
    func database78() throws {
        let template = try folder.file("t.json", simpleTemplate)
        let audience = try folder.file("a.csv", Self.csv)
        try ScratchDatabase.with { empty in
            let failure = try outcome(empty, "x", "--template", template, "--audience", audience)
            #expect(failure?.exit == .configuration)
            #expect(failure?.remedy.contains("todoke migrate") == true)
        }
        for (url, code) in [("dbname=there_is_no_such_database", 78), ("host=/nowhere", 69)] as [(String, Int32)] {
            #expect(
                Producer.run(
                    arguments: [
                        "todoke-producer", "--app", "recipes", "--notification-id", "x", "--template", template,
                        "--audience", audience, "--database-url", url,
                    ], environment: [:]) == code)
        }
    }
}
