-- Notes an undecided chunk that no living worker serves, with its event, once for the same needs.
-- KEYS[1] key prefix; ARGV 1 chunk, 2 needs as JSON, 3 since when, 4 event as JSON
local p = KEYS[1]
local left = redis.call('HGET', p .. 'chunk:' .. ARGV[1], 'left')
if not left or tonumber(left) == 0 then return 0 end
if redis.call('HGET', p .. 'unserved:needs', ARGV[1]) == ARGV[2] then return 0 end
redis.call('HSET', p .. 'unserved:needs', ARGV[1], ARGV[2])
redis.call('ZADD', p .. 'unserved', ARGV[3], ARGV[1])
redis.call('XADD', p .. 'outbox', '*', 'e', ARGV[4])
return 1
