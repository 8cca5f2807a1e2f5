/// How the server writes the cells of a result; see ``QueryResult``.
package enum ResultFormat: Int32, Sendable {
    case text = 0
    case binary = 1
}
