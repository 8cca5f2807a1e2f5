import Delivery
import Operations
import Postgres
import Queue

extension Failure {
    /// A template that cannot be used.
    init(_ error: TemplateError, file: String) {
        let place = error.position.map { " \($0)" } ?? ""
        self.init(.data, "\(file)\(place): \(error.reason)", remedy: error.remedy)
    }

    /// A notification that cannot be loaded.
    init(_ error: LoadError) {
        switch error {
        case .unknownApp(let name):
            let quoted = name.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "''")
            self.init(
                .configuration, "there is no app \"\(name)\"",
                remedy:
                    "make it: INSERT INTO todoke.apps (name, project_id) VALUES ('\(quoted)', 'your-firebase-project')")
        case .closed(let id):
            self.init(
                .data, "notification \"\(id)\" is closed",
                remedy: "choose a new --notification-id: a closed one is never sent again")
        case .cancelled(let id):
            self.init(.data, "notification \"\(id)\" is cancelled", remedy: "choose a new --notification-id")
        case .otherTemplate(let id):
            self.init(
                .data, "notification \"\(id)\" was begun with another template",
                remedy: "choose a new --notification-id, or --append to add messages of this one")
        case .otherDefinition(let id):
            self.init(
                .data, "notification \"\(id)\" was begun with another audience or other options",
                remedy: "choose a new --notification-id, or --append to add this audience")
        case .otherKind(let id, let option):
            self.init(
                .data, "notification \"\(id)\" was begun with another \(option)",
                remedy: "choose a new --notification-id: this holds for all messages of one")
        case .busy(let id):
            self.init(
                .temporary, "another run is loading notification \"\(id)\"",
                remedy: "let it finish, or wait for it with --if-running wait; a run that died is taken over")
        case .leaseLost(let id):
            self.init(
                .temporary, "another run has taken over notification \"\(id)\"",
                remedy: "let it finish; each target is queued once")
        case .noPartition(let day):
            self.init(
                .configuration, "the queue has no partition for \(day)",
                remedy: "run todoke migrate, or SELECT todoke.ensure_partitions(7)")
        case .noSchema:
            self.init(.configuration, "the database does not have this version's schema", remedy: "run todoke migrate")
        case .database(let error):
            if error.sqlState == .readOnlyTransaction {
                self.init(
                    .temporary, "the queue's database takes no writes: \(error.message)",
                    remedy: "name the primary server in --database-url, or run it again once this one takes writes")
            } else if error.isConnectionLost {
                self.init(
                    .temporary, "the database went away: \(error.message)",
                    remedy: "run the same line again: what is queued stays, the rest follows")
            } else if error.sqlState == .uniqueViolation {
                self.init(
                    .temporary, "an application queues for the same targets too fast",
                    remedy: "run the same line again: what is queued stays, the rest follows")
            } else {
                self.init(error, while: "queueing")
            }
        }
    }
}
