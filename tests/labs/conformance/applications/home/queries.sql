-- params: {"entity": 1, "start": 1700000000.0, "end": 1700002000.0}
SELECT state, last_updated_ts FROM states WHERE entity_id = :entity AND last_updated_ts > :start AND last_updated_ts < :end ORDER BY last_updated_ts;
-- params: ["sensor.kitchen_temperature"]
SELECT s.state FROM states s JOIN entities e USING (entity_id) WHERE e.name = ? ORDER BY s.last_updated_ts DESC LIMIT 1;
SELECT e.name, s.state FROM entities e JOIN states s ON s.state_id = (SELECT max(state_id) FROM states WHERE entity_id = e.entity_id) ORDER BY e.name;
SELECT entity_id, state, last_updated_ts FROM (SELECT *, row_number() OVER (PARTITION BY entity_id ORDER BY last_updated_ts DESC) AS n FROM states) WHERE n = 1 ORDER BY entity_id;
SELECT avg(CAST(state AS REAL)), min(CAST(state AS REAL)), max(CAST(state AS REAL)) FROM states WHERE entity_id = :entity AND state NOT IN ('unknown', 'unavailable');
-- params: [600, 600]
SELECT CAST(last_updated_ts / ? AS INTEGER) * ? AS slot, count(*) AS n, avg(state) AS mean FROM states WHERE entity_id = 1 AND state GLOB '[0-9]*' GROUP BY slot ORDER BY slot;
SELECT strftime('%Y-%m-%dT%H:00', start_ts, 'unixepoch') AS hour, sum - lag(sum) OVER (ORDER BY start_ts) AS used FROM statistics WHERE entity_id = 2 ORDER BY start_ts;
SELECT sum(seconds) FROM (SELECT state, lead(last_updated_ts) OVER (ORDER BY last_updated_ts) - last_updated_ts AS seconds FROM states WHERE entity_id = 3) WHERE state = 'on';
SELECT datetime(s.last_updated_ts, 'unixepoch') AS at, o.state || ' -> ' || s.state AS change FROM states s JOIN states o ON o.state_id = s.old_state_id WHERE s.entity_id = 4 ORDER BY s.state_id;
SELECT datetime(last_updated_ts, 'unixepoch', '+1 hour') AS local FROM states WHERE state_id = 14;
-- params: ["turn%"]
SELECT event_id, json_extract(data, '$.service') AS service FROM events WHERE type = 'call_service' AND json_extract(data, '$.service') LIKE ? ORDER BY event_id;
SELECT e.name FROM entities e, json_each(e.attributes, '$.modes') m WHERE m.value = 'xy';
SELECT name, coalesce(json_extract(attributes, '$.precision'), 2) AS digits FROM entities WHERE json_extract(attributes, '$.class') IS NOT NULL ORDER BY name;
SELECT type, count(*) AS n, min(fired_at), max(fired_at) FROM events GROUP BY type ORDER BY n DESC, type;
-- params: ["2023-11-14 22:00:00", "+30 minutes"]
SELECT event_id FROM events WHERE fired_at >= ?1 AND fired_at < datetime(?1, ?2) ORDER BY event_id;
SELECT event_id, strftime('%s', fired_at) AS ts, strftime('%f', fired_at) AS seconds FROM events ORDER BY event_id;
-- params: ["06:45", 1]
SELECT id, alias FROM automations WHERE enabled AND run_from <= ?1 AND run_until > ?1 AND days & (1 << ?2);
SELECT id FROM automations WHERE enabled = 1 AND CASE WHEN run_from > run_until THEN '23:30' >= run_from OR '23:30' < run_until ELSE '23:30' BETWEEN run_from AND run_until END ORDER BY id;
-- params: ["2023-11-15"]
SELECT alias, CAST(julianday(?) - julianday(last_run) AS INTEGER) AS days FROM automations ORDER BY last_run IS NULL, last_run DESC;
-- params: [20, 86400]
SELECT mac, name FROM devices WHERE battery < ? OR 1700086600 - seen > ? ORDER BY mac;
-- params: ["AA:01"]
SELECT ifnull(name, mac) FROM devices WHERE mac = ? COLLATE NOCASE;
SELECT firmware, CAST(firmware AS INTEGER) AS major, CAST(substr(firmware, instr(firmware, '.') + 1) AS REAL) AS minor FROM devices ORDER BY major DESC, minor DESC;
SELECT area, count(*) AS n, group_concat(domain) AS domains FROM entities WHERE area IS NOT NULL GROUP BY area ORDER BY area;
SELECT hex(context) FROM states WHERE context IS NOT NULL AND entity_id = 3 ORDER BY state_id;
-- params: ["light", "sensor"]
SELECT d.domain, count(e.entity_id) FROM (SELECT ? AS domain UNION SELECT ?) AS d LEFT JOIN entities e ON e.domain = d.domain GROUP BY d.domain ORDER BY d.domain;
