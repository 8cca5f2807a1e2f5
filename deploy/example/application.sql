-- The database of a small recipe application, as it may look before anybody thought of push notifications.
-- Everything is a function of the row numbers, so every run makes the same data.

CREATE TABLE users (
    id          bigint PRIMARY KEY,
    name        text NOT NULL,
    language    text NOT NULL CHECK (language IN ('ja', 'en')),
    likes       text[] NOT NULL DEFAULT '{}',
    wants_push  boolean NOT NULL DEFAULT true
);

CREATE TABLE devices (
    id          bigint PRIMARY KEY,
    user_id     bigint NOT NULL REFERENCES users,
    platform    text NOT NULL CHECK (platform IN ('ios', 'android')),
    push_token  text NOT NULL UNIQUE
);
CREATE INDEX devices_user ON devices (user_id);

CREATE TABLE recipes (
    id          bigint PRIMARY KEY,
    cuisine     text NOT NULL,
    title_ja    text NOT NULL,
    title_en    text NOT NULL,
    image_url   text NOT NULL,
    rating      numeric(2, 1) NOT NULL
);

CREATE TABLE cooked (
    user_id     bigint NOT NULL REFERENCES users,
    recipe_id   bigint NOT NULL REFERENCES recipes,
    PRIMARY KEY (user_id, recipe_id)
);

INSERT INTO recipes (id, cuisine, title_ja, title_en, image_url, rating)
SELECT id, cuisine, title_ja, title_en, 'https://images.example.com/recipes/' || id || '.jpg', rating
FROM (VALUES
    (1, 'washoku', '肉じゃが', 'Nikujaga (beef and potato stew)', 4.8),
    (2, 'washoku', 'さばの味噌煮', 'Mackerel simmered in miso', 4.6),
    (3, 'washoku', '親子丼 🍚', 'Oyakodon 🍚', 4.7),
    (4, 'washoku', '鶏の唐揚げ「大葉風味」', 'Karaage with shiso', 4.9),
    (5, 'italian', 'カルボナーラ', 'Spaghetti alla carbonara', 4.7),
    (6, 'italian', 'きのこのリゾット 🍄', 'Mushroom risotto 🍄', 4.5),
    (7, 'french', 'クレーム・ブリュレ', 'Crème brûlée', 4.8),
    (8, 'french', 'ラタトゥイユ', 'Ratatouille, the "slow" way', 4.4),
    (9, 'indian', 'バターチキンカレー', 'Butter chicken curry', 4.9),
    (10, 'indian', 'サグパニール 🌿', 'Saag paneer 🌿', 4.3),
    (11, 'mexican', 'タコス・アル・パストール 🌮', 'Tacos al pastor 🌮', 4.6),
    (12, 'vegan', '豆腐の照り焼き', 'Teriyaki tofu \ 15 minutes', 4.2)
) AS recipe (id, cuisine, title_ja, title_en, rating);

INSERT INTO users (id, name, language, likes)
SELECT n,
    CASE n % 2
        WHEN 0 THEN
            (ARRAY['佐藤', '鈴木', '髙橋', '田中', '伊藤', '渡邉', '山本', '中村', '𠮷田', '齋藤'])[1 + n / 2 % 10] || ' '
            || (ARRAY['さくら', '陽翔', '結衣', '蓮', '葵', '湊', '凛', '大翔', 'ひまり'])[1 + n / 2 % 9]
        ELSE
            (ARRAY['Olivia', 'Liam', 'Zoë', 'Noah', 'Siobhán', 'Mateo', 'Chloé', 'Ravi', 'Anna "Annie"', '👩🏽‍🍳 Mia'])[1 + n / 2 % 10] || ' '
            || (ARRAY['Smith', 'O''Brien', 'García', 'Müller', 'de la Cruz', 'Nguyễn', 'Patel', 'Kowalski', 'Øst'])[1 + n / 2 % 9]
    END,
    CASE n % 2 WHEN 0 THEN 'ja' ELSE 'en' END,
    ARRAY[(ARRAY['washoku', 'italian', 'french', 'indian', 'mexican', 'vegan'])[1 + n % 6],
          (ARRAY['washoku', 'italian', 'french', 'indian', 'mexican', 'vegan'])[1 + n / 7 % 6]]
FROM generate_series(1, 5000) AS n;

-- Two devices a user. A registration token of FCM looks like this: 22 characters, a colon, "APA91b", 134 more.
INSERT INTO devices (id, user_id, platform, push_token)
SELECT n, 1 + (n - 1) / 2, CASE n % 2 WHEN 0 THEN 'ios' ELSE 'android' END,
    left(token, 22) || ':APA91b' || substr(token, 23, 134)
FROM generate_series(1, 10000) AS n,
    LATERAL (SELECT translate(encode(
        sha256(('device ' || n)::bytea) || sha256(('device ' || n || ' b')::bytea)
        || sha256(('device ' || n || ' c')::bytea) || sha256(('device ' || n || ' d')::bytea), 'base64'),
        E'+/=\n', '-_') AS token) AS random;

-- What somebody has cooked already is not recommended again.
INSERT INTO cooked (user_id, recipe_id)
SELECT n, 1 + (n * 7 + k * 5) % 12
FROM generate_series(1, 5000) AS n, generate_series(1, 3) AS k
ON CONFLICT DO NOTHING;

ANALYZE;
