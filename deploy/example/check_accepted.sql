-- What the emulator accepted, read from standard input (accepted.ndjson): name|expected|actual for each thing to check.
-- Two control characters that JSON cannot hold unescaped make the CSV reader take each line as it is.
CREATE TEMPORARY TABLE accepted (line json NOT NULL);
\copy accepted FROM pstdin WITH (FORMAT csv, QUOTE E'\x01', DELIMITER E'\x02')

WITH message AS (SELECT line -> 'message' AS m FROM accepted)
SELECT 'messages that FCM''s emulator accepted', :devices, count(*) FROM message
UNION ALL
SELECT 'different devices among them', :devices, count(DISTINCT m ->> 'token') FROM message
UNION ALL
SELECT 'with the image in all three places', :devices, count(*) FROM message
WHERE m #>> '{notification,image}' LIKE 'https://%'
    AND m #>> '{android,notification,image}' = m #>> '{notification,image}'
    AND m #>> '{apns,fcm_options,image}' = m #>> '{notification,image}'
UNION ALL
SELECT 'with mutable-content 1', :devices, count(*) FROM message WHERE m #>> '{apns,payload,aps,mutable-content}' = '1'
UNION ALL
SELECT 'with the notification id', :devices, count(*) FROM message WHERE m #>> '{data,notification_id}' = :'notification'
UNION ALL
SELECT 'with exactly the text of the application''s database', :devices, count(*)
FROM message
JOIN devices AS d ON d.push_token = m ->> 'token'
JOIN users AS u ON u.id = d.user_id
JOIN recipes AS r ON m #>> '{data,link}' = 'recipes://recipe/' || r.id
WHERE m #>> '{notification,title}'
        = CASE u.language WHEN 'ja' THEN u.name || 'さん、今日のおすすめ' ELSE 'Tonight''s recipe for ' || u.name END
    AND m #>> '{notification,body}' = CASE u.language WHEN 'ja' THEN r.title_ja ELSE r.title_en END;
