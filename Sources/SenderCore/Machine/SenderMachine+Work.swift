import Delivery
import Operations
import Queue

/// Knowing where work is: by asking, by being woken, and by what went back.
extension SenderMachine {
    /// While there is work, at least this often: for shares, pauses and priorities that changed.
    static var busyInterval: Int64 { 1_000_000_000 }
    /// An idle sender that is woken looks by itself only this often.
    private static let listeningInterval: Int64 = 10_000_000_000
    /// Wake-ups closer together than this are answered together.
    private static let wakeUpGap: Int64 = 10_000_000
    /// So long after an urgent message was claimed somewhere, wake-ups look there first.
    private static let urgentMemory: Int64 = 60_000_000_000

    var isBusy: Bool { !due.isEmpty || held > 0 || settings.drains }

    mutating func learnWork(apps found: [Work.App], due: [Work.Due], nextInMilliseconds: Int?, now: Int64) {
        let missing = apps.indices.filter { index in !found.contains { $0.name == apps[index].name } }
        if !missing.isEmpty && !miss(missing, now: now) { return }
        for info in found {
            guard let index = apps.firstIndex(where: { $0.name == info.name }) else { continue }
            // The name may be another row's now: what was claimed for the old one is not for its project.
            if let known = apps[index].info, known.id != info.id { release(app: index, now: now) }
            apps[index].learn(info, ramp: settings.ramp, now: now)
            if info.isPaused { release(app: index, now: now) }
        }
        knowsWork = true
        claimedSinceWork = false
        self.due = due.filter(isServed)
        let interval =
            isListening && !isBusy ? max(Self.listeningInterval, settings.pollInterval) : settings.pollInterval
        nextWorkAt = now + min(interval, Int64(nextInMilliseconds ?? .max / 1_000_000) * 1_000_000)
        // The answer may be older than the record of what went back meanwhile.
        if nextReturnAt > now { nextWorkAt = min(nextWorkAt, nextReturnAt) } else { nextReturnAt = .max }
        // A wake-up after the question left is not answered by this.
        if isWorkExpected { nextWorkAt = min(nextWorkAt, workAskedAt + Self.wakeUpGap) }
    }

    /// Apps have no row: false when that is the end.
    ///
    /// It is at the start, and when it is all of them; later the others go on.
    private mutating func miss(_ missing: [Int], now: Int64) -> Bool {
        let list = missing.map { "\"\(apps[$0].name)\"" }.joined(separator: ", ")
        let failure = Failure(
            .configuration, "no FCM app \(list) in todoke.apps",
            remedy: "INSERT INTO todoke.apps (name, project_id) VALUES ('NAME', 'FIREBASE-PROJECT')")
        guard knowsWork else {
            finish(failure.exit, failure: failure)
            return false
        }
        // There may be posts under way and results to record.
        guard missing.count < apps.count else {
            stop(because: failure, now: now)
            return false
        }
        for index in missing {
            if apps[index].info != nil {
                log(.error, "an app has no row any more", ["app": apps[index].name, "remedy": failure.remedy])
            }
            apps[index].info = nil
            release(app: index, now: now)
        }
        return true
    }

    func isServed(_ due: Work.Due) -> Bool {
        apps.contains { $0.info?.id == due.app && $0.info?.isPaused == false }
    }

    mutating func askForWork(now: Int64) {
        // Also while there is work: messages of a higher priority may have come in the meantime.
        guard !isStopping else { return }
        if !urgentApps.isEmpty, !workAskedFor.contains(.urgent) {
            ask(.urgent, .askUrgent(apps: urgentApps.sorted()))
            urgentApps = []
        }
        let isTime = now >= nextWorkAt || (isBusy && now >= workAskedAt + Self.busyInterval)
        if isTime, !workAskedFor.contains(.work) {
            isWorkExpected = false
            workAskedAt = now
            ask(.work, .askWork)
        }
    }

    /// Somebody queued messages: they are looked for at once, unless what is being claimed brings them anyway.
    mutating func woken(app name: String?, now: Int64) {
        guard name == nil || apps.contains(where: { $0.name == name }) else { return }
        floors.forget(now: now)
        for index in apps.indices where name == nil || apps[index].name == name {
            guard let info = apps[index].info else { continue }
            // Where the question has waited since the last guess, it is its turn: what is urgent may be elsewhere.
            if urgentApps.insert(info.id).inserted { guessUrgent(app: index, now: now) }
            apps[index].isExpected = !info.isPaused
            if due.contains(where: { $0.app == info.id && !$0.isUrgent }) { continue }
            isWorkExpected = true
        }
        if isWorkExpected || !knowsWork { nextWorkAt = min(nextWorkAt, max(now, workAskedAt + Self.wakeUpGap)) }
    }

    mutating func learnUrgent(_ found: [Work.Due], now: Int64) {
        for place in found where isServed(place) { add(place, now: now) }
    }

    /// Woken, and not yet told where: what is urgent is most likely where the last urgent ones were, and a claim there
    /// saves the time of a question.
    private mutating func guessUrgent(app index: Int, now: Int64) {
        guard let last = apps[index].lastUrgent, now - last.at < Self.urgentMemory, isServed(last.place) else { return }
        add(last.place, now: now)
    }

    /// One more place, behind those that are as important.
    private mutating func add(_ place: Work.Due, now: Int64) {
        guard !due.contains(place) else { return }
        rightOfWay.want(now: now)
        due.insert(place, at: due.firstIndex { $0.priority < place.priority } ?? due.count)
    }

    mutating func listening(_ isListening: Bool, now: Int64) {
        self.isListening = isListening
        if !isListening { nextWorkAt = min(nextWorkAt, now + settings.pollInterval) }
    }

    /// A message went back to be due in so many milliseconds: nobody is woken for it.
    mutating func expectReturned(inMilliseconds delay: Int, now: Int64) {
        let time = now + Int64(delay) * 1_000_000 + settings.recordDelay
        nextReturnAt = min(nextReturnAt, time)
        nextWorkAt = min(nextWorkAt, time)
    }

    mutating func ask(_ kind: StatementKind, _ action: SenderAction) {
        workAskedFor.insert(kind)
        actions.append(action)
    }
}

extension Work.Due {
    var isUrgent: Bool { Work.urgentPriorities.contains(priority) }
}
