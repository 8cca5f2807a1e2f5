import Foundation
import Postgres

/// What EXPLAIN (ANALYZE, BUFFERS) says about one statement, as far as it was executed.
struct QueryPlan {
    struct Node {
        let type: String
        let relation: String?
        let index: String?
        /// Rows read in all loops, the ones that were filtered away included.
        let rowsRead: Int
    }

    private(set) var nodes: [Node] = []
    /// 8 kB pages looked at, cached or not.
    let buffers: Int
    let milliseconds: Double
    /// What the planner expects, in its own unit.
    let cost: Double

    /// Runs the statement: put it into a transaction where that matters.
    init(_ sql: String, _ parameters: [Value] = [], on connection: Connection) throws {
        let json = try connection.query("EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) " + sql, parameters).bytes(0, 0)
        guard let list = try JSONSerialization.jsonObject(with: Data(json)) as? [[String: Any]], let first = list.first,
            let root = first["Plan"] as? [String: Any]
        else { throw CocoaError(.coderReadCorrupt) }
        buffers = Self.number(root["Shared Hit Blocks"]) + Self.number(root["Shared Read Blocks"])
        milliseconds = (first["Execution Time"] as? NSNumber)?.doubleValue ?? 0
        cost = (root["Total Cost"] as? NSNumber)?.doubleValue ?? 0
        add(root)
    }

    private mutating func add(_ plan: [String: Any]) {
        let loops = Self.number(plan["Actual Loops"])
        if loops > 0 {
            let rows =
                Self.number(plan["Actual Rows"]) + Self.number(plan["Rows Removed by Filter"])
                + Self.number(plan["Rows Removed by Index Recheck"])
            nodes.append(
                Node(
                    type: plan["Node Type"] as? String ?? "?", relation: plan["Relation Name"] as? String,
                    index: plan["Index Name"] as? String, rowsRead: rows * loops))
        }
        for child in plan["Plans"] as? [[String: Any]] ?? [] { add(child) }
    }

    private static func number(_ value: Any?) -> Int { (value as? NSNumber)?.intValue ?? 0 }
}
