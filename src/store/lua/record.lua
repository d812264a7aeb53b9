-- Appends a pack's results while its chunk is undecided; later ones are kept apart.
-- KEYS[1] key prefix; ARGV 1 chunk, 2 results, 3 how many late ones are kept
local p = KEYS[1]
local left = redis.call('HGET', p .. 'chunk:' .. ARGV[1], 'left')
if left and tonumber(left) > 0 then
  redis.call('RPUSH', p .. 'res:' .. ARGV[1], ARGV[2])
  return 1
end
redis.call('XADD', p .. 'late', 'MAXLEN', '~', ARGV[3], '*', 'c', ARGV[1], 'r', ARGV[2])
return 0
