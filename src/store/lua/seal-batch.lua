-- Fixes a batch's total; the first seal stands. KEYS[1] key prefix; ARGV 1 id, 2 total
local key = KEYS[1] .. 'batch:' .. ARGV[1]
if redis.call('EXISTS', key) == 0 then return 0 end
return redis.call('HSETNX', key, 'total', ARGV[2])
