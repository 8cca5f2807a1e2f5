-- Who gets the push and what it says: one row for each device, one column for each {{placeholder}} of the template.
-- Each user is told of the best recipe in a cuisine they like that they have not cooked yet.
SELECT
    d.push_token AS token,
    u.id AS user_id,
    u.name AS name,
    r.id AS recipe_id,
    r.image_url AS image,
    CASE u.language WHEN 'ja' THEN u.name || 'さん、今日のおすすめ' ELSE 'Tonight''s recipe for ' || u.name END AS title,
    CASE u.language WHEN 'ja' THEN r.title_ja ELSE r.title_en END AS body
FROM users AS u
JOIN devices AS d ON d.user_id = u.id
CROSS JOIN LATERAL (
    SELECT r.*
    FROM recipes AS r
    WHERE NOT EXISTS (SELECT FROM cooked AS c WHERE c.user_id = u.id AND c.recipe_id = r.id)
    ORDER BY r.cuisine = ANY (u.likes) DESC, r.rating DESC, r.id
    LIMIT 1
) AS r
WHERE u.wants_push
