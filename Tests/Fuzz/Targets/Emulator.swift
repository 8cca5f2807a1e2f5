import Delivery

@testable import Emulator

extension FuzzTarget {
    /// A scenario file: refused with place and remedy on one short line, or written out, read again, and played.
    ///
    /// Played twice it gives the same counts.
    static let scenario = FuzzTarget("scenario") { input in
        do throws(ScenarioError) {
            let file = try ScenarioFile(input.array)
            let again = try? ScenarioFile(file.json)
            expect(again?.json == file.json, "written out it is another scenario")
            var first = RuleEngine(file.scenario)
            var second = RuleEngine(file.scenario)
            for number in 0..<20 {
                let facts = RequestFacts(
                    endpoint: number % 5 == 0 ? .token : .send, target: number % 3 == 0 ? nil : "token-\(number % 4)",
                    project: Array("demo-project".utf8)[...], isValid: number % 2 == 0,
                    header: { $0 == "x-test" ? Array("abc".utf8) : nil }, elapsed: Double(number))
                let plan = first.plan(for: facts)
                expect(plan.latency >= 0, "a latency of \(plan.latency) ns")
                let same = second.plan(for: facts)
                expect(
                    plan.latency == same.latency && plan.effects.map { $0.rule } == same.effects.map { $0.rule },
                    "played twice it is another scenario")
            }
            expect(first.hits == second.hits && first.total == second.total, "played twice the counts differ")
        } catch {
            expect(!error.problem.isEmpty && !error.remedy.isEmpty, "refused without a reason")
            expect(error.problem.utf8.count + error.remedy.utf8.count <= 1500, "an error as long as the file")
        }
    }

    /// The target of a request to the control API, one that is decoded the same once more.
    static let controlQuery = FuzzTarget("control-query", longest: 512) { input in
        let query = ControlQuery(input.array)
        let pairs = query.fields.map { "\(escaped($0.name))=\(escaped($0.value))" }
        let again = ControlQuery(Array("\(escaped(query.path))?\(pairs.joined(separator: "&"))".utf8))
        expect(again.path.utf8.elementsEqual(query.path.utf8), "written anew it is another path")
        let isSame = again.fields.elementsEqual(query.fields) {
            $0.name.utf8.elementsEqual($1.name.utf8) && $0.value.utf8.elementsEqual($1.value.utf8)
        }
        expect(isSame, "written anew it is another query")
        for name in ["last", "timeout", "accepted"] {
            if let number = try? query.integer(name, in: 0...1000, default: 7) {
                expect((0...1000).contains(number), "\(name) is \(number)")
            }
        }
        // The emulator's two readers of escapes agree.
        if let plain = query.fields.first, !input.array.contains(UInt8(ascii: "&")) {
            let form = FormBody.fields(Array(input.array.drop { $0 != UInt8(ascii: "?") }.dropFirst()))
            expect(form[plain.name].map { $0.text == plain.value } ?? false, "a form's fields are decoded differently")
        }
    }

    private static func escaped(_ text: String) -> String {
        text.utf8.map { "%" + ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}
