import Testing

@testable import ProducerCore

@Suite struct SQLTextTests {
    @Test(
        arguments: [
            ("SELECT 1", "SELECT 1"), (" SELECT 1 ;\n", "SELECT 1"), ("SELECT 1;;\n-- done; really\n", "SELECT 1"),
            ("\u{FEFF}SELECT 1;", "SELECT 1"), ("-- all\nSELECT 1 -- here\n;", "SELECT 1"),
            ("/* a; /* b */ */ SELECT 1 /* c */", "SELECT 1"),
            ("SELECT 'x; -- y'", "SELECT 'x; -- y'"), ("SELECT 'it''s; ' -- z", "SELECT 'it''s; '"),
            (#"SELECT 'a\'; -- b"#, #"SELECT 'a\'"#), (#"SELECT E'a\'; -- b' ;"#, #"SELECT E'a\'; -- b'"#),
            (#"SELECT date'2026-01-01\'; -- b"#, #"SELECT date'2026-01-01\'"#),
            (#"SELECT 1 AS "a;b""c" ; "#, #"SELECT 1 AS "a;b""c""#), ("SELECT $$;$$ ;", "SELECT $$;$$"),
            ("SELECT $t$;$$;$t$", "SELECT $t$;$$;$t$"), ("SELECT a$b$c ; ", "SELECT a$b$c"),
            ("SELECT $1;", "SELECT $1"),
            ("SELECT 1 - -1;", "SELECT 1 - -1"), ("SELECT 4/2;", "SELECT 4/2"), (";;SELECT 1", "SELECT 1"),
            ("SELECT 'open", "SELECT 'open"), ("SELECT $$open", "SELECT $$open"), ("SELECT 1 /* open", "SELECT 1"),
            (#"SELECT E'open\"#, #"SELECT E'open\"#), ("SELECT ü$$;$$", nil),
        ] as [(String, String?)])
    func `the statement without what ends it`(_ text: String, _ statement: String?) {
        #expect(SQLText(Array(text.utf8)) == statement.map(SQLText.one) ?? .several)
    }

    @Test(arguments: ["", " \n", ";", "-- only; a comment", "/* ; */ ;", "\u{FEFF}"]) func `nothing is empty`(
        _ text: String
    ) {
        #expect(SQLText(Array(text.utf8)) == .empty)
    }

    @Test(arguments: ["SELECT 1; SELECT 2", "SET x = 1;\nSELECT 1;", "SELECT ';'; -- a\n SELECT"])
    func `two are told from one`(_ text: String) {
        #expect(SQLText(Array(text.utf8)) == .several)
    }
}
