/// Wake-ups: senders listen on one channel, and a notification carries the app's name (empty: any app).
package enum Wake {
    package static let channel = "todoke_due"

    /// Wakes the senders of the apps with rows in `updated` that are due again at once; to be selected as a column, since
    /// nothing else makes the server perform it.
    static let up = """
        SELECT count(pg_notify('\(channel)', a.name)) FROM todoke.apps a
        WHERE a.id = ANY (ARRAY(SELECT DISTINCT app FROM updated WHERE is_due))
        """
}
