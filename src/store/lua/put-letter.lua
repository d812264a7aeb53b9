-- Keeps a dead letter; one that is there already is redriven once more, and writes no event.
-- KEYS[1] key prefix; ARGV 1 endpoint with its direction before it (out:name), 2 id, 3 milliseconds since the
-- epoch, 4 letter as JSON, 5 its count of redrives when it is new, 6 event as JSON, or nothing
local p = KEYS[1]
local letters, member = p .. 'letters:' .. ARGV[1], ARGV[1] .. ':' .. ARGV[2]
local old = redis.call('HGET', letters, ARGV[2])
local redriven = ARGV[5]
if old then redriven = tonumber(string.match(old, '^(%d+) ')) + 1 end
redis.call('HSET', letters, ARGV[2], redriven .. ' ' .. ARGV[4])
redis.call('ZADD', p .. 'letters', ARGV[3], member)
redis.call('SADD', p .. 'letters:of', ARGV[1])
if not old and ARGV[6] ~= '' then redis.call('XADD', p .. 'outbox', '*', 'e', ARGV[6]) end
