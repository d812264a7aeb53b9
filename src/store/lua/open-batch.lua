-- Opens a batch unless one stands under its id, and keeps what its runs will need: the lease of what is
-- kept already is lengthened. KEYS[1] key prefix; ARGV 1 id, 2 opening, 3 time, 4 lease in ms; then digest
-- and content of each blob
local p = KEYS[1]
local key = p .. 'batch:' .. ARGV[1]
if redis.call('HSETNX', key, 'opening', ARGV[2]) == 1 then
  redis.call('HSET', key, 'state', 'open', 'accepted', 0, 'decided', 0, 'passed', 0, 'failed', 0, 'errored', 0, 'vacuous', 0, 'step', 0)
  redis.call('ZADD', p .. 'batches', ARGV[3], ARGV[1])
end
local lease = tonumber(ARGV[4])
for i = 5, #ARGV, 2 do
  local blob = p .. 'blob:' .. ARGV[i]
  if not redis.call('SET', blob, ARGV[i + 1], 'PX', lease, 'NX') then
    local left = redis.call('PTTL', blob)
    if left >= 0 and left < lease then redis.call('PEXPIRE', blob, lease) end
  end
end
return 1
