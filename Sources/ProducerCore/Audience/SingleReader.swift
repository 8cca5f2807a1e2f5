import Delivery
import Operations
import Rows

/// An audience of one row with one field.
struct SingleReader: RowReader {
    let columns: [String]
    let bytesTaken = 0
    private var value: String?

    init(_ column: String, _ value: String) {
        columns = [column]
        self.value = value
    }

    mutating func next(into row: inout TemplateRow) throws(Failure) -> ReadRow {
        guard let value = value.take() else { return .end }
        row = TemplateRow([value])
        return .row(line: 1)
    }
}
