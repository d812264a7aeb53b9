-- Raises a chunk's generation by compare-and-set and moves its next check (DESIGN 5.6).
-- KEYS[1] key prefix; ARGV 1 chunk, 2 expected generation, 3 time of the next check
local key = KEYS[1] .. 'chunk:' .. ARGV[1]
if redis.call('HGET', key, 'g') ~= ARGV[2] then return 0 end
if tonumber(redis.call('HGET', key, 'left')) == 0 then return 0 end
redis.call('ZADD', KEYS[1] .. 'open', 'XX', ARGV[3], ARGV[1])
return redis.call('HINCRBY', key, 'g', 1)
