-- Opens a batch unless one stands under its id, and keeps what its runs will need: the lease of what is
-- kept already is lengthened. KEYS[1] key prefix; ARGV 1 id, 2 opening, 3 time, 4 lease in ms; then digest
-- and content of each blob. Returns 0 when pieces of a blob are to be stored first
local p = KEYS[1]
local key = p .. 'batch:' .. ARGV[1]
for i = 5, #ARGV, 2 do
  if not has_pieces(p, ARGV[i], ARGV[i + 1]) then return 0 end
end
if redis.call('HSETNX', key, 'opening', ARGV[2]) == 1 then
  redis.call('HSET', key, 'state', 'open', 'accepted', 0, 'decided', 0, 'passed', 0, 'failed', 0, 'errored', 0, 'vacuous', 0, 'step', 0)
  redis.call('ZADD', p .. 'batches', ARGV[3], ARGV[1])
end
-- What the batch itself keeps, it lets go of when it goes: each once.
for i = 5, #ARGV, 2 do
  local is_user = redis.call('HSETNX', key, 'b:' .. ARGV[i], 1) == 0
  hold_blob(p, ARGV[i], ARGV[i + 1], tonumber(ARGV[4]), is_user)
end
return 1
