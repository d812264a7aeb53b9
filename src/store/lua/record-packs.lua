-- Appends results of several packs while their chunk is undecided; later ones are kept apart.
-- KEYS[1] key prefix; ARGV 1 chunk, 2 how many late ones are kept; then the results of each pack, 4000 at most
-- Returns 1: stored, 0: late
local p = KEYS[1]
local chunk = ARGV[1]
local left = redis.call('HGET', p .. 'chunk:' .. chunk, 'left')
if left and tonumber(left) > 0 then
  redis.call('RPUSH', p .. 'res:' .. chunk, unpack(ARGV, 3))
  return 1
end
for i = 3, #ARGV do
  redis.call('XADD', p .. 'late', 'MAXLEN', '~', ARGV[2], '*', 'c', chunk, 'r', ARGV[i])
end
return 0
