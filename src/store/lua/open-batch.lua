-- Opens a batch unless one stands under its id. KEYS[1] key prefix; ARGV 1 id, 2 opening, 3 time
local key = KEYS[1] .. 'batch:' .. ARGV[1]
if redis.call('HSETNX', key, 'opening', ARGV[2]) == 1 then
  redis.call('HSET', key, 'state', 'open', 'accepted', 0, 'decided', 0, 'passed', 0, 'failed', 0, 'errored', 0, 'vacuous', 0, 'step', 0)
  redis.call('ZADD', KEYS[1] .. 'batches', ARGV[3], ARGV[1])
end
return 1
