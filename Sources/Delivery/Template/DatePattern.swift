/// How a moment is written: letters as of `strftime`, names in English.
struct DatePattern: Equatable, Sendable {
    private enum Piece: Equatable, Sendable {
        case literal([UInt8])
        /// A number with at least so many digits.
        case number(Field, width: Int)
        case monthName(isShort: Bool)
        case weekdayName(isShort: Bool)
        case halfOfDay
    }

    private enum Field: Equatable, Sendable { case year, yearOfCentury, month, day, hour, hourOf12, minute, second }

    private let pieces: [Piece]

    static let known = "%Y %y %m %d %H %I %M %S, with - in front of the letter without leading zeros, %B %b %A %a %p %%"

    init(_ text: String) throws(TemplateProblem) {
        var pieces: [Piece] = []
        var literal: [UInt8] = []
        var rest = text.unicodeScalars[...]
        while let scalar = rest.popFirst() {
            guard scalar == "%" else {
                literal += Array(String(scalar).utf8)
                continue
            }
            var letter = rest.popFirst()
            let isPlain = letter == "-"
            if isPlain { letter = rest.popFirst() }
            guard let letter, letter != "%" || !isPlain, let piece = Self.piece(letter, width: isPlain ? 1 : 2) else {
                throw TemplateProblem("date: unknown letter after % in \"\(text)\"", "the letters are \(Self.known)")
            }
            if case .literal(let bytes) = piece {
                literal += bytes
            } else {
                if !literal.isEmpty { pieces.append(.literal(literal)) }
                literal = []
                pieces.append(piece)
            }
        }
        if !literal.isEmpty { pieces.append(.literal(literal)) }
        guard !pieces.isEmpty else {
            throw TemplateProblem("date: the pattern is empty", "the letters are \(Self.known)")
        }
        self.pieces = pieces
    }

    private static func piece(_ letter: Unicode.Scalar, width: Int) -> Piece? {
        switch letter {
        case "%": .literal([UInt8(ascii: "%")])
        case "Y": .number(.year, width: width == 1 ? 1 : 4)
        case "y": .number(.yearOfCentury, width: width)
        case "m": .number(.month, width: width)
        case "d": .number(.day, width: width)
        case "H": .number(.hour, width: width)
        case "I": .number(.hourOf12, width: width)
        case "M": .number(.minute, width: width)
        case "S": .number(.second, width: width)
        case "B" where width == 2: .monthName(isShort: false)
        case "b" where width == 2: .monthName(isShort: true)
        case "A" where width == 2: .weekdayName(isShort: false)
        case "a" where width == 2: .weekdayName(isShort: true)
        case "p" where width == 2: .halfOfDay
        default: nil
        }
    }

    private static let months = [
        "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
        "December",
    ]
    private static let weekdays = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"]

    /// Appends the moment, in seconds since 1970 as a zone's clocks count them: its distance from UTC is added already.
    func write(_ local: Int, into output: inout [UInt8]) {
        let days = local >= 0 ? local / 86_400 : (local - 86_399) / 86_400
        let second = local - days * 86_400
        let date = CivilDate.date(daysSince1970: days)
        for piece in pieces {
            switch piece {
            case .literal(let bytes): output.append(contentsOf: bytes)
            case .monthName(let isShort): Self.append(Self.months[date.month - 1], isShort, to: &output)
            case .weekdayName(let isShort):
                // 1970-01-01 was a Thursday.
                Self.append(Self.weekdays[((days + 4) % 7 + 7) % 7], isShort, to: &output)
            case .halfOfDay: output.append(contentsOf: (second < 43_200 ? "AM" : "PM").utf8)
            case .number(let field, let width):
                let value =
                    switch field {
                    case .year: date.year
                    case .yearOfCentury: (date.year % 100 + 100) % 100
                    case .month: date.month
                    case .day: date.day
                    case .hour: second / 3600
                    case .hourOf12: (second / 3600 + 11) % 12 + 1
                    case .minute: second / 60 % 60
                    case .second: second % 60
                    }
                let digits = String(value).utf8
                for _ in 0..<max(0, width - digits.count) { output.append(UInt8(ascii: "0")) }
                output.append(contentsOf: digits)
            }
        }
    }

    private static func append(_ name: String, _ isShort: Bool, to output: inout [UInt8]) {
        output.append(contentsOf: isShort ? name.utf8.prefix(3) : name.utf8[...])
    }
}
