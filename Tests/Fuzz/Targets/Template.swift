@testable import Delivery

extension FuzzTarget {
    /// A template, a line `---`, and the columns' values, one a line.
    ///
    /// What compiles renders to JSON whatever the row holds, and its issues can be told.
    static let template = FuzzTarget("template") { input in
        let (text, rest) = input.array.halves
        var plain = TemplateAdditions(notificationID: "daily-2026-11-30", collapseID: "daily-2026-11-30")
        check(text, plain, rest)
        plain.image = "https://example.com/{{image}}"
        plain.expiresIn = 3600
        check(text, plain, rest)
    }

    private static func check(_ text: [UInt8], _ additions: TemplateAdditions, _ rest: [UInt8]) {
        guard let template = try? Delivery.Template(text, additions) else { return }
        _ = template.issues()
        let values = rest.text.withoutNUL.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        let given = template.columns.indices.map { $0 < values.count ? values[$0] : "" }
        for row in [given, given.map { _ in "" }, given.map { _ in "\"}\\" }] {
            var message: [UInt8] = []
            var desk = RenderingDesk(.none)
            if template.render(TemplateRow(row), &desk, into: &message) != nil { continue }
            _ = desk.expire(at: 1_700_003_600, &message)
            do { _ = try JSONValue.parse(message.span) } catch {
                fail("it renders to what is not JSON: \(error)\n\(message.text)")
            }
            _ = MessageRules.check(message.span)
        }
    }
}
