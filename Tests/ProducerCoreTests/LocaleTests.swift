import Operations
import Postgres
import TestSupport
import Testing

@testable import ProducerCore

@Suite("Locales", .scratchDatabase(prepare: migrate))
struct LocaleTests {
    @Test(
        "A locale becomes its language tag, or nothing",
        arguments: [
            ("ja", "ja"), ("ja-JP", "ja-jp"), ("pt_BR.UTF-8", "pt-br"), ("sr_RS@latin", "sr-rs"),
            ("zh-Hant-TW", "zh-hant-tw"), ("de-1996", "de-1996"), ("", nil), ("-ja", nil), ("ja-", nil), ("日本", nil),
            ("1a", nil), ("ja JP", nil), ("abcdefghi", nil),
        ] as [(String, String?)])
    func tag(_ text: String, _ expected: String?) { #expect(LocaleTag(text)?.text == expected) }

    @Test("Each row gets the template of its locale, of a wider one, or the one for all others")
    func choice() throws {
        let database = try ScratchDatabase.shared()
        let folder = try Folder()
        func template(_ title: String) -> String { #"{"token":"{{token}}","notification":{"title":"\#(title)"}}"# }
        let main = try folder.file("t.json", template("Hello {{name}}"))
        let japanese = try folder.file("ja.json", template("{{name}}さん"))
        let brazilian = try folder.file("br.json", template("Oi {{name}} ({{city}})"))
        let csv = """
            token,locale,name,city
            a,ja,A,x
            b,ja-JP,B,x
            c,pt_BR.UTF-8,C,Rio
            d,pt,D,x
            e,,E,x
            f,no locale,F,x
            g,PT-br-x,G,Foz

            """
        let audience = try folder.file("a.csv", csv)
        let line = [
            "--template", main, "--template-for", "ja=\(japanese)", "--template-for", "pt-BR=\(brazilian)",
            "--audience", audience,
        ]
        #expect(produce(database, "locales", line) == 0)
        let found = try database.connect().query(
            """
            SELECT payload->'notification'->>'title' FROM todoke.payloads AS p JOIN todoke.notifications AS n
            ON n.id = p.notification WHERE notification_id = 'locales' ORDER BY target
            """)
        #expect(
            (0..<found.rowCount).map { found.string($0, 0) } == [
                "Aさん", "Bさん", "Oi C (Rio)", "Hello D", "Hello E", "Hello F", "Oi G (Foz)",
            ])
        // Another text for one locale is another template.
        _ = try folder.file("ja.json", template("{{name}}様"))
        let failure = try outcome(database, "locales", line)
        #expect(failure?.exit == .data && failure?.what.contains("another template") == true)
    }

    @Test("A row of NDJSON needs only the fields of its own template")
    func looseFields() throws {
        let database = try ScratchDatabase.shared()
        let folder = try Folder()
        let main = try folder.file("t.json", #"{"token":"{{token}}","data":{"a":"{{a}}"}}"#)
        let other = try folder.file("fr.json", #"{"token":"{{token}}","data":{"b":"{{b}}"}}"#)
        let audience = try folder.file(
            "a.ndjson",
            "{\"token\":\"1\",\"a\":\"x\"}\n{\"token\":\"2\",\"l\":\"fr\",\"b\":\"y\"}\n{\"token\":\"3\",\"l\":\"fr\"}\n"
        )
        let line = [
            "--template", main, "--template-for", "fr=\(other)", "--locale-column", "l", "--audience", audience,
        ]
        #expect(produce(database, "loose", line) == 65)
        #expect(try database.queued("loose") == [2, 2])
    }

    @Test(
        "What cannot be meant is refused",
        arguments: [
            (["--template-for", "x.json"], "LOCALE=FILE"), (["--template-for", "j?=x.json"], "LOCALE=FILE"),
            (["--template-for", "ja=a.json", "--template-for", "JA=b.json"], "twice"),
            (["--locale-column", "l"], "--template-for"),
        ])
    func refused(_ extra: [String], _ part: String) throws {
        let database = try ScratchDatabase.shared()
        let failure = try outcome(database, "no", ["--template", "t.json", "--audience", "a.csv"] + extra)
        #expect(failure?.exit == .usage && failure?.line.contains(part) == true)
    }

    @Test("An audience without the locale's column is named")
    func noColumn() throws {
        let database = try ScratchDatabase.shared()
        let folder = try Folder()
        let main = try folder.file("t.json", #"{"token":"{{token}}"}"#)
        let audience = try folder.file("a.csv", "token\na\n")
        let failure = try outcome(
            database, "no", ["--template", main, "--template-for", "fr=\(main)", "--audience", audience])
        #expect(failure?.exit == .data && failure?.what.contains("\"locale\"") == true)
    }
}
