-- Reports one step of a batch's progress, once. KEYS[1] key prefix; ARGV 1 id, 2 step, 3 event
local key = KEYS[1] .. 'batch:' .. ARGV[1]
local b = redis.call('HMGET', key, 'state', 'step')
if b[1] ~= 'open' or tonumber(b[2]) >= tonumber(ARGV[2]) then return 0 end
redis.call('HSET', key, 'step', ARGV[2])
redis.call('XADD', KEYS[1] .. 'outbox', '*', 'e', ARGV[3])
return 1
