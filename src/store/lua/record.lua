-- Appends a pack's results while its chunk is undecided; later ones are kept apart.
-- KEYS[1] key prefix
-- ARGV 1 chunk, 2 how many late ones are kept, 3 results, 4 instead of them: the stage under which they are
--      stored by themselves
-- Returns 1: stored, 0: late, -1: what was stored by itself is gone
local p = KEYS[1]
local chunk, results, stage = ARGV[1], ARGV[3], ARGV[4]
local key = stage and p .. 'rs:' .. chunk .. ':' .. stage
local left = redis.call('HGET', p .. 'chunk:' .. chunk, 'left')
if left and tonumber(left) > 0 then
  if stage then
    if redis.call('EXISTS', key) == 0 then return -1 end
    results = '@' .. stage
    redis.call('SADD', p .. 'alone:' .. chunk, stage)
    -- It lives as long as the list that refers to it.
    redis.call('PERSIST', key)
  end
  redis.call('RPUSH', p .. 'res:' .. chunk, results)
  return 1
end
if stage then
  results = redis.call('GET', key)
  if not results then return -1 end
end
redis.call('XADD', p .. 'late', 'MAXLEN', '~', ARGV[2], '*', 'c', chunk, 'r', results)
if stage then redis.call('UNLINK', key) end
return 0
