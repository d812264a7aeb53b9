-- Fixes a batch's total: never less than what is accepted, which may be more than whoever seals has seen.
-- The first seal stands. KEYS[1] key prefix; ARGV 1 id, 2 total
local key = KEYS[1] .. 'batch:' .. ARGV[1]
if redis.call('EXISTS', key) == 0 then return 0 end
local accepted = tonumber(redis.call('HGET', key, 'accepted') or '0')
local total = math.max(accepted, tonumber(ARGV[2]))
return redis.call('HSETNX', key, 'total', string.format('%d', total))
