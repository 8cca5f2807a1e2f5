import Delivery
import Operations
import Rows

@testable import ProducerCore

extension FuzzTarget {
    /// CSV: the same rows in whatever pieces it arrives; good rows, quoted anew, are read as the same fields.
    static let csv = FuzzTarget("csv") { input in
        let bytes = input.array
        let whole = events { () throws(Failure) in try CSVReader(pieces(bytes, of: bytes.count + 1)) }
        for size in [1, 2, 7] {
            let parts = events { () throws(Failure) in try CSVReader(pieces(bytes, of: size)) }
            expect(parts == whole, "read in pieces of \(size) it is another audience")
        }
        guard !whole.columns.isEmpty else { return }
        let rows = whole.rows.compactMap { if case .fields(_, let fields) = $0 { fields } else { nil } }
        let text = ([whole.columns.map(Optional.some)] + rows).flatMap { row in
            Array(row.map { quoted($0 ?? "") }.joined(separator: [UInt8(ascii: ",")])) + [UInt8(ascii: "\n")]
        }
        let again = events { () throws(Failure) in try CSVReader(pieces(text, of: 64)) }
        expect(again.columns.map(utf8) == whole.columns.map(utf8), "quoted anew the columns differ")
        let fields = again.rows.compactMap { if case .fields(_, let fields) = $0 { fields } else { nil } }
        expect(again.rows.count == rows.count && fields == rows, "quoted anew the rows differ")
    }

    /// NDJSON: the same rows in whatever pieces it arrives.
    static let ndjson = FuzzTarget("ndjson") { input in
        let bytes = input.array
        let columns = ["token", "user.name", "a", "user.address.city"]
        let whole = events { () throws(Failure) in NDJSONReader(pieces(bytes, of: bytes.count + 1), columns: columns) }
        expect(whole.failure == nil, "lines end the run: \(whole.failure?.what ?? "")")
        for size in [1, 2, 7] {
            let parts = events { () throws(Failure) in NDJSONReader(pieces(bytes, of: size), columns: columns) }
            expect(parts == whole, "read in pieces of \(size) it is another audience")
        }
    }

    /// Byte by byte: a quote and an accent behind it are one `Character`.
    private static func quoted(_ text: String) -> [UInt8] {
        let quote = UInt8(ascii: "\"")
        return [quote] + text.utf8.flatMap { $0 == quote ? [quote, quote] : [$0] } + [quote]
    }

    private static func utf8(_ text: String) -> [UInt8] { Array(text.utf8) }

    private static func pieces(_ bytes: [UInt8], of size: Int) -> ByteReader {
        var rest = bytes[...]
        return ByteReader { (buffer) throws(Failure) in
            buffer = Array(rest.prefix(size))
            rest = rest.dropFirst(size)
        }
    }

    /// What reading an audience to its end comes to.
    private struct Events: Equatable {
        enum Row: Equatable {
            case fields(Int, [String?])
            case refused(Int, String, String)
        }

        var columns: [String] = []
        var rows: [Row] = []
        var failure: Failure?
    }

    private static func events(_ open: () throws(Failure) -> some RowReader) -> Events {
        var events = Events()
        do throws(Failure) {
            var reader = try open()
            events.columns = reader.columns
            var row = TemplateRow()
            while true {
                switch try reader.next(into: &row) {
                case .end: return events
                case .skipped: expect(false, "a file has no rows that nobody is meant by")
                case .refused(let line, let reason, let text):
                    expect(
                        text.utf8.count <= 3 * RowLimits.keptInput, "more of a refused row is kept than allowed")
                    expect(!text.utf8.contains(0), "a refused row is kept with NUL in it")
                    events.rows.append(.refused(line, reason, text))
                case .row(let line):
                    let fields = (0..<row.count).map { row.has($0) ? row.text($0) : nil }
                    expect(fields.allSatisfy { $0?.utf8.contains(0) != true }, "a row holds NUL")
                    events.rows.append(.fields(line, fields))
                }
            }
        } catch { events.failure = error }
        return events
    }
}
