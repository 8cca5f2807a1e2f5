/// What is done to a column's value on its way into a message, in the order in which the placeholder names it.
enum TemplateFilter: Equatable, Sendable {
    /// Where the name of a time zone comes from.
    enum Zone: Equatable, Sendable {
        case named(String)
        case column(String)
    }

    /// `default:"text"`: this where the value is empty.
    case fallback(String)
    case upper
    case lower
    /// `truncate:40`: at most so many characters, the last of them an ellipsis where something was cut.
    case truncate(Int)
    /// A JSON number instead of a string.
    case number
    /// `date:"%H:%M":"Asia/Tokyo"`: a moment as the clocks of a zone show it.
    case date(DatePattern, Zone)
    /// Percent-encoded for a part of a URL (RFC 3986, section 2.1).
    case urlEncode
    /// The field is left out where the value is empty.
    case omit

    /// The longest text that `truncate` leaves, in characters: beyond this it cuts nothing that FCM takes.
    static let longestText = 4_096

    static let known = "default, upper, lower, truncate, number, date, url-encode, omit"

    /// A filter by its name and what stands behind it after colons.
    init(_ name: String, _ arguments: [TemplateArgument]) throws(TemplateProblem) {
        func none(_ filter: TemplateFilter) throws(TemplateProblem) -> TemplateFilter {
            guard arguments.isEmpty else { throw TemplateProblem("\(name) takes nothing", "write {{column|\(name)}}") }
            return filter
        }
        switch name {
        case "upper": self = try none(.upper)
        case "lower": self = try none(.lower)
        case "number": self = try none(.number)
        case "url-encode": self = try none(.urlEncode)
        case "omit": self = try none(.omit)
        case "default":
            guard arguments.count == 1, case .text(let text) = arguments[0] else {
                throw TemplateProblem("default takes one text", #"write {{column|default:"text"}}"#)
            }
            self = .fallback(text)
        case "truncate":
            guard arguments.count == 1, case .word(let word) = arguments[0], let count = Int(word),
                (1...Self.longestText).contains(count)
            else {
                throw TemplateProblem(
                    "truncate takes a number of characters from 1 to \(Self.longestText)",
                    "write {{column|truncate:40}}"
                )
            }
            self = .truncate(count)
        case "date":
            guard (1...2).contains(arguments.count), case .text(let pattern) = arguments[0] else {
                throw TemplateProblem(
                    "date takes a pattern, and a time zone or a column with one",
                    #"write {{column|date:"%d %B, %H:%M":"Europe/Paris"}}"#)
            }
            let zone: Zone =
                switch arguments.dropFirst().first {
                case nil: .named("UTC")
                case .text(let name)?: .named(name)
                case .word(let column)?: .column(column)
                }
            self = .date(try DatePattern(pattern), zone)
        default:
            throw TemplateProblem("there is no filter \"\(name)\"", "the filters are \(Self.known)")
        }
    }
}

/// What stands behind a filter's name: a text in quotes, or a word without.
enum TemplateArgument: Equatable, Sendable {
    case text(String)
    case word(String)
}

/// What is wrong with a placeholder, before its place is known.
struct TemplateProblem: Error {
    let reason: String
    let remedy: String

    init(_ reason: String, _ remedy: String) {
        self.reason = reason
        self.remedy = remedy
    }
}
