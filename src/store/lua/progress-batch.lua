-- Reports one step of a batch's progress, once. KEYS[1] key prefix; ARGV 1 id, 2 step, 3 event
local key = KEYS[1] .. 'batch:' .. ARGV[1]
local step = redis.call('HGET', key, 'step')
if not step or tonumber(step) >= tonumber(ARGV[2]) then return 0 end
redis.call('HSET', key, 'step', ARGV[2])
redis.call('XADD', KEYS[1] .. 'outbox', '*', 'e', ARGV[3])
return 1
