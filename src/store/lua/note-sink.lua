-- Notes the state of a sink: a change writes its event, the same state keeps the time of its beginning.
-- KEYS[1] key prefix; ARGV 1 sink, 2 state, 3 since when, 4 the rest as JSON, 5 event as JSON, or nothing
local key = KEYS[1] .. 'sinks'
local old = redis.call('HGET', key, ARGV[1])
local state, since = string.match(old or '', '^(%a+) (%d+) ')
if state == 'disabled' and ARGV[2] == 'away' then return end
redis.call('HSET', key, ARGV[1], ARGV[2] .. ' ' .. (state == ARGV[2] and since or ARGV[3]) .. ' ' .. ARGV[4])
if state ~= ARGV[2] and ARGV[5] ~= '' then redis.call('XADD', KEYS[1] .. 'outbox', '*', 'e', ARGV[5]) end
