@testable import Delivery

/// A template of this text for notification `n1`.
func compiled(
    _ text: String, image: String? = nil, expiresIn: Int? = nil, collapseID: String = "n1"
) throws(TemplateError) -> Template {
    try Template(
        Array(text.utf8),
        TemplateAdditions(notificationID: "n1", collapseID: collapseID, image: image, expiresIn: expiresIn))
}

/// The message for a row that has a field for each column of the template, in the template's order.
func rendered(_ template: Template, _ values: String...) -> String {
    var output: [UInt8] = []
    var desk = RenderingDesk(testZones)
    template.render(TemplateRow(values), &desk, into: &output)
    return String(decoding: output, as: UTF8.self)
}

/// The message as a tree; the text must be what the payload rules accept.
func message(_ template: Template, _ values: String...) throws -> JSONValue {
    var output: [UInt8] = []
    var desk = RenderingDesk(testZones)
    template.render(TemplateRow(values), &desk, into: &output)
    return try JSONValue.parse(output.span)
}

/// Why a row with these values has no message.
func fault(_ template: Template, _ values: String...) -> TemplateFault? {
    var output: [UInt8] = []
    var desk = RenderingDesk(testZones)
    return template.render(TemplateRow(values), &desk, into: &output)
}

/// Two zones: UTC, and one where clocks go from UTC+1 to UTC+2 at 2026-03-29T01:00:00Z.
let testZones = TimeZones { zone, moment in
    let change = 1_774_746_000
    return switch zone {
    case "UTC": ZoneStretch(offset: 0, start: .min, end: .max)
    case "Test/Summer" where moment < change: ZoneStretch(offset: 3600, start: .min, end: change)
    case "Test/Summer": ZoneStretch(offset: 7200, start: change, end: .max)
    default: nil
    }
}

extension JSONValue {
    /// The value at a path such as `android.notification.tag`, with keys that hold no dot.
    func at(_ path: String) -> JSONValue? {
        var value: JSONValue? = self
        for key in path.split(separator: ".") { value = value?[String(key)] }
        return value
    }
}
